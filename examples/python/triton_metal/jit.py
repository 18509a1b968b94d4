"""@jit: functions as kernels, the specialization of their arguments, launchers and caches."""

from __future__ import annotations

import ast
import functools
import operator
import types
import weakref
from typing import Any, Callable, Iterable, Optional, Union

from . import arrays, knobs, language
from .arrays import type_canonicalisation_dict
from .kernel import ASTSource, CompiledKernel, TensorDescriptor, active_mode, parse_options
from .source import Globals, Program, SourceInfo, new_lock, parse

_SCALAR_TYPES = set(type_canonicalisation_dict.values())


# -- Functions ---------------------------------------------------------------------------------

class JITCallable:
    """A Python function that kernels may call: its source and what the source depends on."""

    mark = "@triton.jit"  # in front of the source in the texts for the front end

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        info = SourceInfo(fn)
        self.signature = info.signature
        self.raw_src, self.starting_line_number = info.lines, info.first_line
        self.src, self.source_line = info.text, info.line  # from `def` on
        self.file_name = info.path
        self.type = language.constexpr_type(self)  # as a value in a kernel
        self.hash: Optional[str] = None
        self.lock = new_lock(self)  # for compiling and loading
        self.callers: weakref.WeakSet[JITFunction] = weakref.WeakSet()  # compiled with this source
        self.used_global_vals: Globals = {}  # as of when the hash was computed
        self._fn_name = f"{fn.__module__}.{fn.__qualname__}"
        self.__doc__ = fn.__doc__
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__globals__ = fn.__globals__

    def _unsafe_update_src(self, new_src: str) -> None:
        """Replace the source, and drop the kernels that were compiled with the old one."""
        self.src = new_src
        self.hash, self.used_global_vals = None, {}
        for caller in [*self.callers]:
            caller.forget()

    def parse(self) -> ast.Module:
        """The syntax tree of the source."""
        return parse(self.src)

    @property
    def cache_key(self) -> str:
        """A hash of the source and all that it depends on."""
        if self.hash is None:
            program = Program(self)
            for inner, used in program.used:
                self._check_globals(inner, used)
                inner.used_global_vals = {**inner.used_global_vals, **used}
                self.used_global_vals.update(used)
            self.hash = program.digest()
        return self.hash

    def _check_globals(self, inner: Any, used: Globals) -> None:
        """Do kernels that were compiled before see the same values?"""
        for shared in used.keys() & inner.used_global_vals.keys() if inner is not self else ():
            now, then = used[shared][0], inner.used_global_vals[shared][0]
            if now != then:
                raise RuntimeError(
                    f"Global variable {shared[0]} has value {now} when compiling {self._fn_name}, "
                    f"but inner kernel {inner.__name__} has conflicting value {then} from when it "
                    "was first compiled.  This is not allowed.")


class ConstexprFunction(JITCallable):
    """A Python function that runs while a kernel is compiled, on constants."""

    mark = "@triton.constexpr_function"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        plain = language._unwrap_if_constexpr  # pylint: disable=protected-access
        result = self.fn(*map(plain, args), **{name: plain(v) for name, v in kwargs.items()})
        return result if _semantic is None else language.constexpr(result)


def constexpr_function(fn: Callable[..., Any]) -> ConstexprFunction:
    """Decorator: the function runs while a kernel is compiled, and returns a constant."""
    return ConstexprFunction(fn)


# -- Parameters and specialization -------------------------------------------------------------

def _normalize(annotation: Any) -> str:
    """The type that an annotation names, as a signature writes it: "*fp32", "i64"."""
    if isinstance(annotation, str):
        text = annotation.strip()
        if text.startswith("const "):
            inner = _normalize(text[len("const"):])
            assert inner.startswith("*")
            return "*k" + inner[1:]
        if text.endswith("*"):
            return "*" + _normalize(text[:-1])
        if text.startswith("*"):
            return "*" + _normalize(text[1:])
        if text.startswith("tl."):
            return _normalize(text[len("tl."):])
    elif isinstance(annotation, language.pointer_type):
        return f"*{_normalize(annotation.element_ty)}"
    elif isinstance(annotation, language.dtype):
        text = annotation.name
    else:
        text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return type_canonicalisation_dict.get(text.replace("_t", ""), text)


