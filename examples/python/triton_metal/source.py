"""Kernels as texts for the C front end, with every name bound to what Python says it is.

Each function that a kernel reaches becomes a module text of its own. A line at its end imports or
defines each free name of the function (the front end does not mind the order): Python's globals,
closures and modules decide what that name is, so nothing is searched in files and nothing is
guessed. A name whose value has no text stays undefined; the front end reports it if the kernel
really needs it.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import enum
import functools
import itertools
import os
import re
import sys
import threading
import types
import weakref
from typing import Any, Iterable, Iterator, NamedTuple, Optional, Union

from . import knobs, language
from .library import File

PACKAGE = __name__.partition(".")[0]
OURS = PACKAGE, "triton"
# modules whose functions the front end knows by their own names
KNOWN_MODULES = {"math", "operator", "itertools", "numpy", "torch", "os", "sys", "platform", "copy",
                 "builtins", "typing", "enum"}
Namespace = Union[dict[str, Any], types.CellType]
Closure = dict[str, tuple[Namespace, Any]]
# (name, id of the namespace) -> (a copy of the value, namespace)
Globals = dict[tuple[str, int], tuple[Any, dict[str, Any]]]


def digest(text: str) -> str:
    """The SHA-256 of a text."""
    import hashlib  # slow to import, and launches do not need it
    return hashlib.sha256(text.encode()).hexdigest()


_locked: weakref.WeakSet[Any] = weakref.WeakSet()


def new_lock(owner: Any) -> Any:
    """A lock that will be the attribute `lock` of an object, and a new one after a fork."""
    _locked.add(owner)
    return threading.RLock()


def _renew_locks() -> None:
    """After a fork: a lock that a different thread of the parent held would never open."""
    for owner in [*_locked]:
        owner.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


class _Parsing:
    lock: Any


_Parsing.lock = new_lock(_Parsing)


def parse(text: str) -> ast.Module:
    """The syntax tree of a text. Python 3.11 fails if several threads parse at the same time."""
    with _Parsing.lock:
        return ast.parse(text)


class SourceInfo:
    """The text of a function or class, without decorators, and where it is in the user's file."""

    def __init__(self, obj: Any, keyword: str = "def") -> None:
        import inspect  # slow to import, like all that follows a decorator only
        import textwrap
        try:
            self.lines, self.first_line = inspect.getsourcelines(obj)
        except (OSError, TypeError) as error:
            raise ValueError("@jit functions should be defined in a Python file") from error
        text = textwrap.dedent("".join(self.lines))
        found = re.search(rf"^{keyword}\s+\w+\s*[(:]", text, re.MULTILINE)
        if found is None:
            raise ValueError(f"the source of {obj} has no `{keyword}`")
        self.text = text[found.start():]
        self.line = self.first_line + text[:found.start()].count("\n")
        code = getattr(obj, "__code__", None)
        self.path: str = code.co_filename if code else inspect.getsourcefile(obj) or "<unknown>"
        self.signature: Any = inspect.signature(obj) if code else None


class PlainFunction:
    """A Python function in a tl.constexpr: kernels call it as a constexpr function."""

    mark = "@triton.constexpr_function"

    def __init__(self, fn: types.FunctionType) -> None:
        info = SourceInfo(fn)
        self.fn, self.src, self.source_line = fn, info.text, info.line
        self.__name__ = fn.__name__
        self.__globals__ = fn.__globals__
        self.signature = info.signature


class Use(NamedTuple):
    """How a text uses a name from outside."""

    chains: frozenset[str]  # attributes read from it, as "a.b"
    in_body: bool  # False: in defaults and annotations only, which are evaluated at `def`


@functools.lru_cache(maxsize=512)
def free_names(text: str) -> dict[str, Use]:
    """The names that a text reads from outside.

    Triton looks a name that is assigned later up outside, too, where Python would raise an error.
    """
    import symtable
    tree = parse(text)
    own = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    in_body: set[str] = set()
    at_def: set[str] = set()
    scopes = [symtable.symtable(text, "<kernel>", "exec")]
    while scopes:
        scope = scopes.pop()
        scopes.extend(scope.get_children())
        for symbol in scope.get_symbols():
            if scope.get_type() == "module" and symbol.is_referenced():
                at_def.add(symbol.get_name())
            elif symbol.is_global() and symbol.is_referenced():
                in_body.add(symbol.get_name())
    in_body |= _read_before_assigned(tree)
    for node in ast.walk(tree):  # annotations that are texts, as in `n: "tl.constexpr"`
        note = getattr(node, "annotation", None)
        if isinstance(note, ast.Constant) and isinstance(note.value, str):
            at_def |= {*re.findall(r"(?<![\w.])[A-Za-z_]\w*", note.value)} & {"tl", "triton"}
    names: dict[str, set[str]] = {name: set() for name in sorted((in_body | at_def) - own)}
    for node in ast.walk(tree):
        chain: list[str] = []
        while isinstance(node, ast.Attribute):
            chain.append(node.attr)
            node = node.value
        if chain and isinstance(node, ast.Name) and node.id in names:
            names[node.id].add(".".join(reversed(chain)))
    return {name: Use(frozenset(chains), name in in_body) for name, chains in names.items()}


