"""Where a C or C++ text can be changed, one place at a time, and how.

Comments, literals, directives and what stands outside of function bodies (tables, types) are no places; neither are
the assertions. A place knows its floor (the section, or the file), function and kind; its fingerprint depends on the
line's text and not on where the line stands, so that what is known of a mutant outlives changes elsewhere.
"""
import hashlib
import random
import re
from collections import namedtuple

KINDS = {
    "comparison": "< to <=, == to !=",
    "arithmetic": "+ to -, * to +, << to >>",
    "constant": "one more, one less",
    "logic": "&& to ||",
    "condition": "if (x) to if (!(x))",
    "return": "return x to return !(x), of functions that answer yes or no",
    "exit": "if (x) return, continue or break is left out",
    "call": "a statement that is a call is left out",
    "barrier": "the same, of a call that makes a barrier",
    "conversion": "f(job, x, ...) to x, where f converts",
}
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
OTHER = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "|": "&", "&": "|", "+=": "-=", "-=": "+="}
TOKEN = re.compile(r"""(?P<skip>\s+|/\*.*?\*/|//[^\n]*)|(?P<text>L?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d[\w.]*(?:(?<=[eE])[+-]\d+)?)|(?P<word>[A-Za-z_]\w*)
    |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|.)""", re.X | re.S)
CONVERTS = re.compile(r"convert|cast|widen|narrow|extend|wrap")

token = namedtuple("token", "kind text at")
place = namedtuple("place", "floor function kind at end new fingerprint old")


def blank(text):
    """The text with directives (all lines of them) blanked, so that places stay what they are."""
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.M | re.S)


