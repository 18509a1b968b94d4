#!/usr/bin/env python3
"""Launch the project's own Triton kernels on an NVIDIA GPU and record what they did.

    python3 tests/record.py [NAME...] [--out DIR] [--jobs N] [--calls] [--texts DIR]

NAME picks cases whose name contains it, or whole files by their stem; without a name all are recorded.
Each launch of examples/kernels/*.py and tests/kernels/*.py gives three files: the TTIR that Triton made of the
kernel that ran (.ttir), the bytes of its buffers before and after (.bin), and what ties them together (.case); the
format is in tests/kernels/README.md. They are written beside the kernel for examples and to tests/kernels/recorded
for tests, or to the same places under DIR. A fourth file, .call, holds what a caller would say of the launch: see
record_call.py. With --calls only that one is written; the text that Triton makes now has to be the recorded one.

Needs PyTorch with CUDA and Triton 3.6. A launch is run twice; one whose bytes differ between the runs is racy and is
not written. Exit code 0 if every launch was recorded, else 1.

How a kernel file says what to launch: launches() yields (name, kernel, grid, arguments, options). Options are the
kernel's constants and Triton's own (num_warps, debug); two more are for this script:
    record="source"    keep the text as Triton's front end made it, before any pass (block pointers, calls)
    stand_in=function  do not launch: compile for capability 10.0, and let the function do to the buffers with PyTorch
                       what the kernel does. For the few that only a Blackwell GPU runs and PyTorch computes exactly.
"""

import argparse
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "examples/kernels").glob("*.py")) + sorted((ROOT / "tests/kernels").glob("*.py"))

POINTEE = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2", "bool": "u1",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}
TRITON_NAME = {"f16": "fp16", "f32": "fp32", "f64": "fp64", "f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5"}
FLOAT_NAME = {"fp16": "f16", "fp32": "f32", "fp64": "f64"}
SPOILT = 3  # exit code of a process whose GPU context is lost


# -- What a launch hands to the kernel ---------------------------------------------------------------------------------

class Buffers:
    """The storages behind the tensor arguments, each once, in order of first use."""

    def __init__(self):
        self.storages = []

    def number(self, tensor):
        import torch
        storage = tensor.untyped_storage()
        for number, seen in enumerate(self.storages):
            if seen.data_ptr() == storage.data_ptr():
                return number
        self.storages.append(torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage))
        return len(self.storages) - 1

    def read(self):
        return [storage.cpu().numpy().tobytes() for storage in self.storages]

    def write(self, contents):
        import torch
        for storage, content in zip(self.storages, contents):
            storage.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))


def pointee(tensor):
    return POINTEE[str(tensor.dtype).removeprefix("torch.")]


def words(values):
    return " ".join(str(int(value)) for value in values)


def arguments(kernel, args, options, buffers):
    """The arguments that survive as TTIR parameters: (line of the .case, types of the parameters) for each."""
    import torch
    import numpy
    from triton.tools.tensor_descriptor import TensorDescriptor

    signature = inspect.signature(kernel.fn)
    bound = signature.bind(*args, **{k: v for k, v in options.items() if k in signature.parameters})
    bound.apply_defaults()
    found = []

    def add(value, annotated, specialised):
        if isinstance(value, torch.Tensor):
            place = f"buffer {buffers.number(value)} offset {value.storage_offset() * value.element_size()}"
            found.append((f"arg ptr {pointee(value)} {place}", [f"!tt.ptr<{pointee(value)}>"]))
        elif isinstance(value, TensorDescriptor):
            base, rank = value.base, len(value.shape)
            element = pointee(base)
            block = ", ".join(str(n) for n in value.block_shape)
            found.append((f"arg desc tensordesc<{TRITON_NAME.get(element, element)}[{block}]>"
                          f" buffer {buffers.number(base)} offset {base.storage_offset() * base.element_size()}"
                          f" shape {words(value.shape)} strides {words(value.strides)}"
                          f" block {words(value.block_shape)} padding {value.padding}",
                          ["!tt.tensordesc"] + ["i32"] * rank + ["i64"] * rank))
        elif isinstance(value, tuple):
            for member in value:
                add(member, None, specialised)
        elif isinstance(value, bool):
            found.append((f"arg u1 {int(value)}", ["u1"]))
        elif isinstance(value, int):
            if value == 1 and specialised and not annotated:
                return
            kind = annotated or ("i32" if -2**31 <= value < 2**31 else "i64" if value < 2**63 else "u64")
            found.append((f"arg {kind} {value}", [kind]))
        elif isinstance(value, float):
            kind = FLOAT_NAME[annotated] if annotated else "f32"
            rounded = float({"f16": numpy.float16, "f32": numpy.float32, "f64": numpy.float64}[kind](value))
            found.append((f"arg {kind} {rounded.hex() if numpy.isfinite(rounded) else rounded}", [kind]))
        # None, types, functions and constexpr values leave no parameter

    for parameter in kernel.params:
        if not parameter.is_constexpr:
            add(bound.arguments[parameter.name], parameter.annotation_type, not parameter.do_not_specialize)
    return found