def _read_before_assigned(tree: ast.Module) -> set[str]:
    """Names that the function assigns, but reads in an earlier place."""
    first: dict[str, tuple[int, int]] = {}
    read: dict[str, tuple[int, int]] = {}
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in arguments:
            places = read if isinstance(node.ctx, ast.Load) else first
            at = (node.lineno, node.col_offset)
            places[node.id] = min(at, places.get(node.id, at))
    return {name for name, at in first.items() if name in read and (
        read[name] < at or read[name][0] == at[0])}


def _closure(fn: Any) -> Closure:
    """The closure's names of a function with their cells and values."""
    scope: Closure = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        with contextlib.suppress(ValueError):  # not assigned yet
            scope[name] = cell, cell.cell_contents
    return scope


def _outside(text: str, scope: dict[str, Any],
             closure: Closure) -> Iterator[tuple[str, Use, Namespace, Any]]:
    """The names that a text uses from outside: what has each, and what it is."""
    for name, use in free_names(text).items():
        if name in closure:
            yield (name, use, *closure[name])
        elif name in scope:
            yield name, use, scope, scope[name]


class Unit:
    """One module text: its head, which binds names, and a function or class."""

    def __init__(self, name: str, of: Any) -> None:
        self.name, self.of = name, of
        self.head = ["import triton; import triton.language as _tl"]
        self.body = self.entry = self.path = ""
        self.marks: list[str] = []  # lines above the body: decorators, imports
        self.line = 0

    def alias(self, statement: str) -> str:
        """Add a statement with {} for a new name; that name."""
        name = f"_tm{len(self.head)}"
        self.head.append(statement.format(name))
        return name

    def text(self) -> str:
        """The whole text. Its marks need lines above the body, as decorators have in a file."""
        if self.line > len(self.marks):
            return "\n".join([*self.marks, self.body, "; ".join(self.head), ""])
        last = self.marks[-1:]
        if last and last[0].startswith("@"):
            last = [f"{self.entry} = {last[0][1:].partition('(')[0]}({self.entry})"]
        return f"{self.body}\n{'; '.join([*self.head, *last])}\n"

    def file(self) -> File:
        """The text as the library takes it, with the line of the user's file where it begins."""
        return File(self.name, self.text(), self.path or self.name,
                    max(1, self.line - len(self.marks)))


