"""triton.runtime.autotuner: choosing among configurations of a kernel, and heuristics.

On a GPU configurations are compared by GPU time. In the simulator there is nothing to time: the
first configuration that compiles is taken, unless the program passes `do_bench`.
"""
from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import json
import os
import threading
import time
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from . import knobs
from .errors import AutotunerError, CompilationError, OutOfResources, PTXASError
from .jit import JITFunction, KernelInterface

SKIPPED = (OutOfResources, CompilationError, PTXASError)  # of a configuration that cannot run
FAILED = [float("inf")] * 3
UNTIMED = [0.0] * 3  # of one that can, where there is no timer
QUANTILES = (0.5, 0.2, 0.8)


class Config:
    """Values that a kernel is launched with: those of its constants and launch options."""

    def __init__(self, kwargs: Dict[str, Any], num_warps: int = 4, num_stages: int = 3,
                 num_ctas: int = 1, maxnreg: Optional[int] = None,
                 pre_hook: Optional[Callable[..., Any]] = None,
                 ir_override: Optional[str] = None) -> None:
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_ctas = num_ctas
        self.num_stages = num_stages
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def __setstate__(self, state: Dict[str, Any]) -> None:
        Config.__init__(self, **{"kwargs": {}, **state})

    def all_kwargs(self) -> Dict[str, Any]:
        """Everything as keyword arguments of a launch."""
        options = {"num_warps": self.num_warps, "num_ctas": self.num_ctas,
                   "num_stages": self.num_stages, "maxnreg": self.maxnreg,
                   "ir_override": self.ir_override}
        return {**self.kwargs, **{name: v for name, v in options.items() if v is not None}}

    def __str__(self) -> str:
        shown = {**self.kwargs, "num_warps": self.num_warps, "num_ctas": self.num_ctas,
                 "num_stages": self.num_stages, "maxnreg": self.maxnreg,
                 "ir_override": self.ir_override}
        return ", ".join(f"{name}: {value}" for name, value in shown.items())

    def _identity(self) -> Tuple[Any, ...]:
        return (*self.all_kwargs().items(), self.pre_hook)

    def __hash__(self) -> int:
        return hash(self._identity())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._identity() == other._identity()


def _check_names(names: Dict[str, List[str]], known: Sequence[str]) -> None:
    """A misspelled name would be ignored, and the kernel tuned too rarely."""
    for parameter, listed in names.items():
        unknown = [name for name in listed if name not in known]
        if unknown:
            raise ValueError(f"{parameter} contains names that are not kernel arguments: "
                             f"{', '.join(unknown)}. Valid argument names are: "
                             f"{', '.join(known)}.")


