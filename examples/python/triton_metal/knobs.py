"""triton.knobs: settings, read from the environment unless they are assigned.

Metal uses cache.dir, cache.manager_class, autotuning.*, runtime.debug, the hooks of runtime and
language.*; the others exist so that programs which save, set or print them run. What names a tool
or a driver of another GPU, such as nvidia.ptxas and the group `proton`, is absent.
"""
from __future__ import annotations

import contextlib
import functools
import importlib
import os
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple, TypeVar

Group = TypeVar("Group", bound="base_knobs")


class Env:
    """The class of `env`, which is assigned to a setting to follow the environment again."""


env = Env()
propagate_env: bool = True  # assigning a setting also changes its environment variable


class env_base:
    """A setting: the assigned value, or `parse` of the environment variable `key`.

    Without the variable it is `default`, or what `default` returns if it is a function.
    """

    name: str

    def __init__(self, key: str, default: Any = None, parse: Callable[[str], Any] = str) -> None:
        self.key, self.default, self.parse = key, default, parse

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, group: Any, owner: Optional[type] = None) -> Any:
        assigned = {} if group is None else group.__dict__
        return assigned[self.name] if self.name in assigned else self.get()

    def __set__(self, group: Any, value: Any) -> None:
        self.__delete__(group)
        if isinstance(value, Env):
            return
        group.__dict__[self.name] = value
        if propagate_env and (value is None or isinstance(value, (bool, int, str))):
            _restore(self.key, str(int(value)) if isinstance(value, int) else value)

    def __delete__(self, group: Any) -> None:
        group.__dict__.pop(self.name, None)

    def get(self) -> Any:
        """The value that the environment has now."""
        text = os.environ.get(self.key)
        if text is None:
            return self.default() if callable(self.default) else self.default
        try:
            return self.parse(text.strip().strip('"'))
        except (ValueError, AttributeError, ImportError) as error:
            raise RuntimeError(f"{self.key} is '{text}', which is invalid: {error}") from error


def _restore(key: str, value: Optional[str]) -> None:
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value


def _truth(text: str) -> bool:
    """1, true, on, y and yes in any case are True, all else is False."""
    return text.lower() in ("1", "true", "on", "y", "yes")


def env_bool(key: str, default: bool = False) -> env_base:
    """A truth."""
    return env_base(key, default, _truth)


env_str = env_opt_str = functools.partial(env_base, parse=str)
env_opt_bool = functools.partial(env_base, parse=_truth)
env_int = functools.partial(env_base, parse=int)


def env_class(key: str, base: str) -> env_base:
    """A class as MODULE:CLASS, derived from the one named `base`; or None."""
    def parse(text: str) -> Any:
        module, _, name = text.partition(":")
        found = getattr(importlib.import_module(module), name)
        if base not in (parent.__name__ for parent in found.mro()):
            raise ValueError(f"it must name a {base} as MODULE:CLASS")
        return found

    return env_base(key, None, parse)


class base_knobs:
    """A group of settings."""

    @property
    def knob_descriptors(self) -> Dict[str, env_base]:
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
        """Forget the assigned values, so that the environment decides."""
        for name in self.knob_descriptors:
            delattr(self, name)
        return self

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Within `with group.scope():` assignments are undone at the end."""
        before = dict(self.__dict__)
        variables = {one.key: os.environ.get(one.key) for one in self.knob_descriptors.values()}
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)
            for key, value in variables.items():
                _restore(key, value)


class CompileTimes(NamedTuple):
    """What `compilation.listener` is told, in microseconds."""

    ir_initialization: int  # making the texts; with a kernel of the cache, all
    lowering_stages: List[Tuple[str, int]]
    store_results: int  # making the kernel's object

    @property
    def total_lowering(self) -> int:
        """Of all stages."""
        return sum(time for _, time in self.lowering_stages)

    @property
    def total(self) -> int:
        """Of everything."""
        return self.ir_initialization + self.total_lowering + self.store_results


class HookChain:
    """Functions that are called one after the other with the same arguments."""

    def __init__(self, reversed: bool = False) -> None:
        self.calls: List[Callable[..., Any]] = []
        self.reversed = reversed

    def add(self, func: Callable[..., Any]) -> None:
        """Append a function unless it is there already."""
        if func not in self.calls:
            self.calls.append(func)

    def remove(self, func: Callable[..., Any]) -> None:
        """Take a function out if it is there."""
        if func in self.calls:
            self.calls.remove(func)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for call in self.calls[::-1] if self.reversed else self.calls[:]:
            call(*args, **kwargs)


class build_knobs(base_knobs):
    """Never used: nothing is built at run time."""
    cc = env_opt_str("CC")
    cudacrt_path = env_opt_str("TRITON_CUDACRT_PATH")
    cudart_path = env_opt_str("TRITON_CUDART_PATH")
    impl: Any = None

    @property
    def backend_dirs(self) -> Set[str]:
        """The paths that are set."""
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class cache_knobs(base_knobs):
    """Where results of autotuning are kept, and by which class."""
    home_dir = env_str("TRITON_HOME", lambda: os.path.expanduser("~/"))
    dump_dir = env_str("TRITON_DUMP_DIR", lambda: cache.get_triton_dir("dump"))
    override_dir = env_str("TRITON_OVERRIDE_DIR", lambda: cache.get_triton_dir("override"))
    dir = env_str("TRITON_CACHE_DIR", lambda: cache.get_triton_dir("cache"))
    manager_class = env_class("TRITON_CACHE_MANAGER", "CacheManager")

    def get_triton_dir(self, dirname: str) -> str:
        """A folder of Triton's in the home directory."""
        return os.path.join(self.home_dir, ".triton", dirname)


