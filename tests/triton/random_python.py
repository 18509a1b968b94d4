#!/usr/bin/env python3
"""Kernels made at random in Triton's Python, read by tmetal and run by the interpreter, against Python itself.

    python3 tests/triton/random_python.py [--first N] [--programs N] [--tmetal PATH] [--interp PATH]

Program N is the same each time. It is integers and control flow: helpers with returns in branches, loops, tuples,
constants of compile time. Python runs the same text, with what Triton does otherwise put in its place (Value, TritonsWay):
types and their promotion, division toward zero, numbers that become values where they are assigned, `and` that asks all
sides. A program that tmetal refuses is a fault too: all are right by Triton's rules. What is wrong is printed after lines
that it does not need are dropped.
"""

import argparse
import ast
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ROWS = 6    # programs of the launch, each with numbers of its own
INPUTS = 8  # numbers of each
HEAD = "import triton\nimport triton.language as tl\n\n"

# ---------------------------------------------------------------------------------------------- integers as Triton has them


def bits(dtype):
    return int(dtype.lstrip("uint"))


def unsigned(dtype):
    return dtype.startswith("u") or dtype == "int1"


def wrapped(number, dtype):
    number &= (1 << bits(dtype)) - 1
    return number if unsigned(dtype) or not number >> (bits(dtype) - 1) else number - (1 << bits(dtype))


def fits(number, dtype):
    return wrapped(number, dtype) == number


def promoted(a, b):
    if unsigned(a) == unsigned(b):
        return a if bits(a) > bits(b) else b
    u, s = (a, b) if unsigned(a) else (b, a)
    return u if bits(u) >= bits(s) else s


def of_number(number):
    """The type that a number has where it becomes a value."""
    if isinstance(number, bool):
        return "int1"
    return next(d for d in ("int32", "uint32", "int64", "uint64") if fits(number, d))


def result(op, a, b):
    """The type of `a op b` where each is a type or the set of numbers that stand there; None: Triton refuses it, or
    what comes is undefined."""
    numbers = next((x for x in (a, b) if not isinstance(x, str)), None)
    if numbers is None:
        if op in ("//", "%") and unsigned(a) != unsigned(b):
            return None
        return promoted(a, b)
    dtype = b if a is numbers else a
    if dtype == "int1":
        dtype = "int32" if op not in ("//", "%") else None
    return dtype if dtype and all(fits(n, dtype) for n in numbers) else None


