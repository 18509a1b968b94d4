"""Compiled kernels, and the way from a signature to them."""

from __future__ import annotations

import ast
import contextvars
import copy
import functools
import operator
import re
import time
import types
from collections import namedtuple
from typing import Any, Callable, Iterator, Optional

from . import arrays, errors, knobs, language, library
from .errors import CompilationError
from .source import Program, Unit, digest, parse

# What a launch may be given by keyword beside the kernel's parameters: Triton's options for all of
# its GPUs, with their defaults. They are checked and kept in the metadata; the planner chooses
# threads by itself. Only debug and enable_fp_fusion change the Metal.
OPTIONS: dict[str, Any] = {
    "num_warps": 4, "num_ctas": 1, "num_stages": 3, "warp_size": 32, "maxnreg": None,
    "enable_fp_fusion": None, "debug": False, "launch_cooperative_grid": False,
    "launch_pdl": False, "extern_libs": None, "ir_override": None, "sanitize_overflow": True,
    "backend_name": "metal", "arch": None, "instrumentation_mode": "",
    "supported_fp8_dtypes": ("fp8e4b15", "fp8e4nv", "fp8e5"),
    "deprecated_fp8_dot_operand_dtypes": (), "default_dot_input_precision": "ieee",
    "allowed_dot_input_precisions": ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"),
    "max_num_imprecise_acc_default": 0, "cluster_dims": (1, 1, 1), "ptx_version": None,
    "ptx_options": None, "enable_reflect_ftz": True, "waves_per_eu": 0, "kpack": 1,
    "matrix_instr_nonkdim": 0, "schedule_hint": "none", "allow_flush_denorm": False,
    "grf_mode": "default", "minRegAutoWS": 0, "maxRegAutoWS": 0, "pingpongAutoWS": False,
    "num_buffers_warp_spec": 0, "num_consumer_groups": 0, "reg_dec_producer": 0,
    "reg_inc_consumer": 0}
DEPRECATED = {"device_type": "target", "device": "device", "stream": "stream"}


def parse_options(given: dict[str, Any]) -> types.SimpleNamespace:
    """The options of a launch with their defaults, checked as Triton checks them."""
    for name, current in DEPRECATED.items():
        assert name not in given, f"{name} option is deprecated; current {current} will be used"
    for name in given:
        if name not in OPTIONS:
            raise KeyError(f"Keyword argument {name} was specified but unrecognised")
    chosen = {**OPTIONS, **{name: value for name, value in given.items() if value is not None}}
    warps = chosen["num_warps"]
    assert warps > 0 and warps & (warps - 1) == 0, "num_warps must be a power of 2"
    if chosen["num_ctas"] > 1:
        raise ValueError("num_ctas > 1 requires thread block clusters, which Apple GPUs do not "
                         "have. Please set num_ctas=1.")
    chosen["enable_fp_fusion"] = knobs.language.fp_fusion_enabled(chosen["enable_fp_fusion"])
    chosen["debug"] = bool(chosen["debug"])
    if chosen["extern_libs"] is not None:
        chosen["extern_libs"] = tuple(dict(chosen["extern_libs"]).items())
    return types.SimpleNamespace(**chosen)


class ASTSource:
    """A jit function with the types of its arguments: what Triton's `compile` takes.

    `signature` has a type for each parameter ("*fp32", "constexpr", tuples of types), `constexprs`
    the values, `attrs` the divisibility of the others, both by path: (0,), (2, 1) in a tuple.
    """

    ext = "ttir"

    def __init__(self, fn: Any, signature: dict[str, Any],
                 constexprs: Optional[dict[Any, Any]] = None,
                 attrs: Optional[dict[Any, Any]] = None) -> None:
        self.fn = fn
        self.name: str = fn.__name__
        self.signature = signature
        for name in signature:
            if not isinstance(name, str):
                raise TypeError("Signature keys must be string")
        self.constants = {(fn.arg_names.index(key),) if isinstance(key, str) else key: value
                          for key, value in (constexprs or {}).items()}
        self.attrs = dict(attrs or {})

    def hash(self) -> str:
        """What the function, its dependencies and the signature are, as one number."""
        constants = "-".join(str(getattr(value, "cache_key", value))
                             for _, value in sorted(self.constants.items(), key=lambda c: c[0]))
        types_of = [kind for _, kind in sorted(self.signature.items())]
        key = f"{self.fn.cache_key}-{self.attrs}-{types_of}-{constants}"
        return digest(key)

    def kernel_name(self) -> str:
        """The name in the compiled code: that of the function unless jit(repr=) gives one."""
        constants = {self.fn.arg_names[path[0]]: value for path, value in self.constants.items()
                     if len(path) == 1}
        name: str = self.fn.repr(types.SimpleNamespace(constants=constants,
                                                       signature=self.signature))
        return re.sub(r"\W", "_", name.rpartition(".")[2])


