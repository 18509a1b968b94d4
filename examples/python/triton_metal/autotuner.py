"""triton.runtime.autotuner: choosing among configurations of a kernel, and heuristics.

On a GPU configurations are compared by GPU time. The simulator has nothing to time: the first one
that compiles is taken, unless the program passes `do_bench`.
"""
from __future__ import annotations

import contextlib
import os
import threading
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import cache, knobs
from .errors import AutotunerError, CompilationError, OutOfResources, PTXASError
from .jit import JITFunction, KernelInterface
from .source import digest, new_lock
from .testing import summarize

SKIPPED = (OutOfResources, CompilationError, PTXASError)  # of a configuration that cannot run
FAILED = [float("inf")] * 3
UNTIMED = [0.0] * 3  # of one that can, without a timer
OPTIONS = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")
COMPILER_VARIABLES = ("TRITON_DEBUG", "TRITON_DEFAULT_FP_FUSION", "TRITON_F32_DEFAULT",
                      "TRITON_FORCE_DISABLE_FP_FUSION")
Key = Tuple[Any, ...]
Hook = Optional[Callable[..., Any]]
Names = Optional[Sequence[str]]


class Config:
    """Values that a kernel is launched with: those of its constants and launch options."""

    def __init__(self, kwargs: Dict[str, Any], num_warps: int = 4, num_stages: int = 3,
                 num_ctas: int = 1, maxnreg: Optional[int] = None, pre_hook: Hook = None,
                 ir_override: Optional[str] = None) -> None:
        self.kwargs, self.pre_hook = kwargs, pre_hook
        self.num_warps, self.num_stages, self.num_ctas = num_warps, num_stages, num_ctas
        self.maxnreg, self.ir_override = maxnreg, ir_override

    def all_kwargs(self) -> Dict[str, Any]:
        """Everything as keyword arguments of a launch."""
        options = {name: getattr(self, name) for name in OPTIONS}
        return {**self.kwargs, **{name: v for name, v in options.items() if v is not None}}

    def __str__(self) -> str:
        shown = {**self.kwargs, **{name: getattr(self, name) for name in OPTIONS}}
        return ", ".join(f"{name}: {value}" for name, value in shown.items())

    def _identity(self) -> Key:
        return (*self.all_kwargs().items(), self.pre_hook)

    def __hash__(self) -> int:
        return hash(self._identity())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._identity() == other._identity()


