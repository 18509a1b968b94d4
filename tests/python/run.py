"""Recorded launches through generated Python: run.py BUILD [--jobs N] [--quiet] FILE.case...

Each case is compiled with --emit torch-py and --emit mlx-py, the module is imported against the stand-ins, its function
called with the recorded arguments in their order, and every buffer compared as the corpus runner does. Prints a line a
case and library, or with --quiet only what is wrong and how many there are of each:
    right, keeps (right where results begin as recorded: MLX's begin undefined), by-nature (the corpus says why it cannot
    agree), refused (TM508, TM740), cannot (one tensor for two parameters, or a pointer into the middle of an array, of which
    MLX gives no address), wrong
Exits 1 where one is wrong, or nothing is right."""
import importlib.util
import inspect
import json
import os
import py_compile
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "standin")]
import mlx.core as mx  # noqa: E402
import simulator  # noqa: E402
import torch  # noqa: E402


class Case:
    """A recorded launch: grid, buffers as bytes, parameters as lists of words."""

    def __init__(self, path):
        lines = simulator.read_case(path)
        with open(path[:-5] + ".bin", "rb") as f:
            data = f.read()
        self.path, self.buffers, self.parameters, self.grid = path, [], [], (1, 1, 1)
        self.compile_only, self.by_nature = ["compile-only"] in lines, ["by-nature"] in lines
        for kind, *words in lines:
            if kind == "grid":
                self.grid = tuple(map(int, words))
            elif kind == "buffer":
                size, begins = int(words[0]), int(words[1])
                self.buffers.append((size, data[begins:begins + size] if begins >= 0 else None))
            elif kind in ("pointer", "int", "float"):
                self.parameters.append([kind, *words])

    def number(self, i):
        kind, *words = self.parameters[i]
        if kind == "int":
            return int(words[0], 0)
        return float.fromhex(words[0]) if "x" in words[0] else float(words[0])


def tmetal(build, path, emit, out, *options):
    """Messages of a refusal, "" for none."""
    made = subprocess.run([os.path.join(build, "tmetal"), "compile", path, "--emit", emit, "-o", out, *options],
                          stderr=subprocess.PIPE, check=False)
    return made.stderr.decode() if made.returncode else ""


def load(path):
    name = os.path.splitext(os.path.basename(path))[0].replace("-", "_")
    py_compile.compile(path, cfile=path + "c", doraise=True)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def function_of(module):
    """The one function that is meant to be called."""
    made = [f for n, f in vars(module).items() if inspect.isfunction(f) and "grid" in inspect.signature(f).parameters]
    assert len(made) == 1, "one function is wanted"
    return made[0]


def keywords(case, function):
    """padding of descriptors, by the names of their pointers"""
    names = list(inspect.signature(function).parameters)
    return {n + "_pads_nan": p[3] == "1" for n, p in zip(names, case.parameters) if n + "_pads_nan" in names}