def computed(op, x, y, dtype, shifted):
    if op == ">>":  # as the sign of the value to the left was, before it became the common type
        x = wrapped(x, dtype) & ((1 << bits(dtype)) - 1)
        return (x if unsigned(shifted) else wrapped(x, "int%d" % bits(dtype))) >> y
    if op in ("//", "%"):
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return quotient if op == "//" else x - quotient * y
    return {"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}[op] if op != "<<" else x << y


class Value:
    """An integer of the kernel."""

    def __init__(self, number, dtype):
        self.number, self.dtype = wrapped(int(number), dtype), dtype

    def to(self, dtype):
        return Value(self.number != 0 if dtype == "int1" else self.number, dtype)

    def __bool__(self):
        return self.number != 0

    def __index__(self):
        return self.number

    def __neg__(self):
        return Value(-self.number, self.dtype)

    def __invert__(self):
        return Value(~self.number, self.dtype)


def operator(op):
    def binary(a, b):
        known = [x.dtype if isinstance(x, Value) else {x} for x in (a, b)]
        dtype = result(op, *known)
        x, y = (v.to(dtype).number if isinstance(v, Value) else v for v in (a, b))
        return Value(computed(op, x, y, dtype, (a if isinstance(a, Value) else b).dtype), dtype)

    return binary


def comparison(op):
    def compared(a, b):
        a, b = made(a), made(b)
        dtype = promoted(a.dtype, b.dtype)
        return Value(eval(f"x {op} y", {"x": a.to(dtype).number, "y": b.to(dtype).number}), "int1")

    return compared


for _name, _op in dict(add="+", sub="-", mul="*", floordiv="//", mod="%", lshift="<<", rshift=">>", xor="^").items() | {("and", "&"), ("or", "|")}:
    setattr(Value, f"__{_name}__", operator(_op))
    setattr(Value, f"__r{_name}__", lambda b, a, f=operator(_op): f(a, b))
for _name, _op in dict(lt="<", le="<=", gt=">", ge=">=", eq="==", ne="!=").items():
    setattr(Value, f"__{_name}__", comparison(_op))


def made(x):
    """What an assignment makes of it: numbers become values."""
    if isinstance(x, (tuple, list)):
        return tuple(map(made, x))
    return Value(x, of_number(x)) if isinstance(x, int) else x


# ------------------------------------------------------------------------------------------------- Python, Triton's way


def both(op, *operands):
    """and, or: numbers are decided while compiling, values are all asked."""
    values = []
    for operand in operands:
        x = operand()
        if isinstance(x, Value):
            values.append(x)
        elif bool(x) == (op == "or"):
            return x
        last = x
    if not values:
        return last
    total = values[-1]
    for x in reversed(values[:-1]):
        total = x & total if op == "and" else x | total
    return total


def chosen(test, yes, no):
    x = yes() if test else no()
    return made(x) if isinstance(test, Value) else x


def extreme(pick):
    def of_two(a, b):
        a, b = made(a), made(b)
        dtype = promoted(a.dtype, b.dtype)
        return Value(pick(a.to(dtype).number, b.to(dtype).number), dtype)

    return of_two


def where(test, a, b):
    known = [x.dtype if isinstance(x, Value) else {x} for x in (a, b)]
    dtype = result("+", *known)
    x = a if test else b
    return x.to(dtype) if isinstance(x, Value) else Value(x, dtype)


def counted(*bounds):
    """The values of range(): of the type that the bounds have in common."""
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    dtype = "int32"
    for bound in (start, stop, step):
        dtype = promoted(dtype, made(bound).dtype)
    return (Value(n, dtype) for n in range(start, stop, step))


class TritonsWay(ast.NodeTransformer):
    def named(self, function, *args):
        return ast.Call(ast.Name(function, ast.Load()), list(args), [])

    def later(self, node):
        return ast.Lambda(ast.arguments([], [], None, [], [], None, []), node)

    def visit_Assign(self, node):
        self.generic_visit(node)
        node.value = self.named("made", node.value)
        return node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        now = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return ast.Assign([node.target], self.named("made", now))

    def visit_Return(self, node):
        self.generic_visit(node)
        if node.value:
            node.value = self.named("made", node.value)
        return node

    def visit_While(self, node):
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(self.named("tick")))
        return node

    visit_For = visit_While

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        op = "and" if isinstance(node.op, ast.And) else "or"
        return self.named("both", ast.Constant(op), *map(self.later, node.values))

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return self.named("chosen", node.test, self.later(node.body), self.later(node.orelse))

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return self.named("negated", node.operand) if isinstance(node.op, ast.Not) else node


class Pointer:
    def __init__(self, memory, at=0):
        self.memory, self.at = memory, at

    def __add__(self, offset):
        return Pointer(self.memory, self.at + int(offset))


def expected(text, inputs, const, outputs):
    """What Python says is in memory after the kernel, or why it says nothing."""
    memory, out = [Value(n, "int64") for n in inputs], [0] * (ROWS * outputs)
    program = [0]
    way = {t: t for t in TYPES + ["int1"]}
    tl = types.SimpleNamespace(
        **way, constexpr=int, range=counted, static_range=range, minimum=extreme(min), maximum=extreme(max), where=where,
        abs=lambda x: Value(abs(x.number), x.dtype), cast=lambda x, d: made(x).to(d), static_assert=check,
        program_id=lambda axis: Value(program[0], "int32"), load=lambda p: p.memory[p.at],
        store=lambda p, x: p.memory.__setitem__(p.at, x.to("int64").number))
    rounds = iter(range(10000))
    scope = dict(tl=tl, tick=lambda: next(rounds), triton=types.SimpleNamespace(jit=lambda f: f), made=made, both=both, chosen=chosen, range=counted,
                 negated=lambda x: Value(not x, "int1") if isinstance(x, Value) else not x, min=extreme(min), max=extreme(max))
    tree = ast.fix_missing_locations(TritonsWay().visit(ast.parse(text)))
    exec(compile(tree, "program", "exec"), scope)
    for program[0] in range(ROWS):
        scope["k"](Pointer(memory), Pointer(out), const)
    return out