class Program:
    """A function and all that it reaches.

    `watched` has each name that was looked up, with the object that it was: if one is a different
    object later, the texts are out of date. `functions` has every function that was reached, and
    `used` the values that each uses from outside, which may not change.
    """

    def __init__(self, fn: Any, entry: str = "") -> None:
        self.units: list[Unit] = []
        self.watched: list[tuple[Namespace, str, Any]] = []
        self.functions: list[Any] = []
        self.used: list[tuple[Any, Globals]] = []
        self.unbound: set[str] = set()  # names whose values have no text
        self._known: dict[Any, Unit] = {}
        self.main = self.function(fn)
        if entry and entry != self.main.entry:
            self.main.body = re.sub(r"^def\s+\w+", f"def {entry}", self.main.body, count=1)
            self.main.entry = entry

    def files(self) -> list[File]:
        """All texts but the main one."""
        return [unit.file() for unit in self.units if unit is not self.main]

    def digest(self) -> str:
        """A hash of all texts, and of the lines where they begin."""
        return digest(repr([(unit.text(), unit.line) for unit in self.units]))

    def _new(self, key: Any, of: Any) -> Unit:
        unit = self._known[key] = Unit(f"tmf{len(self.units)}", of)
        self.units.append(unit)
        return unit

    # -- Units ---------------------------------------------------------------------------------

    def function(self, fn: Any) -> Unit:
        """The unit of a jit or constexpr function."""
        key = (id(fn.fn), fn.src)
        if key in self._known:
            return self._known[key]
        unit = self._new(key, fn)
        self.functions.append(fn)
        unit.path, unit.line = fn.fn.__code__.co_filename, fn.source_line
        words = getattr(fn, "_must_use_result", None)
        if words:
            reason = f"({words!r})" if isinstance(words, str) else ""
            unit.marks = ["@triton.must_use_result" + reason]
        unit.marks.append(fn.mark + ("(noinline=True)" if getattr(fn, "noinline", False) else ""))
        unit.body = self._with_defaults(fn, unit)
        unit.entry = re.findall(r"^def\s+(\w+)", fn.src)[0]
        closure = _closure(fn.fn)
        self._bind_all(unit, fn.src, fn.__globals__, closure)
        if not isinstance(fn, PlainFunction):
            self.used.append((fn, _values_used(fn, closure)))
        return unit

    def _bind_all(self, unit: Unit, text: str, scope: dict[str, Any], closure: Closure) -> None:
        for name, use, space, value in _outside(text, scope, closure):
            if self._bind(unit, name, value, use.chains) and use.in_body:
                self.watched.append((space, name, value))

    def _with_defaults(self, fn: Any, unit: Unit) -> str:
        """The source in which defaults that are not literals are the values they had at `def`."""
        text: str = fn.src
        args = next(node for node in parse(text).body if isinstance(node, ast.FunctionDef)).args
        names = [arg.arg for arg in [*args.posonlyargs, *args.args]]
        defaults: list[tuple[str, Optional[ast.expr]]] = [
            *zip(names[len(names) - len(args.defaults):], args.defaults),
            *zip([arg.arg for arg in args.kwonlyargs], args.kw_defaults)]
        lines = text.encode().split(b"\n")
        for name, node in reversed(defaults):
            parameter = fn.signature.parameters.get(name)
            has_names = node is not None and any(
                isinstance(part, ast.Name) and not hasattr(builtins, part.id)
                for part in ast.walk(node))
            if node is not None and parameter is not None and has_names:
                value = self.expression(parameter.default, unit)
                if value is not None:
                    _replace(lines, node, value.encode())
        return b"\n".join(lines).decode()

    def _class(self, cls: type) -> Unit:
        """The unit of a NamedTuple, an aggregate, an Enum or a class of constants."""
        if id(cls) in self._known:
            return self._known[id(cls)]
        unit = self._new(id(cls), cls)
        unit.entry = cls.__name__
        if getattr(cls, "__triton_aggregate__", False) or _is_written_tuple(cls):
            info = SourceInfo(cls, "class")
            unit.path, unit.line, unit.body = info.path, info.line, info.text
            unit.marks = ["@_tl.core._aggregate" if hasattr(cls, "__triton_aggregate__")
                         else "from typing import NamedTuple"]
            scope = vars(sys.modules[cls.__module__])
            closure: Closure = {}
            for method in vars(cls).values():
                plain = getattr(method, "fn", method)
                if isinstance(plain, types.FunctionType):
                    inner = _closure(plain)
                    closure.update(inner)
                    if plain is not method:
                        self.used.append((method, _values_used(method, inner)))
            self._bind_all(unit, info.text, scope, closure)
        elif hasattr(cls, "_fields"):
            unit.marks = ["from typing import NamedTuple"]
            fields = "".join(f"    {field}: object\n" for field in cls._fields) or "    pass\n"
            unit.body = f"class {cls.__name__}(NamedTuple):\n{fields}"
        else:
            self._class_of_constants(unit, cls)
        return unit

    def _class_of_constants(self, unit: Unit, cls: type) -> None:
        members: Iterable[tuple[str, Any]] = vars(cls).items()
        base = ""
        if issubclass(cls, enum.Enum):
            base = "(IntEnum)" if issubclass(cls, int) else "(Enum)"
            unit.marks = ["from enum import Enum, IntEnum"]
            members = [(name, member.value) for name, member in cls.__members__.items()]
        rows = []
        for name, value in members:
            text = None if name.startswith("__") else self.expression(value, unit)
            if text is not None:
                rows.append(f"    {name} = {text}\n")
        unit.body = f"class {cls.__name__}{base}:\n{''.join(rows) or '    pass'}"

    def _module(self, module: types.ModuleType, chains: Iterable[str]) -> Optional[Unit]:
        """The unit with the used attributes of a module; None: none has a text."""
        key = (module.__name__, frozenset(chains))
        if key not in self._known:
            unit = self._new(key, module)
            inner: dict[str, set[str]] = {}
            for chain in key[1]:
                first, _, rest = chain.partition(".")
                inner.setdefault(first, set()).update([rest] if rest else [])
            for name, rests in inner.items():
                value = getattr(module, name, self)
                if value is not self and self._bind(unit, name, value, rests):
                    self.watched.append((vars(module), name, value))
        unit = self._known[key]
        return unit if len(unit.head) > 1 else None

    # -- Names ---------------------------------------------------------------------------------

    def _bind(self, unit: Unit, name: str, value: Any, chains: Iterable[str]) -> bool:
        """Define a name of a unit. True: what it is may change while the program runs."""
        value = unwrap(value)
        if isinstance(value, types.ModuleType):
            self._bind_module(unit, name, value, chains)
            return False
        plain = value.value if isinstance(value, language.constexpr) else value
        is_python = (isinstance(plain, types.FunctionType) and plain is value
                     and unit.marks != [PlainFunction.mark])  # kernels cannot call it
        place = None if is_python and not _place_of_ours(value) else self._place(plain)
        if place is not None and "." not in place[1]:
            unit.head.append(f"from {place[0]} import {place[1]} as {name}")
            return not _place_of_ours(plain)
        text = None if is_python else self.expression(value, unit)
        if text is None:
            self.unbound.add(name)
            return False
        is_constant = plain is not value or (knobs.compilation.allow_non_constexpr_globals
                                             and not isinstance(value, (type, language.dtype)))
        unit.head.append(f"{name} = _tl.constexpr({text})" if is_constant else f"{name} = {text}")
        return True

    def _bind_module(self, unit: Unit, name: str, module: types.ModuleType,
                     chains: Iterable[str]) -> None:
        real = module.__name__
        if real == PACKAGE or real.startswith(PACKAGE + "."):
            real = "triton" + real[len(PACKAGE):]
        if real.split(".")[0] == "triton" or real in KNOWN_MODULES:
            unit.head.append(f"import {real}" if real == name else f"import {real} as {name}")
            return
        inner = self._module(module, chains)
        if inner is not None:
            unit.head.append(f"import {inner.name} as {name}")

    # -- Values --------------------------------------------------------------------------------

    def expression(self, value: Any, unit: Unit) -> Optional[str]:
        """A value as the unit's text would write it; None: it has no text."""
        value = unwrap(value)
        if isinstance(value, language.constexpr):
            return self.expression(value.value, unit)
        if type(value).__module__ == "numpy" and not hasattr(value, "__len__"):
            value = value.item()  # a scalar
        if value is None or isinstance(value, bool):
            return repr(value)
        if isinstance(value, enum.Enum):
            inner = self._class(type(value))
            return unit.alias(f"import {inner.name} as {{}}") + f".{inner.entry}.{value.name}"
        if isinstance(value, int):
            return repr(int(value))
        if isinstance(value, float):
            finite = value == value and abs(value) != float("inf")
            return repr(float(value)) if finite else f'float("{float(value)}")'
        if isinstance(value, str):
            import json
            return json.dumps(value)
        if isinstance(value, language.pointer_type):
            element = self.expression(value.element_ty, unit)
            return f"_tl.pointer_type({element})"
        if isinstance(value, language.block_type):
            return f"_tl.block_type({self.expression(value.element_ty, unit)}, {value.shape})"
        if isinstance(value, language.dtype):
            return f"_tl.{value.codegen_name()}"
        if isinstance(value, (tuple, list, dict, language.tuple)):
            return self._collection(value, unit)
        place = self._place(value)
        if place is None:
            return None
        return unit.alias(f"import {place[0]} as {{}}") + f".{place[1]}"

    def _collection(self, value: Any, unit: Unit) -> Optional[str]:
        values = itertools.chain(*value.items()) if isinstance(value, dict) else value
        parts = [self.expression(one, unit) or "" for one in values]
        if "" in parts:  # of a value without a text
            return None
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k}: {v}" for k, v in zip(parts[::2], parts[1::2])) + "}"
        inside = ", ".join(parts)
        if isinstance(value, list):
            return f"[{inside}]"
        if hasattr(value, "_fields"):
            inner = self._class(type(value))
            return unit.alias(f"import {inner.name} as {{}}") + f".{inner.entry}({inside})"
        return f"({inside},)" if len(parts) == 1 else f"({inside})"

    def _place(self, value: Any) -> Optional[tuple[str, str]]:
        """The module and the name under which a function or class is found in it."""
        if hasattr(value, "source_line"):
            inner = self.function(value)
            return inner.name, inner.entry
        ours = _place_of_ours(value)
        if ours is None and isinstance(value, types.FunctionType) and value.__name__.isidentifier():
            inner = self.function(PlainFunction(value))
            return inner.name, inner.entry
        if ours is not None or not isinstance(value, type) or not _has_text(value):
            return ours
        inner = self._class(value)
        return inner.name, inner.entry