# -- What Triton made of it --------------------------------------------------------------------------------------------

def public_function(text):
    """Name and parameter types of the module's one public function."""
    start = re.search(r'tt\.func public @("[^"]*"|[\w$.]+)\(', text)
    depth, begin, at, pieces = 0, start.end(), start.end(), []
    while depth >= 0:
        if text[at] == '"':
            at = text.index('"', at + 1)
        elif text[at] in "({<[":
            depth += 1
        elif text[at] in ")}>]" and text[at - 1] != "-":
            depth -= 1
        if depth < 0 or (depth == 0 and text[at] == ","):
            pieces.append(text[begin:at])
            begin = at + 1
        at += 1
    types = [piece.split(":", 1)[1].strip() for piece in pieces if piece.strip()]
    return start.group(1).strip('"'), [re.split(r" \{| loc\(", kind)[0].strip() for kind in types]


def check_parameters(text, found):
    """Fail loudly unless the arguments fit the function's parameters one to one."""
    name, have = public_function(text)
    want = [kind for _, kinds in found for kind in kinds]
    signless = lambda kind: re.sub(r"\bu(\d+)", r"i\1", kind)
    fits = len(have) == len(want) and all(
        h.startswith("!tt.tensordesc") if w == "!tt.tensordesc" else h == signless(w) for h, w in zip(have, want))
    if not fits:
        raise RuntimeError(f"arguments do not fit the TTIR: parameters {have}, arguments {want}")
    return name


def plain_locations(text):
    """File names without the folders of the machine that recorded: x.py, triton/language/standard.py."""
    def shorten(match):
        path = match.group(1)
        return f'loc("{path.split("site-packages/")[1] if "site-packages/" in path else path.rsplit("/", 1)[-1]}":'
    return re.sub(r'loc\("([^"\n]+)":(?=\d)', shorten, text)


def without_locations(text):
    """Lines of a file move when it is edited; the program does not."""
    lines = (re.sub(r" loc\([^()]*(\([^()]*\))*[^()]*\)", "", line) for line in text.splitlines())
    return [line for line in lines if not line.startswith("#loc")]


def compile_for_blackwell(kernel, args, options):
    import torch
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    signature, constants = {}, {}
    given = dict(zip((p.name for p in kernel.params), args)) | options
    for parameter in kernel.params:
        value = given[parameter.name]
        if parameter.is_constexpr or value is None:
            signature[parameter.name] = "constexpr"
            constants[parameter.name] = value
        elif isinstance(value, torch.Tensor):
            signature[parameter.name] = "*" + TRITON_NAME.get(pointee(value), pointee(value))
        else:
            signature[parameter.name] = "i32"
    warps = options.get("num_warps", 4)
    return triton.compile(ASTSource(kernel, signature, constants), target=GPUTarget("cuda", 100, 32),
                          options={"num_warps": warps})


# -- One case ----------------------------------------------------------------------------------------------------------

def record(launch, source, folder, kept, calls_only, texts):
    """Launch twice, compare, write the four files. Returns their size in bytes."""
    import torch
    import triton
    import record_call
    name, kernel, grid, args, options = launch
    options = dict(options)
    stage = options.pop("record", "ttir")
    stand_in = options.pop("stand_in", None)
    grid = (tuple(grid) + (1, 1))[:3]

    def compile_only():
        if stand_in:
            return compile_for_blackwell(kernel, args, options)
        return kernel.warmup(*args, grid=grid, **options)

    def write_call(compiled):
        given = {**dict(zip(kernel.arg_names, args)), **options}
        said = record_call.lines(compiled.src, given, compiled.metadata, lambda path: os.path.relpath(path, kept))
        (folder / f"{name}.call").write_text("\n".join(said) + "\n", encoding="utf-8")
        if texts:
            texts.mkdir(parents=True, exist_ok=True)
            (texts / f"{name}.source").write_text(plain_locations(compiled.asm["source"]), encoding="utf-8")
            (texts / f"{name}.ttir").write_text(plain_locations(compiled.asm["ttir"]), encoding="utf-8")

    if calls_only:
        compiled = compile_only()
        recorded = (kept / f"{name}.ttir").read_text(encoding="utf-8")
        if without_locations(plain_locations(compiled.asm[stage])) != without_locations(recorded):
            raise RuntimeError("the text is not the recorded one")
        folder.mkdir(parents=True, exist_ok=True)
        write_call(compiled)
        return 0

    buffers = Buffers()
    found = arguments(kernel, args, options, buffers)
    before = buffers.read()
    runs = []
    for _ in range(2):
        buffers.write(before)
        if stand_in:
            compiled = compile_only()
            stand_in(*args)
        else:
            compiled = kernel[grid](*args, **options)
        torch.cuda.synchronize()
        runs.append(buffers.read())
    if runs[0] != runs[1]:
        raise RuntimeError("two runs gave different bytes: racy")

    text = plain_locations(compiled.asm[stage])
    function = check_parameters(text, found)

    content, places = bytearray(), {}

    def place(data):
        """Where data stands in the .bin; equal contents are kept once."""
        if data not in places:
            places[data] = len(content)
            content.extend(data)
        return places[data]

    lines = ["# recorded Triton launch, format 1", f"# Triton {triton.__version__}, {torch.cuda.get_device_name()}"]
    if stage == "source":
        lines.append("# the text of the front end, before any pass")
    if stand_in:
        lines.append("# compiled for capability 10.0 and not launched; the bytes after are PyTorch's")
    lines += [f"suite {'tests' if folder.name == 'recorded' else 'examples'}",
              f"source {source.name}", f"kernel {function}", f"grid {words(grid)}",
              f"warps {options.get('num_warps', 4)}"]
    for number, (old, new) in enumerate(zip(before, runs[0])):
        line = f"buffer {number} size {len(old)} in {place(old)}"
        lines.append(line if old == new else f"{line} out {place(new)}")
    lines += [line for line, _ in found]

    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.ttir").write_text(text, encoding="utf-8")
    (folder / f"{name}.bin").write_bytes(content)
    (folder / f"{name}.case").write_text("\n".join(lines) + "\n")
    write_call(compiled)
    return len(text) + len(content)