class KernelParam:
    """A parameter of a jit function."""

    def __init__(self, num: int, param: Any, do_not_specialize: bool,
                 do_not_specialize_on_alignment: bool) -> None:
        self.num = num
        self.name = param.name
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment
        self.default = param.default
        self.has_default = param.default is not param.empty
        empty = param.annotation is param.empty or not param.annotation
        self.annotation = "" if empty else _normalize(param.annotation)
        element = self.annotation.replace("*k", "", 1) if self.annotation.startswith("*k") \
            else self.annotation.replace("*", "", 1)
        self.annotation_type = self.annotation if element in _SCALAR_TYPES else ""
        self.is_constexpr = "constexpr" in self.annotation
        self.is_const = not self.is_constexpr and (
            "const" in self.annotation or self.annotation.startswith("*k"))


def specialize(arg: Any, is_const: bool = False, value: bool = True,
               align: bool = True) -> tuple[Any, Any]:
    """What a kernel is compiled for: the type of an argument, and what is known of its value.

    The second is "D" for a multiple of 16, "" for none, None if it is not looked at, and the
    value of a constant.
    """
    if arg is None:
        return "constexpr", None
    if isinstance(arg, bool):
        return "u1", None
    if isinstance(arg, int):
        if arg == 1 and value:
            return "constexpr", 1
        bits = next((n for n in (32, 64) if -(1 << n - 1) <= arg < 1 << n - 1), 0)
        if not (bits or 0 < arg < 1 << 64):
            raise OverflowError("integer to be specialized too large to represent")
        known = ("D" if align and arg % 16 == 0 else "") if value else None
        return f"i{bits}" if bits else "u64", known
    if isinstance(arg, float):
        return "fp32", None
    if isinstance(arg, tuple):
        pairs = [specialize(one) for one in arg]
        return _like(arg, [pair[0] for pair in pairs]), _like(arg, [pair[1] for pair in pairs])
    if isinstance(arg, language.constexpr):
        return "constexpr", arg
    if isinstance(arg, JITCallable):
        return "constexpr", arg.cache_key
    if isinstance(arg, TensorDescriptor):
        return f"tensordesc<{arrays.element(arg.base.dtype)}{arg.block_shape}>", None
    if hasattr(arg, "data_ptr") or arrays.is_array(arg):
        element = arrays.element(arg.dtype)
        kind = f"{'*k' if is_const else '*'}{'u1' if element == 'i1' else element}"
        if not value:
            return kind, None
        return kind, "D" if align and address(arg) % 16 == 0 else ""
    name = type(arg).__name__
    module = type(arg).__module__
    raise TypeError("failed to specialize argument of type: "
                    + (f"{module}.{name}" if module == "numpy" else name))


def address(arg: Any) -> int:
    """The address of an array for its alignment; 0 of a stand-in for warmup."""
    return int(arg.data_ptr()) if isinstance(arg, MockTensor) else arrays.address(arg)


def _like(original: tuple[Any, ...], parts: list[Any]) -> tuple[Any, ...]:
    return type(original)(*parts) if hasattr(original, "_fields") else tuple(parts)


def mangle_type(arg: Any, specialized: bool = False) -> Any:
    """The type of an argument in a signature."""
    return specialize(arg, False, specialized, True)[0]


# -- Keys: computed for each launch, so by generated code --------------------------------------

_PLAIN = frozenset({int, str, type(None), language.dtype})  # constants that key themselves
_POINTERS: set[type] = set()  # types of arrays with a cheap data_ptr(), seen so far


def _argument_key(arg: Any, is_const: bool, value: bool, align: bool) -> Any:
    """The key of an argument that the generated code does not know."""
    if isinstance(arg, tuple):
        return type(arg), tuple(_argument_key(one, False, True, True) for one in arg)
    if arrays.is_array(arg) or hasattr(arg, "data_ptr"):
        arrays.element(arg.dtype)
        if hasattr(arg, "data_ptr"):
            _POINTERS.add(type(arg))
        return arg.dtype if value and align and not address(arg) & 15 else (arg.dtype,)
    kind, known = specialize(arg, is_const, value, align)
    return kind, _constant_key(arg) if kind == "constexpr" else known


