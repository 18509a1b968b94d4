"""`import triton`, where it is found before an installed Triton or in place of one.

If Triton is installed, it is imported as if this file did not exist, unless TRITON_METAL=1 or
TRITON_BACKEND=metal asks for triton_metal. If not, `triton` is triton_metal.
"""
import importlib.machinery
import importlib.util
import os
import sys


def _installed():
    """The spec of an installed Triton, or None."""
    own = os.path.realpath(__file__)
    for folder in sys.path:
        spec = importlib.machinery.PathFinder.find_spec("triton", [folder])
        if spec and spec.origin and os.path.realpath(spec.origin) != own:
            return spec
    return None


def _import(spec):
    module = sys.modules["triton"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop("triton", None)
        raise


_asked = (os.environ.get("TRITON_METAL") == "1"
          or os.environ.get("TRITON_BACKEND", "").lower() == "metal")
_spec = None if _asked else _installed()
if _spec is not None:
    _import(_spec)
else:
    import triton_metal
    triton_metal.install()
