"""Settings by Triton's names: attributes that are read from the environment unless they are set.

A setting that Metal has a use for takes effect (see the groups below). The others exist so that
programs which save, set or print them run; nothing here reads them. The groups `nvidia`, `amd` and
`proton` of Triton are absent: their settings name tools and drivers of those GPUs.
"""
from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any, Callable, Dict, Generic, Iterator, List, NamedTuple, Optional, Tuple
from typing import TypeVar, Union

Value = TypeVar("Value")
Hook = TypeVar("Hook", bound=Callable[..., Any])
Group = TypeVar("Group", bound="base_knobs")


class Env:
    """The class of `env`, which is assigned to a setting to follow the environment again."""


env = Env()
propagate_env: bool = True  # assigning a setting also changes its environment variable
_TRUE = ("1", "true", "on", "y", "yes")


def getenv(key: str, default: Optional[str] = None) -> Optional[str]:
    """An environment variable without the quotes that some shells leave around it."""
    value = os.environ.get(key)
    return default if value is None else value.strip().strip('"')


def setenv(key: str, value: Optional[str]) -> None:
    """Set or, with None, remove an environment variable, unless `propagate_env` is off."""
    if not propagate_env:
        return
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value


class env_base(Generic[Value]):
    """One setting: an assigned value, otherwise that of an environment variable."""

    name: str

    def __init__(self, key: str, default: Any = None) -> None:
        self.key = key
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, group: Any, owner: Optional[type] = None) -> Value:
        assigned = {} if group is None else group.__dict__
        value: Value = assigned[self.name] if self.name in assigned else self.get()
        return value

    def __set__(self, group: Any, value: Union[Value, Env]) -> None:
        if isinstance(value, Env):
            group.__dict__.pop(self.name, None)
            return
        group.__dict__[self.name] = value
        if value is None or isinstance(value, (bool, int, str)):
            text = str(int(value)) if isinstance(value, bool) else value
            setenv(self.key, None if text is None else str(text))

    def __delete__(self, group: Any) -> None:
        group.__dict__.pop(self.name, None)

    def get(self) -> Value:
        """The value that the environment has now."""
        text = getenv(self.key)
        default = self.default() if text is None and callable(self.default) else self.default
        value: Value = default if text is None else self.parse(text)
        return value

    def parse(self, text: str) -> Any:
        """The value that a text means."""
        return text


class env_str(env_base[str]):
    """A text; the default may be a function."""


class env_opt_str(env_base[Optional[str]]):
    """A text, or None."""


class env_bool(env_base[bool]):
    """A truth: 1, true, on, y and yes in any case are True, all else is False."""

    def __init__(self, key: str, default: bool = False) -> None:
        super().__init__(key, default)

    def parse(self, text: str) -> bool:
        return text.lower() in _TRUE


class env_int(env_base[int]):
    """A whole number."""

    def parse(self, text: str) -> int:
        try:
            return int(text)
        except ValueError as error:
            raise RuntimeError(f"{self.key} is '{text}', but must be an integer") from error


class env_class(env_base[Optional[type]]):
    """A class, as MODULE:CLASS, derived from the one named `base`."""

    def __init__(self, key: str, base: str) -> None:
        super().__init__(key)
        self.base = base

    def parse(self, text: str) -> type:
        module, colon, name = text.partition(":")
        if not colon:
            raise RuntimeError(f"{self.key} is '{text}', but must have the form MODULE:CLASS")
        found: type = getattr(importlib.import_module(module), name)
        if self.base not in (parent.__name__ for parent in found.mro()):
            raise RuntimeError(f"{self.key} is '{text}', which is not a {self.base}")
        return found


