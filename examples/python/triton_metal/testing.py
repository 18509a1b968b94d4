"""triton.testing: timing functions, reports over ranges of arguments, and comparing results.

Works without PyTorch, NumPy, pandas and matplotlib as far as a function does not need them.
"""
from __future__ import annotations

import csv
import math
import os
import sys
import time
from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Union

Times = Union[float, List[float]]
RETURN_MODES = ("min", "max", "mean", "median", "all")


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

    It is called for about `warmup` ms, then timed again and again for about `rep` ms. Each time is
    that of the wall clock from an idle device until the device is idle again, so it contains the
    launch. `grad_to_none`: tensors whose `grad` is dropped before each call. `quantiles`: return
    the times at these shares of the ordered list; otherwise `return_mode` says what is returned.
    """
    assert return_mode in RETURN_MODES, f"return_mode must be one of {', '.join(RETURN_MODES)}"
    from .driver import driver
    device = driver.active.get_device_interface()
    cache = driver.active.get_empty_cache_for_benchmark()

    def timed() -> float:
        for tensor in grad_to_none or ():
            tensor.grad = None
        driver.active.clear_cache(cache)
        device.synchronize()
        start = time.perf_counter()
        fn()
        device.synchronize()
        return (time.perf_counter() - start) * 1e3

    fn()
    estimate = max(min(timed(), timed()), 1e-3)
    for _ in range(max(1, int(warmup / estimate)) if estimate < warmup else 0):
        fn()
    return summarize([timed() for _ in range(max(1, int(rep / estimate)))], quantiles, return_mode)


def do_bench_cudagraph(fn: Callable[[], Any], rep: float = 20,
                       grad_to_none: Optional[Sequence[Any]] = None,
                       quantiles: Optional[Sequence[float]] = None,
                       return_mode: str = "mean") -> Times:
    """The same as do_bench: Metal has no CUDA graphs, so the launch is part of the time."""
    return do_bench(fn, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles,
                    return_mode=return_mode)


def _as_numpy(value: Any) -> Any:
    import numpy
    value = value.detach().cpu() if hasattr(value, "detach") else value
    if "bfloat16" in str(getattr(value, "dtype", "")):  # NumPy has none
        mlx = sys.modules.get("mlx.core")
        value = value.float() if hasattr(value, "float") or mlx is None else value.astype(
            mlx.float32)
    return numpy.asarray(value)


def assert_close(x: Any, y: Any, atol: Any = None, rtol: Any = None, err_msg: str = "") -> None:
    """Raise AssertionError unless two arrays, lists or numbers are nearly equal.

    `atol` (1e-2 unless given) and `rtol` (0) may be functions of the dtype.
    """
    import numpy

    def tolerance(given: Any, default: float, of: Any) -> Any:
        if given is None:
            return default
        return given(getattr(of, "dtype", numpy.asarray(of).dtype)) if callable(given) else given

    atol, rtol = tolerance(atol, 1e-2, x), tolerance(rtol, 0.0, x)
    a, b = _as_numpy(x), _as_numpy(y)
    if a.size > 1 or b.size > 1:
        numpy.testing.assert_allclose(a, b, atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg)
    elif not numpy.allclose(a, b, atol=atol, rtol=rtol):
        raise AssertionError(f"{err_msg} {a} is not close to {b} (atol={atol}, rtol={rtol})")


class Benchmark:
    """What perf_report measures: lines of a plot.

    x_names, x_vals:       arguments along the x axis, and their values; a value that is a tuple
                           has one for each name, a single one is given to all names
    line_arg, line_vals:   the argument that differs between lines, and its values
    line_names, plot_name: labels of the lines; the name of files and of the table
    args:                  further arguments
    xlabel, ylabel, x_log, y_log, styles: of the plot
    """

    def __init__(self, x_names: List[str], x_vals: Sequence[Any], line_arg: str,
                 line_vals: Sequence[Any], line_names: List[str], plot_name: str,
                 args: Dict[str, Any], xlabel: str = "", ylabel: str = "", x_log: bool = False,
                 y_log: bool = False, styles: Optional[Sequence[Any]] = None) -> None:
        self.x_names = x_names
        self.x_vals = x_vals
        self.x_log = x_log
        self.line_arg = line_arg
        self.line_vals = line_vals
        self.line_names = line_names
        self.y_log = y_log
        self.styles = styles
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.plot_name = plot_name
        self.args = args


class Table:
    """The result of a benchmark where pandas is not installed: rows of numbers with headings."""

    def __init__(self, columns: List[str], rows: List[List[Any]]) -> None:
        self.columns = columns
        self.rows = rows

    def to_string(self) -> str:
        """The table as text, in columns."""
        cells = [["", *self.columns]]
        cells += [[str(i), *(_shown(v) for v in row)] for i, row in enumerate(self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths))
                         for row in cells)

    def to_csv(self, path: str, precision: int) -> None:
        """Write the table to a file."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            for row in self.rows:
                writer.writerow(f"{v:.{precision}f}" if isinstance(v, float) else v for v in row)


def _shown(value: Any) -> str:
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def _measure(fn: Callable[..., Any], bench: Benchmark, kwargs: Dict[str, Any]) -> List[List[Any]]:
    """Rows of x values, then the mean, minimum and maximum of each line (None if not given)."""
    rows = []
    for x in bench.x_vals:
        xs = list(x) if isinstance(x, (list, tuple)) else [x] * len(bench.x_names)
        if len(xs) != len(bench.x_names):
            raise ValueError(f"Expected {len(bench.x_names)} values, got {x}")
        found = [fn(**dict(zip(bench.x_names, xs)), **{bench.line_arg: y}, **bench.args, **kwargs)
                 for y in bench.line_vals]
        spread = [tuple(one) if isinstance(one, (list, tuple)) else (one, None, None)
                  for one in found]
        rows.append([*xs, *(one[k] for k in range(3) for one in spread)])
    return rows


