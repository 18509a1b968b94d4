#!/usr/bin/env python3
"""Functions of tmetal.h that call themselves, directly or through others, and what bounds how deep they go.

    recursion.py [--list] tmetal.h

Each such circle of functions has, in the comment above one of them, "Depth:" and its bound: a limit that the reader or
the verifier enforces, or how often it can happen. Fails where one has none, so that no input controls the stack.
"""
import re
import sys

text = open(sys.argv[-1]).read()
lines = text.split("\n")
# Definitions begin in the first column and end with a brace there.
bodies, above = {}, {}
i = 0
while i < len(lines):
    m = re.match(r"(?:static|TMETAL_API)\s[^;=]*?\b(\w+)\(", lines[i])
    j = i
    while m and j < len(lines) and "{" not in lines[j] and ";" not in lines[j]:
        j += 1
    if m and j < len(lines) and "{" in lines[j] and "=" not in lines[j].split("{")[0]:
        end = j
        while not (lines[end].startswith("}") or (end == j and lines[end].rstrip().endswith("}"))):
            end += 1
        k = i
        while k > 0 and re.match(r"\s*(/\*|\*)", lines[k - 1]):
            k -= 1
        bodies[m[1]] = re.sub(r'"(?:\\.|[^"\\])*"|/\*.*?\*/', "", "\n".join(lines[j:end + 1]).split("{", 1)[1], flags=re.S)
        above[m[1]] = "\n".join(lines[k:i])
        i = end
    i += 1

calls = {f: {w for w in re.findall(r"\b(\w+)\b", b) if w in bodies} for f, b in bodies.items()}


def circles():
    """Strongly connected components of more than one function, or of one that calls itself (Tarjan)."""
    index, low, stack, on, found = {}, {}, [], set(), []
    for root in calls:
        if root in index:
            continue
        todo = [(root, iter(sorted(calls[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while todo:
            f, rest = todo[-1]
            step = next(rest, None)
            if step is None:
                todo.pop()
                if todo:
                    low[todo[-1][0]] = min(low[todo[-1][0]], low[f])
                if low[f] == index[f]:
                    one = []
                    while True:
                        one.append(stack.pop())
                        on.discard(one[-1])
                        if one[-1] == f:
                            break
                    if len(one) > 1 or f in calls[f]:
                        found.append(sorted(one))
            elif step not in index:
                index[step] = low[step] = len(index)
                stack.append(step)
                on.add(step)
                todo.append((step, iter(sorted(calls[step]))))
            elif step in on:
                low[f] = min(low[f], index[step])
    return found


bad = 0
for circle in circles():
    bounds = [m[1] for f in circle for m in [re.search(r"Depth:\s*(.*?)\.(?:\s|$)", above[f].replace("\n *", " "), re.S)] if m]
    if "--list" in sys.argv:
        print("%-60s %s" % (", ".join(circle), "; ".join(bounds)))
    if not bounds:
        print("%s: calls itself, and no comment above it says \"Depth:\"" % ", ".join(circle))
        bad = 1
sys.exit(bad)