class IRSource:
    """A file of IR in Triton. Kernels here are compiled from their Python only."""

    def __init__(self, *_: Any) -> None:
        raise TypeError("compile needs an ASTSource; use the program build/tmetal for files of IR")


class Entries:
    """The texts of a signature: `args` and `consts` of the library, and how to flatten values."""

    def __init__(self, src: ASTSource, program: Program) -> None:
        self.src, self.program = src, program
        for param in src.fn.params:
            if param.is_constexpr and (param.do_not_specialize
                                       or param.do_not_specialize_on_alignment):
                raise CompilationError(
                    src.fn.src, src.fn.parse().body[0],
                    f"{param.name} marked as constexpr and listed in do_not_specialize/"
                    "do_not_specialize_on_alignment. Remove constexpr designation to skip "
                    "specialization.")
        self.args: list[str] = []
        self.consts: list[str] = []
        self.live: set[int] = set()  # parameters of which some is passed at run time
        self._leaves: list[str] = []  # of `v`, the tuple of all arguments
        for number, name in enumerate(src.fn.arg_names):
            kind = src.signature.get(name, "constexpr")
            path, leaves = (number,), list(_leaves(f"v[{number}]", kind))
            self._leaves += leaves
            if leaves:
                self.args.append(f"{name}={self._entry(kind, path)}")
                self.live.add(number)
            elif isinstance(kind, tuple) or path in src.constants:
                self.consts.append(f"{name}={self._constant(self._value(kind, path), name)}")

    def _constant(self, value: Any, name: str) -> str:
        text = self.program.expression(value, self.program.main)
        if text is None and not any(isinstance(node, ast.Name) and node.id == name
                                    for node in ast.walk(self.src.fn.parse())):
            text = self.program.expression(repr(value), self.program.main)  # nothing reads it
        if text is None:
            raise CompilationError(self.src.fn.src, None, f"{name} = {value!r} cannot be a "
                                   "constant of a kernel: it is neither a number, text, type, "
                                   "function nor a tuple of these")
        return text

    def _value(self, kind: Any, path: tuple[int, ...]) -> Any:
        """The constant at a path; a tuple of constants is put together again."""
        if not isinstance(kind, tuple):
            return self.src.constants.get(path)
        parts = [self._value(one, (*path, i)) for i, one in enumerate(kind)]
        return type(kind)(*parts) if hasattr(kind, "_fields") else tuple(parts)

    def _entry(self, kind: Any, path: tuple[int, ...]) -> str:
        if isinstance(kind, tuple):
            fields = [f"{field}=" for field in getattr(kind, "_fields", ())] or [""] * len(kind)
            parts = [field + self._entry(one, (*path, i))
                     for i, (field, one) in enumerate(zip(fields, kind))]
            return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"
        if kind == "constexpr":
            return self._constant(self.src.constants.get(path), self.src.name)
        text = re.sub(r"\bu1\b", "i1", str(kind))
        aligned = ["tt.divisibility", 16] in [list(one) for one in self.src.attrs.get(path, ())]
        return text + (":16" if aligned and not text.startswith("tensordesc") else "")

    def picker(self) -> tuple[Callable[[tuple[Any, ...]], tuple[Any, ...]], tuple[int, ...]]:
        """A function from all arguments of a launch to those that Backend.prepare describes.

        And which of them are the pointers of host descriptors.
        """
        bases = [i for i, leaf in enumerate(self._leaves) if leaf.endswith(".base")]
        pads = [f"int({self._leaves[i][:-len('.base')]}.padding == 'nan')" for i in bases]
        pick: Callable[[tuple[Any, ...]], tuple[Any, ...]] = eval(
            f"lambda v: ({''.join(leaf + ', ' for leaf in self._leaves + pads)})")
        return pick, tuple(bases)


