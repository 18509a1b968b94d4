"""What the caller of a launch would say: the lines of NAME.call, in words that need no Python to read.

    file ../control.py        the kernel's text, relative to the .call
    kernel outer.inner        its name; one that is defined in a function, after that function
    args *fp32:16, i32, 1     what the parameters get that no `const` names and that are not tl.constexpr, in order
    const BLOCK=64            constants by name, as expressions of the file
    global NAME=VALUE         names that the kernel reads and the text of the file does not settle
    module pkg.mod=path       further files that it takes functions or constants from
    option debug=True         what else of the launch changes the text
    triton 3.9                the version that compiled it; without this line it was 3.6

`lines` takes what Triton compiled (CompiledKernel.src), so that the specialisation is Triton's own.
"""

import ast
import builtins
import inspect
import json
import math
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import triton
import triton.language as tl
from triton.runtime.jit import JITFunction

DTYPES = {getattr(tl, name): f"tl.{name}" for name in dir(tl) if type(getattr(tl, name)) is tl.dtype}
DEFAULTS = {"debug": False, "sanitize_overflow": True, "default_dot_input_precision": "tf32"}


def unwrapped(value):
    while isinstance(value, tl.constexpr):
        value = value.value
    return value


def name_of(function, scope):
    """A function as the file calls it, else as triton.language does."""
    name = getattr(function, "__name__", None) or function.fn.__name__
    if scope.get(name) is function:
        return name
    for other, value in scope.items():
        if value is function:
            return other
    for other in dir(tl):
        if getattr(tl, other) is function:
            return f"tl.{other}"
    for other, module in scope.items():
        if isinstance(module, ModuleType) and getattr(module, name, None) is function:
            return f"{other}.{name}"
    return getattr(function, "fn", function).__qualname__.replace("<locals>.", "")


def expression(value, scope):
    value = unwrapped(value)
    if value is None or isinstance(value, (bool, int)):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tl.pointer_type):
        return f"tl.pointer_type({expression(value.element_ty, scope)})"
    if isinstance(value, tl.dtype):
        return DTYPES[value]
    if isinstance(value, (tuple, list, tl.tuple)):
        parts = [expression(member, scope) for member in value]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if callable(value):
        return name_of(value, scope)
    raise ValueError(f"a {type(value).__name__} cannot be said: {value!r:.80}")


# -- Where names come from ---------------------------------------------------------------------------------------------

def scope_of(function):
    inner = function.fn
    return {**inner.__globals__, **inspect.getclosurevars(inner).nonlocals}


def nonlocals_of(function):
    return inspect.getclosurevars(function.fn).nonlocals


def file_of(function):
    return Path(inspect.getsourcefile(function.fn)).resolve()


def is_ours(module):
    """Not Triton's own, whose names every front end has to know."""
    return module.split(".")[0] != "triton"


