"""triton.language as Python sees it.

Types, constexpr and the few functions that host code calls are real. All other names are known to
the C front end only: a `Builtin` stands for each, may be passed around, and is resolved by its
name when a kernel that uses it is compiled. A name that Triton does not have raises AttributeError.
"""

from __future__ import annotations

import builtins
import operator
import re
import sys
import types
from typing import Any, Callable, Iterator, NoReturn, Optional, Union

# Names that the front end knows, by module.
CORE = """add advance aggregate_replace arange associative_scan assume atomic_add atomic_and
 atomic_cas atomic_load atomic_max atomic_min atomic_or atomic_poll atomic_store atomic_xchg
 atomic_xor broadcast broadcast_to cast cat clamp condition debug_barrier device_assert
 device_print dot dot_scaled expand_dims expect_zero full gather histogram inline_asm_elementwise
 join load load_tensor_descriptor make_block_ptr make_tensor_descriptor map_elementwise
 max_constancy max_contiguous maximum minimum mul multiple_of num_programs permute program_id range
 reduce reshape slice split static_assert static_print static_range store store_tensor_descriptor
 sub to_tensor trans view where"""
MATH = "abs ceil cos div_rn erf exp exp2 fdiv floor fma log log2 rsqrt sin sqrt sqrt_rn umulhi"
STANDARD = """_argmax_combine _argmax_combine_tie_break_fast _argmax_combine_tie_break_left
 _argmin_combine _argmin_combine_tie_break_fast _argmin_combine_tie_break_left _bitonic_merge
 _compare_and_swap _elementwise_max _elementwise_min _indicator _log2 _or_combine _prod_combine
 _sum_combine _xor_combine argmax argmin bitonic_merge cdiv cumprod cumsum flip interleave max min
 ravel reduce_or sigmoid softmax sort sort_impl squeeze sum swizzle2d topk unsqueeze xor_sum zeros
 zeros_like"""
RANDOM = """N_ROUNDS_DEFAULT pair_uniform_to_normal philox philox_impl rand rand4x randint
 randint4x randn randn4x uint_to_uniform_float"""
# add_r? stands for add_rd, add_rn, add_ru and add_rz
LIBDEVICE = re.sub(r"(\w+)_r\?", r"\1_rd \1_rn \1_ru \1_rz", """
 abs acos acosh add_r? asin asinh atan atan2 atanh brev byte_perm cbrt ceil clz copysign
 cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 div_r? double2float_r? double2hiint double2int_r?
 double2ll_r? double2loint double2uint_r? double2ull_r? double_as_longlong erf erfc erfcinv erfcx
 erfinv exp exp10 exp2 expm1 fast_cosf fast_dividef fast_exp10f fast_expf fast_log10f fast_log2f
 fast_logf fast_powf fast_sinf fast_tanf fast_tanhf fdim ffs finitef float2int_r? float2ll_r?
 float2uint_r? float2ull_r? float_as_int float_as_uint floor fma fma_r? fmod hadd hiloint2double
 hypot ilogb int2double_rn int2float_r? int_as_float isfinited isinf isnan j0 j1 jn ldexp lgamma
 ll2double_r? ll2float_r? llrint llround log log10 log1p log2 logb longlong_as_double mul24 mul_r?
 mulhi nearbyint nextafter norm3d norm4d normcdf normcdfinv popc pow rcbrt rcp64h rcp_r? remainder
 rhadd rhypot rint rnorm3d rnorm4d round rsqrt rsqrt_rn sad saturatef scalbn signbit sin sinh sinpi
 sqrt sqrt_r? sub_r? tan tanh tgamma trunc uint2double_rn uint2float_r? uint_as_float ull2double_r?
 ull2float_r? y0 y1 yn""")
ALL = sorted({name for name in f"{CORE} {MATH} {STANDARD} {RANDOM}".split()
              if name.islower() and name[0] != "_"} - {"sort_impl"})
MEMBERS = {
    "core": " ".join(ALL) + " CONSTEXPR_0 extern_elementwise",
    "math": f"{MATH} {LIBDEVICE}",  # as in Triton 2
    "standard": STANDARD,
    "random": RANDOM,
    "extra": "",
    "extra.libdevice": LIBDEVICE,
    "extra.cuda": "gdc_launch_dependents gdc_wait globaltimer num_threads num_warps smid",
    "extra.cuda.libdevice": LIBDEVICE,
    "extra.cuda.utils": "globaltimer num_threads num_warps smid",
    "extra.cuda.gdc": "gdc_launch_dependents gdc_wait",
    "extra.hip": "memrealtime num_threads num_warps smid",
    "extra.hip.libdevice": LIBDEVICE,
    "target_info": "cuda_capability_geq current_target is_cuda is_hip is_hip_cdna3 is_hip_cdna4 "
                   "is_hip_gfx1250",
}
LIBRARY = set((STANDARD + RANDOM).split()) - {"N_ROUNDS_DEFAULT"}  # jit functions in Triton