def check(x):
    assert x


# ---------------------------------------------------------------------------------------------------- making programs


class Maker:
    """Writes a program and knows of each name what it is: a type, a tuple of these, or the set of numbers that a name of
    compile time may be."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.names = 0
        self.functions = []  # name, what its parameters are, type that it returns
        self.const = self.dice.randrange(4)

    def fresh(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def chance(self, p):
        return self.dice.random() < p

    def pick(self, things):
        return self.dice.choice(list(things))

    def a_type(self):
        return self.pick(["int32"] * 6 + TYPES + ["int1"])

    # ---- expressions: text and what it is

    def leaf(self, env):
        names = [(n, t) for n, t in env.items() if not isinstance(t, tuple)]
        if self.chance(0.2) or not names:
            number = self.pick([0, 1, 2, 3, 5, 7, 100, -1, -3, 127, 200])
            return str(number), frozenset({number})
        if self.chance(0.2):
            tuples = [(n, t) for n, t in env.items() if isinstance(t, tuple)]
            if tuples:
                name, kinds = self.pick(tuples)
                at = self.dice.randrange(-len(kinds), len(kinds))
                if isinstance(kinds[at], str):
                    return f"{name}[{at}]", kinds[at]
        return self.pick(names)

    def value(self, env, depth, dtype=None):
        """An expression that is a value, of that type if one is asked for."""
        text, kind = self.expression(env, depth)
        if not isinstance(kind, str) or dtype not in (None, kind):
            dtype = dtype or "int32"
            text = f"({text}).to(tl.{dtype})" if isinstance(kind, str) and self.chance(0.7) else f"tl.cast({text}, tl.{dtype})"
            kind = dtype
        return text, kind

    def binary(self, env, depth):
        op = self.pick("+ + - - * & | ^ // % << >>".split())
        (a, ka), (b, kb) = self.expression(env, depth - 1), self.expression(env, depth - 1)
        if op in ("//", "%"):  # never by 0, nor the smallest number by -1
            if not isinstance(kb, str) or self.chance(0.5):
                number = self.pick([2, 3, 7, 100, -2, -3, -7])
                b, kb = str(number), frozenset({number})
            elif kb == "int1":
                return None
            else:
                b = f"({b} & 6 | 1)"
        if op in ("<<", ">>"):
            if not isinstance(kb, str) or self.chance(0.5):
                number = self.dice.randrange(8)
                b, kb = str(number), frozenset({number})
            elif kb == "int1":
                return None
            else:
                b = f"({b} & 7)"
            if "int1" in (ka, kb):
                return None
        text = f"({a} {op} {b})"
        if not isinstance(ka, str) and not isinstance(kb, str):
            if op == "<<" and any(abs(x) > 1000 for x in ka):
                return None
            numbers = frozenset(eval(f"x {op} y", {"x": x, "y": y}) for x in ka for y in kb)
            return (text, numbers) if all(abs(n) < 1 << 20 for n in numbers) and len(numbers) < 20 else None
        kind = result(op, ka, kb)
        if kind and not isinstance(ka, str) and op in ("//", "%"):
            return None  # a number over a value: numbers that are negative, or over types too small for the divisor
        return (text, kind) if kind else None

    def expression(self, env, depth):
        if depth <= 0 or self.chance(0.2):
            return self.leaf(env)
        for _ in range(4):
            made_one = self.operation(env, depth)
            if made_one:
                return made_one
        return self.leaf(env)

    def operation(self, env, depth):
        way = self.dice.randrange(13)
        if way < 6:
            return self.binary(env, depth)
        if way == 6:
            text, kind = self.value(env, depth - 1)
            return f"({self.pick('-~')}{text})", kind
        if way == 7:
            return self.condition(env, depth - 1), "int1"
        if way == 8:
            (a, ka), (b, kb) = self.expression(env, depth - 1), self.expression(env, depth - 1)
            if not isinstance(ka, str) and not isinstance(kb, str):
                kind = "int32"
            else:
                numbers = [k if isinstance(k, str) else "int32" for k in (ka, kb)]
                kind = promoted(*numbers)
            return f"{self.pick(['min', 'max', 'tl.minimum', 'tl.maximum'])}({a}, {b})", kind
        if way == 9:
            test = self.condition(env, depth - 1)
            (a, ka), (b, kb) = self.expression(env, depth - 1), self.expression(env, depth - 1)
            if not isinstance(ka, str) and not isinstance(kb, str):
                return None
            kind = result("+", ka, kb)
            return (f"tl.where({test}, {a}, {b})", kind) if kind else None
        if way == 10:
            a, kind = self.value(env, depth - 1)
            b, kind = self.value(env, depth - 1, kind)
            return f"({a} if {self.condition(env, depth - 1)} else {b})", kind
        if way == 11:
            text, kind = self.value(env, depth - 1)
            return (f"tl.abs({text})", kind) if kind != "int1" else None
        calls = [f for f in self.functions if isinstance(f[2], str)]
        if not calls:
            return None
        name, kinds, returned = self.pick(calls)
        return self.call(env, name, kinds), returned

    def call(self, env, name, kinds):
        args = [self.argument(env, kind) for kind in kinds]
        named = self.dice.randrange(len(args) + 1)
        return f"{name}({', '.join(a if i < named else f'x{i}={a}' for i, a in enumerate(args))})"

    def argument(self, env, kind):
        if isinstance(kind, frozenset):  # of compile time
            known = [n for n, k in env.items() if isinstance(k, frozenset) and k <= kind]
            return self.pick(known) if known and self.chance(0.6) else str(self.pick(kind))
        return self.of_kind(env, kind, 1)

    def condition(self, env, depth):
        """A value that is true or false."""
        way = self.dice.randrange(9)
        compared = self.pick("< <= > >= == !=".split())
        if way < 4 or depth <= 0:
            a, _ = self.value(env, depth - 1)
            b, _ = self.expression(env, depth - 1)
            return f"({a} {compared} {b})" if self.chance(0.9) else f"({b} {compared} {a})"
        if way == 4:
            return f"(not {self.condition(env, depth - 1)})"
        if way == 5:
            truths = [n for n, k in env.items() if k == "int1"]
            if truths:
                return self.pick(truths)
        if way == 6:  # a < b < c, as Triton takes it
            low, middle, high = (self.value(env, depth - 1)[0] for _ in range(3))
            return f"({low} {compared} {middle} {self.pick(['and', 'or'])} {middle} {self.pick(['<', '<='])} {high})"
        op = self.pick(["and", "or"])
        parts = [self.condition(env, depth - 1) for _ in range(self.pick([2, 2, 3]))]
        if self.chance(0.2):  # one that is known drops out, where it does not decide
            parts.insert(self.dice.randrange(len(parts) + 1), "1 == 1" if op == "and" else "1 == 2")
        return f"({f' {op} '.join(parts)})"

    def test(self, env):
        """What an if may ask: whole numbers and constants too."""
        if self.chance(0.12):
            return self.value(env, 1)[0]
        if self.chance(0.15):
            known = [n for n, k in env.items() if isinstance(k, frozenset)]
            if known:
                name = self.pick(known)
                return self.pick([f"{name} == {self.dice.randrange(4)}", f"{name} % 2", f"not {name}", f"{name} > 1 and {self.condition(env, 1)}",
                                  f"{name} // -2 < -1 or {self.condition(env, 1)}"])
        return self.condition(env, 2)

    # ---- statements

    def of_kind(self, env, kind, depth=2):
        """Text that is of a kind: a type, or a tuple of kinds."""
        if isinstance(kind, tuple):
            same = [n for n, k in env.items() if k == kind]
            if same and self.chance(0.3):
                return self.pick(same)
            alike = [n for n, k in env.items() if isinstance(k, tuple) and len(k) == len(kind) and all(isinstance(e, str) for e in k)]
            if alike and isinstance(kind[0], str) and set(kind) == {kind[0]} and self.chance(0.4):
                name = self.fresh("e")  # of its own: Triton keeps it
                return f"[tl.cast({name} {self.pick('+*&')} {self.dice.randrange(1, 100)}, tl.{kind[0]}) for {name} in {self.pick(alike)}]"
            calls = [f for f in self.functions if f[2] == kind]
            if calls and self.chance(0.5):
                name, kinds, _ = self.pick(calls)
                return self.call(env, name, kinds)
            return f"({', '.join(self.of_kind(env, k, 1) for k in kind)},)"
        same = [n for n, k in env.items() if k == kind]
        if same and self.chance(0.3):
            return self.pick(same)
        return self.value(env, depth, kind)[0]

    def block(self, env, depth, free=False, returns=None, fewest=1):
        lines = []
        for _ in range(self.dice.randrange(fewest, 4)):
            lines += self.statement(env, depth, free, returns)
        return lines

    def statement(self, env, depth, free, returns):
        """Lines of one. `free`: a name may change its type. `env` is changed to what is known after it."""
        held = [n for n, k in env.items() if not isinstance(k, frozenset)]
        way = self.pick("assign assign assign swap unpack add if if if for static while bind known".split())
        if depth <= 0 and way in ("if", "for", "static", "while"):
            way = self.pick(["assign", "swap", "add", "unpack"])
        if way == "bind" and free or not held:
            name = self.fresh("v")
            kind = self.a_type() if self.chance(0.7) else tuple(self.a_type() for _ in range(self.dice.randrange(1, 4)))
            if self.chance(0.1):
                kind = (kind, self.a_type())
            lines = [f"{name} = {self.of_kind(env, kind)}"]
            env[name] = kind
            return lines + ([f"tl.static_assert({name}.dtype == tl.{kind})"] if isinstance(kind, str) else [])
        if way == "known" and free:
            name = self.fresh("K")
            made_one = self.binary({n: k for n, k in env.items() if isinstance(k, frozenset)}, 2)
            if made_one and not isinstance(made_one[1], str):
                env[name] = made_one[1]
                return [f"{name}: tl.constexpr = {made_one[0]}"]
        if way == "swap" and len(held) > 1:
            a = self.pick(held)
            alike = [n for n in held if n != a and (free or env[n] == env[a])]
            if alike:
                b = self.pick(alike)
                env[a], env[b] = env[b], env[a]
                return [f"{a}, {b} = {b}, {a}"]
        if way == "unpack":
            tuples = [n for n in held if isinstance(env[n], tuple)]
            if tuples:
                name = self.pick(tuples)
                targets, used = [], set()
                for kind in env[name]:
                    same = [n for n in held if n not in used and n != name and (env[n] == kind)]
                    if not same:
                        break
                    targets.append(self.pick(same))
                    used.add(targets[-1])
                else:
                    return [f"{', '.join(targets)}{',' if len(targets) == 1 else ''} = {name}"]
        if way == "add":
            name = self.pick(held)
            kind = env[name]
            if isinstance(kind, str):
                op = self.pick("+ - * & | ^".split())
                b, kb = self.expression(env, 1)
                if result(op, kind, kb) != kind:
                    b = self.value(env, 1, kind)[0]
                return [f"{name} {op}= {b}"]
        if way == "if":
            return self.branches(env, depth, free, returns)
        if way == "for":
            return self.counted_loop(env, depth)
        if way == "static":
            name = self.fresh("s")
            bounds = self.pick([(2,), (0,), (3, 0, -1), (1, 4, 2), (0, 2), (-2, 1)])
            inner = dict(env)
            inner[name] = frozenset(range(*bounds)) or frozenset({0})
            body = self.block(inner, depth - 1)
            return [f"for {name} in tl.static_range({', '.join(map(str, bounds))}):"] + indented(body)
        if way == "while":
            name = self.fresh("w")
            inner = dict(env)
            test = f"{name} < ({self.value(env, 1)[0]} & 3)"
            if self.chance(0.5):
                test = f"{test} and {self.condition(env, 1)}"
            body = self.block(inner, depth - 1)
            return [f"{name} = {self.pick([0, 1, -2])}", *begun(env, body), f"while {test}:"] + indented(body + [f"{name} += 1"])
        name = self.pick(held)
        if free and self.chance(0.3):
            kind = self.a_type()
            line = f"{name} = {self.of_kind(env, kind)}"
            env[name] = kind
            return [line]
        return [f"{name} = {self.of_kind(env, env[name])}"]

    def branches(self, env, depth, free, returns):
        known = [n for n, k in env.items() if isinstance(k, frozenset) and len(k) == 1]
        if free and known and self.chance(0.3):  # one branch is there: types may change, and names of it stay
            name = self.pick(known)
            number, (is_now,) = self.dice.randrange(4), env[name]
            yes, no = dict(env), dict(env)
            lines = [f"if {name} == {number}:"] + indented(self.block(yes, depth - 1, True))
            lines += ["else:"] + indented(self.block(no, depth - 1, True))
            taken = yes if is_now == number else no
            env.clear()
            env.update(taken)
            return lines
        heads = [f"if {self.test(env)}:"]
        while self.chance(0.3):
            heads.append(f"elif {self.test(env)}:")
        if self.chance(0.6):
            heads.append("else:")
        bound = (self.fresh("b"), self.a_type()) if heads[-1] == "else:" and self.chance(0.4) else None
        held = [n for n, k in env.items() if not isinstance(k, frozenset)]
        name = self.pick(held)
        alike = [n for n in held if n != name and env[n] == env[name]]
        lines = []
        for head in heads:
            inner = dict(env)
            body = self.block(inner, depth - 1, returns=returns)
            if alike and self.chance(0.4):  # one value from several branches, under one name or two
                body.append(f"{name} = {self.pick(alike[:2])}")
            if bound:  # a name that each branch binds
                body.append(f"{bound[0]} = {self.of_kind(inner, bound[1])}")
            elif returns and self.chance(0.25):
                body.append(f"return {returns()}".rstrip())
            lines += [head] + indented(body)
        if bound:
            env[bound[0]] = bound[1]
        return lines

    def counted_loop(self, env, depth):
        name = self.fresh("i")
        low = f"({self.value(env, 1)[0]} & 3)"
        bounds, kind = self.pick([("3", "int32"), ("4", "int32"), ("0, 5, 2", "int32"), ("5, 0, -2", "int32"), ("1, 6, 3", "int32"),
                                  (None, None), (None, None), (None, None)])
        if not bounds:
            text, kind = self.value(env, 1)
            if kind == "int1":
                kind = "int32"
                text = f"tl.cast({text}, tl.int32)"
            few = f"({text} & {self.pick([3, 7])})"
            bounds = self.pick([few, f"0, {few}, 2", f"{few}, -1, -1", f"{few}, 0, -3", f"-2, {few}", f"{few}, 6"])
            kind = promoted("int32", kind)
        inner = {**env, name: kind}
        body = self.block(inner, depth - 1)
        if self.chance(0.2):
            body.insert(0, f"{name} = tl.cast({name} * 3 + 1, tl.{kind})")
        return begun(env, body) + [f"for {name} in {self.pick(['range', 'tl.range'])}({bounds}):"] + indented(body)

    # ---- functions

    def function(self):
        name = f"f{len(self.functions)}"
        kinds = [self.pick([self.a_type()] * 3 + [frozenset(range(4)), (self.a_type(), "int32")]) for _ in range(self.dice.randrange(1, 4))]
        returned = self.a_type() if self.chance(0.7) else tuple(self.a_type() for _ in range(self.dice.randrange(1, 4)))
        env = {f"x{i}": kind for i, kind in enumerate(kinds)}
        text = ", ".join(f"x{i}" + (": tl.constexpr" if isinstance(k, frozenset) else "") for i, k in enumerate(kinds))
        body = []
        if all(isinstance(k, frozenset) for k in kinds):
            env["y"] = "int32"
            body.append("y = x0")
        body += self.block(env, 2, True, lambda: self.of_kind({n: k for n, k in env.items() if n[0] in "xy"}, returned, 1), 2)
        body.append(f"return {self.of_kind(env, returned)}")
        self.functions.append((name, kinds, returned))
        return ["@triton.jit", f"def {name}({text}):"] + indented(body) + [""]

    def program(self):
        lines = []
        for _ in range(self.dice.randrange(3)):
            lines += self.function()
        env = {"C": frozenset({self.const})}
        body = [f"p += tl.program_id(0) * {INPUTS}"]
        for i in range(INPUTS):
            kind = self.a_type()
            body.append(f"a{i} = tl.load(p + {i}).to(tl.{kind})")
            env[f"a{i}"] = kind
        body.append(f"t = ({', '.join(list(env)[1:4])})")
        env["t"] = tuple(env[n] for n in list(env)[1:4])
        outputs = INPUTS + 3
        stored = [f"a{i}" for i in range(INPUTS)] + [f"t[{i}]" for i in range(3)]
        stores = [f"tl.store(q + {i}, {name}.to(tl.int64))" for i, name in enumerate(stored)]
        body.append(f"q += tl.program_id(0) * {outputs}")
        # the results keep kinds that can be stored
        while len(body) < 22:
            body += self.block(env, 3, False, lambda: "") if self.chance(0.5) else self.free(env)
        text = []
        for line in body:
            if line.strip() == "return":
                text += [line.replace("return", s) for s in stores]
            text.append(line)
        lines += ["@triton.jit", "def k(p, q, C: tl.constexpr):"] + indented(text + stores)
        inputs = [self.pick([0, 1, -1, 2, 3, 7, -8, 100, -128, 12345, -(1 << 31), (1 << 31) - 1, 1 << 40, self.dice.getrandbits(63) - (1 << 62)])
                  for _ in range(ROWS * INPUTS)]
        return "\n".join(lines) + "\n", inputs, self.const, outputs

    def free(self, env):
        """A part in which names change their types; those that are stored are of a type again after it."""
        shape = env["t"]
        lines = self.block(env, 3, True)
        for i in range(INPUTS):
            if isinstance(env[f"a{i}"], tuple):
                env[f"a{i}"] = "int32"
                lines.append(f"a{i} = {i}")
        if env["t"] != shape:
            lines.append(f"t = {self.of_kind({n: k for n, k in env.items() if n != 't'}, shape)}")
            env["t"] = shape
        return lines


def begun(env, body):
    """Values of their own for the names that a loop changes. Where two names begin as one value, Triton's walk for
    what a loop carries misses the one that takes the other's (tests/kernels/recorded/control-value_after_loop.ttir
    has it): there Python is no measure."""
    names = {n for line in body for n in re.findall(r"\w+", (re.match(r"\s*([\w, ]*\w),? [-+*&|^]?= ", line) or [""])[0])}
    held = [n for n in env if n in names and not isinstance(env[n], frozenset)]
    return [f"{n} = {own(n, env[n])}" for n in held]


def own(text, kind):
    if isinstance(kind, str):
        return f"~~{text}"
    return f"({', '.join(own(f'{text}[{i}]', k) for i, k in enumerate(kind))},)"


def indented(lines):
    return ["    " + line for line in lines]


# ------------------------------------------------------------------------------------------------------ running programs


class Runner:
    def __init__(self, tmetal, interp, folder):
        self.tmetal, self.interp, self.folder = tmetal, interp, Path(folder)

    def compiled(self, name, program):
        """None, or what was said instead of IR."""
        text, inputs, const, outputs = program
        source = self.folder / (name + ".py")
        source.write_text(HEAD + text)
        command = [self.tmetal, "compile", str(source), "--kernel", "k", "--args", "*i64, *i64", "--const", f"C={const}", "--emit", "ir"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return "takes more than two minutes"
        if run.returncode or not run.stdout:
            return run.stderr or f"exit code {run.returncode}"
        head = f"//! grid {ROWS}\n//! buffer i64 {len(inputs)} list {', '.join(map(str, inputs))}\n//! buffer i64 {ROWS * outputs} list 0\n"
        (self.folder / (name + ".ttir")).write_text(head + run.stdout)
        return None

    def launched(self, names):
        """The interpreter runs them: each leaves what is in memory after it, or nothing."""
        for name in names:
            (self.folder / (name + ".bin")).unlink(missing_ok=True)
        paths = [str(self.folder / (name + ".ttir")) for name in names]
        if not paths:
            return ""
        try:
            run = subprocess.run([self.interp, "--case", *paths], capture_output=True, text=True, timeout=10 * len(paths) + 120)
        except subprocess.TimeoutExpired:
            return "takes too long"
        return run.stdout + run.stderr

    def compared(self, name, program, said):
        text, inputs, const, outputs = program
        data = self.folder / (name + ".bin")
        if not data.exists():
            return "the interpreter does not run it: " + said
        got = struct.unpack(f"<{ROWS * outputs}q", data.read_bytes()[-8 * ROWS * outputs:])
        for at, (a, b) in enumerate(zip(got, expected(text, inputs, const, outputs))):
            if a != b:
                return f"number {at % outputs} of program {at // outputs} is {a}, Python says {b}"
        return None

    def fault(self, program, name="one"):
        expected(*program)
        return self.compiled(name, program) or self.compared(name, program, self.launched([name]))

    def reduced(self, program, fault):
        """The same fault with fewer lines."""
        kind = about(fault)
        lines, at = program[0].splitlines(), 0
        while at < len(lines):
            if re.match(r"\s*\w+ = .*~~", lines[at]) and re.search("~~|while|range", lines[at + 1]):
                at += 1  # see begun()
                continue
            depth = len(lines[at]) - len(lines[at].lstrip())
            end = at + 1
            while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > depth):
                end += 1
            inside = [line[4:] for line in lines[at + 1:end]]
            for fewer in (lines[:at] + lines[end:], lines[:at] + inside + lines[end:], lines[:at] + lines[at + 1:]):
                candidate = ("\n".join(fewer) + "\n", *program[1:])
                try:
                    now = self.fault(candidate)
                except Exception:  # no program any more
                    continue
                if now and about(now) == kind:
                    lines, program, fault, at = fewer, candidate, now, -1
                    break
            at += 1
        return program, fault


def about(fault):
    """Of what kind a fault is: the message, without its place and without what it quotes."""
    return re.sub(r"\d+", "", re.sub(r"^\S+:\d+:\d+: ", "", fault.splitlines()[0])) if "error[" in fault else fault[:6]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--tmetal", default="build/tmetal")
    parser.add_argument("--interp", default="build/generate", help="build/generate, the interpreter that records a launch")
    parser.add_argument("--print", action="store_true", help="print the programs")
    args = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        runner = Runner(args.tmetal, args.interp, folder)
        for start in range(args.first, args.first + args.programs, 100):
            seeds = range(start, min(start + 100, args.first + args.programs))
            programs = {str(seed): Maker(seed).program() for seed in seeds}
            said = dict(zip(programs, pool.map(lambda name: runner.compiled(name, programs[name]), programs)))
            log = runner.launched([name for name in programs if not said[name]])
            for name, program in programs.items():
                if args.print:
                    print(program[0])
                fault = said[name] or runner.compared(name, program, log)
                if fault:
                    bad += 1
                    program, fault = runner.reduced(program, fault)
                    print(f"program {name}: {fault.rstrip()}\n# C = {program[2]}, inputs = {program[1]}\n{program[0]}", flush=True)
    print(f"random Python: {args.programs} programs from {args.first} on, {bad} not as Python has them")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