_TRUE, _FALSE = (bool, True), (bool, False)


def _constant_key(value: Any) -> Any:
    """A hashable that differs where constants differ: 1, 1.0 and True do."""
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    if isinstance(value, language.constexpr):
        return _constant_key(value.value)
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_constant_key, value))
    if isinstance(value, dict):
        return dict, tuple((_constant_key(k), _constant_key(v)) for k, v in value.items())
    if isinstance(value, float):
        return float, repr(value)  # 0.0 and -0.0 differ, nan is one
    if isinstance(value, JITCallable):  # closures of one source differ in what they enclose
        return id(value), value.cache_key
    try:
        hash(value)
    except TypeError:
        return type(value), repr(value)
    return type(value), value


_ARGUMENT = """\
    _tm_t = _tm_type({name})
    if _tm_t in _tm_pointers:
        _tm_{n} = {pointer}
    elif _tm_t is _tm_int and -2147483648 <= {name} <= 2147483647:
        _tm_{n} = {number}
    elif _tm_t is _tm_float:
        _tm_{n} = _tm_float
    else:
        _tm_{n} = _tm_argument_key({name}, {const}, {value}, {align})
"""
_CONSTANT = """\
    _tm_{n} = {name} if _tm_type({name}) in _tm_plain else _tm_constant_key({name})
"""
_LAUNCHER = """\
def bind(_tm_grid, _tm_warmup=False):
  def {function}({parameters}):
{keys}    _tm_key = ({parts}_tm_self.debug or _tm_runtime.debug,)
    if _tm_options:
        _tm_key += _tm_constant_key(_tm_options)
    _tm_kernel = _tm_caches[0][1].get(_tm_key)
    if _tm_kernel is None:
        _tm_kernel = _tm_self._compile_for(_tm_key, {named}, _tm_options, _tm_warmup)
        if _tm_kernel is None:
            return None
    else:
        for _tm_get, _tm_name, _tm_value in _tm_kernel.watched:
            if _tm_get(_tm_name) is not _tm_value:
                _tm_kernel = _tm_self._renew(_tm_key, {named}, _tm_options, _tm_warmup)
                break
    if _tm_warmup:
        return _tm_kernel
    if _tm_type(_tm_grid) is _tm_tuple:
        _tm_sizes = _tm_grid
    else:
        _tm_sizes = _tm_grid({named}) if _tm_callable(_tm_grid) else _tm_grid
    _tm_count = _tm_len(_tm_sizes)
    _tm_x = _tm_sizes[0]
    _tm_y = _tm_sizes[1] if _tm_count > 1 else 1
    _tm_z = _tm_sizes[2] if _tm_count > 2 else 1
    if not _tm_type(_tm_x) is _tm_type(_tm_y) is _tm_type(_tm_z) is _tm_int:
        _tm_x = _tm_index(_tm_x); _tm_y = _tm_index(_tm_y); _tm_z = _tm_index(_tm_z)
    if _tm_enter.calls or _tm_runtime.launch_enter_hook is not _tm_enter or \
            _tm_exit.calls or _tm_runtime.launch_exit_hook is not _tm_exit:
        _tm_kernel.launch_with_hooks(_tm_sizes, (_tm_x, _tm_y, _tm_z), ({values}))
    elif _tm_x > 0 and _tm_y > 0 and _tm_z > 0:
        _tm_kernel.call(_tm_x, _tm_y, _tm_z, _tm_kernel.pick(({values})))
    return _tm_kernel
  return {function}
"""


def _key_lines(param: KernelParam) -> tuple[str, str]:
    """The lines that compute the key of a parameter, and its part of the key."""
    n, name = param.num, param.name
    part = f"_tm_{n}, "
    if param.is_constexpr:
        return _CONSTANT.format(n=n, name=name), part
    value = not param.do_not_specialize
    align = value and not param.do_not_specialize_on_alignment
    note = param.annotation_type
    if note and (not value or note == "u1" or note[:2] in ("fp", "bf")):
        return "", ""
    known = f"16 if not {name} & 15 else 2" if align else "2"
    aligned = f"{name}.dtype if not {name}.data_ptr() & 15 else ({name}.dtype,)"
    lines = _ARGUMENT.format(
        n=n, name=name, const=param.is_const, value=value, align=align,
        pointer=aligned if align else f"({name}.dtype,)",
        number=f"1 if {name} == 1 else {known}" if value else "2")
    return lines, part