class Builtin:
    """A function of triton.language, named by the module and name that the front end knows."""

    __triton_builtin__ = True

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.__module__ = module if module != "triton.language" else "triton.language.core"
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        if self.__name__ in LIBRARY:
            raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")
        raise ValueError(f"Did you forget to add @triton.jit ? (`{self!r}` only works in a kernel)")

    def __repr__(self) -> str:
        return f"{self.module}.{self.__name__}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Builtin) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash((self.module, self.__name__))


class constexpr:
    """A value that is known when a kernel is compiled."""

    def __init__(self, value: Any) -> None:
        self.value: Any = value.value if isinstance(value, constexpr) else value

    @property
    def type(self) -> constexpr_type:
        """The type that the value has in a kernel."""
        return constexpr_type(self.value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __hash__(self) -> int:
        return hash((constexpr, self.value))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return self.value  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self.value[_unwrap_if_constexpr(index)]


def _unwrap_if_constexpr(value: Any) -> Any:
    """The value without constexpr around it or, in lists and tuples, around its elements."""
    if isinstance(value, constexpr):
        return value.value
    if isinstance(value, list):
        return [_unwrap_if_constexpr(one) for one in value]
    if isinstance(value, builtins.tuple):
        elements = [_unwrap_if_constexpr(one) for one in value]
        return type(value)(*elements) if hasattr(value, "_fields") else type(value)(elements)
    return value


def _add_operators() -> None:
    """Give constexpr Python's operators; the result of each is a constexpr again."""

    def lifted(function: Callable[..., Any]) -> Callable[..., constexpr]:
        return lambda *args: constexpr(function(*map(_unwrap_if_constexpr, args)))

    def reflected(function: Callable[..., Any]) -> Callable[..., constexpr]:
        return lifted(lambda a, b: function(b, a))

    for name in "add sub mul truediv floordiv mod pow lshift rshift and or xor".split():
        function = getattr(operator, f"__{name}__")
        setattr(constexpr, f"__{name}__", lifted(function))
        setattr(constexpr, f"__r{name}__", reflected(function))
    for name in "lt le gt ge eq ne neg pos invert".split():
        setattr(constexpr, f"__{name}__", lifted(getattr(operator, f"__{name}__")))


_add_operators()


class constexpr_type:
    """The type of a constexpr: its value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"


class dtype:
    """A scalar type, by Triton's short name."""

    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = ["fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32",
                "fp64"]
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    _MANTISSA_AND_BIAS = {"fp8e4b15": (3, 15), "fp8e4nv": (3, 7), "fp8e4b8": (3, 8),
                          "fp8e5": (2, 15), "fp8e5b16": (2, 16), "fp16": (10, 15),
                          "bf16": (7, 127), "fp32": (23, 127), "fp64": (52, 1023)}

    name: str

    def __init__(self, name: Union[str, constexpr]) -> None:
        plain = _unwrap_if_constexpr(name)
        assert dtype.is_dtype(plain), plain
        self.name = plain
        digits = "8" if "fp8" in plain else "".join(c for c in plain if c.isdigit())
        self.primitive_bitwidth = int(digits or 0)
        self.itemsize = self.primitive_bitwidth // 8
        if self.is_int():
            self.int_bitwidth = self.primitive_bitwidth
        elif self.is_floating():
            self.fp_mantissa_width, self.exponent_bias = self._MANTISSA_AND_BIAS[plain]

    @staticmethod
    def is_dtype(type_str: str) -> bool:
        """Is this the short name of a type?"""
        return type_str in (dtype.SINT_TYPES + dtype.UINT_TYPES + dtype.FP_TYPES
                            + dtype.OTHER_TYPES)

    _KINDS = {"fp8": FP_TYPES[:5], "bool": ["int1"], "floating": FP_TYPES,
              "standard_floating": STANDARD_FP_TYPES, "int_signed": SINT_TYPES,
              "int_unsigned": UINT_TYPES, "int": SINT_TYPES + UINT_TYPES}

    def __getattr__(self, name: str) -> Any:
        """is_floating() and so on, and for each type: is_fp32()."""
        if name.startswith("is_") and (name[3:] in self._KINDS or dtype.is_dtype(name[3:])):
            return lambda: self.name in self._KINDS.get(name[3:], [name[3:]])
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def is_block(self) -> bool:
        return isinstance(self, block_type)

    def is_ptr(self) -> bool:
        return isinstance(self, pointer_type)

    def is_const(self) -> bool:
        return isinstance(self, pointer_type) and self.const

    def get_int_max_value(self) -> int:
        """The largest value of an integer type."""
        assert self.is_int()
        return int(2 ** (self.int_bitwidth - self.is_int_signed()) - 1)

    def get_int_min_value(self) -> int:
        """The smallest value of an integer type."""
        assert self.is_int()
        return int(-2 ** (self.int_bitwidth - 1)) if self.is_int_signed() else 0

    @property
    def scalar(self) -> dtype:
        """The type of an element."""
        return self

    def codegen_name(self) -> str:
        """The name in triton.language: float32 of fp32."""
        if self.name.startswith("fp"):
            return "float" + self.name[2:]
        return "bfloat" + self.name[2:] if self.name.startswith("bf") else self.name

    def __eq__(self, other: object) -> bool:
        plain = _unwrap_if_constexpr(other)
        return isinstance(plain, dtype) and self.name == plain.name

    def __hash__(self) -> int:
        return hash((self.name,))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"triton.language.{self.codegen_name()}"


class pointer_type(dtype):
    """A pointer to elements of a type."""

    def __init__(self, element_ty: Any, address_space: int = 1, const: bool = False) -> None:
        element = _unwrap_if_constexpr(element_ty)
        if not isinstance(element, dtype):
            raise TypeError(f"element_ty has type `{type(element).__name__}`; expected `dtype`.")
        self.element_ty = element
        self.address_space = address_space
        self.const = const
        self.name = f"{'const_' if const else ''}pointer<{element}>"

    def __eq__(self, other: object) -> bool:
        plain = _unwrap_if_constexpr(other)
        return (isinstance(plain, pointer_type) and self.name == plain.name
                and self.address_space == plain.address_space)

    __hash__ = dtype.__hash__
    __repr__ = dtype.__str__


class block_type(dtype):
    """A block of elements of a type."""

    def __init__(self, element_ty: dtype, shape: Any) -> None:
        self.element_ty = element_ty
        self.shape = builtins.tuple(_unwrap_if_constexpr(list(shape)))
        if not self.shape:
            raise TypeError("0d block_type is forbidden")
        self.numel = validate_block_shape(self.shape)
        self.name = f"<{self.shape}, {element_ty}>"

    @property
    def scalar(self) -> dtype:
        return self.element_ty

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.numel * (self.element_ty.primitive_bitwidth // 8)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, block_type) and self.name == other.name

    __hash__ = dtype.__hash__
    __repr__ = dtype.__str__


TRITON_MAX_TENSOR_NUMEL = 1048576


def validate_block_shape(shape: Any) -> int:
    """The number of elements of a block; an error where Triton allows no such block."""
    count = 1
    for axis, size in enumerate(shape):
        if not isinstance(size, int):
            raise TypeError(f"Shape element {axis} must have type `constexpr[int]`, "
                            f"got `constexpr[{type(size)}]")
        if size & (size - 1):
            raise ValueError(f"Shape element {axis} must be a power of 2")
        count *= size
    if count > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"numel ({count}) exceeds triton maximum tensor numel "
                         f"({TRITON_MAX_TENSOR_NUMEL})")
    return count


SCALARS = {name: dtype(name) for name in dtype.OTHER_TYPES + dtype.UINT_TYPES + dtype.SINT_TYPES
           + dtype.FP_TYPES}
void, int1 = SCALARS["void"], SCALARS["int1"]
int8, int16, int32, int64 = (SCALARS[name] for name in dtype.SINT_TYPES)
uint8, uint16, uint32, uint64 = (SCALARS[name] for name in dtype.UINT_TYPES[1:])
(float8e4b15, float8e4nv, float8e4b8, float8e5, float8e5b16, float16, bfloat16, float32,
 float64) = (SCALARS[name] for name in dtype.FP_TYPES)
pi32_t = pointer_type(int32)


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer type of a width."""
    name = "int1" if bitwidth == 1 else f"{'' if signed else 'u'}int{bitwidth}"
    if name not in SCALARS:
        raise ValueError(f"Unsupported bitwidth {bitwidth} and signedness {signed}")
    return SCALARS[name]


def str_to_ty(name: str, c: Any = None) -> Any:
    """The type that a signature names: "*fp32", "i64"; of "constexpr" that of the value `c`."""
    if name.startswith("*"):
        const = name.startswith("*k")
        return pointer_type(str_to_ty(name[2:] if const else name[1:], c), const=const)
    if name.startswith("constexpr"):
        return constexpr_type(c)
    if name in ("u1", "i1", "B"):
        return int1
    if name[:1] in "iu" and name[1:].isdigit():
        return get_int_dtype(int(name[1:]), name[0] == "i")
    return SCALARS[name]


class base_value:
    """Base of the values in a kernel."""


class _InKernels(base_value):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise ValueError(f"a triton.language.{type(self).__name__} exists in kernels only")


class tensor(_InKernels):
    """A block or number in a kernel: for annotations and isinstance."""


class tensor_descriptor(_InKernels):
    """A descriptor in a kernel: for annotations; host code makes a TensorDescriptor."""


class tuple(base_value):  # pylint: disable=redefined-builtin
    """Triton's tuple of values."""

    def __init__(self, args: Any, type: Any = None) -> None:
        self.values = list(args)
        self.type = type

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, index: Any) -> Any:
        index = _unwrap_if_constexpr(index)
        found = self.values[index]
        return tuple(found) if isinstance(index, builtins.slice) else found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, builtins.tuple)) and list(other) == self.values

    def __hash__(self) -> int:
        return hash(builtins.tuple(self.values))

    def __repr__(self) -> str:
        return repr(self.values)


