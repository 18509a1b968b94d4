"""A wheel of triton_metal with its library, made in a clone of the repository:

    python -m build --wheel examples/python      or: pip wheel --no-deps examples/python

`make python` compiles the library, and on Linux the simulator, which compiles kernels with clang as
they are launched. Without a Triton, `import triton` finds this package: a .pth file adds its folder
`shim` to the end of the path. With TRITON_METAL=1 in the environment it is found before any Triton.
"""
import os
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PTH = """triton_metal/shim
import os; (os.environ.get("TRITON_METAL") == "1" or \
os.environ.get("TRITON_BACKEND", "").lower() == "metal") and __import__("triton_metal")
"""


class Build(build_py):
    """The Python files, then what make compiles."""

    def run(self):
        super().run()
        subprocess.check_call(["make", "-C", ROOT, "python"])
        made = os.path.join(ROOT, "build", "package", "triton_metal")
        package = os.path.join(self.build_lib, "triton_metal")
        is_mac = sys.platform == "darwin"
        shutil.copy(os.path.join(made, "libtriton_metal." + ("dylib" if is_mac else "so")), package)
        if not is_mac:
            shutil.copy(os.path.join(made, "simulator"), package)
            shutil.copytree(os.path.join(ROOT, "tests", "sim", "include"),
                            os.path.join(package, "include"), dirs_exist_ok=True)
        shim = os.path.join(package, "shim", "triton")
        os.makedirs(shim, exist_ok=True)
        shutil.copy(os.path.join(HERE, "triton", "__init__.py"), shim)
        with open(os.path.join(self.build_lib, "triton_metal.pth"), "w", encoding="utf-8") as file:
            file.write(PTH)


class Wheel(bdist_wheel):
    """For this platform, and for any Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class NoSources(sdist):
    """tmetal.h and the simulator are outside of this folder."""

    def run(self):
        sys.exit("build a wheel, in a clone of the repository: python -m build --wheel "
                 "examples/python")


WORK = os.path.join(ROOT, "build", "wheel-work")
os.makedirs(WORK, exist_ok=True)
setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel, "sdist": NoSources},
      options={"build": {"build_base": WORK}, "egg_info": {"egg_base": WORK}})
