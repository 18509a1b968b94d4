#!/usr/bin/env python3
"""Calls of which two arguments make instructions: order.py tmetal.h

C leaves open which argument is worked out first, so gcc and clang would give other output. Makers are tmi_op_new and
tmi_t_raw, and whatever calls a maker. Prints each such call; exit code 1 if there is one.
"""
import re
import sys


def blank(m):
    t = m.group()
    return re.sub(r"[^\n]", " ", t) if t[0] == "/" else t[0] + " " * (len(t) - 2) + t[-1]


def functions(text):
    for m in re.finditer(r"^(?:static )?[\w *]*?\b(tmi_\w+|tmetal_\w+)\([^;{}]*?\)\s*\{", text, flags=re.M):
        end, depth = m.end(), 1
        while depth and end < len(text):
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        yield m.group(1), m.end(), end


def arguments(text, at):
    """The spans of the arguments of a call whose parenthesis ends at `at`."""
    depth, start = 0, at
    for i in range(at, len(text)):
        c = text[i]
        if c in ",)" and not depth:
            yield start, i
            if c == ")": return
            start = i + 1
        depth += (c in "([{") - (c in ")]}")


def main():
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, open(sys.argv[1]).read(), flags=re.S)
    bodies = list(functions(text))
    calls = {}
    for name, a, b in bodies: calls.setdefault(name, set()).update(re.findall(r"\b(tmi_\w+)\(", text[a:b]))
    makers, more = {"tmi_op_new", "tmi_t_raw"}, True
    assert makers <= set(calls), "order.py: a function that it begins with is gone"
    while more:
        more = {f for f, c in calls.items() if f not in makers and c & makers}
        makers |= more
    bad = 0
    for name, a, b in bodies:
        for m in re.finditer(r"\b(tmi_\w+)\(", text[a:b]):
            making = [sorted(set(re.findall(r"\b(tmi_\w+)\(", text[x:y])) & makers) for x, y in arguments(text, a + m.end())]
            making = [x for x in making if x]
            if len(making) > 1:
                bad += 1
                print("house: line %u, %s(): two arguments of %s make instructions: %s"
                      % (text.count("\n", 0, a + m.start()) + 1, name, m.group(1), ", ".join(x[0] for x in making)), file=sys.stderr)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
