"""tmetal.h as a shared library: kernels compiled from the text of their Python."""
from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
import warnings
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

# The Triton whose language kernels are written in, where versions read the same text differently.
LANGUAGE = os.environ.get("TRITON_METAL_LANGUAGE", "3.9")
if LANGUAGE not in ("3.6", "3.7", "3.8", "3.9"):
    raise ImportError(f"TRITON_METAL_LANGUAGE is '{LANGUAGE}'; it can be 3.6, 3.7, 3.8 or 3.9")
_HERE = os.path.dirname(os.path.abspath(__file__))


class File(NamedTuple):
    """The text of a module that a kernel's text imports."""

    name: str  # dotted, as in the import
    text: str
    path: str  # of the file that it comes from, in messages
    line: int  # of that file, in which the text begins


class Source(NamedTuple):
    """What to compile: a kernel's text, Triton IR or an op list."""

    text: str
    gpu: str
    path: str = "<program>"
    line: int = 0  # of `path`, in which the text begins
    kernel: str = ""
    args: str = ""  # this, `consts` and `triton` are as of tmetal_triton_call
    consts: str = ""
    files: Tuple[File, ...] = ()
    triton: str = ""
    alias: str = ""  # as of tmetal_options
    debug: bool = False
    fusion: bool = True  # a*b+c may be rounded once
    aligned: bool = True  # pointers of a program are multiples of 16 bytes
    reports: bool = False


_TEXT, _POINTER, _INT = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int
_WORD, _LONG, _SIZE = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t


def fields(*rows: Tuple[Any, str]) -> Any:
    """Fields of a ctypes structure, by rows of a type and names."""
    return [(name, kind) for kind, names in rows for name in names.split()]


class _File(ctypes.Structure):  # tmetal_triton_file
    _fields_ = fields((_TEXT, "name text"), (_SIZE, "len"), (_TEXT, "path"), (_WORD, "line"))


class _Request(ctypes.Structure):  # tm_request
    _fields_ = fields(
        (_TEXT, "source"), (_SIZE, "length"), (_TEXT, "path kernel args consts gpu alias triton"),
        (ctypes.POINTER(_File), "files"),
        (_WORD, "n_files line debug no_fusion reports trace unspecialized"),
        (_TEXT, "cache identity"), (_SIZE, "identity_length"))


class _Compiled(ctypes.Structure):  # tm_compiled
    _fields_ = fields((_WORD, "code found line column"), (_TEXT, "file message text plan params"),
                      (_POINTER, "result"), (_TEXT, "prints warnings places"))


KERNEL, TTIR, PROGRAM, EXPLAIN, TRANSFORM = range(5)  # tm_task


class Problem(ctypes.Structure):
    """tmetal_problem: what a function that launches reports."""

    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 2000)]

    def __str__(self) -> str:
        return str(self.text.decode(errors="replace").rstrip())


