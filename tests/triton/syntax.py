#!/usr/bin/env python3
"""The trees that tmetal makes of Python files, compared with those of Python's own parser (module ast).

    syntax.py PROGRAM FILE-OR-FOLDER...      PROGRAM: tests/triton/syntax.c, compiled

Equal trees, equal places of all expressions outside f-strings. Left out: files that Python itself does not read, that
are not UTF-8, or that name characters (\\N{...}), which tmetal keeps as they are written.
"""
import ast
import os
import subprocess
import sys
import warnings

OPS = {"Add": "ADD", "Sub": "SUB", "Mult": "MUL", "Div": "DIV", "FloorDiv": "FLOORDIV", "Mod": "MOD", "Pow": "POW",
       "LShift": "SHL", "RShift": "SHR", "BitAnd": "AND", "BitOr": "OR", "BitXor": "XOR", "MatMult": "MATMUL",
       "USub": "NEG", "UAdd": "POS", "Invert": "INVERT", "Not": "NOT", "Eq": "EQ", "NotEq": "NE", "Lt": "LT",
       "LtE": "LE", "Gt": "GT", "GtE": "GE", "Is": "IS", "IsNot": "ISNOT", "In": "IN", "NotIn": "NOTIN",
       "And": "BAND", "Or": "BOR"}
SIMPLE = {"Pass": "PASS", "Break": "BREAK", "Continue": "CONTINUE"}