def place_of(path, out):
    """Where the files of a kernel file's launches go, and what their names begin with."""
    if path.parent.parent.name == "examples":
        return out / "examples/kernels", ""
    return out / "tests/kernels/recorded", f"{path.stem}-"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def record_file(path, names, skip, out, calls_only, texts):
    """The launches of one file from number `skip` on. Prints a line for each; returns the exit code.

    An error on the GPU spoils its context for this process: then the answer is SPOILT, and the last line printed says
    with which launch another process has to go on.
    """
    import torch
    import triton
    sys.path[:0] = [str(ROOT / "tests/kernels"), str(ROOT / "tests")]
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    folder, prefix = place_of(path, out)
    module = load(path)
    if not hasattr(module, "launches"):
        return 0
    code, seen = 0, set()
    launches = module.launches()
    while True:
        torch.manual_seed(0)
        name = f"{path.stem} (launches)"
        try:
            launch = next(launches, None)
            if launch is None:
                return code
            name = prefix + launch[0]
            if name in seen:
                raise ValueError("two launches of this name")
            seen.add(name)
            if len(seen) <= skip or (names and path.stem not in names and not any(part in name for part in names)):
                continue
            kept = place_of(path, ROOT)[0]
            size = record((name,) + tuple(launch[1:]), path, folder, kept, calls_only, texts)
            print(f"ok   {name:48} {size:8}", flush=True)
        except Exception as error:
            code = 1
            print(f"FAIL {name:48} " + f"{type(error).__name__}: {error}".strip().replace("\n", "\n     "), flush=True)
            if "CUDA error" in str(error) or "[CUDA]" in str(error):
                print(f"next {len(seen)}", flush=True)
                return SPOILT


def main():
    parser = argparse.ArgumentParser(description="Record the project's Triton kernels on an NVIDIA GPU.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of a case's name, or the stem of a file")
    parser.add_argument("--out", type=Path, default=ROOT, metavar="DIR", help="write below DIR, not into the tree")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="files at a time")
    parser.add_argument("--calls", action="store_true", help="write the .call files and nothing else")
    parser.add_argument("--texts", type=Path, metavar="DIR", help="keep both of Triton's texts, raw and stored, there")
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--skip", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.file:
        return record_file(options.file, options.names, options.skip, options.out, options.calls, options.texts)

    def run(path):
        """One file in processes of its own: what it printed, line by line."""
        lines, skip = [], 0
        while True:
            command = [sys.executable, __file__, *options.names, "--out", str(options.out.resolve()),
                       "--file", str(path), "--skip", str(skip)]
            command += ["--calls"] * options.calls + (["--texts", str(options.texts)] if options.texts else [])
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            lines += [line for line in result.stdout.splitlines() if line.startswith(("ok   ", "FAIL ", "     "))]
            if result.returncode == SPOILT:
                skip = int(result.stdout.rsplit("next ", 1)[1])
                continue
            if result.returncode not in (0, 1) or (result.returncode and "FAIL " not in result.stdout):
                lines += [f"FAIL {path.name} ended with {result.returncode}:", result.stderr[-2000:]]
            return lines

    recorded, failed = set(), 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for future in as_completed([pool.submit(run, path) for path in FILES]):
            lines = future.result()
            recorded.update(line.split()[1] for line in lines if line.startswith("ok   "))
            failed += sum(line.startswith("FAIL ") for line in lines)
            if lines:
                print("\n".join(lines), flush=True)
    if not options.names and not options.calls:
        folders = {place_of(path, options.out)[0] for path in FILES}
        for stale in sorted(case.stem for folder in folders for case in folder.glob("*.case")):
            if stale not in recorded:
                print(f"old  {stale}: no launch made it now")
    print(f"{len(recorded)} recorded, {failed} failed")
    return 0 if recorded and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