class Autotuner(KernelInterface):
    """A kernel with configurations, of which each launch takes the best for its key."""

    def __init__(self, fn: Any, arg_names: List[str], configs: Sequence[Config],
                 key: Sequence[str], reset_to_zero: Names, restore_value: Names,
                 pre_hook: Hook = None, post_hook: Hook = None,
                 prune_configs_by: Optional[Dict[str, Any]] = None, warmup: Optional[int] = None,
                 rep: Optional[int] = None, use_cuda_graph: bool = False, do_bench: Hook = None,
                 cache_results: bool = False) -> None:
        self.fn = self._kernel = fn
        while not isinstance(self._kernel, JITFunction):
            self._kernel = self._kernel.fn
        self.base_fn = self._kernel.fn
        self.arg_names, self.keys, self._known = arg_names, key, frozenset(arg_names)
        self.configs = list(configs) if configs else [Config({})]
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        # Names in `key` that are not arguments are ignored: only Triton 3.9 rejects them, and
        # programs have them.
        for parameter in ("reset_to_zero", "restore_value"):
            unknown = [name for name in getattr(self, parameter) if name not in arg_names]
            if unknown:
                raise ValueError(f"{parameter} contains names that are not kernel arguments: "
                                 f"{', '.join(unknown)}. Valid argument names are: "
                                 f"{', '.join(arg_names)}.")
        self.user_defined_pre_hook, self.user_defined_post_hook = bool(pre_hook), bool(post_hook)
        self.pre_hook: Callable[..., Any] = pre_hook or self._reset_and_copy
        self.post_hook: Callable[..., Any] = post_hook or self._restore
        prune = prune_configs_by or {}
        self.perf_model: Hook = prune.get("perf_model")
        self.configs_top_k: Any = prune.get("top_k", 1.0)
        self.early_config_prune: Hook = prune.get("early_config_prune")
        self.num_warmups, self.num_reps, self.use_cuda_graph = warmup, rep, use_cuda_graph
        if warmup is not None or rep is not None or use_cuda_graph:
            warnings.warn("warmup, rep and use_cuda_graph of autotune are deprecated; "
                          "pass do_bench instead", DeprecationWarning, stacklevel=3)
        self.do_bench = do_bench
        self.cache_results = ((cache_results or knobs.autotuning.cache)
                              and not knobs.runtime.interpret)
        self.cache: Dict[Key, Config] = {}
        self.configs_timings: Dict[Config, Any] = {}
        self.bench_time: Optional[float] = None
        self._launch = threading.local()  # the launch in progress of each thread
        self.lock = new_lock(self)

    @property
    def nargs(self) -> Dict[str, Any]:
        """The positional arguments of the launch in progress, by name."""
        named: Dict[str, Any] = getattr(self._launch, "nargs", None) or {}
        return named

    @nargs.setter
    def nargs(self, value: Optional[Dict[str, Any]]) -> None:
        self._launch.nargs = value

    def _reset_and_copy(self, kwargs: Dict[str, Any], reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            if kwargs[name] is not None:
                _assign(kwargs[name], 0)
        if not reset_only:
            arrays = {name: kwargs[name] for name in self.restore_value if kwargs[name] is not None}
            self._launch.copies = {
                name: array.clone() if hasattr(array, "clone") else
                array.copy() if hasattr(array, "copy") else array[...]
                for name, array in arrays.items()}

    def _restore(self, kwargs: Dict[str, Any], exception: Optional[Exception]) -> None:
        for name, value in getattr(self._launch, "copies", {}).items():
            _assign(kwargs[name], value)
        self._launch.copies = {}

    def _bench(self, *args: Any, config: Config, **meta: Any) -> Any:
        """Times of a configuration in milliseconds; infinite if it cannot run."""
        if knobs.autotuning.print:
            print(f"Autotuning kernel {self.base_fn.__name__} with config {config}")
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(f"Conflicting meta-parameters: {', '.join(conflicts)}."
                             " Make sure that you don't re-define auto-tuned symbols.")
        current = {**meta, **config.all_kwargs()}
        full = {**self.nargs, **current}

        def kernel_call() -> None:
            if config.pre_hook:
                config.pre_hook(full)
            self.pre_hook(full)
            try:
                self._launch.kernel = self.fn.run(*args, **current)
            except Exception as error:
                self.post_hook(full, exception=error)
                raise
            self.post_hook(full, exception=None)

        try:
            if self.do_bench is not None:
                return self.do_bench(kernel_call, quantiles=(0.5, 0.2, 0.8))
            if _backend().has_timer:
                return self._gpu_times(kernel_call, self.num_warmups or 0, self.num_reps or 100)
            if self.user_defined_pre_hook or self.user_defined_post_hook:
                kernel_call()
            else:
                if config.pre_hook:
                    config.pre_hook(full)
                self.fn.run(*args, **{**current, "warmup": True})
            return UNTIMED
        except SKIPPED as error:
            if knobs.autotuning.print:
                print(f"Autotuning failed with {error}")
            self._launch.error = getattr(self._launch, "error", None) or error
            return FAILED

    def _gpu_times(self, kernel_call: Callable[[], None], warmup: float, rep: float) -> Any:
        """GPU milliseconds: launches of `warmup` ms, then 3 to 50 of `rep` ms in all."""
        def measure(milliseconds: float, least: int) -> List[float]:
            times: List[float] = []
            while len(times) < least or sum(times) < milliseconds and len(times) < 50:
                used = _backend()
                with used.timing():
                    kernel_call()
                    seconds = used.seconds(self._launch.kernel)
                if seconds is None:
                    raise AutotunerError("the backend reports no GPU time; pass do_bench to "
                                         "autotune")
                times.append(float(seconds) * 1e3)
            return times

        measure(warmup, 1)
        return summarize(measure(rep, 3), (0.5, 0.2, 0.8), "mean")

    def _time(self, args: Key, kwargs: Dict[str, Any], configs: List[Config]) -> None:
        """Fill configs_timings, without a timer only up to the first configuration that works."""
        start, timings, self._launch.error = time.time(), {}, None
        for config in configs:
            timings[config] = self._bench(*args, config=config, **kwargs)
            if timings[config] is UNTIMED:
                break
        if self._launch.error and all(_first(t) == FAILED[0] for t in timings.values()):
            raise self._launch.error
        self.configs_timings, self.bench_time = timings, time.time() - start

    def _tune(self, key: Key, args: Key, kwargs: Dict[str, Any]) -> bool:
        """Fill self.cache[key]. False if configurations were tried for it."""
        configs = self.prune_configs(kwargs)
        if len(configs) == 1:
            self.cache[key] = configs[0]
            return True
        files = self._files(key, configs) if self.cache_results else None
        found = files is not None and self._read(files, configs)
        if not found:
            self._time(args, kwargs, configs)
        best = min(self.configs_timings, key=lambda config: _first(self.configs_timings[config]))
        if not found:
            self.pre_hook({**self.nargs, **kwargs, **best.all_kwargs()}, reset_only=True)
            if files is not None:
                self._write(files, key)
        self.cache[key] = best
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(
                fn=self._kernel, key=key, best_config=best, cache_hit=found,
                configs_timings=self.configs_timings, duration=None if found else self.bench_time)
        return found

    def _files(self, key: Key, configs: List[Config]) -> Any:
        """The files on disk for a key; None if hooks or a missing folder prevent that."""
        if not key or any(config.pre_hook for config in configs):
            return None
        backend = _backend()
        variables = [(name, os.environ.get(name)) for name in COMPILER_VARIABLES]
        text = repr([cache.triton_key(), backend.name, backend.gpu, variables, str(key),
                     self._kernel.cache_key, *map(str, configs)])
        try:
            return cache.get_cache_manager(digest(text))
        except (OSError, RuntimeError):
            return None

    def _read(self, files: Any, configs: List[Config]) -> bool:
        import json
        path = files.get_file(f"{self.base_fn.__name__[:150]}.autotune.json")
        try:
            with open(path or "", encoding="utf-8") as file:
                times = json.load(file)["configs_timings"]
            self.configs_timings = {one: times[str(one)] for one in configs if str(one) in times}
        except (OSError, ValueError, TypeError, KeyError):
            return False  # missing or damaged
        return bool(self.configs_timings)

    def _write(self, files: Any, key: Key) -> None:
        import json
        times = {str(config): times for config, times in self.configs_timings.items()}
        with contextlib.suppress(OSError):  # a full disk; the result is in memory
            files.put(json.dumps({"key": key, "configs_timings": times}, default=str),
                      f"{self.base_fn.__name__[:150]}.autotune.json", binary=False)

    def _find(self, args: Key, kwargs: Dict[str, Any]) -> Config:
        """The configuration for a launch, tuned if its key is new."""
        known = self._known
        named = {name: value for name, value in {**self.nargs, **kwargs}.items() if name in known}
        key = tuple(named[name] for name in self.keys if name in named) + tuple(
            str(value.dtype) for value in named.values() if hasattr(value, "dtype"))
        if key not in self.cache:
            with self.lock:
                found = key in self.cache or self._tune(key, args, kwargs)
                if knobs.autotuning.print and not found:
                    print(f"Triton autotuning for function {self.base_fn.__name__},\n"
                          f"with key as {key},\nfinished after {self.bench_time:.2f}s,\n"
                          f"best config selected: {self.cache[key]};")
        return self.cache[key]

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launch with the best configuration."""
        outer, self.nargs = self.nargs, dict(zip(self.arg_names, args))
        try:
            config = self._find(args, kwargs) if len(self.configs) > 1 else self.configs[0]
            self.best_config = config
            if config.pre_hook is not None:
                config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
            return self.fn.run(*args, **kwargs, **config.all_kwargs())
        finally:
            self.nargs = outer  # a hook may launch the same kernel

    def prune_configs(self, kwargs: Dict[str, Any]) -> List[Config]:
        """The configurations that are worth trying for the launch in progress."""
        configs = self.configs
        if self.early_config_prune:
            configs = self.early_config_prune(self.configs, self.nargs, **kwargs)
            if not configs:
                raise AutotunerError("No valid autotuner configs after pruning. "
                                     "`early_config_prune` should return at least one config.")
        if not self.perf_model:
            return configs
        top_k = self.configs_top_k
        if isinstance(top_k, float) and top_k <= 1.0:
            top_k = max(1, int(len(configs) * top_k))
        elif not isinstance(top_k, int):
            raise TypeError("Error while pruning configs, top_k must be either "
                            "1) a float <= 1.0 or 2) an int")
        if len(configs) <= top_k:
            return configs
        estimates = {config: self.perf_model(**self.nargs, **kwargs, **config.all_kwargs())
                     for config in configs}
        return sorted(estimates, key=lambda config: estimates[config])[:top_k]

    def warmup(self, *args: Any, **kwargs: Any) -> List[Any]:
        """Compile all configurations for such arguments, without launching."""
        outer, self.nargs = self.nargs, dict(zip(self.arg_names, args))
        try:
            return [self.fn.warmup(*args, **kwargs, **config.all_kwargs())
                    for config in self.prune_configs(kwargs)]
        finally:
            self.nargs = outer


def _backend() -> Any:
    from . import backend
    return backend.active()


def _first(times: Any) -> Any:
    return times[0] if isinstance(times, (list, tuple)) else times


def _assign(array: Any, value: Any) -> None:
    if not hasattr(array, "copy_"):  # of NumPy or MLX
        array[...] = value
    elif isinstance(value, int):
        array.zero_()
    else:
        array.copy_(value)


class Heuristics(KernelInterface):
    """A kernel some of whose constants are computed from the arguments of each launch."""

    def __init__(self, fn: Any, arg_names: List[str],
                 values: Dict[str, Callable[[Dict[str, Any]], Any]]) -> None:
        self.fn, self.arg_names, self.values = fn, arg_names, values

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launch with the computed values; each function also sees the values before its own."""
        named = dict(zip(self.arg_names, args))
        for name, compute in self.values.items():
            kwargs[name] = compute({**named, **kwargs})
        return self.fn.run(*args, **kwargs)


def autotune(configs: Sequence[Config], key: Sequence[str],
             prune_configs_by: Optional[Dict[str, Any]] = None, reset_to_zero: Names = None,
             restore_value: Names = None, pre_hook: Hook = None, post_hook: Hook = None,
             warmup: Optional[int] = None, rep: Optional[int] = None, use_cuda_graph: bool = False,
             do_bench: Hook = None, cache_results: bool = False) -> Callable[[Any], Autotuner]:
    """Decorate a kernel so that the first launch with new values of `key` tries `configs`.

    configs:          what to try. One that does not compile, or needs too much, is skipped.
    key:              names of arguments; a change of their values, or of the arrays' types, tunes
                      again.
    prune_configs_by: "early_config_prune"(configs, named_args, **kwargs) returns those to try;
                      "perf_model"(**args) estimates a time, and the "top_k" fastest are tried
                      (a number, or a share of 1.0).
    reset_to_zero:    arguments that are zeroed before each trial and before the launch.
    restore_value:    arguments that get their values back after each trial.
    pre_hook:         called as pre_hook(args, reset_only=False) before each trial, and with
                      reset_only=True after the last one, in place of reset_to_zero.
    post_hook:        called as post_hook(args, exception=...) after each trial.
    do_bench:         times a trial: do_bench(kernel_call, quantiles=(0.5, 0.2, 0.8)).
    cache_results:    keep the times in knobs.cache.dir for later processes.
    warmup, rep:      milliseconds of launches, deprecated. use_cuda_graph is ignored.
    """
    def decorate(fn: Any) -> Autotuner:
        return Autotuner(fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook,
                         post_hook, prune_configs_by, warmup, rep, use_cuda_graph, do_bench,
                         cache_results)

    return decorate


def heuristics(values: Dict[str, Callable[[Dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Decorate a kernel so that constants are computed at each launch.

    `values` has a function for each name; it is called with all arguments by name.
    """
    return lambda fn: Heuristics(fn, fn.arg_names, values)