def _leaves(argument: str, kind: Any) -> Iterator[str]:
    """Python for the parameters of the compiled kernel that an argument becomes, none or more."""
    if isinstance(kind, tuple):
        for i, inner in enumerate(kind):
            yield from _leaves(f"{argument}[{i}]", inner)
    elif kind.startswith("tensordesc"):
        yield f"{argument}.base"
        for sizes in ("shape", "strides"):
            yield from (f"int({argument}.{sizes}[{axis}])" for axis in range(kind.count(",") + 1))
    elif kind != "constexpr":
        yield argument


@functools.lru_cache(maxsize=None)
def _metadata_class(fields: tuple[str, ...]) -> Any:
    return namedtuple("KernelMetadata", fields)


class AsmDict(dict[str, Any]):
    """The texts of a kernel. Triton IR is made when it is asked for."""

    def __init__(self, msl: str, source: library.Source) -> None:
        super().__init__(metal=msl, msl=msl)
        self._source = source

    def __missing__(self, key: str) -> Any:
        if key not in self:
            raise KeyError(f"Unknown key: '{key}'")
        self["ttir"] = self["source"] = text = library.texts(library.TTIR, self._source)[0]
        return text

    def __contains__(self, key: object) -> bool:
        return key in ("ttir", "source") or super().__contains__(key)


