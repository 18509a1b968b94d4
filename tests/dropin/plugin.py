"""pytest plugin for running another project's tests against triton_metal (see upstream.py).

Loaded with `-p plugin`. It makes `import triton` mean triton_metal, runs a share of the tests,
limits each test's time, maps the device where a suite hard-codes 'cuda', and appends one line per
test to a TSV file: id, outcome, seconds, class of the failure, first line of the error.

Environment: UPSTREAM_HELPERS (folder of the suite's own `triton/_internal_testing.py`),
UPSTREAM_TIMEOUT (seconds per test), UPSTREAM_SHARD (i/n), UPSTREAM_ONLY (file with the ids to run),
UPSTREAM_RESULTS (file to append to), UPSTREAM_MAP_DEVICE (device that 'cuda' stands for).
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import signal
import sys
import types
from typing import Any, Iterator
from zlib import crc32

import pytest

# Modules that a project's tests import from the triton package, but which belong to its tests.
TEST_HELPERS = ("_internal_testing", "tools.mxfp")


class TestTimeout(BaseException):
    """A test took longer than UPSTREAM_TIMEOUT seconds."""

    __test__ = False


def use_triton_metal() -> None:
    """Make `import triton` mean triton_metal, and load the suite's helpers from its own source."""
    triton_metal = importlib.import_module("triton_metal")
    triton_metal.install()
    folder = os.environ.get("UPSTREAM_HELPERS")
    for name in TEST_HELPERS if folder else ():
        path = os.path.join(str(folder), name.replace(".", os.sep) + ".py")
        if os.path.exists(path):
            sys.meta_path.insert(0, _Helper("triton." + name, path))
    here = os.path.dirname(os.path.abspath(__file__))
    sys.meta_path.insert(0, _Helper("triton._filecheck", os.path.join(here, "filecheck.py")))


class _Helper:
    """Finds one module at a given path."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path)


def map_device(to: str) -> None:
    """Let every PyTorch function that is asked for 'cuda' use the device `to`."""
    import torch
    from torch.overrides import TorchFunctionMode

    def mapped(value: Any) -> Any:
        if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
            return to
        if isinstance(value, torch.device) and value.type == "cuda":
            return torch.device(to)
        return value

    class MapDevice(TorchFunctionMode):
        def __torch_function__(self, func: Any, classes: Any, args: Any = (),
                               kwargs: Any = None) -> Any:
            if func is torch.Tensor.cuda:
                return args[0].to(to)
            if getattr(func, "__self__", None) is torch.Tensor.is_cuda:
                return True  # The getter of the property.
            named = {name: mapped(value) for name, value in (kwargs or {}).items()}
            return func(*map(mapped, args), **named)

    MapDevice().__enter__()

    class Generator(torch.Generator):
        def __new__(cls, device: Any = "cpu") -> Any:
            return super().__new__(cls, mapped(device))

    tensor_to, register = torch.nn.Module.to, torch.library.Library.impl

    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **named: Any) -> Any:
        key = (dispatch_key or self.dispatch_key).replace("CUDA", to.upper())
        return register(self, op_name, fn, key, **named)

    torch.library.Library.impl = impl  # type: ignore
    torch.Generator = Generator  # type: ignore[misc]
    torch.nn.Module.to = (  # type: ignore
        lambda self, *args, **kwargs: tensor_to(
            self, *map(mapped, args), **{name: mapped(value) for name, value in kwargs.items()})
    )
    torch.nn.Module.cuda = lambda self, device=None: tensor_to(self, to)  # type: ignore
    torch.cuda.synchronize = lambda device=None: None
    torch.cuda.device = lambda device=None: contextlib.nullcontext()  # type: ignore
    torch.cuda.get_device_capability = lambda device=None: (8, 0)
    torch.cuda.current_device = lambda: 0
    torch.cuda.device_count = lambda: 1
    torch.cuda.get_device_name = lambda device=None: "mapped"
    torch.cuda.get_device_properties = lambda device=None: types.SimpleNamespace(
        multi_processor_count=8, major=8, minor=0, name="mapped", total_memory=8 << 30)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    keep = items
    if os.environ.get("UPSTREAM_ONLY"):
        with open(os.environ["UPSTREAM_ONLY"], encoding="utf-8") as file:
            wanted = set(file.read().split("\n"))
        keep = [item for item in keep if item.nodeid in wanted]
    if os.environ.get("UPSTREAM_SHARD"):
        shard, shards = map(int, os.environ["UPSTREAM_SHARD"].split("/"))
        keep = [item for item in keep if crc32(item.nodeid.encode()) % shards == shard]
    if len(keep) != len(items):
        kept = set(map(id, keep))
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = keep


@contextlib.contextmanager
def limit() -> Iterator[None]:
    """Interrupt the body after UPSTREAM_TIMEOUT seconds, and again if it goes on."""
    seconds = float(os.environ.get("UPSTREAM_TIMEOUT", "0"))

    def stop(signum: int, frame: Any) -> None:
        raise TestTimeout(f"the test took longer than {seconds:g} s")

    torch = sys.modules.get("torch")
    gradients = torch is not None and torch.is_grad_enabled()
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if torch is not None:  # An interrupted no_grad() may have left them off.
            torch.set_grad_enabled(gradients)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: Any) -> Iterator[None]:
    with limit():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Iterator[None]:
    with limit():
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: Any) -> None:
    """Triton runs its test_debug.py with one process per test; here they share one."""
    sys.modules["triton"].knobs.refresh_knobs()


# Classes of failures, first match wins: name, expression over the error's text.
CLASSES = (
    ("timeout", r"TestTimeout"),
    ("crash", r"^worker .* crashed"),
    ("check", r"SimulatorError|race between threadgroups|uninitiali[sz]ed|out of bounds"),
    ("rejected", r"CompilationError|UnsupportedLanguageConstruct|error\[TM"),
    ("wrong numbers", r"not close|Mismatched elements|Arrays are not|not equal to tolerance"
                      r"|allclose|assert_equal|Scalars are not|\.all\(\)|max_diff|torch\.equal"),
    ("message", r"Regex pattern did not match|DID NOT RAISE|DID NOT WARN"),
    ("no device", r"Torch not compiled with CUDA|No CUDA GPUs|NVIDIA driver|CUDA_HOME|nvidia-smi"),
    ("missing module", r"ModuleNotFoundError|ImportError|OSError: .*huggingface"),
    ("missing name", r"AttributeError|KeyError|NameError"),
    ("type", r"TypeError|NotImplementedError|ValueError"),
    ("assertion", r"AssertionError|^assert "),
)


def cause_of(text: str, crash: str) -> tuple[str, str]:
    """Class and one line of cause of a failed test's report."""
    lines = [line[1:].strip() for line in text.split("\n") if re.match(r"E\s", line)]
    first = crash.strip().split("\n")[0] if crash else ""
    named = [line for line in lines if re.search(r"error\[TM\d+\]", line)]
    if "CompilationError" in first and named:
        first = "CompilationError: " + named[0].split(": ", 1)[1]
    if len(lines) > 1 and (first.endswith(":") or len(first) < 30):
        first += " | " + " ".join(lines[1:4])
    first = first or (lines[0] if lines else text.strip().split("\n")[-1])
    whole = crash + "\n" + "\n".join(lines)
    kind = next((name for name, pattern in CLASSES if re.search(pattern, whole, re.M)), "other")
    return kind, re.sub(r"\s+", " ", first)[:300]