def make_launcher(fn: JITFunction) -> Callable[..., Any]:
    """Write and execute the launcher of a kernel: bind(grid, warmup) -> the user's function."""
    names = [param.name for param in fn.params]
    space: dict[str, Any] = {  # parameters may be named `type` or `len`
        "_tm_type": type, "_tm_int": int, "_tm_float": float, "_tm_len": len,
        "_tm_callable": callable, "_tm_tuple": tuple,
        "_tm_self": fn, "_tm_pointers": _POINTERS, "_tm_plain": _PLAIN,
        "_tm_argument_key": _argument_key, "_tm_constant_key": _constant_key,
        "_tm_caches": fn.device_caches,
        "_tm_runtime": knobs.runtime, "_tm_index": operator.index,
        "_tm_enter": type(knobs.runtime).launch_enter_hook,
        "_tm_exit": type(knobs.runtime).launch_exit_hook}
    parameters, has_star = [], False
    for name, parameter in fn.signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            has_star = True
            parameters.append(f"*{name}")
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            has_star = True
            parameters.append("*")
        if parameter.default is parameter.empty:
            parameters.append(name)
        else:
            space[f"_tm_default_{name}"] = parameter.default
            parameters.append(f"{name}=_tm_default_{name}")
    rows = [_key_lines(param) for param in fn.params]
    name = fn.__name__ if fn.__name__.isidentifier() else "kernel"
    text = _LAUNCHER.format(
        function=name, parameters=", ".join([*parameters, "**_tm_options"]),
        keys="".join(lines for lines, _ in rows), parts="".join(parts for _, parts in rows),
        named="{" + ", ".join(f"'{name}': {name}" for name in names) + "}",
        values="".join(f"{name}, " for name in names))
    exec(text, space)  # pylint: disable=exec-used
    return _named(space["bind"], name)


def _named(bind: types.FunctionType, name: str) -> types.FunctionType:
    """Name the inner function as the user's, without "bind.<locals>.", for errors of calls."""
    def rename(constant: Any) -> Any:
        if isinstance(constant, types.CodeType) and hasattr(constant, "co_qualname"):
            return constant.replace(co_qualname=name)
        return name if constant == f"bind.<locals>.{name}" else constant

    code = bind.__code__
    bind.__code__ = code.replace(co_consts=tuple(map(rename, code.co_consts)))
    return bind


# -- Kernels -----------------------------------------------------------------------------------