class CompiledKernel:
    """A kernel for one kind of arguments."""

    def __init__(self, src: ASTSource, options: types.SimpleNamespace, gpu: str,
                 target: Any) -> None:
        self.src = src
        self.name = src.kernel_name()
        clock = [time.perf_counter()]
        self.program = Program(src.fn, self.name)
        entries = Entries(src, self.program)
        main = self.program.main.file()
        self._source = library.Source(
            main.text, gpu, path=main.path, line=main.line, kernel=self.program.main.entry,
            args=", ".join(entries.args), consts=", ".join(entries.consts),
            files=tuple(self.program.files()), triton=library.LANGUAGE,
            debug=options.debug, fusion=options.enable_fp_fusion)
        self.pick, self._descriptors = entries.picker()
        self.watched = tuple(one for name in self.program.watched for one in _watch(*name))
        clock.append(time.perf_counter())
        self.compiled = self._compile("")
        clock.append(time.perf_counter())
        self._live = entries.live
        self.hash = digest(repr(self._source))
        # The planner's estimate; it chooses the threads so that nothing spills. Programs divide by
        # `shared`: Metal reserves threadgroup memory in units of 16 bytes.
        self.n_regs, self.n_max_threads, shared = (
            max(int(kernel[key]) for kernel in self.compiled.plan["kernels"])
            for key in ("registers", "threads_per_threadgroup", "threadgroup_bytes"))
        self.n_spills = 0
        fields = {**vars(options), "name": self.name, "hash": self.hash, "target": target,
                  "shared": max(16, shared), "arch": gpu, "global_scratch_size": 0,
                  "global_scratch_align": 1, "tmem_size": 0}
        self.metadata = _metadata_class(tuple(sorted(fields)))(**fields)
        self.packed_metadata = (options.num_warps, options.num_ctas, self.metadata.shared)
        self.asm = AsmDict(self.compiled.msl, self._source)
        self.kernel = self.compiled.msl
        self.module = self.function = None
        self.call: Callable[[int, int, int, tuple[Any, ...]], None] = self._first_call
        if knobs.compilation.listener is not None:
            self._report_times([*clock, time.perf_counter()])

    # -- Compiling -----------------------------------------------------------------------------

    def _report_times(self, clock: list[float]) -> None:
        texts, lowering, rest = (int((b - a) * 1e6) + 1 for a, b in zip(clock, clock[1:]))
        found = self.compiled.found
        times = (knobs.CompileTimes(texts + lowering + rest, [], 0) if found
                 else knobs.CompileTimes(texts, [("metal", lowering)], rest))
        knobs.compilation.listener(src=self.src, metadata=self.metadata._asdict(),
                                   metadata_group={}, times=times, cache_hit=found)

    def _compile(self, alias: str) -> library.Compiled:
        try:
            compiled = library.Compiled(self._source._replace(alias=alias))
            compiled.descriptors = self._descriptors
            return compiled
        except CompilationError as error:
            failure = translate(error, self.program)
        raise failure

    def aliased(self) -> library.Compiled:
        """The kernel for launches whose arguments overlap where it writes."""
        aliased: library.Compiled = self.compiled.attached("aliased",
                                                           lambda _: self._compile("all"))
        return aliased

    # -- Launching -----------------------------------------------------------------------------

    def _init_handles(self) -> None:
        """Make the kernel ready for launches, which otherwise the first one does."""
        with self.src.fn.lock:
            if self.call == self._first_call:
                from . import backend  # pylint: disable=import-outside-toplevel
                about: tuple[Any, ...] = (self.module, self.function, self.name, {}, self.hash)
                if knobs.runtime.kernel_load_start_hook is not None:
                    knobs.runtime.kernel_load_start_hook(*about)
                self.call = backend.active().prepare(self)
                if knobs.runtime.kernel_load_end_hook is not None:
                    knobs.runtime.kernel_load_end_hook(*about)

    def _first_call(self, gx: int, gy: int, gz: int, values: tuple[Any, ...]) -> None:
        self._init_handles()
        self.call(gx, gy, gz, values)

    def launch_metadata(self, grid: Any, stream: Any, *args: Any) -> Any:
        """What launch hooks are given; None: there are none."""
        hooks = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
        used = any(hook is not None and getattr(hook, "calls", True) for hook in hooks)
        return LazyDict(self, grid, stream, args) if used else None

    def run(self, grid_0: int, grid_1: int, grid_2: int, stream: Any, function: Any,
            packed_metadata: Any, launch_metadata: Any, enter_hook: Any, exit_hook: Any,
            *args: Any) -> None:
        """Launch with Triton's list of arguments: all parameters of the function follow."""
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if grid_0 > 0 and grid_1 > 0 and grid_2 > 0:
            self.call(grid_0, grid_1, grid_2, self.pick(args))
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def launch_with_hooks(self, grid: Any, sizes: Any, args: tuple[Any, ...],
                          stream: Any = None) -> None:
        """Launch with all parameters of the function."""
        self.run(*sizes, stream, self.function, self.packed_metadata,
                 self.launch_metadata(grid, stream, *args), knobs.runtime.launch_enter_hook,
                 knobs.runtime.launch_exit_hook, *args)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """kernel[grid](*args) with all parameters.

        As older versions of Triton have it, parameters that are annotated tl.constexpr may be
        left out, or all that the kernel has compiled in.
        """
        self._init_handles()
        sizes = [operator.index(size) for size in (*grid, 1, 1)[:3]]

        def runner(*args: Any, stream: Any = None) -> None:
            self.launch_with_hooks(grid, sizes, self._all_arguments(args), stream)

        return runner

    def _all_arguments(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with None for constants that were left out."""
        params = self.src.fn.params
        if len(args) == len(params):
            return args
        for passed in ({param.num for param in params if not param.is_constexpr}, self._live):
            if len(args) == len(passed):
                given = iter(args)
                return tuple(next(given) if param.num in passed else None for param in params)
        raise TypeError(f"{self.name} has {len(params)} parameters, {len(self._live)} of them not "
                        f"compiled in, but {len(args)} arguments were given")


class LazyDict:
    """Data of a launch, with what jit(launch_metadata=) adds once a hook asks for it."""

    def __init__(self, kernel: CompiledKernel, grid: Any, stream: Any,
                 args: tuple[Any, ...]) -> None:
        self.data: dict[str, Any] = {"name": kernel.name, "function": kernel.function,
                                     "stream": stream}
        self.extras: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        more = kernel.src.fn.launch_metadata
        if more is not None:
            named = dict(zip(kernel.src.fn.arg_names, args))
            self.add(more, (grid, kernel.metadata, named))

    def add(self, func: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Data that func(*args) returns, when asked for."""
        self.extras.append((func, args))

    def get(self) -> dict[str, Any]:
        """All of it."""
        for func, args in self.extras:
            self.data = {**self.data, **func(*args)}
        self.extras.clear()
        return self.data


def compile_source(src: ASTSource, target: Any = None, options: Optional[dict[str, Any]] = None,
                   **_: Any) -> CompiledKernel:
    """triton.compile: the kernel of an ASTSource. All kernels are for the current GPU."""
    from . import backend  # pylint: disable=import-outside-toplevel
    from .driver import driver  # pylint: disable=import-outside-toplevel
    if not isinstance(src, ASTSource):
        IRSource(src)
    return CompiledKernel(src, parse_options(dict(options or {})), backend.active().gpu,
                          target or driver.active.get_current_target())


# -- Compiling in the background ---------------------------------------------------------------

active_mode: contextvars.ContextVar[Optional[AsyncCompileMode]] = contextvars.ContextVar(
    "active_mode", default=None)


class FutureKernel:
    """A kernel that an executor compiles. Whatever is asked of it waits for that."""

    def __init__(self, finalize_compile: Callable[[CompiledKernel], None], future: Any) -> None:
        self.finalize_compile = finalize_compile
        self.kernel: Optional[CompiledKernel] = None
        self.future = future

    def result(self, ignore_errors: bool = False) -> Optional[CompiledKernel]:
        """The kernel; with `ignore_errors` None if it cannot be compiled."""
        if self.kernel is None:
            if ignore_errors and self.future.exception() is not None:
                return None
            self.kernel = self.future.result()
            self.finalize_compile(self.kernel)
        return self.kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result(), name)