_FUNCTIONS: Dict[str, Tuple[Any, ...]] = {  # the result, then the arguments
    "tm_compile": (ctypes.POINTER(_Compiled), ctypes.POINTER(_Request), _WORD),
    "tm_free": (None, _POINTER), "tm_free_text": (None, _POINTER),
    "tm_debug_text": (_POINTER, _POINTER, _WORD, _TEXT, _SIZE, _POINTER),
    "tm_launch_run": (_INT, _POINTER, _TEXT, _POINTER),
    "tmetal_metal_open": (_INT, _POINTER, _POINTER, _POINTER, _POINTER),
    "tmetal_metal_close": (None, _POINTER), "tmetal_metal_device": (_POINTER, _POINTER),
    "tmetal_load": (_INT, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
    "tmetal_unload": (None, _POINTER),
    "tmetal_launch_make": (_INT, _POINTER, _POINTER, _POINTER, _POINTER),
    "tmetal_launch_free": (None, _POINTER), "tmetal_launch_seconds": (ctypes.c_double, _POINTER),
    "tmetal_launch_text": (_TEXT, _POINTER, _WORD, _POINTER),
    "tmetal_buffer_make": (_INT, _POINTER, _LONG, _POINTER, _POINTER),
    "tmetal_buffer_wrap": (_INT, _POINTER, _POINTER, _LONG, _POINTER, _POINTER),
    "tmetal_buffer_free": (None, _POINTER, _POINTER),
    "tmetal_gpu_find": (_POINTER, _TEXT, _WORD),
    "tmetal_key": (None, _TEXT, _SIZE, _POINTER, _TEXT)}


@functools.lru_cache(maxsize=None)
def load() -> ctypes.CDLL:
    """The library, with the functions above and all of tmetal.h. Loaded at the first call."""
    name = "libtriton_metal.dylib" if sys.platform == "darwin" else "libtriton_metal.so"
    path = os.environ.get("TRITON_METAL_LIBRARY") or os.path.join(_HERE, name)
    if not os.path.exists(path):
        raise ImportError(f"{path} is missing: run 'make python', or install a wheel that has it")
    loaded = ctypes.CDLL(path)
    size = getattr(loaded, "tm_struct_bytes", int)()
    if size != ctypes.sizeof(_Request) * 1000 + ctypes.sizeof(_Compiled):
        raise ImportError(f"{path} is older or newer than {__file__}: run 'make python' again")
    for function, (result, *arguments) in _FUNCTIONS.items():
        declared = getattr(loaded, function)
        declared.restype, declared.argtypes = result, arguments
    return loaded


@functools.lru_cache(maxsize=8)
def _is_writable(path: str) -> bool:
    """Make a folder. Can files be written there?"""
    try:
        os.makedirs(path, exist_ok=True)
        return os.access(path, os.W_OK)
    except OSError:
        return False


def cache_folder() -> Optional[str]:
    """The folder for files that later processes read again; None: none is wanted, or writable."""
    own, shared = os.environ.get("TRITON_METAL_CACHE_DIR"), os.environ.get("TRITON_CACHE_DIR")
    if own or shared:
        path = own or os.path.join(shared or "", "triton_metal")
    elif sys.platform == "darwin":
        path = os.path.expanduser("~/Library/Caches/triton_metal")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        path = os.path.join(base, "triton_metal")
    wanted = os.environ.get("TRITON_METAL_CACHE", "1") != "0"
    return path if wanted and _is_writable(path) else None


def _compile(task: int, source: Source) -> Any:
    """A tm_compiled without errors, which the caller frees."""
    text, identity = source.text.encode(), repr(source).encode(errors="surrogatepass")
    texts = [file.text.encode() for file in source.files]
    files = (_File * max(1, len(texts)))(*(
        _File(file.name.encode(), inner, len(inner), os.fsencode(file.path), file.line)
        for file, inner in zip(source.files, texts)))
    folder = cache_folder()
    request = _Request(
        source=text, length=len(text), path=os.fsencode(source.path), line=source.line,
        kernel=source.kernel.encode(), args=source.args.encode() or None,
        consts=source.consts.encode() or None, files=files, n_files=len(texts),
        gpu=source.gpu.encode(), alias=source.alias.encode(), triton=source.triton.encode(),
        debug=source.debug, no_fusion=not source.fusion, unspecialized=not source.aligned,
        reports=source.reports, trace=task == KERNEL and not source.reports
        and os.environ.get("TRITON_METAL_DEBUG") == "1",
        cache=folder and os.fsencode(folder), identity=identity, identity_length=len(identity))
    pointer = load().tm_compile(ctypes.byref(request), task)
    if not pointer:
        raise MemoryError(f"{source.kernel or source.path}: memory for compiling has run out")
    c = pointer.contents
    if task == KERNEL and not (source.alias or source.reports or c.found):
        sys.stdout.write(c.prints.decode(errors="replace"))
        rows = c.warnings.decode(errors="replace").splitlines()
        for place, text in zip(rows[::2], rows[1::2]):
            _, line, path = place.split(",", 2)
            warnings.warn_explicit(text, UserWarning, path, int(line))
    if c.code:
        from . import errors
        message, file, all_of_it = (part.decode(errors="replace")
                                    for part in (c.message, c.file, c.text))
        failure = errors.CompilationError(None, None, message, file=file, line=c.line,
                                          column=c.column, code=c.code, text=all_of_it)
        load().tm_free(pointer)
        raise failure
    return pointer


def texts(task: int, source: Source) -> Tuple[str, str]:
    """Text and JSON that the compiler makes of a source: by TTIR, EXPLAIN or TRANSFORM."""
    pointer = _compile(task, source)
    text, json = pointer.contents.text or b"", pointer.contents.plan or b""
    load().tm_free(pointer)
    return text.decode(), json.decode()


class Compiled:
    """A compiled kernel: its Metal and its launch plan. It may be used by several threads.

    A kernel's text may be found in the cache on disk. Otherwise it, or as PROGRAM Triton IR or an
    op list, is compiled. Raises errors.CompilationError, whose text has all diagnostics.
    """

    def __init__(self, source: Source, task: int = KERNEL) -> None:
        pointer = _compile(task, source)
        c = pointer.contents
        self.handle: int = ctypes.cast(pointer, ctypes.c_void_p).value or 0  # tm_compiled
        self.result: int = c.result  # tmetal_result, part of it
        self._free = load().tm_free
        self._source, self._task = source, task
        self.msl: str = c.text.decode()
        self.plan_text: str = c.plan.decode()
        self.found = bool(c.found)  # in the cache on disk
        self.params: Tuple[str, ...] = tuple(c.params.decode().split("\n")[:-1])
        self.descriptors: Tuple[int, ...] = ()  # pointers of host descriptors: see backend.Layout
        self._rows: str = c.places.decode(errors="replace")
        self._attached: Dict[str, Any] = {}
        self._lock = threading.RLock()

    def __del__(self) -> None:
        if getattr(self, "handle", 0):
            self._attached.clear()  # which may need it
            self._free(self.handle)

    def attached(self, name: str, make: Callable[[Compiled], Any]) -> Any:
        """What a backend keeps with the kernel, made once."""
        with self._lock:
            if name not in self._attached:
                self._attached[name] = make(self)
            return self._attached[name]

    @functools.cached_property
    def plan(self) -> Dict[str, Any]:
        """The launch plan, as docs/plan.md describes it."""
        import json
        plan: Dict[str, Any] = json.loads(self.plan_text)
        return plan

    def debug_text(self, buffer: bytes, kernel: int = 0) -> Tuple[str, int]:
        """What a kernel of the plan left in its debug buffer: its prints, and failed assertions."""
        failed = ctypes.c_uint32()
        address = load().tm_debug_text(self.handle, kernel, buffer, len(buffer),
                                       ctypes.byref(failed))
        if not address:
            raise MemoryError
        text = ctypes.string_at(address).decode(errors="replace")
        load().tm_free_text(address)
        return text, failed.value

    @functools.cached_property
    def _places(self) -> Dict[int, Tuple[str, int]]:
        rows = self._rows or Compiled(self._source._replace(reports=True), self._task)._rows
        places: Dict[int, Tuple[str, int]] = {}
        for row in rows.splitlines():
            metal, line, path = row.split(",", 2)
            places.setdefault(int(metal), (path, int(line)))
        return places

    def place(self, metal_line: int) -> Optional[Tuple[str, int]]:
        """File and line of the Python behind a line of Metal, by compiling again with reports."""
        nearest = max((line for line in self._places if line <= metal_line), default=None)
        return None if nearest is None else self._places[nearest]