def _write(config: Any, row: tuple[str, ...]) -> None:
    path = os.environ.get("UPSTREAM_RESULTS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write("\t".join(part.replace("\t", " ") for part in row) + "\n")


def _outcome(report: Any) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    return str(report.outcome)


class Recorder:
    """Writes a line per finished test, in the process that sees all reports."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.rows: dict[str, tuple[str, float, str, str]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        outcome, seconds, kind, cause = self.rows.pop(report.nodeid, ("", 0.0, "", ""))
        seconds += report.duration
        if not outcome and (report.when == "call" or not report.passed):
            outcome = _outcome(report)
            if report.failed:
                crash = getattr(getattr(report.longrepr, "reprcrash", None), "message", "")
                kind, cause = cause_of(str(report.longrepr), crash)
            elif report.skipped and isinstance(report.longrepr, tuple):
                cause = re.sub(r"\s+", " ", report.longrepr[2])[:300]
        if report.when in ("teardown", "???"):
            row = (report.nodeid, outcome, f"{seconds:.3f}", kind, cause)
            _write(self.config, row)
        else:
            self.rows[report.nodeid] = (outcome, seconds, kind, cause)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            kind, cause = cause_of(str(report.longrepr), "")
            _write(self.config, (report.nodeid, "not collected", "0", kind, cause))

    def pytest_sessionfinish(self) -> None:
        for name, (outcome, seconds, kind, cause) in self.rows.items():
            row = (name, outcome or "error", f"{seconds:.3f}", kind or "crash", cause)
            _write(self.config, row)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: Any) -> None:
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Recorder(session.config), "upstream-recorder")


use_triton_metal()
if os.environ.get("UPSTREAM_CUDA"):
    importlib.import_module("on_cuda").use()
if os.environ.get("UPSTREAM_MAP_DEVICE"):
    map_device(os.environ["UPSTREAM_MAP_DEVICE"])
