"""tmetal.h as a shared library: kernels compiled from the text of their Python."""
from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Tuple

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


_TEXT, _WORD, _SIZE, _POINTER = (ctypes.c_char_p, ctypes.c_uint32, ctypes.c_size_t,
                                 ctypes.c_void_p)


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
                      (_POINTER, "result"), (_TEXT, "prints places"))


_KERNEL, _TTIR, _PROGRAM = range(3)  # tm_task


class Problem(ctypes.Structure):
    """tmetal_problem: what a function that launches reports."""

    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 2000)]

    def __str__(self) -> str:
        return str(self.text.decode(errors="replace").rstrip())


_FUNCTIONS: Dict[str, Tuple[Any, ...]] = {  # the result, then the arguments
    "tm_compile": (ctypes.POINTER(_Compiled), ctypes.POINTER(_Request), _WORD),
    "tm_free": (None, _POINTER), "tm_free_text": (None, _POINTER),
    "tm_debug_text": (_POINTER, _POINTER, _WORD, _TEXT, _SIZE, _POINTER),
    "tm_launch_run": (ctypes.c_int, _POINTER, _TEXT, _POINTER),
    "tm_launch_null": (ctypes.c_int, _POINTER, _TEXT, _POINTER)}


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
    declare(loaded, _FUNCTIONS)
    return loaded


def declare(loaded: ctypes.CDLL, functions: Dict[str, Tuple[Any, ...]]) -> None:
    """Say what functions of the library return, and take."""
    for name, (result, *arguments) in functions.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments


def take_text(address: Optional[int]) -> str:
    """The text at an address that a function of the library returned, which is freed."""
    if not address:
        raise MemoryError
    text = ctypes.string_at(address).decode(errors="replace")
    load().tm_free_text(address)
    return text


@functools.lru_cache(maxsize=8)
def writable(path: Optional[str]) -> Optional[bytes]:
    """The name of a folder, which is made; None: there is none, or nothing can be written there."""
    try:
        if path:
            os.makedirs(path, exist_ok=True)
        return os.fsencode(path) if path and os.access(path, os.W_OK) else None
    except OSError:
        return None


def cache_folder() -> Optional[str]:
    """The folder for files that later processes read again; None: TRITON_METAL_CACHE is 0."""
    if os.environ.get("TRITON_METAL_CACHE", "1") == "0":
        return None
    own, shared = os.environ.get("TRITON_METAL_CACHE_DIR"), os.environ.get("TRITON_CACHE_DIR")
    if own or shared:
        return own or os.path.join(shared or "", "triton_metal")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches/triton_metal")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "triton_metal")


class Compiled:
    """A compiled kernel: its Metal and its launch plan. It may be used by several threads."""

    def __init__(self, pointer: Any, again: Callable[[], Compiled]) -> None:
        c = pointer.contents
        self.handle: int = ctypes.cast(pointer, ctypes.c_void_p).value or 0  # tm_compiled
        self.result: int = c.result  # tmetal_result, part of it
        self._free = load().tm_free
        self.msl: str = c.text.decode()
        self.plan_text: str = c.plan.decode()
        self.params: Tuple[str, ...] = tuple(c.params.decode().split("\n")[:-1])
        self.from_cache = bool(c.found)
        self._rows: str = c.places.decode(errors="replace")
        self._again = again
        self.attached: Dict[str, Any] = {}  # what a backend keeps with it

    def __del__(self) -> None:
        if getattr(self, "handle", 0):
            self.attached.clear()  # which may need it
            self._free(self.handle)

    @functools.cached_property
    def plan(self) -> Dict[str, Any]:
        """The launch plan, as docs/plan.md describes it."""
        import json
        plan: Dict[str, Any] = json.loads(self.plan_text)
        return plan

    def debug_text(self, buffer: bytes, kernel: int = 0) -> Tuple[str, int]:
        """What a kernel of the plan left in its debug buffer: its prints, and failed assertions."""
        failed = ctypes.c_uint32()
        text = load().tm_debug_text(self.handle, kernel, buffer, len(buffer), ctypes.byref(failed))
        return take_text(text), failed.value

    @functools.cached_property
    def _places(self) -> Dict[int, Tuple[str, int]]:
        rows = (row.split(",", 2) for row in (self._rows or self._again()._rows).splitlines())
        places: Dict[int, Tuple[str, int]] = {}
        for metal, line, path in rows:
            places.setdefault(int(metal), (path, int(line)))
        return places

    def place(self, metal_line: int) -> Optional[Tuple[str, int]]:
        """File and line of the Python behind a line of Metal, by compiling again with reports."""
        places = self._places
        nearest = max((line for line in places if line <= metal_line), default=None)
        return None if nearest is None else places[nearest]