class tuple_type:
    """The type of a tuple: those of its elements, and names where it has them."""

    def __init__(self, types: Any, fields: Any = None) -> None:
        self.types, self.fields = types, fields


class tensor_descriptor_type:
    """The type of a descriptor: for annotations."""


class const:
    """An annotation: the kernel only reads through this pointer."""


class PropagateNan:
    """What tl.maximum and its kind do with NaN."""

    NONE = Builtin("triton.language", "PropagateNan.NONE")
    ALL = Builtin("triton.language", "PropagateNan.ALL")


def builtin(fn: Any) -> Any:
    """Marks a function that Triton's compiler would run; kernels here cannot call it."""
    fn.__triton_builtin__ = True
    return fn


extern = builtin


def must_use_result(x: Any, s: Union[bool, str] = True) -> Any:
    """Marks a function: a kernel that drops its result is rejected, with the words `s`."""
    if isinstance(x, str):
        return lambda fn: must_use_result(fn, x)
    x._must_use_result = s
    return x


def _aggregate(cls: Any) -> Any:
    """Marks a class whose objects are values in kernels, with the annotated fields."""
    cls.__triton_aggregate__ = True
    return cls


TYPES = (constexpr, dtype, pointer_type, block_type, tensor, tuple, tensor_descriptor,
         tuple_type, constexpr_type, tensor_descriptor_type, const)


