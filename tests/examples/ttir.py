"""examples/ttir.py with a stand-in for Triton that prints what it is asked to compile. Run by run.sh."""
import inspect
import runpy
import sys
import types
from contextlib import redirect_stderr


class Parameter:
    def __init__(self, parameter):
        self.name, self.default = parameter.name, parameter.default
        self.is_constexpr = "constexpr" in str(parameter.annotation)
        self.has_default = self.default is not inspect.Parameter.empty


class JITFunction:
    def __init__(self, fn):
        self.fn, self.__name__ = fn, fn.__name__
        self.params = [Parameter(p) for p in inspect.signature(fn).parameters.values()]
        self.arg_names = [p.name for p in self.params]


def module(name, **what):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(what)
    return sys.modules[name]


language = module("triton.language", constexpr="constexpr", float32="fp32")
module("triton", JITFunction=JITFunction, jit=JITFunction, language=language,
       compile=lambda source, target: types.SimpleNamespace(asm={"ttir": f"{source} for {target}\n"}))
module("triton.backends.compiler", GPUTarget=lambda *words: words)
module("triton.compiler", ASTSource=lambda kernel, *words: (kernel.__name__,) + words)
module("torch")

ADD = "examples/kernels/vector_add.py vector_add x_ptr=*fp32:16 y_ptr=*bf16 out_ptr=*kfp8e4nv:16 "
for line in (ADD + "n=i32:16 BLOCK=256", ADD + "n=1 BLOCK=tl.float32", ADD + "n=None", ADD + "n=i32 BLOCK=i32",
             ADD + "n=i33 BLOCK=256", ADD + "n=i32 BLOCK=2 m=1", "examples/kernels/vector_add.py add x=1"):
    print("$", line)
    sys.argv = ["examples/ttir.py", *line.split()]
    with redirect_stderr(sys.stdout):
        try:
            runpy.run_path("examples/ttir.py", run_name="__main__")
        except SystemExit as stop:
            print(stop)