class Dump:
    def __init__(self, source):
        self.starts = [0]
        i = 0
        while i < len(source):
            if source[i:i + 2] == b"\r\n":
                i += 1
            if source[i] in b"\r\n":
                self.starts.append(i + 1)
            i += 1
        self.bom = 3 if source.startswith(b"\xef\xbb\xbf") else 0
        self.placeless = 0

    def at(self, line, col):
        return self.starts[line - 1] + col + (self.bom if line == 1 else 0)

    def text(self, s):
        data = s if isinstance(s, bytes) else s.encode("utf-8", "surrogatepass")
        if not data:
            return ""
        return ' "' + "".join(chr(c) if 33 <= c <= 126 and c not in b'"\\' else "\\%02x" % c for c in data) + '"'

    def head(self, kind, n):
        if self.placeless or n is None:
            return f" ({kind}"
        return f" ({kind}@{self.at(n.lineno, n.col_offset)}:{self.at(n.end_lineno, n.end_col_offset)}"

    def list(self, nodes):
        nodes = list(nodes)
        return " [" + "".join(n if isinstance(n, str) else self.node(n) for n in nodes) + "]" if nodes else ""

    def then(self, nodes):
        s = self.list(nodes)
        return " then" + s if s else ""

    def opt(self, n, mark=""):
        return mark + self.node(n) if n is not None else ""

    def op(self, n):
        return OPS[type(n).__name__]

    def node(self, n):
        if n is None:
            return " 0"
        return getattr(self, "on_" + type(n).__name__)(n)

    # -- expressions
    def on_Name(self, n):
        return self.head("NAME", n) + self.text(n.id) + ")"

    def on_Constant(self, n):
        v = n.value
        if v is None or v is True or v is False or v is ...:
            return self.head({None: "NONE", True: "TRUE", False: "FALSE", ...: "ELLIPSIS"}[v], n) + ")"
        if isinstance(v, str):
            return self.head("STRING", n) + self.text(v) + ")"
        if isinstance(v, bytes):
            return self.head("BYTES", n) + self.text(v) + ")"
        if isinstance(v, complex):
            return " (OTHER" + self.text("an imaginary number") + ")"
        if isinstance(v, int) and v >= 1 << 64:
            return " (OTHER" + self.text("an integer of more than 64 bits") + ")"
        return self.head("INT", n) + f" {v})" if isinstance(v, int) else self.head("FLOAT", n) + " " + hexfloat(v) + ")"

    def on_JoinedStr(self, n):
        head = self.head("FSTRING", n)
        self.placeless += 1
        values = [v for v in n.values if not (isinstance(v, ast.Constant) and v.value == "")]
        s = head + self.list(values) + ")"
        self.placeless -= 1
        return s

    def on_FormattedValue(self, n):
        how = f" {n.conversion & ~2}" if n.conversion != -1 else ""
        return f" (FIELD{how}" + self.node(n.value) + self.opt(n.format_spec, " b") + ")"

    def on_Tuple(self, n):
        return self.head("TUPLE", n) + (self.list(n.elts) or " []") + ")"

    def on_List(self, n):
        return self.head("LIST", n) + self.list(n.elts) + ")"

    def on_Set(self, n):
        return self.head("SET", n) + self.list(n.elts) + ")"

    def on_Dict(self, n):
        return self.head("DICT", n) + self.list(x for pair in zip(n.keys, n.values) for x in map(self.node, pair)) + ")"

    def comp(self, head, a, b, n):
        return head + self.node(a) + self.opt(b, " b") + self.list(n.generators) + ")"

    def on_ListComp(self, n):
        return self.comp(self.head("LISTCOMP", n), n.elt, None, n)

    def on_SetComp(self, n):
        return self.comp(" (OTHERCOMP" + self.text("a set comprehension"), n.elt, None, n)

    def on_DictComp(self, n):
        return self.comp(" (OTHERCOMP" + self.text("a dict comprehension"), n.key, n.value, n)

    def on_GeneratorExp(self, n):
        return self.comp(" (OTHERCOMP" + self.text("a generator expression"), n.elt, None, n)

    def on_comprehension(self, n):
        return " (COMPFOR" + (" 1" if n.is_async else "") + self.node(n.target) + " b" + self.node(n.iter) + self.list(n.ifs) + ")"

    def on_BinOp(self, n):  # a left spine, without recursion
        spine = [n]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        s = "".join(self.head("BINOP", x) + " " + self.op(x.op) for x in spine)
        s += self.node(spine[-1].left)
        for x in reversed(spine):
            s += " b" + self.node(x.right) + ")"
        return s

    def on_UnaryOp(self, n):
        return self.head("UNARY", n) + " " + self.op(n.op) + self.node(n.operand) + ")"

    def on_Compare(self, n):
        return self.head("COMPARE", n) + self.node(n.left) + self.list(
            f" (CMP {self.op(o)}{self.node(c)})" for o, c in zip(n.ops, n.comparators)) + ")"

    def on_BoolOp(self, n):
        return self.head("BOOLOP", n) + " " + self.op(n.op) + self.list(n.values) + ")"

    def on_IfExp(self, n):
        return self.head("IFEXP", n) + self.node(n.test) + " b" + self.node(n.body) + " c" + self.node(n.orelse) + ")"

    def arguments(self, args, keywords):
        return self.list(sorted(args + keywords, key=lambda x: (x.lineno, x.col_offset)))

    def on_Call(self, n):
        return self.head("CALL", n) + self.node(n.func) + self.arguments(n.args, n.keywords) + ")"

    def on_keyword(self, n):
        return " (KEYWORD" + self.text(n.arg) + self.node(n.value) + ")" if n.arg else " (DOUBLESTAR" + self.node(n.value) + ")"

    def on_Attribute(self, n):
        return self.head("ATTRIBUTE", n) + self.text(n.attr) + self.node(n.value) + ")"

    def on_Subscript(self, n):
        return self.head("SUBSCRIPT", n) + self.node(n.value) + " b" + self.node(n.slice) + ")"

    def on_Slice(self, n):
        return self.head("SLICE", n) + self.opt(n.lower) + self.opt(n.upper, " b") + self.opt(n.step, " c") + ")"

    def on_Starred(self, n):
        return self.head("STARRED", n) + self.node(n.value) + ")"

    def on_Lambda(self, n):
        return self.head("LAMBDA", n) + self.node(n.body) + self.params(n.args) + ")"

    def on_NamedExpr(self, n):
        return self.head("WALRUS", n) + self.node(n.target) + " b" + self.node(n.value) + ")"

    def on_Await(self, n):
        return self.head("AWAIT", n) + self.node(n.value) + ")"

    def on_Yield(self, n):
        return self.head("YIELD", n) + self.opt(n.value) + ")"

    def on_YieldFrom(self, n):
        return self.head("YIELD", n) + " 1" + self.node(n.value) + ")"

    # -- statements
    def on_Expr(self, n):
        return " (EXPR" + self.node(n.value) + ")"

    def on_Assign(self, n):
        return " (ASSIGN" + self.node(n.value) + self.list(n.targets) + ")"

    def on_AugAssign(self, n):
        return " (AUGASSIGN " + self.op(n.op) + self.node(n.target) + " b" + self.node(n.value) + ")"

    def on_AnnAssign(self, n):
        return " (ANNASSIGN" + self.node(n.target) + " b" + self.node(n.annotation) + self.opt(n.value, " c") + ")"

    def on_If(self, n):  # a chain of elif, without recursion
        s, ends = "", ""
        while True:
            s += " (IF" + self.node(n.test) + self.list(n.body)
            if len(n.orelse) == 1 and isinstance(n.orelse[0], ast.If):
                s, ends, n = s + " then [", ends + "])", n.orelse[0]
            else:
                return s + self.then(n.orelse) + ")" + ends

    def loop(self, n, head):
        return " (" + head + self.list(n.body) + self.then(n.orelse) + ")"

    def on_For(self, n):
        return self.loop(n, "FOR" + self.node(n.target) + " b" + self.node(n.iter))

    def on_AsyncFor(self, n):
        return self.loop(n, "FOR 1" + self.node(n.target) + " b" + self.node(n.iter))

    def on_While(self, n):
        return self.loop(n, "WHILE" + self.node(n.test))

    def on_Return(self, n):
        return " (RETURN" + self.opt(n.value) + ")"

    def on_Pass(self, n):
        return " (" + SIMPLE[type(n).__name__] + ")"

    on_Break = on_Continue = on_Pass

    def on_Assert(self, n):
        return " (ASSERT" + self.node(n.test) + self.opt(n.msg, " b") + ")"

    def on_Raise(self, n):
        return " (RAISE" + self.opt(n.exc) + self.opt(n.cause, " b") + ")"

    def aliases(self, n):
        return self.list(" (ALIAS" + self.text(a.name) + (self.text(a.asname) if a.asname else "") + ")" for a in n.names)

    def on_Import(self, n):
        return " (IMPORT" + self.aliases(n) + ")"

    def on_ImportFrom(self, n):
        return " (FROM" + (f" {n.level & ~2}" if n.level else "") + (self.text(n.module) if n.module else "") + self.aliases(n) + ")"

    def names(self, kind, n):
        return f" ({kind}" + self.list((" (NAME" + self.text(x) + ")") for x in n.names) + ")"

    def on_Global(self, n):
        return self.names("GLOBAL", n)

    def on_Nonlocal(self, n):
        return self.names("NONLOCAL", n)

    def on_Delete(self, n):
        return " (DELETE" + self.list(n.targets) + ")"

    def on_With(self, n, head=" (WITH"):
        return head + self.list(n.items) + self.then(n.body) + ")"

    def on_AsyncWith(self, n):
        return self.on_With(n, " (WITH 1")

    def on_withitem(self, n):
        return " (WITHITEM" + self.node(n.context_expr) + self.opt(n.optional_vars, " b") + ")"

    def block(self, word, a, b, body):
        return " (BLOCK" + self.text(word) + a + b + self.list(body) + ")"

    def on_Try(self, n):
        parts = []
        for h in n.handlers:
            name = " b (NAME" + self.text(h.name) + ")" if h.name else ""
            parts.append(self.block("except", self.opt(h.type), name, h.body))
        if n.orelse:
            parts.append(self.block("else", "", "", n.orelse))
        if n.finalbody:
            parts.append(self.block("finally", "", "", n.finalbody))
        return " (TRY" + self.list(n.body) + self.then(parts) + ")"

    on_TryStar = on_Try

    def on_Match(self, n):
        return " (OTHER" + self.text("a match statement") + self.then(self.block("case", "", "", c.body) for c in n.cases) + ")"

    def param(self, arg, how, default):
        return " (PARAM" + (f" {how & ~2}" if how else "") + self.text(arg.arg) + self.opt(arg.annotation) + self.opt(default, " b") + ")"

    def params(self, a):
        plain = a.posonlyargs + a.args
        defaults = [None] * (len(plain) - len(a.defaults)) + a.defaults
        out = [self.param(p, 4 if i < len(a.posonlyargs) else 0, d) for i, (p, d) in enumerate(zip(plain, defaults))]
        if a.vararg:
            out.append(self.param(a.vararg, 1, None))
        out += [self.param(p, 3, d) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
        if a.kwarg:
            out.append(self.param(a.kwarg, 2, None))
        return self.list(out)

    def decorators(self, n):
        return " b (TUPLE" + self.list(n.decorator_list) + ")" if n.decorator_list else ""

    def on_FunctionDef(self, n, head=" (FUNCTION"):
        return head + self.text(n.name) + self.opt(n.returns) + self.decorators(n) + self.params(n.args) + self.then(n.body) + ")"

    def on_AsyncFunctionDef(self, n):
        return self.on_FunctionDef(n, " (FUNCTION 1")

    def on_ClassDef(self, n):
        return " (CLASS" + self.text(n.name) + self.decorators(n) + self.arguments(n.bases, n.keywords) + self.then(n.body) + ")"


def hexfloat(v):
    """As %a prints it: 0x1.8p+1."""
    if v == float("inf"):
        return "inf"
    s = v.hex()
    if "." not in s:
        return s
    mantissa, exponent = s.split("p")
    mantissa = mantissa.rstrip("0").rstrip(".")
    return mantissa + "p" + exponent


def files(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, _, names in sorted(os.walk(path)):
            for name in sorted(names):
                if name.endswith(".py"):
                    yield os.path.join(folder, name)


def main():
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20000)
    wanted, left = [], {"Python refuses": 0, "not UTF-8": 0, "named characters": 0, "types of Python 3.12": 0}
    for path in files(sys.argv[2:]):
        source = open(path, "rb").read()
        try:
            source.decode("utf-8")
            if b"\\N{" in source:
                left["named characters"] += 1
                continue
            tree = ast.parse(source)
        except UnicodeDecodeError:
            left["not UTF-8"] += 1
        except (SyntaxError, ValueError, RecursionError):
            left["Python refuses"] += 1
        else:
            if any(type(n).__name__ == "TypeAlias" or getattr(n, "type_params", None) for n in ast.walk(tree)): # host code, passed over
                left["types of Python 3.12"] += 1
                continue
            wanted.append((path, source, tree))
    run = subprocess.run(sys.argv[1].split(), input="\n".join(w[0] for w in wanted) + "\n", stdout=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit(f"syntax: the program failed: {run.returncode}")
    came = {}
    for part in ("\n" + run.stdout.removesuffix("\n")).split("\n== ")[1:]:
        lines = (part + "\n").split("\n")
        came.setdefault(lines[0].rsplit(" ", 2)[0], (int(lines[0].rsplit(" ", 1)[1]), lines[1:-1]))
    bad = lines_of = 0
    most = 0
    for path, source, tree in wanted:
        dump = Dump(source)
        want = [dump.node(n) for n in tree.body]
        most = max(most, came[path][0]) if len(source) > 2000 else most
        have = came[path][1]
        lines_of += source.count(b"\n")
        if want == have:
            continue
        bad += 1
        for w, h in zip(want + [""], have + [""]):
            if w != h:
                i = next((i for i, (a, b) in enumerate(zip(w, h)) if a != b), min(len(w), len(h)))
                print(f"{path}\n  Python ...{w[max(0, i - 80):i + 80]}\n  tmetal ...{h[max(0, i - 80):i + 80]}")
                break
    rest = ", ".join(f"{n} {what}" for what, n in left.items() if n)
    print(f"syntax: {len(wanted) - bad} of {len(wanted)} files, {lines_of} lines, as Python reads them"
          f"{' (left out: ' + rest + ')' if rest else ''}; at most {most} bytes of arena a byte")
    sys.exit(bad > 0 or not wanted)


main()