def text_settles(path, name):
    """Does the file itself give the name a literal, at its top level?"""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
            continue
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            known = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List, ast.Attribute, ast.Name, ast.Call,
                     ast.operator, ast.unaryop, ast.expr_context, ast.keyword)
            names = {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
            return all(isinstance(node, known) for node in ast.walk(statement.value)) and \
                names <= {"tl", "triton", "float", "int", "libdevice"}
    return False


def import_chain(module, name):
    """The modules through which `module` gets the name: [(name of the module, its file)]."""
    chain = []
    while module and is_ours(module) and getattr(sys.modules.get(module), "__file__", None):
        source, found = sys.modules[module], None
        chain.append((module, Path(source.__file__).resolve()))
        for node in ast.walk(ast.parse(Path(source.__file__).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and any(name in (a.asname or a.name, "*") or a.name == "*"
                                                        for a in node.names):
                base = source.__package__.rsplit(".", node.level - 1)[0] if node.level > 1 else source.__package__
                found = ".".join(part for part in (base if node.level else "", node.module) if part)
                name = next((a.name for a in node.names if (a.asname or a.name) == name), name)
                if any(a.name != "*" for a in node.names) or hasattr(sys.modules.get(found), name):
                    break
        if found == module or any(found == seen for seen, _ in chain):
            return chain
        module = found
    return chain


def reads(function):
    """Names that the function takes from outside, and (module, attribute) pairs."""
    tree = ast.parse(textwrap.dedent(function.src))
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    stored |= {arg.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for arg in node.args}
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in stored]
    attributes = [(node.value.id, node.attr) for node in ast.walk(tree)
                  if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    return list(dict.fromkeys(names)), list(dict.fromkeys(attributes))


class Surroundings:
    """What a kernel and the functions that it calls read: `values` that no text settles, `modules` to have at hand."""

    def __init__(self, kernel, more=()):
        self.values, self.modules, self.scope = {}, {}, scope_of(kernel)
        self.home = file_of(kernel)
        seen, waiting = set(), [kernel, *more]
        while waiting:
            function = waiting.pop()
            if id(function) in seen or not is_ours(function.fn.__module__):
                continue
            seen.add(id(function))
            self.add_module(function.fn.__module__, function.fn.__name__)
            waiting += self.visit(function)

    def add_module(self, module, name):
        for found, path in import_chain(module, name):
            if path != self.home:
                self.modules.setdefault(found, path)

    def visit(self, function):
        scope, closed, called = scope_of(function), nonlocals_of(function), []
        names, attributes = reads(function)
        for name in names:
            if name not in scope:
                continue
            value = scope[name]
            if name not in closed:
                self.add_module(function.fn.__module__, name)
            if isinstance(value, JITFunction):
                called.append(value)
                if name in closed and value.fn.__name__ != name:
                    self.values[name] = value
            elif isinstance(value, ModuleType) or hasattr(builtins, name):
                continue
            elif name in closed or not callable(value) or isinstance(value, tl.dtype):
                if name in closed or not text_settles(file_of(function), name):
                    self.values[name] = value
        for name, attribute in attributes:
            value = scope.get(name)
            if isinstance(value, ModuleType) and isinstance(getattr(value, attribute, None), JITFunction):
                called.append(getattr(value, attribute))
                self.add_module(value.__name__, attribute)
        return called


# -- The lines ---------------------------------------------------------------------------------------------------------

def entry(kind, path, value, src, scope):
    """One argument: its type with what Triton knows of it, or what it is."""
    if isinstance(kind, (tuple, list)):
        names = getattr(value, "_fields", None) or getattr(kind, "_fields", None)
        parts = [entry(member, path + (i,), value[i] if value is not None else None, src, scope)
                 for i, member in enumerate(kind)]
        if names:
            parts = [f"{name}={part}" for name, part in zip(names, parts)]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if kind == "constexpr":
        return expression(src.constants[path], scope)
    divisible = any(name == "tt.divisibility" for name, _ in src.attrs.get(path, ()))
    return kind + (":16" if divisible else "")


def lines(src, given, options, place):
    """`src`: CompiledKernel.src. `given`: the arguments by name, `options` the compiled kernel's metadata,
    `place`: says how the .call names a file."""
    kernel = src.fn
    functions = [unwrapped(value) for value in src.constants.values()]
    around = Surroundings(kernel, [value for value in functions if isinstance(value, JITFunction)])
    args, consts = [], []
    for number, parameter in enumerate(kernel.params):
        kind, path = src.signature.get(parameter.name, "constexpr"), (number,)
        if kind == "constexpr" and path not in src.constants:
            continue
        value = unwrapped(src.constants[path]) if kind == "constexpr" else None
        if parameter.is_constexpr or (kind == "constexpr" and value is not None and value is not True
                                      and not isinstance(value, (int, float, tuple))):
            consts.append(f"const {parameter.name}={expression(value, around.scope)}")
        else:
            args.append(entry(kind, path, given.get(parameter.name), src, around.scope))
    said = [f"file {place(around.home)}", f"kernel {kernel.fn.__qualname__.replace('<locals>.', '')}"]
    said += [f"args {', '.join(args)}".rstrip()] + consts
    said += [f"global {name}={expression(value, around.scope)}" for name, value in sorted(around.values.items())]
    said += [f"module {name}={place(path)}" for name, path in sorted(around.modules.items())]
    for name, usual in DEFAULTS.items():
        value = getattr(options, name, usual)
        if value != usual:
            said.append(f"option {name}={value}")
    version = ".".join(triton.__version__.split(".")[:2])
    return said if version == "3.6" else [*said, f"triton {version}"]
