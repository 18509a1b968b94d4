"""Making `import triton` mean this package: its modules under the names that Triton gives them."""
from __future__ import annotations

import importlib.machinery
import os
import sys
import threading
import types
from typing import Any, Dict, Optional, Sequence

_PACKAGE = __name__.rpartition(".")[0]
_lock = threading.Lock()
_TUNING = "Autotuner Config Heuristics autotune heuristics"
_COMPILER = "ASTSource CompiledKernel IRSource LazyDict compile_source:compile"
_COMPILING = "CompilationError CompileTimeAssertionFailure UnsupportedLanguageConstruct"

# Modules of Triton, each with the names that it has here, by the module of ours that defines them.
# "a:b": our a is Triton's b. "*": the module itself is ours. Ours are named by texts because some
# share their name with a function: as in Triton, `triton.jit` is the decorator.
_MODULES: Dict[str, Dict[str, str]] = {
    "language": {"language": "*"},
    "knobs": {"knobs": "*"},
    "testing": {"testing": "*"},
    "profiler": {"profiler": "*"},
    "errors": {"errors": "*"},
    "runtime": {
        "autotuner": _TUNING, "driver": "driver", "errors": "InterpreterError OutOfResources",
        "jit": "JITFunction KernelInterface MockTensor TensorWrapper reinterpret"},
    "runtime.autotuner": {
        "autotuner": _TUNING, "errors": "AutotunerError OutOfResources PTXASError",
        "jit": "JITFunction KernelInterface", "driver": "driver"},
    "runtime.cache": {"cache": "*"},
    "runtime.driver": {"driver": "driver"},
    "runtime.errors": {
        "errors": "AutotunerError InterpreterError OutOfResources PTXASError TritonError"},
    "runtime.jit": {
        "jit": "ConstexprFunction JITCallable JITFunction KernelInterface KernelParam MockTensor "
               "TensorWrapper constexpr_function jit mangle_type reinterpret "
               "type_canonicalisation_dict",
        "driver": "driver"},
    "runtime._allocation": {"driver": "NullAllocator set_allocator"},
    "runtime._async_compile": {"kernel": "AsyncCompileMode FutureKernel active_mode"},
    "compiler": {"kernel": _COMPILER, "errors": "CompilationError"},
    "compiler.compiler": {"kernel": _COMPILER, "cache": "triton_key"},
    "compiler.errors": {"errors": _COMPILING},
    "compiler.code_generator": {"errors": _COMPILING},
    "tools": {},
    "tools.tensor_descriptor": {"kernel": "TensorDescriptor"},
    "backends": {},
    "backends.compiler": {"driver": "GPUTarget"},
    "backends.driver": {},
}


class _Finder:
    """Keeps Python from finding modules that Triton does not have in this package's folder.

    Without it, `import triton.library` would load our library.py once more under that name. Folders
    that a program appends to `triton.__path__` are searched.
    """

    def find_spec(self, fullname: str, path: Optional[Sequence[str]],
                  target: Optional[types.ModuleType] = None) -> Any:
        """The place of `triton.x` outside of our folder while `triton` is this package."""
        root = sys.modules[_PACKAGE]
        if not fullname.startswith("triton.") or sys.modules.get("triton") is not root:
            return None
        own = os.path.dirname(os.path.abspath(__file__))
        folders = [folder for folder in path or () if os.path.abspath(folder) != own]
        found = importlib.machinery.PathFinder.find_spec(fullname, folders, target)
        if found is None:
            raise ModuleNotFoundError(f"No module named '{fullname}': triton_metal has none",
                                      name=fullname)
        return found


def _own(name: str) -> Any:
    return sys.modules[f"{_PACKAGE}.{name}"]


def _module(name: str) -> types.ModuleType:
    """The module that `triton.name` is: ours, or a new one with the names that _MODULES lists."""
    module = types.ModuleType(f"{_PACKAGE}.{name}")
    module.__package__ = _PACKAGE
    module.__path__ = []
    for source, names in _MODULES[name].items():
        if names == "*":
            found: types.ModuleType = _own(source)
            return found
        for one in names.split():
            ours, _, theirs = one.partition(":")
            setattr(module, theirs or ours, getattr(_own(source), ours))
    return module


def build() -> None:
    """Give the package the submodules that Triton has: triton_metal.runtime.jit and so on.

    As in Triton, `runtime.driver` is an object as an attribute, and a module in an import.
    """
    root = sys.modules[_PACKAGE]
    for name in _MODULES:
        module = sys.modules[f"{_PACKAGE}.{name}"] = _module(name)
        parent, _, last = name.rpartition(".")
        if name != "runtime.driver":
            setattr(_own(parent) if parent else root, last, module)
    driver = _own("driver").MetalDriver  # compiling is not public
    _own("backends").backends = {"metal": types.SimpleNamespace(compiler=None, driver=driver)}


def install() -> types.ModuleType:
    """From here on, `import triton` means this package. Returns it.

    A Triton that was imported before stays what it was to those who imported it; it is what
    `import triton` no longer finds. Calling install again changes nothing.
    """
    root = sys.modules[_PACKAGE]
    with _lock:
        if sys.modules.get("triton") is root:
            return root
        for name in [name for name in sys.modules if name.split(".")[0] == "triton"]:
            del sys.modules[name]
        inside = f"{_PACKAGE}.language."
        inner = [name[len(_PACKAGE) + 1:] for name in sys.modules if name.startswith(inside)]
        for name in [*_MODULES, *inner]:
            sys.modules[f"triton.{name}"] = sys.modules[f"{_PACKAGE}.{name}"]
        sys.modules["triton"] = root
        if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Finder())
    return root


def is_requested() -> bool:
    """Whether the environment asks that `import triton` mean this package."""
    return (os.environ.get("TRITON_METAL") == "1"
            or os.environ.get("TRITON_BACKEND", "").lower() == "metal")