def _plot(bench: Benchmark, labels: List[str], rows: List[List[Any]], folder: str,
          show: bool) -> bool:
    """Draw the lines. False if matplotlib is not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return False
    n, first = len(labels), len(bench.x_names)
    plt.figure()
    axes = plt.subplot()
    xs = [row[0] for row in rows]
    for i, label in enumerate(labels):
        mean, low, high = ([row[first + k * n + i] for row in rows] for k in range(3))
        color, style = bench.styles[i][:2] if bench.styles else (None, None)
        axes.plot(xs, mean, label=label, color=color, ls=style)
        if None not in low and None not in high:
            axes.fill_between(xs, low, high, alpha=0.15, color=color)
    axes.legend()
    axes.set_xlabel(bench.xlabel or bench.x_names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if folder:
        plt.savefig(os.path.join(folder, f"{bench.plot_name}.png"))
    if show:
        plt.show()
    return True


class Mark:
    """A function with benchmarks: what perf_report makes of it."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Any) -> None:
        self.fn = fn
        self.benchmarks = benchmarks

    def _run(self, bench: Benchmark, save_path: str, show_plots: bool, print_data: bool,
             diff_col: bool = False, save_precision: int = 6, **kwargs: Any) -> Any:
        labels = [f"{name} ({bench.ylabel})" for name in bench.line_names]
        rows = _measure(self.fn, bench, kwargs)
        if bench.plot_name and (save_path or show_plots):
            _plot(bench, labels, rows, save_path, show_plots)
        columns = [*bench.x_names, *labels]
        table = Table(columns, [row[:len(columns)] for row in rows])
        if diff_col and len(columns) == 2:
            table = Table([*columns, "Diff"], [[*row, row[1] - row[0]] for row in table.rows])
        frame = _frame(table)
        if print_data:
            print(bench.plot_name + ":")
            print(frame.to_string())
        if save_path:
            table.to_csv(os.path.join(save_path, f"{bench.plot_name}.csv"), save_precision)
        return frame

    def run(self, show_plots: bool = False, print_data: bool = False, save_path: str = "",
            return_df: bool = False, **kwargs: Any) -> Any:
        """Measure everything. Further arguments are passed to the function.

        `save_path` gets a CSV file for each benchmark and, if matplotlib is installed, a plot and
        results.html. `return_df` returns a pandas DataFrame, or a Table without pandas; of several
        benchmarks a list.
        """
        single = isinstance(self.benchmarks, Benchmark)
        benchmarks = [self.benchmarks] if single else list(self.benchmarks)
        if save_path:
            os.makedirs(save_path, exist_ok=True)
        frames: List[Any] = []
        try:
            for bench in benchmarks:
                frames.append(self._run(bench, save_path, show_plots, print_data, **kwargs))
        finally:
            if save_path:
                _write_page(save_path, [bench.plot_name for bench in benchmarks[:len(frames)]])
        if not return_df:
            return None
        return frames[0] if single else frames


def _frame(table: Table) -> Any:
    try:
        import pandas
    except ImportError:
        return table
    return pandas.DataFrame(table.rows, columns=table.columns)


def _write_page(folder: str, names: List[str]) -> None:
    with open(os.path.join(folder, "results.html"), "w", encoding="utf-8") as page:
        images = [f'<image src="{name}.png"/>\n' for name in names]
        page.write("<html><body>\n" + "".join(images) + "</body></html>\n")


def perf_report(benchmarks: Any) -> Callable[[Callable[..., Any]], Mark]:
    """Decorate a function so that its `run` measures it over a Benchmark, or a list of them."""
    return lambda fn: Mark(fn, benchmarks)


def get_dram_gbps(device: Any = None) -> float:
    """Bandwidth of device memory in GB/s, from the hardware table."""
    from .driver import driver
    return float(driver.active.utils.get_device_properties(device or 0)["memory_bandwidth"])


def get_max_simd_tflops(dtype: Any, clock_rate: float, device: Any = None) -> NoReturn:
    """Raises: the hardware table has cores and clocks, but no operations per cycle."""
    raise RuntimeError("no source in tmetal's hardware table gives the operations per cycle of a "
                       f"GPU core, so the peak rate for {dtype} is unknown")


def get_max_tensorcore_tflops(dtype: Any, clock_rate: float, device: Any = None) -> NoReturn:
    """Raises: M1 to M4 have no matrix units, and Apple gives no figure for those of M5."""
    raise RuntimeError(f"no source gives the peak rate of matrix units for {dtype}; chips before "
                       "M5 have no matrix units")


def nvsmi(attrs: Sequence[str]) -> NoReturn:
    """Raises: there is no nvidia-smi for Apple GPUs."""
    raise RuntimeError("nvidia-smi does not know Apple GPUs; "
                       "driver.active.utils.get_device_properties has their figures")


def set_gpu_clock(ref_sm_clock: int = 0, ref_mem_clock: int = 0) -> NoReturn:
    """Raises: macOS gives programs no way to set the GPU's clock."""
    raise RuntimeError("the clock of Apple GPUs cannot be set")