class KernelInterface:
    """Whatever is launched as kernel[grid](...)."""

    def run(self, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        """Launch, or with `warmup` only compile."""
        raise NotImplementedError("run not implemented")

    def warmup(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Compile for arguments, or for dtypes in place of tensors."""
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


class KernelCache(dict[str, CompiledKernel]):
    """Compiled kernels by signature, and in `launches` by what launchers compute."""

    def __init__(self) -> None:
        super().__init__()
        self.launches: dict[Any, CompiledKernel] = {}

    def clear(self) -> None:
        """Forget all of them."""
        self.launches.clear()
        super().clear()


class DeviceCaches(dict[Any, tuple[KernelCache, dict[Any, CompiledKernel], Any, Any, Any]]):
    """The caches of a function by device, as in Triton. All names of devices mean the one GPU.

    An entry has kernels by signature and by launch, the target, the backend and the launcher.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, device: Any) -> Any:
        made = next(iter([*self.values()])) if self else self._make()
        return self.setdefault(device, made)  # the first thread's


_registry: dict[str, Any] = {}  # functions by "module:qualname", for preload


class JITFunction(JITCallable, KernelInterface):
    """A kernel, or a function that kernels call."""

    def __init__(self, fn: Callable[..., Any], version: Any = None,
                 do_not_specialize: Optional[Iterable[Union[int, str]]] = None,
                 do_not_specialize_on_alignment: Optional[Iterable[Union[int, str]]] = None,
                 debug: Optional[bool] = None, noinline: Optional[bool] = None,
                 repr: Optional[Callable[..., str]] = None,
                 launch_metadata: Optional[Callable[..., Any]] = None) -> None:
        super().__init__(fn)
        self.module = fn.__module__
        self.version = version
        self.do_not_specialize = list(do_not_specialize or ())
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or ())
        self.debug = debug
        self.noinline = noinline
        self._repr = repr
        self.launch_metadata = launch_metadata
        self.params = []
        for number, parameter in enumerate(self.signature.parameters.values()):
            if parameter.kind is parameter.VAR_KEYWORD:
                raise TypeError(f"JIT functions do not support **{parameter.name} parameters")
            both = {number, parameter.name}
            self.params.append(KernelParam(
                number, parameter, bool(both & {*self.do_not_specialize}),
                bool(both & {*self.do_not_specialize_on_alignment})))
        self.arg_names = [param.name for param in self.params]
        self.constexprs = [param.num for param in self.params if param.is_constexpr]
        self.pre_run_hooks: list[Callable[..., Any]] = []
        self.kernel: Any = None
        self.device_caches = DeviceCaches(self._create_binder)
        _registry[f"{self.module}:{fn.__qualname__}"] = self

    @property
    def cache(self) -> KernelCache:
        """The compiled kernels."""
        return self.device_caches[0][0]

    def forget(self) -> None:
        """Drop all compiled kernels."""
        self.hash, self.used_global_vals = None, {}
        for kernels, *_ in self.device_caches.values():
            kernels.clear()

    def _create_binder(self) -> Any:
        from . import backend  # pylint: disable=import-outside-toplevel
        from .driver import driver  # pylint: disable=import-outside-toplevel
        target = driver.active.get_current_target()
        kernels = KernelCache()
        return kernels, kernels.launches, target, backend.active(), self._launcher

    @functools.cached_property
    def _launcher(self) -> Callable[..., Any]:
        return make_launcher(self)

    def repr(self, specialization: Any) -> str:
        """The name for a specialization, as jit(repr=) says; otherwise the function's own."""
        return self._fn_name if self._repr is None else self._repr(specialization)

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """Call a function with the arguments before each launch."""
        assert callable(hook)
        self.pre_run_hooks.append(hook)

    # -- Launching -----------------------------------------------------------------------------

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        if self.pre_run_hooks or "run" in self.__dict__:
            return super().__getitem__(grid)
        return self._launcher(grid)  # type: ignore[no-any-return]

    def run(self, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        return self._launcher(grid, warmup)(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")

    def __repr__(self) -> str:
        return f"JITFunction({self.module}:{self.fn.__qualname__})"

    # -- Compiling -----------------------------------------------------------------------------

    def _compile_for(self, key: Any, bound: dict[str, Any], given: dict[str, Any],
                     warmup: bool) -> Any:
        """The kernel for a launch; threads that want the same one wait for the first."""
        with self.lock:
            launches = self.cache.launches
            if key in launches:
                return launches[key]
            debug = given.get("debug", self.debug) or knobs.runtime.debug
            options = parse_options({**given, "debug": debug})
            pairs = [self._specialize(param, bound[param.name]) for param in self.params]
            src = ASTSource(self, dict(zip(self.arg_names, (kind for kind, _ in pairs))),
                            *_by_path(pairs, list(bound.values())))
            kernel = self._build(src, options, warmup)
            if isinstance(kernel, CompiledKernel):
                launches[key] = kernel
            return kernel

    def _build(self, src: ASTSource, options: Any, warmup: bool) -> Any:
        """The kernel for a signature; None if a hook takes the compilation over."""
        kernels, _, target, used_backend, _ = self.device_caches[0]
        key = f"{self.cache_key} {src.signature} {src.attrs} " \
              f"{_constant_key(src.constants)} {sorted(vars(options).items())}"
        if key in kernels:
            return kernels[key]
        info = functools.partial(self._hook_data, key, src, options, target, warmup)
        hook = knobs.runtime.jit_cache_hook
        if hook is not None and hook(**info()):
            return None

        def finish(kernel: CompiledKernel) -> None:
            for function in kernel.program.functions:
                if isinstance(function, JITCallable):
                    function.callers.add(self)
            kernels[key] = kernel
            if knobs.runtime.jit_post_compile_hook is not None:
                knobs.runtime.jit_post_compile_hook(**info())

        make = functools.partial(CompiledKernel, src, options, used_backend.gpu, target)
        mode = active_mode.get()
        if mode is None:
            finish(make())
        else:
            kernels[key] = mode.submit(key, make, finish)  # type: ignore[assignment]
        return kernels[key]

    def _renew(self, key: Any, bound: dict[str, Any], given: dict[str, Any],
               warmup: bool) -> Any:
        """A name that the kernel depends on is a different object now: refuse, or compile again."""
        absent = object()
        for (name, _), (value, space) in self.used_global_vals.items():
            now = space.get(name, absent)
            if now != value:
                raise RuntimeError(f"Global variable {name} has changed since we compiled this "
                                   f"kernel, from {value} to {now}")
        with self.lock:
            self.forget()
            return self._compile_for(key, bound, given, warmup)

    @staticmethod
    def _specialize(param: KernelParam, value: Any) -> tuple[Any, Any]:
        if param.is_constexpr:
            return "constexpr", value
        wanted = not param.do_not_specialize
        note = param.annotation_type
        if note and (not wanted or note == "u1" or note[:2] in ("fp", "bf")):
            return note, None
        kind, known = specialize(value, param.is_const, wanted,
                                 not param.do_not_specialize_on_alignment)
        return note or kind, known

    def _hook_data(self, key: str, src: ASTSource, options: Any, target: Any,
                   warmup: bool) -> dict[str, Any]:
        types_of = ", ".join(f"{name}: {kind}" for name, kind in src.signature.items())
        chosen = {name: getattr(options, name) for name in (
            "num_warps", "num_ctas", "num_stages", "enable_fp_fusion", "launch_cooperative_grid")}
        shown = ", ".join(f"{name}={value}" for name, value in chosen.items())
        compiled = {"key": key, "signature": src.signature, "device": 0,
                    "constants": src.constants, "extern_libs": options.extern_libs,
                    "configs": [src.attrs], "is_warmup": warmup, **chosen,
                    "specialization_data": _serialize(self._fn_name, src, options, target)}
        info = types.SimpleNamespace(module=self.__module__, name=self.__qualname__,
                                     jit_function=self)
        return {"key": key, "repr": f"{self.__qualname__}[{shown}]({types_of})",
                "fn": info,
                "compile": compiled, "is_manual_warmup": warmup, "already_compiled": False}

    def preload(self, specialization_data: str) -> Any:
        """Compile for what an earlier process passed to its jit_cache_hook."""
        import json
        data = json.loads(specialization_data, object_hook=_decode)
        if data["name"] != self._fn_name:
            raise RuntimeError(f"Specialization data is for {data['name']} but trying to preload "
                               f"for {self._fn_name}")
        target = self.device_caches[0][2]
        if data["target"] != target._asdict():
            raise RuntimeError(f"Specialization data is for {data['target']} but trying to "
                               f"preload for {target}")
        signature, constants, attrs, options = (dict(_tuples(rows)) for rows in data["source"])
        attrs = {path: [list(one) for one in rows] for path, rows in attrs.items()}
        with self.lock:
            return self._build(ASTSource(self, signature, constants, attrs),
                               types.SimpleNamespace(**options), True)


def _by_path(pairs: list[tuple[Any, Any]], values: list[Any]) -> tuple[dict[Any, Any],
                                                                       dict[Any, Any]]:
    """Constants and divisibilities by their paths in the arguments."""
    constants: dict[Any, Any] = {}
    attrs: dict[Any, Any] = {}

    def visit(path: tuple[int, ...], kind: Any, known: Any, value: Any) -> None:
        if isinstance(kind, tuple):
            for i, one in enumerate(kind):
                visit((*path, i), one, known[i], value[i])
        elif kind == "constexpr":
            constants[path] = value
        elif isinstance(known, str):
            attrs[path] = [["tt.divisibility", 16]] if known == "D" else []

    for number, ((kind, known), value) in enumerate(zip(pairs, values)):
        visit((number,), kind, known, value)
    return constants, attrs


def _serialize(name: str, src: ASTSource, options: Any, target: Any) -> str:
    """A specialization as text for preload in a later process."""
    def encode(value: Any) -> Any:
        if isinstance(value, language.dtype):
            return {"dtype": str(value)}
        if isinstance(value, language.constexpr):
            return {"constexpr": value.value}
        if isinstance(value, JITCallable):
            return {"jit_function": f"{value.__module__}:{value.__qualname__}"}
        return repr(value)

    import json
    rows = [list(one.items()) for one in (src.signature, src.constants, src.attrs, vars(options))]
    return json.dumps({"name": name, "target": target._asdict(), "source": rows}, default=encode)


def _decode(value: dict[str, Any]) -> Any:
    """The object that _serialize wrote as a dictionary."""
    if "dtype" in value:
        return language.dtype(value["dtype"])
    if "constexpr" in value:
        return language.constexpr(_tuples(value["constexpr"]))
    if "jit_function" in value:
        if value["jit_function"] not in _registry:
            raise RuntimeError(f"Unable to resolve JITFunction {value['jit_function']} for preload")
        return _registry[value["jit_function"]]
    return value


def _tuples(value: Any) -> Any:
    """Lists as tuples, at any depth: JSON has no tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def jit(fn: Optional[Callable[..., Any]] = None, *, version: Any = None,
        repr: Optional[Callable[..., str]] = None,
        launch_metadata: Optional[Callable[..., Any]] = None,
        do_not_specialize: Optional[Iterable[Union[int, str]]] = None,
        do_not_specialize_on_alignment: Optional[Iterable[Union[int, str]]] = None,
        debug: Optional[bool] = None, noinline: Optional[bool] = None) -> Any:
    """Decorator for kernels and for the functions that they call."""
    def decorate(inner: Callable[..., Any]) -> JITFunction:
        assert callable(inner)
        arrays.add_strides()
        plain = inner.fn if isinstance(inner, JITCallable) else inner
        return JITFunction(plain, version, do_not_specialize, do_not_specialize_on_alignment,
                           debug, noinline, repr, launch_metadata)

    return decorate if fn is None else decorate(fn)


# -- Stand-ins for arrays ----------------------------------------------------------------------

class MockTensor:
    """In place of a tensor for warmup: a type and a shape, without memory."""

    def __init__(self, dtype: Any, shape: Any = None) -> None:
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        """A MockTensor of a dtype of PyTorch, NumPy or MLX; anything else stays."""
        kind = type(arg)
        is_dtype = "dtype" in kind.__name__.lower()
        return MockTensor(arg) if is_dtype and kind.__module__.split(".")[0] in (
            "torch", "numpy", "mlx") else arg

    def stride(self, dim: Optional[int] = None) -> Any:
        """Strides as of a contiguous tensor."""
        strides = [1]
        for size in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * size)
        return tuple(strides) if dim is None else strides[dim]

    @staticmethod
    def data_ptr() -> int:
        """0: a multiple of 16."""
        return 0


class TensorWrapper:
    """An array whose elements are taken for a different type."""

    _SAME, _COPIES = {"stride", "element_size", "numel"}, {"cpu", "clone", "to", "new_empty"}

    def __init__(self, base: Any, dtype: Any) -> None:
        self.dtype = dtype
        self.base = base
        self.data = base.data
        self.device = getattr(base, "device", "cpu")
        self.shape = base.shape

    def data_ptr(self) -> int:
        """The address of the first element."""
        return arrays.address(self.base)

    def copy_(self, other: TensorWrapper) -> None:
        """Take over the elements of a different one."""
        self.base.copy_(other.base)

    def __getattr__(self, name: str) -> Any:
        if name not in self._SAME | self._COPIES:
            raise AttributeError(f"'TensorWrapper' object has no attribute '{name}'")
        method = getattr(self.base, name)
        if name in self._SAME:
            return method
        return lambda *args: TensorWrapper(method(*args), self.dtype)

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """The array with its elements taken for a different type of the same size."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr") or arrays.is_array(tensor):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"Cannot reinterpret a {type(tensor)}.")
