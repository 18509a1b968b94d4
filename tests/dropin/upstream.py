#!/usr/bin/env python3
"""Run other projects' test suites, unmodified, against triton_metal.

    python3 tests/dropin/upstream.py --list
    python3 tests/dropin/upstream.py --source triton=DIR --suite core --shard 0/12
    python3 tests/dropin/upstream.py --suite core --last-failed
    python3 tests/dropin/upstream.py --report

The first run creates a virtual environment (build/upstream/venv: PyTorch, NumPy, MLX and pytest,
and no Triton) and extracts the suites' sources to build/upstream/src. Nothing fetched is committed.
`--source NAME=WHERE` says where a project's source is: a git repository (a folder, bare or not, or
an address that git can clone), or a folder that holds the plain source. See README.md beside this
file for the projects, the revisions and the figures.

Each suite's results are in build/upstream/results/SUITE.tsv, a line per test: id, outcome, seconds,
class of the failure, first line of the error.
"""

from __future__ import annotations

import argparse
import collections
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
from typing import IO, Dict, List, NamedTuple, Optional, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(TOP, "build", "upstream")
VENV = os.path.join(WORK, "venv")
PYTHON = os.path.join(VENV, "bin", "python")
BASIC = ("numpy", "pytest", "pytest-xdist", "scipy", "einops", "expecttest", "mlx-cpu")


class Suite(NamedTuple):
    """A part of a project's tests."""

    project: str                      # The name in --source.
    revision: str                     # Tag, branch or commit.
    about: str
    files: Tuple[str, ...]            # Patterns, from the root of the source.
    skip: Tuple[str, ...] = ()        # Patterns of files that belong to another backend.
    options: Tuple[str, ...] = ()     # Of pytest.
    packages: Tuple[str, ...] = ()    # Python packages that the tests need in addition.
    path: str = ""                    # Folder of the source on PYTHONPATH.
    helpers: str = ""                 # Folder of the tests' own triton/_internal_testing.py.
    map_device: str = ""              # The device that a hard-coded 'cuda' stands for.
    only: Tuple[str, ...] = ()        # Parts of the source that are needed; default: all.
    env: Tuple[Tuple[str, str], ...] = ()


TRITON_PARTS = ("python/test", "python/tutorials", "python/triton/_internal_testing.py",
                "python/triton/tools")


# Triton's tests take the device as an option; its helper module is part of its package, not ours.
def triton(about: str, files: Tuple[str, ...], **more: object) -> Suite:
    return Suite("triton", "release/3.7.x", about, tuple("python/test/unit/" + f for f in files),
                 options=("--device", "cpu", "--rootdir", "python/test"), helpers="python/triton",
                 map_device="cpu", env=(("TRITON_METAL_LANGUAGE", "3.7"),), only=TRITON_PARTS,
                 **more)  # type: ignore[arg-type]


SUITES: Dict[str, Suite] = {
    "core": triton("Triton's language tests: test_core.py", ("language/test_core.py",)),
    "language": triton(
        "Triton's other language tests", ("language/test_*.py",),
        skip=("*/test_core.py",)),
    "runtime": triton(
        "Triton's tests of the JIT, the autotuner, caches, launches and knobs",
        ("runtime/test_*.py", "test_debug.py", "test_knobs.py", "test_perf_warning.py"),
        skip=("*/test_blaslt.py", "*/test_build.py")),
    "tutorials": Suite(
        "triton", "release/3.7.x", "Triton's tutorials 01 to 10, as programs", (),
        options=(os.path.join(HERE, "tutorials.py"), "--rootdir", HERE), map_device="cpu",
        helpers="python/triton", only=TRITON_PARTS,
        packages=("matplotlib", "pandas", "tabulate")),
    "liger": Suite(
        "liger", "v0.8.2", "Liger-Kernel's kernels",
        ("test/transformers/test_*.py", "test/chunked_loss/test_*.py"),
        skip=("*/test_cute*", "*/test_cutile*", "*/test_cutedsl*"), path="src",
        packages=("transformers",), 
        only=("src", "pyproject.toml", "test/__init__.py", "test/conftest.py", "test/utils.py",
              "test/transformers", "test/chunked_loss")),
    "attorch": Suite(
        "attorch", "67c2772baf33913ef51c2d1064f746ca17b63749", "attorch's layers",
        ("tests/test_*.py",), options=("--subset",), path=".", map_device="cpu"),
    "flaggems": Suite(
        "flaggems", "532ff438c70343d7aec9becdabb76a71225a0553", "FlagGems' operators",
        ("tests/test_*.py",), path="src", packages=("pyyaml", "sqlalchemy"),
        options=("--ref", "cpu", "--mode", "quick"), map_device="cpu",
        env=(("GEMS_VENDOR", "nvidia"),)),
    "fla": Suite(
        "fla", "v0.5.2", "flash-linear-attention's operators and modules",
        ("tests/ops/test_*.py", "tests/modules/test_*.py"), path=".", map_device="cpu",
        packages=("transformers", "datasets"), env=(("TORCHDYNAMO_DISABLE", "1"),)),
}


