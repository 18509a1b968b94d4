"""triton.profiler for programs that import it: scopes, which record only within a session.

There are no sessions here: Proton reads the counters of NVIDIA's and AMD's GPUs. Use Apple's tools
(Instruments, a GPU capture in Xcode) to profile Metal.
"""
from __future__ import annotations

import contextlib
from typing import Any, NoReturn


class scope(contextlib.ContextDecorator):
    """A named part of a program, as a context or a decorator."""

    def __init__(self, name: str, metrics: Any = None) -> None:
        self.name, self.metrics = name, metrics

    def __enter__(self) -> None:
        """Nothing is recorded without a session."""

    def __exit__(self, *_: Any) -> None:
        """As __enter__."""


def start(*args: Any, **kwargs: Any) -> NoReturn:
    """Sessions are not supported."""
    raise NotImplementedError("triton.profiler has no sessions here: profile Metal with Apple's "
                              "Instruments, or time kernels with triton.testing.do_bench")


activate = deactivate = finalize = profile = start