class AsyncCompileMode:
    """`with AsyncCompileMode(executor):` has kernels compiled by an Executor of Python's.

    warmup() returns at once, a launch waits for its kernel, the end of the block for all.
    """

    def __init__(self, executor: Any, *, ignore_errors: bool = False) -> None:
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.future_kernels: dict[str, FutureKernel] = {}

    def submit(self, key: str, compile_fn: Callable[[], CompiledKernel],
               finalize_fn: Callable[[CompiledKernel], None]) -> FutureKernel:
        """The kernel of a key, which is compiled once."""
        if key not in self.future_kernels:
            future = self.executor.submit(compile_fn)
            self.future_kernels[key] = FutureKernel(finalize_fn, future)
        return self.future_kernels[key]

    def __enter__(self) -> AsyncCompileMode:
        if active_mode.get() is not None:
            raise RuntimeError("Another AsyncCompileMode is already active")
        active_mode.set(self)
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            for kernel in self.future_kernels.values():
                kernel.result(self.ignore_errors)
        finally:
            active_mode.set(None)


def _watch(space: Any, name: str, value: Any) -> Iterator[tuple[Callable[[str], Any], str, Any]]:
    """Functions, names, objects: unless function(name) is the object, kernels are out of date."""
    get = (lambda _: space.cell_contents) if isinstance(space, types.CellType) else space.get
    plain = value
    if isinstance(value, language.constexpr):
        yield get, name, value
        get, name, plain = vars(value).get, "value", value.value
    if isinstance(plain, (list, dict)):  # its elements may change
        before = copy.deepcopy(plain)
        yield (lambda _: plain if get(name) == before else None), name, plain
    else:
        yield get, name, plain


# -- Errors ------------------------------------------------------------------------------------

_CALLS = re.compile(r"^note: (called from .+)$", re.MULTILINE)
_CALLED = re.compile(r"called from (.+?):(\d+):(\d+)(?:, |$)")


