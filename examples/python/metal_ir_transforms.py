"""What tmetal does to a program on the way to Metal: `tmetal_transform`.

Every compilation does it; this shows it. Patterns such as a softmax are found by structure. Where
Metal Performance Shaders or MLX have a function for the same computation, the summary names it; no
kernel calls one.
"""

import re
from typing import Any, Dict, List, Tuple, Union

from triton_metal import reports


class Summary(Dict[str, Any]):
    """The report of `tmetal_transform_json`, which docs/transform.md describes; text as a str."""

    def __str__(self) -> str:
        lines = []
        if "graph" in self:
            graph = self["graph"]
            lines.append(
                f"{graph['ops']} ops in {graph['kernels']} kernels; {graph['bytes']} bytes of device"
                f" memory, {graph['bytes_before']} if each op were a kernel"
            )
        for row in self["kernels"]:
            before, after = row["before"], row["after"]
            lines.append(
                f"{row['kernel']}: {after['ops']} ops, {before['ops']} before; {after['barriers']}"
                f" barriers, {before['barriers']} before; per program {after['bytes_read']} bytes"
                f" read, {after['bytes_written']} written"
            )
        for row in self["changes"]:
            if row["kind"] == "found" and row["what"].startswith("pass"):
                continue  # it changed nothing
            text = f"{row['kind']} {row['what']} {row.get('value', '')}".rstrip()
            lines.append(f"{text}: {row['reason']}")
            if "mps" in row:
                lines.append(f"    the same in MPS: {row['mps']}; in MLX: {row['mlx']}")
        return "\n".join(lines)


def transform_ir(ir: Any) -> Tuple[Union[str, List[Dict[str, Any]]], Summary]:
    """Compile a program, and return it as the passes leave it with a summary of what they did.

    `ir` is Triton IR (text, or a compiled kernel), and the result Triton IR again; or an op list (a
    list of operations, `{"ops": [...]}` or its JSON), and the result a list with one entry for each
    kernel: its name as "id", the "ops" of the list in it, its Triton IR as "ttir", and what one
    program costs "before" and "after". The changed program computes the same.
    """
    text = reports.program_text(ir)
    changed, report = reports.transform(text)
    summary = Summary(report)
    if not reports.is_op_list(text):
        return changed, summary
    functions = _functions(changed)
    kernels = []
    for row in summary["kernels"]:
        ttir = functions[row["kernel"]]
        ops = re.search(r'tmetal\.ops = "([^"]*)"', ttir)
        entry = {"type": "kernel", "id": row["kernel"], "ops": ops.group(1) if ops else "", "ttir": ttir}
        kernels.append({**entry, **{key: row[key] for key in ("programs", "before", "after")}})
    return kernels, summary


def _functions(module: str) -> Dict[str, str]:
    """The functions of a module of Triton IR by their names."""
    starts = list(re.finditer(r"^  tt\.func \w+ @(\"?)([^\"(]+)\1\(", module, re.MULTILINE))
    ends = [start.start() for start in starts[1:]] + [module.rfind("\n}") + 1]
    return {start.group(2): module[start.start() : end] for start, end in zip(starts, ends)}