def run_torch(case, function, read, written):
    memories = [simulator.Memory(size, data) for size, data in case.buffers]
    args = []
    for i, (kind, *words) in enumerate(case.parameters):
        if i not in read and i not in written:
            args.append(None)
        elif kind == "pointer":
            buffer, offset, dtype = int(words[0]), int(words[1]), getattr(torch, words[3])
            n = (case.buffers[buffer][0] - offset) // dtype.itemsize
            args.append(torch.Tensor(memories[buffer], dtype, [n], None, offset // dtype.itemsize))
        else:
            args.append(case.number(i))
    function(*args, grid=case.grid, **keywords(case, function))
    return [bytes(m.data) for m in memories]


def run_mlx(case, function, read, written, begin):
    data = [bytearray(d if d is not None else b"\xcd" * size) for size, d in case.buffers]
    args, places = [], []
    for i, (kind, *words) in enumerate(case.parameters):
        if i not in read and i not in written:
            args.append(None)
            continue
        if kind != "pointer":
            args.append(case.number(i))
            continue
        buffer, offset, dtype = int(words[0]), int(words[1]), getattr(mx, words[3].replace("bool", "bool_"))
        n = (case.buffers[buffer][0] - offset) // dtype.size
        if i in written:
            args.append((n,))
            places.append((buffer, offset))
            begin.append(bytes(data[buffer][offset:offset + n * dtype.size]))
        else:
            args.append(mx.array(None, dtype, simulator.Memory(0, data[buffer][offset:offset + n * dtype.size]), (n,)))
    made = function(*args, grid=case.grid, **keywords(case, function))
    for (buffer, offset), x in zip(places, made if isinstance(made, tuple) else (made,)):
        data[buffer][offset:offset + len(x._memory.data)] = x._memory.data
    return [bytes(d) for d in data]


def judge(case, library, function, read, written):
    """What to print of a case."""
    changed = {int(case.parameters[i][1]) for i in written}
    check = lambda after: simulator.judge(case.path, [(b, i in changed) for i, b in enumerate(after)])
    try:
        if library == "torch":
            check(run_torch(case, function, read, written))
            return "right"
        try:
            check(run_mlx(case, function, read, written, []))
            return "right"
        except simulator.Refused as e:
            first = str(e)
        # MLX's results are new: what the kernel does not store can only be compared where they begin as recorded
        begin = []
        mx.begin_as(begin)
        check(run_mlx(case, function, read, written, begin))
        return "keeps: " + first
    finally:
        mx.begin_as(None)


def try_case(build, path, library):
    case = Case(path)
    name = os.path.join(build, "python", os.path.basename(path)[:-5].replace("-", "_") + "_" + library)
    said = tmetal(build, path[:-5] + ".ttir", library + "-py", name + ".py")
    if said:
        return "refused" if "[TM508]" in said or "[TM509]" in said else "", said.splitlines()[0].split("error", 1)[1]
    if case.compile_only:
        return "", ""
    tmetal(build, path[:-5] + ".ttir", "plan", name + ".json")
    with open(name + ".json", encoding="utf-8") as f:
        kernels = json.load(f)["kernels"]
    arguments = [a for k in kernels for a in k["args"] if a["kind"] in ("buffer", "bytes", "padding")]
    read = {a["param"] for a in arguments}
    written = {a["param"] for a in arguments if "write" in a.get("access", "")}
    pointers = [(p[1], i in written) for i, p in enumerate(case.parameters) if p[0] == "pointer" and i in read]
    cannot = any(a == c and (b or d) for i, (a, b) in enumerate(pointers) for c, d in pointers[:i])
    cannot |= library == "mlx" and any(p[0] == "pointer" and int(p[2]) for p in case.parameters)
    try:
        word = judge(case, library, function_of(load(name + ".py")), read, written)
    except Exception as e:  # of any kind: it is this case's
        return "cannot" if cannot else "by-nature" if case.by_nature else "wrong", f"{type(e).__name__}: {e}"
    return word.split(":")[0], word.partition(": ")[2]


def work(build, paths, quiet, out):
    """One process's share: how many of each word, to the pipe `out`."""
    counts = {}
    for path in paths:
        for library in ("torch", "mlx"):
            what, why = try_case(build, path, library)
            if what and (not quiet or what == "wrong"):
                print(f"{what} {library} {path}{': ' if why else ''}{why}", flush=True)
            if what:
                counts[f"{library} {what}"] = counts.get(f"{library} {what}", 0) + 1
    os.write(out, json.dumps(counts).encode() + b"\n")


def main():
    build, *rest = sys.argv[1:]
    quiet = "--quiet" in rest
    jobs = int(rest[rest.index("--jobs") + 1]) if "--jobs" in rest else 1
    paths = [a for a in rest if a.endswith(".case")]
    os.makedirs(os.path.join(build, "python"), exist_ok=True)
    into, out = os.pipe()
    children = []
    for j in range(jobs):
        child = os.fork()
        if child == 0:
            work(build, paths[j::jobs], quiet, out)
            os._exit(0)
        children.append(child)
    os.close(out)
    died = [c for c in children if os.waitpid(c, 0)[1]]
    counts = {}
    with os.fdopen(into) as f:
        for line in f:
            for word, n in json.loads(line).items():
                counts[word] = counts.get(word, 0) + n
    for library in ("torch", "mlx"):
        print(f"python: {library}: " + ", ".join(f"{n} {w.split()[1]}" for w, n in sorted(counts.items()) if w.startswith(library)))
    right = all(f"{library} right" in counts for library in ("torch", "mlx"))
    return int(bool(died) or not right or any("wrong" in w for w in counts))


if __name__ == "__main__":
    sys.exit(main())