def fail(text: str) -> None:
    sys.exit(f"upstream.py: {text}")


def pip(*words: str) -> None:
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", *words], check=True)


def installed(package: str) -> bool:
    code = f"import importlib.metadata as m; m.version({package!r})"
    return subprocess.run([PYTHON, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def set_up_python(packages: Tuple[str, ...], torch: str) -> None:
    """Create the virtual environment, with PyTorch and all that it needs except Triton."""
    if not os.path.exists(PYTHON):
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    if not installed("torch"):
        pip("--no-deps", torch)
        needs = ("import importlib.metadata as m; from pip._vendor.packaging.requirements import "
                 "Requirement as R; print('\\n'.join(str(r).split(';')[0] for r in map(R, "
                 "m.requires('torch')) if r.name != 'triton' and (not r.marker or "
                 "r.marker.evaluate({'extra': ''}))))")
        text = subprocess.run([PYTHON, "-c", needs], check=True, stdout=subprocess.PIPE, text=True)
        pip(*text.stdout.split("\n")[:-1])
    missing = [p for p in BASIC + packages if not installed(p)]
    if missing:
        pip(*missing)
    if installed("triton"):
        subprocess.run([PYTHON, "-m", "pip", "uninstall", "-q", "-y", "triton"], check=True)


def set_up_source(suite: Suite, where: Optional[str]) -> str:
    """The folder that holds the suite's source, extracted at its revision."""
    folder = os.path.join(WORK, "src", suite.project + "-" + suite.revision.replace("/", "-"))
    if os.path.isdir(folder):
        return folder
    if not where:
        fail(f"the source of {suite.project} is not in build/upstream/src; "
             f"pass --source {suite.project}=DIR (a git repository that has {suite.revision})")
    assert where
    if not os.path.exists(where):
        clone = os.path.join(WORK, "git", suite.project)
        if not os.path.isdir(clone):
            subprocess.run(["git", "clone", "-q", "--bare", where, clone], check=True)
        where = clone
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    git = ["git", "-C", where]
    if subprocess.run(git + ["rev-parse", "-q", "--verify", suite.revision + "^{commit}"],
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        shutil.copytree(where, folder, symlinks=True)
        return folder
    with subprocess.Popen(git + ["archive", suite.revision, *suite.only],
                          stdout=subprocess.PIPE) as archive:
        with tarfile.open(fileobj=archive.stdout, mode="r|") as tar:
            tar.extractall(folder + ".part")
    os.rename(folder + ".part", folder)
    return folder


def files_of(suite: Suite, folder: str) -> List[str]:
    found = []
    for pattern in suite.files:
        for path in sorted(glob.glob(os.path.join(folder, pattern))):
            name = os.path.relpath(path, folder)
            if not any(glob.fnmatch.fnmatch(name, s) for s in suite.skip):  # type: ignore
                found.append(name)
    return found


def environment(suite: Suite, folder: str, args: argparse.Namespace,
                results: str) -> Dict[str, str]:
    env = dict(os.environ)
    path = [os.path.abspath(args.package), HERE]
    if suite.path:
        path.append(os.path.normpath(os.path.join(folder, suite.path)))
    env.update({
        "PYTHONPATH": os.pathsep.join(path), "TRITON_METAL": "1", "TRITON_METAL_DEVICE": "cpu",
        "UPSTREAM_RESULTS": results,
        "UPSTREAM_TIMEOUT": str(args.timeout), "UPSTREAM_SHARD": args.shard or "",
        "UPSTREAM_HELPERS": os.path.join(folder, suite.helpers) if suite.helpers else "",
        "UPSTREAM_MAP_DEVICE": suite.map_device, "UPSTREAM_SOURCE": folder,
        "UPSTREAM_ONLY": "", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0",
    })
    env.update(suite.env)
    return env


Row = Tuple[str, str, str, str, str]


def read(results: str) -> Dict[str, Row]:
    rows: Dict[str, Row] = {}
    if os.path.exists(results):
        with open(results, encoding="utf-8") as file:
            for line in file:
                parts = line.rstrip("\n").split("\t")
                if len(parts) == 5:
                    rows[parts[0]] = (parts[0], parts[1], parts[2], parts[3], parts[4])
    return rows


BAD = ("failed", "error", "xpassed", "not collected")


def call(command: List[str], folder: str, env: Dict[str, str], log: IO[str]) -> None:
    """Run pytest; end all its processes with this one."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            process.wait()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def run(name: str, args: argparse.Namespace, sources: Dict[str, str]) -> None:
    suite = SUITES[name]
    if args.python:
        args.python = os.path.abspath(shutil.which(args.python) or args.python)
    else:
        set_up_python(suite.packages, args.torch)
    folder = set_up_source(suite, sources.get(suite.project))
    os.makedirs(os.path.join(WORK, "results"), exist_ok=True)
    results = os.path.join(WORK, "results", name + ".tsv")
    env = environment(suite, folder, args, results + ".new")
    options = suite.options
    if os.environ.get("UPSTREAM_CUDA"):  # Tensors are where the suite puts them: see on_cuda.py.
        env["UPSTREAM_MAP_DEVICE"] = ""
        env["TRITON_METAL_DEVICE"] = "mps" if "--device" in options else "cuda"
        options = tuple("cuda" if word == "cpu" else word for word in options)
    command = [args.python or PYTHON, "-m", "pytest", "-p", "plugin", "-p", "no:cacheprovider",
               "-q", "--tb=short", "-W", "ignore", "--no-header",
               "--continue-on-collection-errors", *options]
    command += ["-n", str(args.jobs)] if args.jobs > 1 else []
    command += ["-k", args.k] if args.k else []
    command += args.file or files_of(suite, folder)
    before = read(results)
    if args.last_failed:
        with open(results + ".only", "w", encoding="utf-8") as file:
            file.write("\n".join(row[0] for row in before.values() if row[1] in BAD))
        env["UPSTREAM_ONLY"] = results + ".only"
    if os.path.exists(results + ".new"):
        os.remove(results + ".new")
    log = os.path.join(WORK, "results", name + ".log")
    with open(log, "w", encoding="utf-8") as file:
        call(command, folder, env, file)
    rows = read(results + ".new")
    if not rows:
        with open(log, encoding="utf-8") as file:
            fail(f"{name}: no test ran:\n{file.read()[-3000:]}")
    if args.last_failed or args.k or args.file:
        rows = {**before, **rows}
    with open(results, "w", encoding="utf-8") as file:
        file.writelines("\t".join(row) + "\n" for row in rows.values())
    report(name, rows, args.causes)


def report(name: str, rows: Dict[str, Row], limit: int) -> None:
    """Print the counts and the causes of failures, most frequent first."""
    counts = collections.Counter(row[1] for row in rows.values())
    bad = [row for row in rows.values() if row[1] in BAD]
    classes = collections.Counter(row[3] for row in bad)
    seconds = sum(float(row[2]) for row in rows.values())
    outcomes = ", ".join(f"{outcome} {n}" for outcome, n in counts.most_common())
    print(f"{name}: collected {len(rows)}; {outcomes}; {seconds:.0f} s of tests")
    print("  failures: " + (", ".join(f"{k} {n}" for k, n in classes.most_common()) or "none"))
    causes: Dict[Tuple[str, str], List[str]] = {}
    for row in bad:
        causes.setdefault((row[3], shape_of(row[4])), []).append(row[0])
    for (kind, _), ids in sorted(causes.items(), key=lambda item: -len(item[1]))[:limit]:
        print(f"  {len(ids):5d} {kind:14s} {rows[ids[0]][4][:220]}\n        e.g. {ids[0]}")


def shape_of(cause: str) -> str:
    """The cause without what differs from test to test."""
    cause = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|<[^>]*>", "~", cause)
    return re.sub(r"\b(?:[uif]+\d+|bf16|float\w*|u?int\d+)\b|\d+", "#", cause)[:80]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("file", nargs="*", help="run these test files or ids of the suite only")
    parser.add_argument("--suite", action="append", choices=sorted(SUITES), help="default: core")
    parser.add_argument("--source", action="append", default=[], metavar="PROJECT=WHERE")
    parser.add_argument("--package", default=os.path.join(TOP, "build", "package"),
                        help="folder that holds triton_metal (default: build/package)")
    parser.add_argument("--python", help="use this Python, which has PyTorch and pytest")
    parser.add_argument("--torch", default="torch", help="such as torch==2.15.0")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--shard", metavar="I/N", help="run part I (from 0) of N random parts")
    parser.add_argument("--last-failed", action="store_true", help="run what failed the last time")
    parser.add_argument("--timeout", type=float, default=120, help="seconds per test")
    parser.add_argument("-k", metavar="EXPRESSION", help="as pytest's -k")
    parser.add_argument("--causes", type=int, default=40, help="print at most so many causes")
    parser.add_argument("--report", action="store_true", help="print the last results; run nothing")
    parser.add_argument("--list", action="store_true", help="list the suites")
    args = parser.parse_args()
    if args.list:
        for name, suite in SUITES.items():
            print(f"{name:10s} {suite.project:9s} {suite.revision:24.24s} {suite.about}")
        return
    sources = dict(item.split("=", 1) for item in args.source)
    for name in args.suite or (list(SUITES) if args.report else ["core"]):
        if args.report:
            rows = read(os.path.join(WORK, "results", name + ".tsv"))
            if rows:
                report(name, rows, args.causes)
        else:
            run(name, args, sources)


if __name__ == "__main__":
    main()
