"""Exceptions of the package, with the names, fields and texts of Triton's own."""

from __future__ import annotations

import ast
import functools
import re
from typing import Any, Optional


class TritonError(Exception):
    """Base of all errors that compiling, tuning and launching kernels raises."""


class CompilationError(TritonError):
    """A kernel that cannot be compiled.

    `src` is the text of the function, `node` the place in it (line and column count as in
    Triton: from the `def`), `error_message` what is wrong. `file`, `line` and `column` are the
    place in the user's file, `code` is tmetal's number (803 of TM803), and `text` has all
    diagnostics of the run with their notes and remedies.
    """

    source_line_count_max_in_message = 12

    def __init__(self, src: Optional[str], node: Optional[ast.AST],
                 error_message: Optional[str] = None, *, file: Optional[str] = None,
                 line: int = 0, column: int = 0, code: int = 0, text: str = "") -> None:
        super().__init__(error_message)
        self.src = src
        self.node = node
        self.error_message = error_message
        self.file = file
        self.line = line
        self.column = column
        self.code = code
        self.text = text

    @property
    def message(self) -> str:
        """The place and the source up to it, all diagnostics, then the message."""
        parts = [self._excerpt()] if self.src is not None or self.node is not None else []
        if self.text:
            parts.append(self.text.rstrip())
        if self.error_message:
            parts.append(self.error_message)
        return "\n".join(parts) if parts else "<source unavailable>"

    def _excerpt(self) -> str:
        line: Optional[int] = getattr(self.node, "lineno", None)
        column: int = getattr(self.node, "col_offset", 0)
        if line is None:
            return self.src or " <source unavailable>"
        excerpt = " <source unavailable>"
        if self.src is not None:
            lines = self.src.split("\n")[:line][-self.source_line_count_max_in_message:]
            excerpt = "\n".join([*lines, " " * column + "^"]) if lines else " <source empty>"
        return f"at {line}:{column}:\n{excerpt}"

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {name: getattr(self, name) for name in ("file", "line", "column", "code", "text")}
        return functools.partial(type(self), **kept), (self.src, self.node, self.error_message)


class CompileTimeAssertionFailure(CompilationError):
    """A `tl.static_assert` that does not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """Python that a kernel may not contain."""


class OutOfResources(TritonError):
    """A kernel needs more of something than the GPU has."""

    def __init__(self, required: int, limit: int, name: str) -> None:
        super().__init__(required, limit, name)
        self.required = required
        self.limit = limit
        self.name = name

    def __str__(self) -> str:
        return (f"out of resource: {self.name}, Required: {self.required}, Hardware limit: "
                f"{self.limit}. Reducing block sizes or `num_stages` may help.")


class _Worded(TritonError):
    """An error whose text is a message behind a fixed beginning."""

    beginning = ""

    def __init__(self, error_message: Optional[str] = None) -> None:
        super().__init__(error_message)
        self.error_message = error_message

    def __str__(self) -> str:
        return self.beginning + (self.error_message or "")


class InterpreterError(_Worded):
    """Of Triton's interpreter; the simulator raises SimulatorError."""


class AutotunerError(_Worded):
    """The autotuner was given something that it cannot use."""

    beginning = "Autotuner error: "


class PTXASError(_Worded):
    """Never raised here; tuners written for NVIDIA catch it."""

    beginning = "PTXAS error: "


class SimulatorError(TritonError, RuntimeError):
    """A launch broke a rule in the simulator: a race, a stray access, an uninitialized read."""


STATIC_ASSERT = 810  # the code of its diagnostic
RETURNS = r"the function returns (.+) here, but (.+) elsewhere"  # Triton marks the `def`

# tmetal's message and Triton's, where programs look for Triton's words.
_WORDS: tuple[tuple[str, str], ...] = (
    (r"kernels cannot read the module's (\w+): it is no tl\.constexpr",
     r"""NameError("Cannot access global variable \1 from within @jit'ed function. Triton """
     r"""kernels can only access global variables that are instanstiated as constexpr """
     r"""(`x = triton.language.constexpr(42)`).")"""),
    (r"^(\w+) is not defined$", r"NameError('\1 is not defined')"),
    (r"operator \S+ is not defined for ([^\n]+) and ([^\n]+)",
     r"invalid operands of type \1 and \2"),
    (r"arange: \d+ elements: the number must be a power of two",
     r"arange's range must be a power of 2"),
    (r"sizes must be powers of two, but axis (\d+) has \d+",
     r"Shape element \1 must be a power of 2"),
    (r"a tensor indexed by slice", r"unsupported tensor index: slice"),
    (r"^dot_scaled: (\w+_scale) must be a block \[(\d+), (\d+)\].* not \w+\[(\d+), (\d+)\]$",
     r"\1 must be a tensor of shape [..., \2, \3]. Got ['\4', '\5']"),
    (r"^\w+: (max_num_imprecise_acc .+|duplicate axes, .+)$", r"\1"),
    (r"^store: cannot store to a constant pointer", r"Cannot store to a constant pointer"),
    (r"^'(\w+)' is (.+) at the end of the one branch, but (.+) at the end of the other",
     r"Mismatched type for \1 between then block (\2) and else block (\3)"),
    (r"the two sides of an if expression have types (.+)",
     r"Ternary expression with dynamic condition has inconsistent types \1"),
    (r"^Triton does not take a return inside a loop", "Cannot have `return` statements inside "
     "`while` or `for` statements in triton"),
    (RETURNS, r"Return type mismatch: \2 and \1"),
)


def triton_words(message: str) -> str:
    """A message of the front end in Triton's words, if programs look for them."""
    for pattern, words in _WORDS:
        found = re.search(pattern, message)
        if found is not None:
            return found.expand(words)
    return message
