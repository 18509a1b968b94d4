#!/usr/bin/env python3
"""Record the IR that Triton's front end makes of kernels.py, before any pass, into recorded.txt; no GPU, no PyTorch.

    PYTHON tests/triton/versions/record.py

PYTHON is one that has Triton 3.6 or later. The sections of its version are replaced; those of other versions stay. A
kernel is recorded with 3.9 and, where its `# call` names versions, with these; texts of more than 110 lines are not kept.
"""

import collections
import importlib.util
import inspect
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MOST = 110
CALL = re.compile(r"# call(?:\(([\d., ]*)\))? (\w+) \| ([^|]*)(?:\| ?([^|]*))?$")
TYPE = re.compile(r"^(\*k?)?\*?(i1|u1|[iu](8|16|32|64)|fp(16|32|64)|bf16|fp8\w+)$|^tensordesc<")
NAMED = re.compile(r"^(\w+)=(.*)$")


def split(text):
    """At commas outside of brackets."""
    out, depth, now = [], 0, ""
    for letter in text + ",":
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and not depth:
            out.append(now.strip())
            now = ""
        else:
            now += letter
    return [part for part in out if part]


def calls():
    """(name, versions, args, constants) of each `# call` line."""
    for line in (HERE / "kernels.py").read_text(encoding="utf-8").splitlines():
        match = CALL.match(line)
        if match:
            versions = [version.strip() for version in (match.group(1) or "3.9").split(",")]
            yield match.group(2), versions, match.group(3).strip(), (match.group(4) or "").strip()


class Call:
    """A call's signature, constants and attributes, as Triton's ASTSource takes them."""

    def __init__(self, function, scope, args, consts):
        self.scope, self.constants, self.attrs, self.signature = scope, {}, {}, {}
        given = {name: eval(value, scope) for name, value in (part.split("=", 1) for part in split(consts))}
        args = split(args)
        named = dict(NAMED.match(part).groups() for part in args if NAMED.match(part))
        left = [part for part in args if not NAMED.match(part)]
        for number, parameter in enumerate(function.params):
            kind = function.signature.parameters[parameter.name].kind
            if parameter.name in given:
                self.constant(parameter.name, number, given[parameter.name])
            elif parameter.name in named:
                self.signature[parameter.name] = self.entry(named[parameter.name], (number,))
            elif kind == inspect.Parameter.VAR_POSITIONAL:
                self.signature[parameter.name] = tuple(self.entry(part, (number, k)) for k, part in enumerate(left))
                left = []
            elif left and not parameter.is_constexpr and kind != inspect.Parameter.KEYWORD_ONLY:
                self.signature[parameter.name] = self.entry(left.pop(0), (number,))
            else:
                self.constant(parameter.name, number, parameter.default)

    def constant(self, name, number, value):
        self.constants[(number,)] = value
        self.signature[name] = "constexpr"

    def entry(self, text, path):
        if text.startswith("("):
            parts = [(NAMED.match(part) or re.match("()(.*)", part)).groups() for part in split(text[1:-1])]
            values = [self.entry(part, (*path, k)) for k, (_, part) in enumerate(parts)]
            return collections.namedtuple("Fields", [name for name, _ in parts])(*values) if parts[0][0] else tuple(values)
        kind, _, hint = (text, "", "") if text.startswith("tensordesc") else text.partition(":")
        if not TYPE.match(kind):
            self.constants[path] = eval(text, self.scope)
            return "constexpr"
        if hint:
            self.attrs[path] = [["tt.divisibility", int(hint)]]
        return kind


def main():
    import triton
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource, make_backend
    version = ".".join(triton.__version__.split(".")[:2])
    if not hasattr(triton, "aggregate"):  # before 3.8; kernels that use it are not recorded then
        triton.aggregate = lambda cls: cls
    spec = importlib.util.spec_from_file_location("kernels", HERE / "kernels.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernels"] = module
    spec.loader.exec_module(module)
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({"sanitize_overflow": False})
    texts = {}
    path = HERE / "recorded.txt"
    for section in (path.read_text(encoding="utf-8") if path.exists() else "").split("=== ")[1:]:
        head, _, text = section.partition("\n")
        if head.split()[1] != version:
            texts[tuple(head.split())] = text
    for name, versions, args, consts in calls():
        if version not in versions:
            continue
        function = getattr(module, name)
        call = Call(function, dict(vars(module)), args, consts)
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        source = ASTSource(function, call.signature, call.constants, call.attrs)
        made = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
        text = made.str_nodebug().replace(" attributes {noinline = false}", "")
        if text.count("\n") <= MOST:
            texts[name, version] = text.rstrip() + "\n"
    order = {name: number for number, (name, *_) in enumerate(calls())}
    kept = sorted(texts.items(), key=lambda one: (order.get(one[0][0], len(order)), one[0][1]))
    path.write_text("".join(f"=== {name} {version}\n{text}" for (name, version), text in kept), encoding="utf-8")
    print(f"{version}: {sum(key[1] == version for key in texts)} texts")


if __name__ == "__main__":
    main()
