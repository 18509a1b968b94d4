"""`triton._filecheck` for Triton's own tests: the one in Triton's package needs its compiler.

Tests that check the IR of calls are skipped: they look at it before Triton inlines functions, and
here, as in Triton, asm["ttir"] is what it is afterwards. Tests that check asm["ttir"] run LLVM's
FileCheck (Debian: llvm), and are skipped without it.
"""

from __future__ import annotations

import functools
import glob
import shutil
import subprocess
import tempfile
from typing import Any, Callable, NoReturn, Sequence

import pytest


def run_parser(kernel: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
    """Compile a kernel for these arguments."""
    return kernel.warmup(*args, grid=(1,), **(kwargs or {}))


def run_filecheck(name: str, text: str, checks: str) -> None:
    """Raise ValueError unless a text passes the checks."""
    found = sorted(glob.glob("/usr/lib/llvm-*/bin/FileCheck"))
    program = shutil.which("FileCheck") or (found[-1] if found else None)
    if program is None:
        pytest.skip("LLVM's FileCheck is not installed")
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(checks)
        file.flush()
        run = subprocess.run([program, file.name], input=text, text=True, check=False,
                             stderr=subprocess.PIPE)
    if run.returncode:
        raise ValueError(f"{run.stderr}\n{text}")


def run_filecheck_test(kernel: Any) -> NoReturn:
    """Skip: the checks are of IR with calls."""
    pytest.skip("checks IR before functions are inlined, which only Triton's own compiler has")


def filecheck_test(kernel: Any) -> Callable[[], None]:
    """As a decorator of a kernel, whose text has the checks."""
    @functools.wraps(kernel)
    def test() -> None:
        run_filecheck_test(kernel)

    return test
