"""What tmetal does to a program on the way to Metal, step by step (docs/transform.md).

Every compilation does it; this shows it. Patterns such as a softmax are found by structure. If
Metal Performance Shaders or MLX have a function for the same computation, the summary names it;
kernels call none.
"""
import re
from typing import Any, Dict, List, Tuple, Union

from triton_metal import reports


class Summary(Dict[str, Any]):
    """The report of tmetal_transform_json; as a str, its lines."""

    def __str__(self) -> str:
        lines = []
        if "graph" in self:
            lines.append("{ops} ops in {kernels} kernels; {bytes} bytes of device memory, "
                         "{bytes_before} if each op were a kernel".format(**self["graph"]))
        for row in self["kernels"]:
            before, after = row["before"], row["after"]
            lines.append(f"{row['kernel']}: {after['ops']} ops, {before['ops']} before; "
                         f"{after['barriers']} barriers, {before['barriers']} before; per program "
                         f"{after['bytes_read']} bytes read, {after['bytes_written']} written")
        for row in self["changes"]:
            if row["kind"] == "found" and row["what"].startswith("pass"):
                continue  # it changed nothing
            value = " " + row["value"] if row.get("value") else ""
            lines.append(f"{row['kind']} {row['what']}{value}: {row['reason']}")
            if "mps" in row:
                lines.append(f"    in MPS {row['mps']}, in MLX {row['mlx']}")
        return "\n".join(lines)


def transform_ir(ir: Any) -> Tuple[Union[str, List[Dict[str, Any]]], Summary]:
    """Compile a program; return it as the passes leave it, and a summary of what they did.

    `ir` is Triton IR or a compiled kernel; the result is Triton IR. Or `ir` is an op list:
    operations as dicts, {"ops": [...]}, or its JSON; the result has a dict for each kernel with its
    name as "id", the "ops" of the list in it, its Triton IR as "ttir", the number of "programs",
    and what one program costs "before" and "after". What is returned computes the same as `ir`.
    """
    text = reports.program_text(ir)
    changed, report = reports.transform(text)
    summary = Summary(report)
    if "graph" not in summary:  # Triton IR
        return changed, summary
    kernels = []
    functions = re.split(r"^(?=  tt\.func )", changed[:changed.rindex("\n}")], flags=re.MULTILINE)
    for row, ttir in zip(summary["kernels"], functions[1:]):
        ops = re.search(r'tmetal\.ops = "([^"]*)"', ttir)
        kernels.append({"type": "kernel", "id": row["kernel"], "ops": ops.group(1) if ops else "",
                        "ttir": ttir, **{k: row[k] for k in ("programs", "before", "after")}})
    return kernels, summary
