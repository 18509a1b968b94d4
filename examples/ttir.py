#!/usr/bin/env python3
"""Print the TTIR of a Triton kernel. Needs Triton 3.3 or later on Linux; no GPU, no driver.

    python3 examples/ttir.py FILE.py KERNEL NAME=TYPE... NAME=VALUE... > kernel.ttir

    NAME=TYPE    a parameter that the launch gives: *fp32, *bf16, *i64, i32, fp32, ... as Triton spells types. With :16
                 behind it the launch promises a multiple of 16: *fp32:16 (bytes of the address), i32:16 (the number).
    NAME=VALUE   a parameter that is fixed now and has no place in the TTIR: what is tl.constexpr, None, and the 1 of an
                 int that is 1 at the launch. A Python literal, or tl.float32 and its like.

    python3 examples/ttir.py examples/kernels/vector_add.py vector_add \\
        x_ptr='*fp32:16' y_ptr='*fp32:16' out_ptr='*fp32:16' n=i32 BLOCK=256

A constexpr parameter with a default may be left out. docs/ttir.md says where else TTIR is to be found.
"""

import ast
import importlib.util
import re
import sys

TARGET = ("cuda", 90, 32)  # what the text is made for; tmetal takes it as it takes that of any other GPU
TYPE = re.compile(r"(\**k?(?:[iu](?:1|8|16|32|64)|bf16|fp16|fp32|fp64|fp8\w+))(:16)?")


def value_of(name, text):
    """A Python literal, or a name of triton.language."""
    import triton.language
    try:
        return getattr(triton.language, text[3:]) if text.startswith("tl.") else ast.literal_eval(text)
    except (AttributeError, SyntaxError, ValueError):
        raise ValueError(f"{name}={text} is neither a type nor a value") from None


def ttir(kernel, given):
    """The text for `given`, a dict from the names of parameters to TYPE or VALUE as above."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    while not isinstance(kernel, triton.JITFunction):  # autotune and heuristics wrap it
        kernel = kernel.fn
    if unknown := set(given) - set(kernel.arg_names):
        raise ValueError(f"{kernel.__name__} has no parameter {', '.join(sorted(unknown))}")
    signature, constants, promises = {}, {}, {}
    for number, parameter in enumerate(kernel.params):
        text = given.get(parameter.name)
        if text is None and not (parameter.is_constexpr and parameter.has_default):
            raise ValueError(f"say what {parameter.name} is: {parameter.name}=TYPE or {parameter.name}=VALUE")
        kind = text and TYPE.fullmatch(text)
        if kind and parameter.is_constexpr:
            raise ValueError(f"{parameter.name} is a constexpr: it wants a value, not a type")
        if kind:
            signature[parameter.name] = kind[1]
            if kind[2]:
                promises[(number,)] = [["tt.divisibility", 16]]
        else:
            signature[parameter.name] = "constexpr"
            constants[(number,)] = parameter.default if text is None else value_of(parameter.name, text)
    source = ASTSource(kernel, signature, constants, promises)
    return triton.compile(source, target=GPUTarget(*TARGET)).asm["ttir"]


def main():
    if len(sys.argv) < 3 or any("=" not in word for word in sys.argv[3:]):
        sys.exit(__doc__)
    spec = importlib.util.spec_from_file_location("kernels", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        print(ttir(getattr(module, sys.argv[2]), dict(word.split("=", 1) for word in sys.argv[3:])), end="")
    except (AttributeError, ValueError) as error:
        sys.exit(f"ttir.py: {error}")


if __name__ == "__main__":
    main()