def lex(text):
    return [token(m.lastgroup, m[0], m.start()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def pairs(tokens):
    """For each bracket the index of the other one."""
    other, stack = {}, []
    for i, t in enumerate(tokens):
        if t.kind == "sign" and t.text in "([{":
            stack.append(i)
        elif t.kind == "sign" and t.text in ")]}" and stack:
            other[i] = stack.pop()
            other[other[i]] = i
    return other


def bodies(tokens, other):
    """(name, result, first, last) of each function body: a brace behind a parenthesis in the outermost block."""
    i, begin = 0, 0
    while i < len(tokens):
        t = tokens[i]
        if t.text == "{" and i in other:
            before = tokens[i - 1].text
            if before == ")" or before in ("const", "override"):
                close = i - 1 if before == ")" else i - 2
                name = tokens[other[close] - 1].text
                yield name, [u.text for u in tokens[begin:other[close] - 1]], i, other[i]
            elif [u.text for u in tokens[begin:i]][:1] in (["namespace"], ["extern"], ["class"], ["struct"]) and "=" not in [u.text for u in tokens[begin:i]]:
                i, begin = i + 1, i + 1
                continue
            i = begin = other[i]
        elif t.text in (";", "}"):
            begin = i + 1
        i += 1
        if i and tokens[i - 1].text == "}":
            begin = i


def statement_end(tokens, other, i):
    """The index of the semicolon that ends the statement at i, or of its closing brace."""
    while tokens[i].text not in (";", "{"):
        i = other[i] + 1 if tokens[i].text in ("(", "[") else i + 1
    return other[i] if tokens[i].text == "{" else i


def operand(t):
    return t.kind in ("number", "text") or t.text in (")", "]") or (t.kind == "word" and t.text not in ("return", "case", "sizeof", "else"))


def literal(tokens, i):
    """What else an integer may be; 0 and 1 as an answer or a flag are each other."""
    t, truth = tokens[i], tokens[i - 1].text in ("return", "=") and tokens[i + 1].text == ";"
    m = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", t.text)
    if not m:
        return []
    n = int(m[1], 16 if m[1][:2] in ("0x", "0X") else 10)
    if truth and n < 2:
        return [] if tokens[i - 1].text == "return" else [f"{1 - n}{m[2]}"]
    return [f"{k}{m[2]}" for k in (n + 1, n - 1) if k >= 0]


def in_body(tokens, other, result, first, last):
    """(kind, index of the first token, of the last, new text) of each change in one function."""
    i = first + 1
    while i < last:
        t, before, after = tokens[i], tokens[i - 1], tokens[i + 1]
        starts = before.text in (";", "{", "}", "else", ":") or (before.text == ")" and tokens[other[i - 1] - 1].text in ("if", "for", "while"))
        if t.text == "{" and before.text == "=":
            i = other[i]  # a table
        elif t.text in ("TMI_ASSERT", "assert", "static_assert", "case", "sizeof") and t.kind == "word":
            i = other[i + 1] if after.text == "(" else i + 1
        elif t.kind == "sign" and t.text in TURNED and operand(before):
            yield "comparison", i, i, TURNED[t.text]
        elif t.kind == "sign" and t.text in OTHER and operand(before) and not (before.text == ")" and t.text in "*&-+" and cast(tokens, other, i - 1)) \
                and not (t.text in "*&" and declared(tokens, i)):
            yield "arithmetic", i, i, OTHER[t.text]
        elif t.text in ("&&", "||"):
            yield "logic", i, i, "||" if t.text == "&&" else "&&"
        elif t.kind == "number":
            for new in literal(tokens, i):
                yield "constant", i, i, new
        elif t.text == "if" and after.text == "(":
            close = other[i + 1]
            yield "condition", i + 1, close, ("around", "(!(", "))")
            if tokens[close + 1].text in ("return", "continue", "break"):
                end = statement_end(tokens, other, close + 1)
                if tokens[end + 1].text != "else":
                    yield "exit", i, end, ";"
        elif t.text == "return" and after.text != ";" and result and result[-1] in ("int", "bool"):
            yield "return", i + 1, statement_end(tokens, other, i) - 1, ("around", "!(", ")")
        elif t.kind == "word" and after.text == "(" and starts and t.text not in ("if", "for", "while", "switch", "return", "sizeof", "TMI_ASSERT") \
                and tokens[other[i + 1] + 1].text == ";":
            yield "barrier" if "barrier" in t.text else "call", i, other[i + 1], "(void)0"
        if t.kind == "word" and after.text == "(" and CONVERTS.search(t.text) and not starts:
            args, k = [i + 2], i + 2
            while k < other[i + 1]:
                if tokens[k].text == ",":
                    args.append(k + 1)
                k = other[k] + 1 if tokens[k].text in ("(", "[", "{") else k + 1
            if len(args) > 1:
                yield "conversion", i, other[i + 1], ("tokens", args[1], args[2] - 2 if len(args) > 2 else other[i + 1] - 1)
        i += 1


def cast(tokens, other, close):
    """Do the parentheses that end at close hold a type?"""
    inner = [t.text for t in tokens[other[close] + 1:close]]
    return bool(inner) and all(re.fullmatch(r"\*|const|struct|unsigned|int|long|char|size_t|double|float|u?int\d+_t|tmi_\w+|tmetal_\w+|void|::|std|uintptr_t", w) for w in inner) \
        and (len(inner) > 1 or not inner[0].startswith(("tmi_", "tmetal_")) or tokens[other[close] - 1].kind != "word")


def declared(tokens, i):
    """Is the sign at i part of a declaration: `tmi_plan *p`?"""
    b, c = tokens[i - 1], tokens[i - 2]
    return b.kind == "word" and c.text in (";", "{", "}", "(", ",", "const", "struct", "static") and bool(re.match(r"tmi_|tmetal_|u?int|size_t|char|void|const|unsigned|double|float", b.text))


def places(text, floors_of):
    """All places. floors_of: (beginning of each floor in the text, its name), in order."""
    clean = blank(text)
    tokens = lex(clean)
    other = pairs(tokens)
    found, seen, floor = [], {}, 0
    for name, result, first, last in bodies(tokens, other):
        while floor + 1 < len(floors_of) and floors_of[floor + 1][0] <= tokens[first].at:
            floor += 1
        for kind, a, b, new in in_body(tokens, other, result, first, last):
            at, end = tokens[a].at, tokens[b].at + len(tokens[b].text)
            if isinstance(new, tuple) and new[0] == "around":
                inner = text[at + 1:end - 1] if new[1] == "(!(" else text[at:end]
                new = new[1] + inner + new[2]
            elif isinstance(new, tuple):
                new = text[tokens[new[1]].at:tokens[new[2]].at + len(tokens[new[2]].text)]
            head = text.rfind("\n", 0, at) + 1
            line = text[head:text.find("\n", at)].strip()
            column = at - head - (len(text[head:at]) - len(text[head:at].lstrip()))
            where = (floors_of[floor][1], name, line, column, kind, new)
            seen[where] = seen.get(where, 0) + 1
            mark = hashlib.sha1("\0".join(map(str, where + (seen[where],))).encode()).hexdigest()[:10]
            found.append(place(floors_of[floor][1], name, kind, at, end, new, mark, line))
    return found


REACH = """#include <stdio.h>
#include <stdlib.h>
static void reach_note(int k) {
    const char *path = getenv("REACH");
    FILE       *f = path ? fopen(path, "a") : NULL;
    if (f) fprintf(f, "%d\\n", k), fclose(f);
}
#define REACHED(k) do { static char once_; if (!once_) once_ = 1, reach_note(k); } while (0)
"""


def noting(text):
    """(text, names): a header whose functions write their number to the file $REACH when they are first entered."""
    tokens = lex(blank(text))
    names, out, last = [], [], 0
    for name, _, first, _ in bodies(tokens, pairs(tokens)):
        at = tokens[first].at + 1
        out += [text[last:at], f" REACHED({len(names)});"]
        names.append(name)
        last = at
    at = text.index("#ifdef TMETAL_IMPLEMENTATION")
    whole = "".join(out) + text[last:]
    return whole[:at] + "#ifdef TMETAL_IMPLEMENTATION\n" + REACH + "#endif\n" + whole[at:], names


def floors(text):
    """Floors of tmetal.h by their banners."""
    return [(m.start(), m[1]) for m in re.finditer(r"^ \* >>(\w+)  \[\d+\]", text, flags=re.M)]


def chosen(all_places, names, seed):
    """The place of a seed: floors in turn, kinds alike often, then any place of that kind."""
    dice = random.Random(seed)
    floor = names[seed % len(names)]
    by_kind = all_places[floor]
    return dice.choice(by_kind[dice.choice(sorted(by_kind))])


def by_floor(found, names):
    table = {name: {} for name in names}
    for p in found:
        if p.floor in table:
            table[p.floor].setdefault(p.kind, []).append(p)
    return table


def changed(text, p):
    return text[:p.at] + p.new + text[p.end:]
