"""triton.testing: timing functions, reports over ranges of arguments, and comparing results.

PyTorch, NumPy, pandas and matplotlib are used only if installed.
"""
from __future__ import annotations

import importlib
import math
import os
import sys
import time
from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Union

Times = Union[float, List[float]]


def _quantile(ordered: List[float], share: float) -> float:
    if not 0 <= share <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    point = share * (len(ordered) - 1)
    low, high = math.floor(point), math.ceil(point)
    return (1 - (point - low)) * ordered[low] + (point - low) * ordered[high]


def summarize(times: List[float], quantiles: Optional[Sequence[float]], return_mode: str) -> Times:
    """One figure of several times, or those at quantiles."""
    ordered = sorted(times)
    if quantiles is not None:
        found = [_quantile(ordered, share) for share in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    return {"min": ordered[0], "max": ordered[-1], "mean": math.fsum(times) / len(times),
            "median": _quantile(ordered, 0.5)}[return_mode]


def do_bench(fn: Callable[[], Any], warmup: float = 25, rep: float = 100,
             grad_to_none: Optional[Sequence[Any]] = None,
             quantiles: Optional[Sequence[float]] = None, return_mode: str = "mean") -> Times:
    """Milliseconds that a function takes.

    It is called for about `warmup` ms, then timed again and again for about `rep` ms. A time is
    that of the wall clock from an idle device until the device is idle again, launch included.
    `grad_to_none`: tensors whose `grad` is dropped before each call. `quantiles`: return the times
    at these shares of the ordered list; otherwise what `return_mode` says.
    """
    assert return_mode in ["min", "max", "mean", "median", "all"]
    from .driver import driver
    synchronize = driver.active.get_device_interface().synchronize
    cache = driver.active.get_empty_cache_for_benchmark()

    def measure() -> float:
        for tensor in grad_to_none or ():
            tensor.grad = None
        driver.active.clear_cache(cache)
        synchronize()
        start = time.perf_counter()
        fn()
        synchronize()
        return (time.perf_counter() - start) * 1e3

    fn()
    times = [measure()]
    if times[0] < rep:  # otherwise one time has to do: the simulator takes seconds
        estimate = max(min(times[0], measure()), 1e-3)
        for _ in range(int(warmup / estimate)):
            fn()
        times = [measure() for _ in range(max(1, int(rep / estimate)))]
    return summarize(times, quantiles, return_mode)


def do_bench_cudagraph(fn: Callable[[], Any], rep: float = 20,
                       grad_to_none: Optional[Sequence[Any]] = None,
                       quantiles: Optional[Sequence[float]] = None,
                       return_mode: str = "mean") -> Times:
    """The same as do_bench: Metal has no CUDA graphs, so the launch is part of the time."""
    return do_bench(fn, 25, rep, grad_to_none, quantiles, return_mode)


def _as_numpy(value: Any) -> Any:
    numpy: Any = importlib.import_module("numpy")
    value = value.detach().cpu() if hasattr(value, "detach") else value
    if "bfloat16" in str(getattr(value, "dtype", "")):  # NumPy has none
        value = (value.float() if hasattr(value, "float")
                 else value.astype(sys.modules["mlx.core"].float32))
    return numpy.asarray(value)


def assert_close(x: Any, y: Any, atol: Any = None, rtol: Any = None, err_msg: str = "") -> None:
    """Raise AssertionError unless two arrays, lists or numbers are nearly equal.

    `atol` (1e-2 unless given) and `rtol` (0) may be functions of the dtype.
    """
    numpy: Any = importlib.import_module("numpy")
    a, b = _as_numpy(x), _as_numpy(y)
    dtype = getattr(x, "dtype", a.dtype)
    atol = 1e-2 if atol is None else atol(dtype) if callable(atol) else atol
    rtol = 0.0 if rtol is None else rtol(dtype) if callable(rtol) else rtol
    if a.size > 1 or b.size > 1:
        numpy.testing.assert_allclose(a, b, atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg)
    elif not numpy.allclose(a, b, atol=atol, rtol=rtol):
        raise AssertionError(f"{err_msg} {a} is not close to {b} (atol={atol}, rtol={rtol})")


class Benchmark:
    """What perf_report measures: lines over `x_vals`, one for each of `line_vals`.

    A value of `x_vals` that is a tuple has one for each of `x_names`; others are given to all.
    """

    def __init__(self, x_names: List[str], x_vals: Sequence[Any], line_arg: str,
                 line_vals: Sequence[Any], line_names: List[str], plot_name: str,
                 args: Dict[str, Any], xlabel: str = "", ylabel: str = "", x_log: bool = False,
                 y_log: bool = False, styles: Optional[Sequence[Any]] = None) -> None:
        self.x_names, self.x_vals, self.xlabel, self.x_log = x_names, x_vals, xlabel, x_log
        self.line_arg, self.line_vals, self.line_names = line_arg, line_vals, line_names
        self.ylabel, self.y_log, self.styles = ylabel, y_log, styles
        self.plot_name, self.args = plot_name, args

    def labels(self) -> List[str]:
        """The headings of the lines."""
        return [f"{name} ({self.ylabel})" for name in self.line_names]


class Table:
    """The result of a benchmark if pandas is not installed."""

    def __init__(self, rows: List[List[Any]], columns: List[str]) -> None:
        self.rows, self.columns = rows, columns

    def to_string(self) -> str:
        """The table as text."""
        cells = [["", *self.columns]] + [[str(number), *map(_shown, row)]
                                         for number, row in enumerate(self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths))
                         for row in cells)