class runtime_knobs(base_knobs):
    """`debug` keeps assertions; it is read once, because each launch looks at it."""
    interpret = env_bool("TRITON_INTERPRET")
    debug: bool = env_bool("TRITON_DEBUG").get()
    override_arch = env_opt_str("TRITON_OVERRIDE_ARCH")
    launch_enter_hook: Any = HookChain()
    launch_exit_hook: Any = HookChain(reversed=True)
    kernel_load_start_hook: Any = HookChain()
    kernel_load_end_hook: Any = HookChain(reversed=True)
    jit_cache_hook: Optional[Callable[..., Any]] = None
    jit_post_compile_hook: Optional[Callable[..., Any]] = None
    add_stages_inspection_hook: Optional[Callable[..., Any]] = None


class language_knobs(base_knobs):
    """The precision of tl.dot; whether a*b+c may be rounded once."""
    fp32_default = env_opt_str("TRITON_F32_DEFAULT")
    default_fp_fusion = env_bool("TRITON_DEFAULT_FP_FUSION", True)
    force_disable_fp_fusion = env_bool("TRITON_FORCE_DISABLE_FP_FUSION")

    def fp_fusion_enabled(self, requested: Optional[bool]) -> bool:
        """Whether a kernel launched with `enable_fp_fusion=requested` may fuse."""
        wanted = self.default_fp_fusion if requested is None else requested
        return wanted and not self.force_disable_fp_fusion


def _group(name: str, **settings: Any) -> Any:
    """A group that has only settings."""
    return type(f"{name}_knobs", (base_knobs,), settings)()


build = build_knobs()
cache: cache_knobs = cache_knobs()
runtime = runtime_knobs()
language = language_knobs()
# `cache` keeps all results on disk, `print` reports them, `listener` is called with them.
autotuning = _group(
    "autotuning", cache=env_bool("TRITON_CACHE_AUTOTUNING"), listener=None,
    print=env_bool("TRITON_PRINT_AUTOTUNING"))
redis = _group(
    "redis", key_format=env_str("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}"),
    host=env_str("TRITON_REDIS_HOST", "localhost"), port=env_int("TRITON_REDIS_PORT", 6379))
compilation = _group(
    "compilation", override=env_bool("TRITON_KERNEL_OVERRIDE"), listener=None,
    dump_ir=env_bool("TRITON_KERNEL_DUMP"), use_ir_loc=env_opt_str("USE_IR_LOC"),
    store_binary_only=env_bool("TRITON_STORE_BINARY_ONLY"),
    always_compile=env_bool("TRITON_ALWAYS_COMPILE"),
    disable_line_info=env_bool("TRITON_DISABLE_LINE_INFO"),
    front_end_debugging=env_bool("TRITON_FRONT_END_DEBUGGING"),
    allow_non_constexpr_globals=env_bool("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"),
    instrumentation_mode=env_str("TRITON_INSTRUMENTATION_MODE", ""))
nvidia = _group(
    "nvidia", disable_ptxas_opt=env_bool("DISABLE_PTXAS_OPT"),
    dump_nvptx=env_bool("NVPTX_ENABLE_DUMP"), libdevice_path=env_opt_str("TRITON_LIBDEVICE_PATH"),
    mock_ptx_version=env_opt_str("TRITON_MOCK_PTX_VERSION"),
    ptxas_options=env_opt_str("PTXAS_OPTIONS"))
amd = _group(
    "amd", use_buffer_ops=env_bool("AMDGCN_USE_BUFFER_OPS", True),
    use_buffer_atomics=env_bool("AMDGCN_USE_BUFFER_ATOMICS", True),
    dump_amdgcn=env_bool("AMDGCN_ENABLE_DUMP"),
    use_block_pingpong=env_opt_bool("TRITON_HIP_USE_BLOCK_PINGPONG"),
    use_in_thread_transpose=env_opt_bool("TRITON_HIP_USE_IN_THREAD_TRANSPOSE"),
    use_async_copy=env_opt_bool("TRITON_HIP_USE_ASYNC_COPY"))


def refresh_knobs() -> None:
    """Read again what is otherwise read once."""
    runtime.debug = env_bool("TRITON_DEBUG").get()