class Autotuner(KernelInterface):
    """A kernel with configurations, of which each launch takes the best for its key."""

    def __init__(self, fn: Any, arg_names: List[str], configs: Sequence[Config],
                 key: Sequence[str], reset_to_zero: Optional[Sequence[str]],
                 restore_value: Optional[Sequence[str]],
                 pre_hook: Optional[Callable[..., Any]] = None,
                 post_hook: Optional[Callable[..., Any]] = None,
                 prune_configs_by: Optional[Dict[str, Any]] = None, warmup: Optional[int] = None,
                 rep: Optional[int] = None, use_cuda_graph: bool = False,
                 do_bench: Optional[Callable[..., Any]] = None,
                 cache_results: bool = False) -> None:
        self.fn = fn
        self.base_fn = fn
        while not inspect.isfunction(self.base_fn):
            self.base_fn = self.base_fn.fn
        self.arg_names = arg_names
        self.configs = list(configs) if configs else [Config({})]
        self.keys = key
        self.cache: Dict[Tuple[Any, ...], Config] = {}
        self.cache_results = ((cache_results or knobs.autotuning.cache)
                              and not knobs.runtime.interpret)
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        _check_names({"key": list(key), "reset_to_zero": self.reset_to_zero,
                      "restore_value": self.restore_value}, arg_names)
        self.user_defined_pre_hook = bool(pre_hook)
        self.user_defined_post_hook = bool(post_hook)
        self.pre_hook: Callable[..., Any] = pre_hook or self._reset_and_copy
        self.post_hook: Callable[..., Any] = post_hook or self._restore
        prune = prune_configs_by or {}
        self.perf_model: Optional[Callable[..., Any]] = prune.get("perf_model")
        self.configs_top_k: Any = prune.get("top_k", 1.0)
        self.early_config_prune: Optional[Callable[..., Any]] = prune.get("early_config_prune")
        self.num_warmups, self.num_reps, self.use_cuda_graph = warmup, rep, use_cuda_graph
        self._do_bench = do_bench
        self.best_config: Optional[Config] = None
        self.configs_timings: Dict[Config, Any] = {}
        self.bench_time: Optional[float] = None
        self._local = threading.local()  # of the launch in progress in each thread
        self._tuning = threading.RLock()
        if warmup is not None or rep is not None or use_cuda_graph:
            warnings.warn("warmup, rep and use_cuda_graph of autotune are deprecated; "
                          "pass do_bench instead", DeprecationWarning, stacklevel=3)

    @property
    def nargs(self) -> Optional[Dict[str, Any]]:
        """The positional arguments of the launch in progress by name."""
        return getattr(self._local, "nargs", None)

    @nargs.setter
    def nargs(self, value: Optional[Dict[str, Any]]) -> None:
        self._local.nargs = value

    @property
    def restore_copies(self) -> Dict[str, Any]:
        """Copies of the arguments of `restore_value` while a configuration is tried."""
        copies: Dict[str, Any] = getattr(self._local, "copies", {})
        return copies

    @restore_copies.setter
    def restore_copies(self, value: Dict[str, Any]) -> None:
        self._local.copies = value

    @property
    def do_bench(self) -> Callable[..., Any]:
        """What times a configuration."""
        if self._do_bench is not None:
            return self._do_bench
        return functools.partial(_gpu_times, warmup=self.num_warmups or 0,
                                 rep=self.num_reps or 100)

    @do_bench.setter
    def do_bench(self, value: Optional[Callable[..., Any]]) -> None:
        self._do_bench = value

    def _reset_and_copy(self, kwargs: Dict[str, Any], reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            if kwargs[name] is not None:
                _zero(kwargs[name])
        if not reset_only:
            self.restore_copies = {name: _clone(kwargs[name]) for name in self.restore_value
                                   if kwargs[name] is not None}

    def _restore(self, kwargs: Dict[str, Any], exception: Optional[BaseException]) -> None:
        for name, value in self.restore_copies.items():
            _copy(kwargs[name], value)
        self.restore_copies = {}

    def _bench(self, *args: Any, config: Config, **meta: Any) -> Any:
        """Times of a configuration, in milliseconds; infinite if it cannot run."""
        if knobs.autotuning.print:
            print(f"Autotuning kernel {self.base_fn.__name__} with config {config}")
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(f"Conflicting meta-parameters: {', '.join(conflicts)}."
                             " Make sure that you don't re-define auto-tuned symbols.")
        current = {**meta, **config.all_kwargs()}
        full = {**(self.nargs or {}), **current}
        untimed = self._do_bench is None and not _backend_has_timer()

        def kernel_call() -> Any:
            if config.pre_hook:
                config.pre_hook(full)
            self.pre_hook(full)
            try:
                kernel = self.fn.run(*args, **current)
            except Exception as error:
                self.post_hook(full, exception=error)
                raise
            self.post_hook(full, exception=None)
            return kernel

        try:
            if not untimed:
                return self.do_bench(kernel_call, quantiles=QUANTILES)
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
            self._local.errors = [*getattr(self._local, "errors", ()), error]
            return FAILED

    def _time_all(self, args: Tuple[Any, ...], kwargs: Dict[str, Any],
                  configs: List[Config]) -> Dict[Config, Any]:
        """Times of the configurations; of the first that works only, where there is no timer."""
        timings: Dict[Config, Any] = {}
        self._local.errors = []
        for config in configs:
            timings[config] = self._bench(*args, config=config, **kwargs)
            if timings[config] is UNTIMED:
                break
        if self._local.errors and all(map(_is_failed, timings.values())):
            raise self._local.errors[0]
        return timings

    def _tune(self, key: Tuple[Any, ...], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> bool:
        """Fill self.cache[key]. False if configurations were tried for it."""
        configs = self.prune_configs(kwargs)
        if len(configs) == 1:
            self.cache[key] = configs[0]
            return True
        path = self._disk_entry(key, configs) if self.cache_results else None
        if path is not None and self._read_disk(key, path, configs):
            used_cache = True
        else:
            used_cache = False
            start = time.time()
            timings = self._time_all(args, kwargs, configs)
            self.bench_time = time.time() - start
            self.configs_timings = timings
            self.cache[key] = min(timings, key=lambda config: _sort_key(timings[config]))
            self.pre_hook({**(self.nargs or {}), **kwargs, **self.cache[key].all_kwargs()},
                          reset_only=True)
            if path is not None:
                self._write_disk(key, path)
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(
                fn=self._jit_function(), key=key, best_config=self.cache[key],
                configs_timings=self.configs_timings,
                duration=None if used_cache else self.bench_time, cache_hit=used_cache)
        return used_cache

    def _jit_function(self) -> Any:
        fn = self.fn
        while not isinstance(fn, JITFunction):
            fn = fn.fn
        return fn

    def _disk_entry(self, key: Tuple[Any, ...], configs: List[Config]) -> Optional[Tuple[Any, str]]:
        """The cache manager and file name for a key; None if it cannot be kept on disk."""
        if not key or any(config.pre_hook for config in configs):
            return None
        from . import backend, cache
        active, function = backend.active(), self._jit_function()
        variables = sorted((name, value) for name, value in os.environ.items()
                           if name in ("TRITON_DEBUG", "TRITON_F32_DEFAULT",
                                       "TRITON_DEFAULT_FP_FUSION",
                                       "TRITON_FORCE_DISABLE_FP_FUSION"))
        text = "-".join([cache.triton_key(), active.name, active.gpu, function.cache_key,
                         str(variables), str(key), *map(str, configs)])
        digest = hashlib.sha256(text.encode()).hexdigest()
        try:
            manager = cache.get_cache_manager(digest)
        except (OSError, RuntimeError):
            return None  # without a folder for the cache, tuning still works
        return manager, f"{function.__name__[:150]}.autotune.json"

    def _read_disk(self, key: Tuple[Any, ...], entry: Tuple[Any, str],
                   configs: List[Config]) -> bool:
        from . import cache
        path = entry[0].get_file(entry[1])
        stored = None if path is None else cache.read_json(path)
        try:
            timings = {Config(**fields): times for fields, times in stored["configs_timings"]}
            best = min(timings, key=lambda config: _sort_key(timings[config]))
        except (TypeError, KeyError, ValueError):
            return False  # missing or damaged
        if best not in configs:
            return False
        self.configs_timings, self.cache[key] = timings, best
        return True

    def _write_disk(self, key: Tuple[Any, ...], entry: Tuple[Any, str]) -> None:
        rows = [(vars(config), times) for config, times in self.configs_timings.items()]
        try:
            text = json.dumps({"key": key, "configs_timings": rows}, default=str)
            entry[0].put(text, entry[1], binary=False)
        except OSError:
            pass  # a full or read-only disk; the result is in memory

    def _find_config(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Config:
        """The configuration for a launch, tuned if its key is new."""
        named = {**(self.nargs or {}), **kwargs}
        named = {name: value for name, value in named.items() if name in self.arg_names}
        key = tuple(named[name] for name in self.keys if name in named) + tuple(
            str(value.dtype) for value in named.values() if hasattr(value, "dtype"))
        if key not in self.cache:
            with self._tuning:
                used_cache = key in self.cache or self._tune(key, args, kwargs)
                best = self.cache[key]
            if knobs.autotuning.print and not used_cache:
                print(f"Triton autotuning for function {self.base_fn.__name__},\n"
                      f"with key as {key},\nfinished after {self.bench_time:.2f}s,\n"
                      f"best config selected: {best};")
        return self.cache[key]

    @contextlib.contextmanager
    def _launching(self, args: Tuple[Any, ...]) -> Iterator[None]:
        outer = self.nargs  # a hook may launch the same kernel
        self.nargs = dict(zip(self.arg_names, args))
        try:
            yield
        finally:
            self.nargs = outer

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launch with the best configuration."""
        with self._launching(args):
            config = self.configs[0]
            if len(self.configs) > 1:
                config = self._find_config(args, kwargs)
            self.best_config = config
            if config.pre_hook is not None:
                config.pre_hook({**(self.nargs or {}), **kwargs, **config.all_kwargs()})
            return self.fn.run(*args, **kwargs, **config.all_kwargs())

    def prune_configs(self, kwargs: Dict[str, Any]) -> List[Config]:
        """The configurations that are worth trying for the launch in progress."""
        configs = self.configs
        if self.early_config_prune:
            configs = list(self.early_config_prune(self.configs, self.nargs, **kwargs) or ())
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
        model, named = self.perf_model, self.nargs or {}
        estimates = {config: model(**named, **kwargs, **config.all_kwargs()) for config in configs}
        return sorted(estimates, key=lambda config: estimates[config])[:top_k]

    def warmup(self, *args: Any, **kwargs: Any) -> List[Any]:
        """Compile all configurations for such arguments, without launching."""
        with self._launching(args):
            return [self.fn.warmup(*args, **kwargs, **config.all_kwargs())
                    for config in self.prune_configs(kwargs)]


def _backend_has_timer() -> bool:
    from . import backend
    return bool(getattr(backend.active(), "has_timer", False))


def _gpu_times(kernel_call: Callable[[], Any], quantiles: Sequence[float], warmup: float = 0,
               rep: float = 100) -> Any:
    """GPU milliseconds of a kernel: launches of `warmup` ms, then 3 to 50 of `rep` ms in all."""
    from . import backend
    from .testing import summarize
    seconds = backend.active().seconds

    def measure() -> float:
        taken = seconds(kernel_call())
        if taken is None:
            raise AutotunerError("the backend reports no GPU time; pass do_bench to autotune")
        return float(taken) * 1e3

    warm = [measure()]
    while sum(warm) < warmup and len(warm) < 50:
        warm.append(measure())
    times: List[float] = []
    while len(times) < 3 or (sum(times) < rep and len(times) < 50):
        times.append(measure())
    return summarize(times, quantiles, "mean")


def _is_failed(times: Any) -> bool:
    return _sort_key(times) == FAILED[0]


def _sort_key(times: Any) -> Any:
    return times[0] if isinstance(times, (list, tuple)) else times


def _zero(array: Any) -> None:
    if hasattr(array, "zero_"):
        array.zero_()
    else:
        array[...] = 0


def _clone(array: Any) -> Any:
    if hasattr(array, "clone"):
        return array.clone()
    return array.copy() if hasattr(array, "copy") else array[...]


def _copy(array: Any, value: Any) -> None:
    if hasattr(array, "copy_"):
        array.copy_(value)
    else:
        array[...] = value


class Heuristics(KernelInterface):
    """A kernel some of whose constants are computed from the arguments of each launch."""

    def __init__(self, fn: Any, arg_names: List[str],
                 values: Dict[str, Callable[[Dict[str, Any]], Any]]) -> None:
        self.fn = fn
        self.values = values
        self.arg_names = arg_names

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launch with the computed values; each function also sees the values before its own."""
        named = dict(zip(self.arg_names, args))
        for name, compute in self.values.items():
            kwargs[name] = compute({**named, **kwargs})
        return self.fn.run(*args, **kwargs)


def autotune(configs: Sequence[Config], key: Sequence[str],
             prune_configs_by: Optional[Dict[str, Any]] = None,
             reset_to_zero: Optional[Sequence[str]] = None,
             restore_value: Optional[Sequence[str]] = None,
             pre_hook: Optional[Callable[..., Any]] = None,
             post_hook: Optional[Callable[..., Any]] = None, warmup: Optional[int] = None,
             rep: Optional[int] = None, use_cuda_graph: bool = False,
             do_bench: Optional[Callable[..., Any]] = None,
             cache_results: bool = False) -> Callable[[Any], Autotuner]:
    """Decorate a kernel so that the first launch with new values of `key` tries `configs`.

    configs:          what to try. One that does not compile, or needs too much, is skipped.
    key:              names of arguments; a change of their values tunes again. A change of the
                      arrays' types does so too.
    prune_configs_by: "early_config_prune"(configs, named_args, **kwargs) returns those to try;
                      "perf_model"(**args) estimates a time, and the "top_k" fastest are tried
                      (a number, or a share of 1.0).
    reset_to_zero:    arguments that are zeroed before each trial and before the launch.
    restore_value:    arguments that get their values back after each trial.
    pre_hook:         called as pre_hook(args, reset_only=False) before each trial, and with
                      reset_only=True after the last one, in place of the two above.
    post_hook:        called as post_hook(args, exception=...) after each trial.
    do_bench:         times a trial: do_bench(kernel_call, quantiles=(0.5, 0.2, 0.8)). Without it
                      trials are compared by GPU time, or the first that works is taken in the
                      simulator.
    cache_results:    keep results in knobs.cache.dir for later processes.
    warmup, rep:      milliseconds for do_bench, deprecated. use_cuda_graph has no meaning on Metal.
    """
    def decorate(fn: Any) -> Autotuner:
        return Autotuner(fn, fn.arg_names, configs, key, reset_to_zero, restore_value,
                         pre_hook=pre_hook, post_hook=post_hook,
                         prune_configs_by=prune_configs_by, warmup=warmup, rep=rep,
                         use_cuda_graph=use_cuda_graph, do_bench=do_bench,
                         cache_results=cache_results)

    return decorate


def heuristics(values: Dict[str, Callable[[Dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Decorate a kernel so that constants are computed at each launch.

    `values` has a function for each name; it is called with all arguments by name.
    """
    def decorate(fn: Any) -> Heuristics:
        return Heuristics(fn, fn.arg_names, values)

    return decorate