def _shown(value: Any, precision: int = 6) -> str:
    return f"{value:.{precision}f}" if isinstance(value, float) else str(value)


def _plot(bench: Benchmark, rows: List[List[Any]], folder: str, show: bool) -> None:
    """Draw the lines, if matplotlib is installed."""
    try:
        plt: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return
    plt.figure()
    axes = plt.subplot()
    count, first = len(bench.line_vals), len(bench.x_names)
    xs = [row[0] for row in rows]
    for i, label in enumerate(bench.labels()):
        mean, low, high = ([row[first + k * count + i] for row in rows] for k in range(3))
        color, style = bench.styles[i][:2] if bench.styles else (None, None)
        axes.plot(xs, mean, label=label, color=color, ls=style)
        if None not in low + high:
            axes.fill_between(xs, low, high, alpha=0.15, color=color)
    axes.legend()
    axes.set(xlabel=bench.xlabel or bench.x_names[0], ylabel=bench.ylabel,
             xscale="log" if bench.x_log else "linear", yscale="log" if bench.y_log else "linear")
    if folder:
        plt.savefig(os.path.join(folder, f"{bench.plot_name}.png"))
    if show:
        plt.show()


class Mark:
    """A function with its benchmarks: what perf_report makes of it."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Any) -> None:
        self.fn, self.benchmarks = fn, benchmarks

    def _measure(self, bench: Benchmark, kwargs: Dict[str, Any]) -> List[List[Any]]:
        """Rows of x values, then the means, minima and maxima of the lines (None if absent)."""
        rows = []
        for x in bench.x_vals:
            xs = list(x) if isinstance(x, (list, tuple)) else [x] * len(bench.x_names)
            if len(xs) != len(bench.x_names):
                raise ValueError(f"Expected {len(bench.x_names)} values, got {x}")
            found = [self.fn(**dict(zip(bench.x_names, xs)), **{bench.line_arg: y}, **bench.args,
                             **kwargs) for y in bench.line_vals]
            spread = [tuple(one) if isinstance(one, (list, tuple)) else (one, None, None)
                      for one in found]
            rows.append([*xs, *(one[k] for k in range(3) for one in spread)])
        return rows

    def _run(self, bench: Benchmark, save_path: str, show_plots: bool, print_data: bool,
             diff_col: bool = False, save_precision: int = 6, **kwargs: Any) -> Any:
        measured = self._measure(bench, kwargs)
        if bench.plot_name and (save_path or show_plots):
            _plot(bench, measured, save_path, show_plots)
        columns = [*bench.x_names, *bench.labels()]
        rows = [row[:len(columns)] for row in measured]
        if diff_col and len(columns) == 2:
            rows, columns = [[*row, row[1] - row[0]] for row in rows], [*columns, "Diff"]
        if save_path:
            with open(os.path.join(save_path, f"{bench.plot_name}.csv"), "w") as file:
                for row in [columns, *rows]:
                    file.write(",".join(_shown(cell, save_precision) for cell in row) + "\n")
        try:
            table: Any = importlib.import_module("pandas").DataFrame(rows, columns=columns)
        except ImportError:
            table = Table(rows, columns)
        if print_data:
            print(f"{bench.plot_name}:\n{table.to_string()}")
        return table

    def run(self, show_plots: bool = False, print_data: bool = False, save_path: str = "",
            return_df: bool = False, **kwargs: Any) -> Any:
        """Measure everything. Further arguments are passed to the function.

        `save_path` gets a CSV file for each benchmark, and plots if matplotlib is installed.
        `return_df` returns a pandas DataFrame, or a Table without pandas; of a list a list.
        """
        single = isinstance(self.benchmarks, Benchmark)
        if save_path:
            os.makedirs(save_path, exist_ok=True)
        benchmarks = [self.benchmarks] if single else self.benchmarks
        tables = [self._run(one, save_path, show_plots, print_data, **kwargs)
                  for one in benchmarks]
        if save_path:
            with open(os.path.join(save_path, "results.html"), "w") as page:
                page.writelines(f'<img src="{one.plot_name}.png"/>\n' for one in benchmarks)
        return None if not return_df else tables[0] if single else tables


def perf_report(benchmarks: Any) -> Callable[[Callable[..., Any]], Mark]:
    """Decorate a function so that its `run` measures it over a Benchmark, or a list of them."""
    return lambda fn: Mark(fn, benchmarks)


def get_dram_gbps(device: Any = None) -> float:
    """Bandwidth of device memory in GB/s, from the hardware table."""
    from .driver import get_device_properties
    return float(get_device_properties()["memory_bandwidth"])


def get_max_simd_tflops(dtype: Any, clock_rate: float, device: Any = None) -> NoReturn:
    """Raises: the hardware table has cores and clocks, but no operations per cycle."""
    raise RuntimeError("the peak rate is unknown: tmetal's hardware table has no source for the "
                       "operations per cycle of a GPU core")


get_max_tensorcore_tflops = get_max_simd_tflops


def set_gpu_clock(ref_sm_clock: int = 0, ref_mem_clock: int = 0) -> NoReturn:
    """Raises: macOS does not let programs set the clock of the GPU."""
    raise RuntimeError("the clock of Apple GPUs cannot be set")