def unwrap(value: Any) -> Any:
    """The jit function inside of autotuners and heuristics."""
    while hasattr(value, "fn") and hasattr(value, "run") and not hasattr(value, "source_line"):
        value = value.fn
    return value


def _values_used(fn: Any, closure: Closure) -> Globals:
    """The values that a function uses from outside, and a check of the functions among them."""
    used: Globals = {}
    for name, use, space, value in _outside(fn.src, fn.__globals__, closure):
        for chain in sorted(use.chains):
            _is_plain(_member(unwrap(value), chain))
        if use.in_body and _is_plain(unwrap(value)):
            space = space if isinstance(space, dict) else {name: value}
            used[(name, id(space))] = (_snapshot(value), space)
    return used


def _member(module: Any, chain: str) -> Any:
    """What a.b is in a module that is not known to be harmless; otherwise None."""
    for name in chain.split("."):
        if not isinstance(module, types.ModuleType) or module.__name__.split(".")[0] in OURS \
                or module.__name__ in ("copy", "math"):
            return None
        module = unwrap(getattr(module, name, None))
    return module


def _is_plain(value: Any) -> bool:
    """Is it a value? It may not change once a kernel uses it. RuntimeError: a foreign function."""
    if value is None or isinstance(value, types.ModuleType) or hasattr(value, "source_line") \
            or getattr(value, "__triton_builtin__", False) \
            or getattr(value, "__triton_aggregate__", False):
        return False
    if not callable(value) or isinstance(value, (type, language.constexpr)):
        return True
    module: str = getattr(value, "__module__", "") or ""
    if isinstance(value, types.BuiltinFunctionType) or module.split(".")[0] in OURS:
        return False
    raise RuntimeError(f"Unsupported function referenced: {value}")