# The same objects in triton.language and triton.language.core.
HOST: dict[str, Any] = {
    **{kind.__name__: kind for kind in TYPES}, **{k.codegen_name(): k for k in SCALARS.values()},
    "pi32_t": pi32_t, "PropagateNan": PropagateNan, "str_to_ty": str_to_ty,
    "TRITON_MAX_TENSOR_NUMEL": TRITON_MAX_TENSOR_NUMEL}


def _fill(space: dict[str, Any], names: list[str], home: str) -> None:
    """Give a module functions, which are made when they are asked for: there are a thousand."""
    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module '{home}' has no attribute '{name}'")
        return space.setdefault(name, Builtin(home, name))

    space.setdefault("__all__", [name for name in names if name[0] != "_"])
    space.update(__getattr__=get, __dir__=lambda: sorted({*space, *names}))


def _build() -> None:
    """Make the submodules, as attributes of this module and in sys.modules."""
    for name, members in {"": " ".join(ALL), **MEMBERS}.items():
        parent, _, last = f"{__name__}.{name}".strip(".").rpartition(".")
        module = sys.modules.setdefault(f"{parent}.{last}", types.ModuleType(f"{parent}.{last}"))
        module.__path__ = []
        if name:
            setattr(sys.modules[parent], last, module)
        if name == "core":
            vars(module).update(
                HOST, base_value=base_value, builtin=builtin, extern=extern, _aggregate=_aggregate,
                must_use_result=must_use_result, get_int_dtype=get_int_dtype,
                validate_block_shape=validate_block_shape,
                _unwrap_if_constexpr=_unwrap_if_constexpr)
        home = "triton.language" if name in ("", "core") else f"triton.language.{name}"
        _fill(vars(module), members.split(), home)


__all__ = [*ALL, *HOST, "math", "extra", "target_info"]
_build()