def translate(error: CompilationError, program: Program) -> CompilationError:
    """A diagnostic of the front end as the exception that Triton would raise.

    In a function that the kernel calls, Triton raises one error for each call on the way, with
    the next one inside as its cause.
    """
    message = error.error_message or ""
    if message.partition(" ")[0] in program.unbound:  # Triton rejects it for what it is
        message = f"kernels cannot read the module's {message.partition(' ')[0]}: it is no " \
                  "tl.constexpr"
    is_assert = error.code == errors.STATIC_ASSERT
    words = errors.triton_words(message)
    first = re.split(r"\n(?=\S.*: error\[TM)", error.text)[0]  # the other errors have their own
    calls = _CALLS.search(first)
    made: Optional[CompilationError] = None
    for path, line, column in [(error.file or "", error.line, error.column),
                               *_CALLED.findall(calls.group(1) if calls else "")]:
        unit = next((unit for unit in program.units if unit.path == path
                     and 0 <= int(line) - unit.line <= unit.body.count("\n")), None)
        node = _node_at(unit, int(line), int(column), first) if unit else None
        if unit and made is None and re.search(errors.RETURNS, message):
            node = parse(unit.body).body[0]
        kind = errors.CompileTimeAssertionFailure if is_assert and made is None \
            else CompilationError
        outer = kind(unit.body if unit else None, node, None if made else words, file=path,
                     line=int(line), column=int(column), code=error.code)
        if made is not None:
            outer.__cause__ = made
        elif isinstance(node, ast.Call) and not is_assert:  # Triton's builtin function raises
            outer.__cause__ = ValueError(words)
        made = outer
    assert made is not None
    made.text = error.text
    return made


def _node_at(unit: Unit, line: int, column: int, text: str) -> ast.AST:
    """The node of the unit that the diagnostic marks; otherwise a place only."""
    at = (line - unit.line + 1, column - 1)
    marked = re.search(r"^ *\| *(\^~*)$", text, re.MULTILINE)
    width = len(marked.group(1)) if marked else 0
    found: Optional[ast.AST] = None
    for node in ast.walk(parse(unit.body)):
        if (getattr(node, "lineno", 0), getattr(node, "col_offset", -1)) == at:
            end = getattr(node, "end_col_offset", 0)
            if isinstance(node, ast.expr) and end - at[1] == width:
                return node
            found = found or node
    return found or ast.Pass(lineno=at[0], col_offset=at[1])


# -- Descriptors -------------------------------------------------------------------------------

class TensorDescriptor:
    """A descriptor made by host code: a block of this shape is loaded and stored at a time."""

    def __init__(self, base: Any, shape: Any, strides: Any, block_shape: Any,
                 padding: str = "zero", round_f32_to_tf32: bool = False) -> None:
        self.base, self.shape, self.strides = base, list(shape), list(strides)
        self.block_shape, self.padding = list(block_shape), padding
        self.round_f32_to_tf32 = round_f32_to_tf32
        rank = len(self.shape)
        assert len(self.strides) == rank, f"rank mismatch: {self}"
        assert len(self.block_shape) == rank, f"rank mismatch: {self}"
        assert rank > 0, "rank must not be zero"
        assert rank <= 5, "rank cannot be more than 5"
        element = arrays.element(base.dtype)
        if type(base).__name__ not in ("FakeTensor", "FunctionalTensor"):
            assert arrays.address(base) % 16 == 0, "base must be 16-byte aligned"
        language.validate_block_shape(self.block_shape)
        bits = language.str_to_ty(element).primitive_bitwidth
        for stride in self.strides[:-1]:
            assert stride * (bits // 8) % 16 == 0, "strides must be 16-byte aligned"
        for size in self.shape:
            assert size > 0, "shape must be positive"
        assert self.strides[-1] == 1, "Last dimension must be contiguous"
        assert padding in ("zero", "nan"), "Illegal value for padding"
        if padding == "nan":
            assert element.startswith(("fp", "bf")), (
                "Padding option `nan` is only supported for floating point tensors")
        if round_f32_to_tf32:
            assert element == "fp32", "round_f32_to_tf32 is only supported for float32 tensors"
            raise ValueError("round_f32_to_tf32 is not supported: Apple GPUs have no TF32")

    def __repr__(self) -> str:
        return f"TensorDescriptor({vars(self)})"

    @staticmethod
    def from_tensor(tensor: Any, block_shape: Any, padding: str = "zero",
                    round_f32_to_tf32: bool = False) -> TensorDescriptor:
        """A descriptor of all of an array."""
        if hasattr(tensor, "stride"):
            strides = tensor.stride()
        else:
            strides = [step // tensor.dtype.itemsize for step in tensor.strides]
        return TensorDescriptor(tensor, tensor.shape, strides, block_shape, padding,
                                round_f32_to_tf32)
