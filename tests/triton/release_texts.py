"""TTIR of the kernels that .call files name, made by the Triton that runs this script; no GPU, no PyTorch.

    PYTHON tests/triton/release_texts.py OUT FILE.call...

writes OUT/NAME.ttir for each, or OUT/NAME.refused with the last line of what Triton said. Comments at the head of a text
that it replaces stay; paths begin at the root of the repository, or at triton/. PYTHON is one that has Triton
3.3 or later: releases.py makes such environments. The stages after TTIR are not run, so a text takes milliseconds.
"""

import ast
import importlib.util
import os
import re
import sys
import traceback
import types
import warnings
from pathlib import Path

TYPE = re.compile(r"(\**k?(?:[iu](?:1|8|16|32|64)|bf16|fp16|fp32|fp64|fp8\w+)|tensordesc<.*>)(:16)?")
ROOT = Path(__file__).resolve().parent.parent.parent
CAPABILITIES = 90, 100  # the second for what only a Blackwell GPU has


class Anything:
    """PyTorch, as far as kernel files ask for it when they are imported."""

    def __getattr__(self, name):
        return Anything()

    def __call__(self, *args, **kwargs):
        return Anything()


def stand_in_for_torch():
    module = types.ModuleType("torch")
    module.__getattr__ = lambda name: Anything()
    module.__path__ = []
    sys.modules.setdefault("torch", module)


class Driver:
    """A GPU that is not there: some functions of triton.language ask which one they are compiled for."""

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget
        return GPUTarget("cuda", CAPABILITIES[0], 32)


def split(text):
    """At commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(text):
        depth += (c in "([<") - (c in ")]>")
        if c == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def read_call(path):
    call = {"const": {}, "option": {}, "args": []}
    for line in path.read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word in ("const", "option"):
            name, _, value = rest.partition("=")
            call[word][name] = value
        else:
            call[word] = split(rest) if word == "args" else rest
    return call


def module_of(path, seen={}):
    if path not in seen:
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        seen[path] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(seen[path])
    return seen[path]


class Signature:
    """What ASTSource wants to know: types, constants and promises, by name or by place."""

    def __init__(self):
        self.types, self.constants, self.promises = {}, {}, {}

    def constant(self, place, value):
        self.constants[place] = value
        return "constexpr"

    def argument(self, place, text):
        kind = TYPE.fullmatch(text)
        if kind:
            if kind[2]:
                self.promises[place] = [["tt.divisibility", 16]]
            return kind[1]
        if text.startswith("("):
            return tuple(self.argument((*place, i), member) for i, member in enumerate(split(text[1:-1])))
        return self.constant(place, ast.literal_eval(text))


def signature_of(kernel, call, scope):
    found, given = Signature(), list(call["args"])
    for number, parameter in enumerate(kernel.params):
        text, name = call["const"].get(parameter.name), parameter.name
        if text is not None:
            found.types[name] = found.constant((number,), eval(text, dict(scope)))
        elif parameter.is_constexpr:
            found.types[name] = found.constant((number,), parameter.default)
        elif given:
            found.types[name] = found.argument((number,), given.pop(0))
        else:
            found.types[name] = found.constant((number,), parameter.default)
    return found


def ttir(kernel, call, scope, capability):
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend
    while hasattr(kernel, "configs") or not hasattr(kernel, "params"):  # autotune and heuristics wrap it
        kernel = kernel.fn
    found = signature_of(kernel, call, scope)
    source = ASTSource(kernel, found.types, found.constants, found.promises)
    target = GPUTarget("cuda", capability, 32)
    backend = make_backend(target)
    options = backend.parse_options({name: ast.literal_eval(value) for name, value in call["option"].items()})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    stages = {}
    backend.add_stages(stages, options, source.language)
    return str(stages["ttir"](module, {}))


def text_of(path):
    call = read_call(path)
    module = module_of((path.parent / call["file"]).resolve())
    for capability in CAPABILITIES:
        try:
            return ttir(getattr(module, call["kernel"]), call, vars(module), capability)
        except Exception:
            if capability == CAPABILITIES[-1]:
                raise


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    stand_in_for_torch()
    from triton.runtime import driver
    driver.set_active(Driver())
    for path in map(Path, sys.argv[2:]):
        text, refused = out / f"{path.stem}.ttir", out / f"{path.stem}.refused"
        head = [line for line in text.read_text().splitlines() if line.startswith("//")] if text.exists() else []
        text.unlink(missing_ok=True)
        refused.unlink(missing_ok=True)
        try:
            made = re.sub(r'"[^"]*/site-packages/', '"', text_of(path)).replace(f"{ROOT}/", "")
            text.write_text("".join(f"{line}\n" for line in head) + made)
        except Exception:
            if os.environ.get("RELEASE_TRACE"):
                traceback.print_exc()
            refused.write_text(traceback.format_exc().strip().splitlines()[-1] + "\n")


if __name__ == "__main__":
    main()