class base_knobs:
    """A group of settings."""

    @property
    def knob_descriptors(self) -> Dict[str, env_base[Any]]:
        """The settings of the group by name."""
        return {name: one for name, one in vars(type(self)).items() if isinstance(one, env_base)}

    @property
    def knobs(self) -> Dict[str, Any]:
        """Their values by name."""
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def copy(self: Group) -> Group:
        """A group with the same assigned values."""
        other = type(self)()
        other.__dict__.update(self.__dict__)
        return other

    def reset(self: Group) -> Group:
        """Forget all assigned values, so that the environment decides."""
        for name in self.knob_descriptors:
            delattr(self, name)
        return self

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Within `with group.scope():` assignments are undone at the end."""
        keys = [one.key for one in self.knob_descriptors.values()]
        before, variables = dict(self.__dict__), {key: os.environ.get(key) for key in keys}
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)
            for key, value in variables.items():
                if value is None:
                    os.environ.pop(key, None)
                else:
                    os.environ[key] = value


class HookChain(Generic[Hook]):
    """Functions that are called one after the other with the same arguments."""

    def __init__(self, reversed: bool = False) -> None:
        self.calls: List[Hook] = []
        self.reversed = reversed

    def add(self, func: Hook) -> None:
        """Append a function unless it is there already."""
        if func not in self.calls:
            self.calls.append(func)

    def remove(self, func: Hook) -> None:
        """Take a function out if it is there."""
        if func in self.calls:
            self.calls.remove(func)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for call in tuple(self.calls[::-1] if self.reversed else self.calls):
            call(*args, **kwargs)


class CompileTimes(NamedTuple):
    """Microseconds of a compilation, as compilation.listener receives them."""

    ir_initialization: int
    lowering_stages: List[Tuple[str, int]]
    store_results: int

    @property
    def total_lowering(self) -> int:
        """The sum over the stages."""
        return sum(time for _, time in self.lowering_stages)

    @property
    def total(self) -> int:
        """All of it."""
        return self.ir_initialization + self.total_lowering + self.store_results


class build_knobs(base_knobs):
    """How native code would be built. Never used: nothing is built at run time."""

    cc = env_opt_str("CC")
    impl: Any = None


def _default_cache() -> str:
    from . import library
    return library.cache_folder() or ""


class cache_knobs(base_knobs):
    """`dir` and `manager_class` decide where results of autotuning are kept."""

    home_dir = env_str("TRITON_HOME", lambda: os.path.expanduser("~/"))
    dump_dir = env_str("TRITON_DUMP_DIR", lambda: cache.get_triton_dir("dump"))
    override_dir = env_str("TRITON_OVERRIDE_DIR", lambda: cache.get_triton_dir("override"))
    dir = env_str("TRITON_CACHE_DIR", _default_cache)
    manager_class = env_class("TRITON_CACHE_MANAGER", "CacheManager")

    def get_triton_dir(self, dirname: str) -> str:
        """A folder of Triton below the home directory."""
        return os.path.join(self.home_dir, ".triton", dirname)


class compilation_knobs(base_knobs):
    """Of the compiler. `listener` and the flags below have no effect on Metal."""

    override = env_bool("TRITON_KERNEL_OVERRIDE")
    dump_ir = env_bool("TRITON_KERNEL_DUMP")
    store_binary_only = env_bool("TRITON_STORE_BINARY_ONLY")
    always_compile = env_bool("TRITON_ALWAYS_COMPILE")
    use_ir_loc = env_opt_str("USE_IR_LOC")
    enable_asan = env_bool("TRITON_ENABLE_ASAN")
    disable_line_info = env_bool("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = env_bool("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = env_bool("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode = env_str("TRITON_INSTRUMENTATION_MODE", "")
    listener: Optional[Callable[..., None]] = None


class autotuning_knobs(base_knobs):
    """`cache` keeps all results on disk, `print` reports them, `listener` is called with them."""

    cache = env_bool("TRITON_CACHE_AUTOTUNING")
    print = env_bool("TRITON_PRINT_AUTOTUNING")
    listener: Optional[Callable[..., None]] = None


class runtime_knobs(base_knobs):
    """`debug` keeps assertions; the launch hooks are called around each launch."""

    interpret = env_bool("TRITON_INTERPRET")
    debug: bool = env_bool("TRITON_DEBUG").get()  # read once: it is looked at for each launch
    override_arch = env_opt_str("TRITON_OVERRIDE_ARCH")
    launch_enter_hook: HookChain[Any] = HookChain()
    launch_exit_hook: HookChain[Any] = HookChain(reversed=True)
    kernel_load_start_hook: HookChain[Any] = HookChain()
    kernel_load_end_hook: HookChain[Any] = HookChain(reversed=True)
    kernel_unload_hook: HookChain[Any] = HookChain()
    jit_cache_hook: Optional[Callable[..., Any]] = None
    jit_post_compile_hook: Optional[Callable[..., Any]] = None
    add_stages_inspection_hook: Optional[Callable[..., Any]] = None


class language_knobs(base_knobs):
    """`fp32_default` is the precision of tl.dot; the others allow a*b+c to be rounded once."""

    fp32_default = env_opt_str("TRITON_F32_DEFAULT")
    default_fp_fusion = env_bool("TRITON_DEFAULT_FP_FUSION", True)
    force_disable_fp_fusion = env_bool("TRITON_FORCE_DISABLE_FP_FUSION")

    def fp_fusion_enabled(self, requested: Optional[bool]) -> bool:
        """Whether a kernel launched with `enable_fp_fusion=requested` may fuse."""
        wanted = self.default_fp_fusion if requested is None else requested
        return wanted and not self.force_disable_fp_fusion


build = build_knobs()
cache = cache_knobs()
compilation = compilation_knobs()
autotuning = autotuning_knobs()
runtime = runtime_knobs()
language = language_knobs()


def refresh_knobs() -> None:
    """Read again what is otherwise read once."""
    runtime.debug = env_bool("TRITON_DEBUG").get()