def _snapshot(value: Any) -> Any:
    """A copy that stays as it is when the value changes; the value if it cannot be copied."""
    try:
        return copy.deepcopy(value)
    except Exception:  # of user-defined classes
        return value


def _place_of_ours(value: Any) -> Optional[tuple[str, str]]:
    """Module and name of a function or class of Triton's or Python's that the front end knows."""
    module: str = getattr(value, "__module__", None) or ""
    if isinstance(value, language.Builtin):
        return value.module, value.__name__
    if isinstance(value, type):
        if value in language.TYPES or value is language.PropagateNan:
            return "triton.language", value.__name__
        return ("builtins", value.__name__) if module == "builtins" else None
    if isinstance(value, types.BuiltinFunctionType):
        return (module, value.__name__) if module in KNOWN_MODULES else None
    if module.split(".")[0] == PACKAGE and isinstance(value, types.FunctionType):
        in_language = module.startswith(f"{PACKAGE}.language")
        return "triton.language" if in_language else "triton", value.__name__
    return None


def _has_text(cls: type) -> bool:
    return (hasattr(cls, "_fields") or hasattr(cls, "__triton_aggregate__")
            or issubclass(cls, enum.Enum) or cls.__module__ in sys.modules
            and any(isinstance(v, (int, float, str, tuple)) for k, v in vars(cls).items()
                    if not k.startswith("__")))


def _is_written_tuple(cls: type) -> bool:
    """Is it a NamedTuple with a class statement of its own?"""
    if not hasattr(cls, "_fields") or "__annotations__" not in vars(cls):
        return False
    with contextlib.suppress(ValueError):
        return bool(SourceInfo(cls, "class").text)
    return False


def _replace(lines: list[bytes], node: ast.expr, text: bytes) -> None:
    """Replace an expression that may span lines; the number of lines stays."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    tail = lines[last][node.end_col_offset:]
    lines[first] = lines[first][:node.col_offset] + text + (tail if first == last else b"")
    for number in range(first + 1, last + 1):
        lines[number] = tail if number == last else b""