def _failure(c: Any) -> Exception:
    from . import errors
    return errors.CompilationError(
        None, None, c.message.decode(errors="replace"), file=c.file.decode(errors="replace"),
        line=c.line, column=c.column, code=c.code, text=c.text.decode(errors="replace"))


def _run(task: int, *, source: str, path: str, kernel: str, args: str, consts: str,
         files: Sequence[File], gpu: str, alias: str = "", debug: bool = False,
         fusion: bool = True, triton: str = "", line: int = 0, reports: bool = False) -> Any:
    """A tm_compiled without errors; the caller frees it."""
    identity = repr((source, path, kernel, args, consts, [tuple(f) for f in files], debug, triton,
                     line)).encode(errors="surrogatepass")
    texts = [f.text.encode() for f in files]
    array = (_File * max(1, len(files)))(*(
        _File(f.name.encode(), text, len(text), os.fsencode(f.path), f.line)
        for f, text in zip(files, texts)))
    text = source.encode()
    request = _Request(
        source=text, length=len(text), path=os.fsencode(path), kernel=kernel.encode(),
        args=args.encode() or None, consts=consts.encode() or None, gpu=gpu.encode(),
        alias=alias.encode(), triton=triton.encode(), files=array, n_files=len(files), line=line,
        debug=debug, no_fusion=not fusion, reports=reports,
        trace=not reports and os.environ.get("TRITON_METAL_DEBUG") == "1",
        cache=writable(cache_folder()), identity=identity, identity_length=len(identity))
    pointer = load().tm_compile(ctypes.byref(request), task)
    if pointer and task == _KERNEL and not (alias or reports or pointer.contents.found):
        sys.stdout.write((pointer.contents.prints or b"").decode(errors="replace"))
    return _check(pointer, kernel)


def _check(pointer: Any, name: str) -> Any:
    if not pointer:
        raise MemoryError(f"{name}: memory for compiling has run out")
    if pointer.contents.code:
        try:
            raise _failure(pointer.contents)
        finally:
            load().tm_free(pointer)
    return pointer


def compile(*, source: str, path: str, kernel: str, args: str, consts: str,
            files: Sequence[File], gpu: str, alias: str = "", debug: bool = False,
            fusion: bool = True, triton: str = "", line: int = 0) -> Compiled:
    """Compile a kernel from its text, or find it in the cache on disk.

    `args`, `consts` and `triton` are as of tmetal_triton_call in tmetal.h, `alias` as of
    tmetal_options. `fusion` lets a*b+c be rounded once. `line`: where `source` begins in `path`.
    Raises errors.CompilationError, with all diagnostics of the run as its text.
    """
    what: Dict[str, Any] = {
        "source": source, "path": path, "kernel": kernel, "args": args, "consts": consts,
        "files": files, "gpu": gpu, "alias": alias, "debug": debug, "fusion": fusion,
        "triton": triton, "line": line}

    def make(reports: bool) -> Compiled:
        return Compiled(_run(_KERNEL, reports=reports, **what), lambda: make(True))

    return make(False)


def ttir(**what: Any) -> str:
    """The kernel as Triton IR. Parameters are those of compile."""
    pointer = _run(_TTIR, **what)
    text: str = pointer.contents.text.decode()
    load().tm_free(pointer)
    return text


def program(source: str, gpu: str, aligned: bool = True) -> Compiled:
    """Compile Triton IR or an op list, whose pointers are multiples of 16 bytes if `aligned`."""
    return Compiled(_program(_PROGRAM, source, gpu, aligned), lambda: program(source, gpu, aligned))


def report(task: int, source: str, gpu: str) -> Tuple[str, str]:
    """Text and JSON that the compiler makes of Triton IR or an op list, by a tm_task."""
    pointer = _program(task, source, gpu)
    texts = (pointer.contents.text or b"").decode(), (pointer.contents.plan or b"").decode()
    load().tm_free(pointer)
    return texts


def _program(task: int, source: str, gpu: str, aligned: bool = True) -> Any:
    text = source.encode()
    request = _Request(source=text, length=len(text), path=b"<program>", gpu=gpu.encode(),
                       unspecialized=not aligned)
    return _check(load().tm_compile(ctypes.byref(request), task), "<program>")
