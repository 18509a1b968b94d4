#!/usr/bin/env python3
"""Is the IR that tmetal makes of a kernel's source the IR that Triton makes of it?

    python3 tests/triton/compare.py [--tmetal PROGRAM] [--texts DIR] [--list] CALL...

Each CALL is a .call (tests/record_call.py); Triton's text is NAME.source in DIR, else beside the .call, as
tests/record.py --texts keeps it: what its front end made, before any pass. That is the better judge than the stored
.ttir: a front end is answerable for the order and the kind of every op, and the passes that Triton runs between the
two (and tmetal does not have) would let differences through and invent others. Both modules are taken after tmetal's
own inlining, which is the first thing that it does, and compared without locations, names of values, places of
constants, unused results and functions that nothing calls.

Prints how many are equal, and for each that is not its first different line. Exit code 0 whatever they are; 2 if
nothing could be compared.
"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# An op that may be dropped when nobody uses it. tt.load is not one: whoever forgets a load shall be seen.
PURE = re.compile(r"(arith|math|ub)\.|tt\.(splat|unsplat|broadcast|expand_dims|reshape|trans|make_range|addptr|bitcast|"
                  r"get_program_id|get_num_programs|ptr_to_int|int_to_ptr|fp_to_fp|join|split|cat|clampf|precise_\w+|"
                  r"mulhiui|make_tensor_ptr|advance|make_tensor_descriptor)\b")
VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
DEFINED = re.compile(r"^(%[\w$.-]+(?::\d+)?(?:, %[\w$.-]+(?::\d+)?)*) = (.*)$")


def command(call):
    """The words after `tmetal compile` that a .call stands for."""
    words, folder = [], call.parent
    for line in call.read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if word == "file":
            words.insert(0, str(folder / rest))
        elif word == "global":
            words += ["--global", rest]
        elif word == "module":
            name, _, path = rest.partition("=")
            words += ["--module", f"{name}={folder / path}"]
        elif word:
            words += [f"--{word}", rest]
    return words if "--triton" in words else [*words, "--triton", "3.6"]  # what the older ones were recorded with


def after_calls(tmetal, words):
    """The module after the pass `calls`, or the first line of what went wrong."""
    result = subprocess.run([tmetal, "compile", *words, "--debug"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = result.stderr.decode("utf-8", "replace")
    start = text.find("// ---- after calls ----\n")
    if start < 0:
        lines = [line for line in text.splitlines() if "error" in line]
        return None, lines[0] if lines else f"exit code {result.returncode}"
    return text[start:].split("\n// ---- ", 1)[0].split("\n", 1)[1], None


# -- One text for all equal modules ------------------------------------------------------------------------------------

def without_locations(text):
    lines = (re.sub(r" loc\([^()]*(\([^()]*(\([^()]*\))*[^()]*\))*[^()]*\)", "", line).strip()
             for line in text.splitlines())
    lines = (line.replace(" attributes {noinline = false}", "") for line in lines)  # what a function is without a word
    return [line for line in lines if line and not line.startswith("#loc")]


def functions(lines):
    """Name -> its lines, from `tt.func` to the brace that closes it."""
    found, now, depth = {}, None, 0
    for line in lines:
        start = re.match(r'tt\.func (public|private) @("[^"]*"|[\w$.]+)', line)
        if start:
            now, depth = found.setdefault(start.group(2), []), 0
        if now is None:
            continue
        now.append(line)
        depth += line.endswith("{") - len(re.match(r"[})]*", line).group(0).replace(")", ""))
        if depth == 0:
            now = None
    return found


def unique(lines):
    """One name for each value in the whole function, though regions that follow each other use names again, and one
    for each result of an op of several."""
    scopes, out, count = [{}], [], 0

    def bind(name, where):
        nonlocal count
        count += 1
        where[name] = f"%{count}"
        return where[name]

    for line in lines:
        for _ in range(len(re.match(r"[})]*", line).group(0).replace(")", ""))):
            scopes.pop()
        defined = DEFINED.match(line)
        left, body = (defined.group(1), defined.group(2)) if defined else ("", line)
        inner = scopes[-1] if line.startswith("^") else {}
        after = {}  # what a loop binds: its initial values belong to the scope outside
        if line.startswith(("^bb", "tt.func")):
            for name in re.findall(r"(%[\w$.-]+)(?=:)", line):
                bind(name, inner)
        else:
            for name in re.findall(r"(?:^scf\.for |[(,] ?)(%[\w$.-]+) = ", body):
                bind(name, after)

        def named(match):
            name = match.group(0).removesuffix("#0")
            if re.match(r" = ", body[match.end():match.end() + 3]) and name in after:
                return after[name]
            return next((s[name] for s in (inner, *reversed(scopes)) if name in s), name)
        body = VALUE.sub(named, body)
        names = []
        for name in left.split(", ") if left else ():
            name, _, many = name.partition(":")
            names.append(bind(name, scopes[-1]))
            names += [bind(f"{name}#{i}", scopes[-1]) for i in range(1, int(many or 1))]
        out.append((names, body))
        if line.endswith("{"):
            scopes.append({**inner, **after})
    return out


def simplified(lines):
    """Constants and casts to the same type are put where they are used; what nobody uses goes."""
    stands_for, out = {}, []
    for names, body in lines:
        body = VALUE.sub(lambda match: stands_for.get(match.group(0), match.group(0)), body)
        if not names and PURE.match(body) and not body.endswith("{"):
            continue
        constant = re.match(r"(?:arith\.constant|ub\.poison) (.*)$", body)
        spread = re.match(r"tt\.splat <([^<>]*?)(?: : \S*)?> : \S+ -> (.*)$", body) or \
            re.match(r"tt\.broadcast <dense<([^<>]*)> : .*> : .* -> (.*)$", body)
        cast = re.match(r"(?:arith|tt)\.bitcast (.*) : (.*) (?:to|->) (.*)$", body)
        if constant:
            stands_for.update({name: f"<{constant.group(1)}>" for name in names})
        elif cast and cast.group(2) == cast.group(3):
            stands_for[names[0]] = cast.group(1)
        elif spread:  # Triton folds it where it makes it, but not where a function it calls does
            stands_for[names[0]] = f"<dense<{spread.group(1)}> : {spread.group(2)}>"
        elif body != "scf.yield":
            out.append((names, body))
    while True:
        used = {name for _, body in out for name in VALUE.findall(body)}
        kept = [(names, body) for names, body in out
                if not PURE.match(body) or body.endswith("{") or any(name in used for name in names)]
        if len(kept) == len(out):
            return [(names if body.endswith("{") or any(name in used for name in names) else [], body)
                    for names, body in kept]
        out = kept


def without_constant_arguments(lines):
    """A loop's argument that every round passes on as it is: its first value stands there instead."""
    inside, stands_for, out = [], {}, []
    for names, body in lines:
        for _ in range(len(re.match(r"[})]*", body).group(0).replace(")", ""))):
            loop = inside.pop()
            if not loop:
                continue
            at, bound = loop
            given = out[-1][1].removeprefix("scf.yield ").split(" : ")[0].split(", ") if bound else []
            # (a constant is written with its type, in which commas stand)
            given = re.findall(r"%\d+|<dense<[^<>]*> : [^<>]*<[^<>]*>>|<[^<>]*>", ", ".join(given))
            left, results = [], out[at][0]
            for k, (argument, value) in enumerate(bound):
                if k < len(given) and given[k] in (argument, value):
                    stands_for.update({argument: value, results[k]: value})
                else:
                    left.append(k)
            if bound:
                out[-1] = (out[-1][0], "scf.yield " + ", ".join(given[k] for k in left) if left else "")
                head = out[at][1].split(" iter_args(")[0]
                arguments = ", ".join(f"{bound[k][0]} = {bound[k][1]}" for k in left)
                out[at] = ([results[k] for k in left], f"{head} iter_args({arguments}) {{" if left else f"{head} {{")
        if body.endswith("{"):
            begun = re.match(r"(scf\.for .*?) iter_args\((.*)\) -> ", body)
            bound = re.findall(r"(%\d+) = (%\d+|<dense<[^<>]*> : [^<>]*<[^<>]*>>|<[^<>]*>)", begun.group(2)) if begun else []
            if body.startswith("scf.for "):
                body = re.sub(r" : i\d+ {$", " {", body)
            inside.append((len(out), bound))
        out.append((names, body))
    while any(name in stands_for for value in stands_for.values() for name in VALUE.findall(value)):
        stands_for = {name: VALUE.sub(lambda m: stands_for.get(m.group(0), m.group(0)), value)
                      for name, value in stands_for.items()}
    return [(names, VALUE.sub(lambda m: stands_for.get(m.group(0), m.group(0)), body)) for names, body in out if body]


def numbered(lines):
    """Values by the order in which they first stand in the text."""
    numbers = {}
    used = {name for _, body in lines for name in VALUE.findall(body)}
    lines = [(names if any(name in used for name in names) else [], body) for names, body in lines]

    def number(match):
        return numbers.setdefault(match.group(0), f"%{len(numbers)}")
    return [VALUE.sub(number, (", ".join(names) + " = " if names else "") + body) for names, body in lines]


def normal(text):
    """The lines of the functions that the kernel reaches, in the order of their first call."""
    every = functions(without_locations(text))
    public = next(name for name, lines in every.items() if lines[0].startswith("tt.func public"))
    order, out = [public], []
    for name in order:
        lines = every[name]
        order += [callee for callee in dict.fromkeys(re.findall(r'tt\.call @("[^"]*"|[\w$.]+)', "\n".join(lines)))
                  if callee not in order and callee in every]
        out += numbered(simplified(without_constant_arguments(simplified(unique(lines)))))
    for i, name in enumerate(order[1:]):
        out = [line.replace("@" + name, f"@callee{i}") for line in out]
    return out


def first_difference(have, want):
    for i, (a, b) in enumerate(zip(have, want)):
        if a != b:
            return i, a, b
    return (len(have), "(ends)", want[len(have)]) if len(want) > len(have) else (len(want), have[len(want)], "(ends)")


def judge(tmetal, call, texts, without):
    """(kind, what to say)"""
    reference = next((path for path in (texts / f"{call.stem}.source" if texts else None, call.with_suffix(".source"))
                      if path and path.exists()), None)
    if not reference:
        return "no text", ""
    want, problem = after_calls(tmetal, [str(reference)])
    if want is None:
        return "no text", problem
    have, problem = after_calls(tmetal, command(call))
    if have is None:
        return "refused", problem
    have, want = ([re.sub(without, "", line) for line in normal(text)] for text in (have, want))
    if have == want:
        return "equal", ""
    line, a, b = first_difference(have, want)
    return "different", f"line {line}\n      have {a}\n      want {b}"


def main():
    parser = argparse.ArgumentParser(description="Compare the IR of kernels with Triton's.")
    parser.add_argument("calls", nargs="+", type=Path, metavar="CALL")
    parser.add_argument("--tmetal", default="build/tmetal", metavar="PROGRAM")
    parser.add_argument("--texts", type=Path, metavar="DIR", help="where NAME.source lie")
    parser.add_argument("--without", default="$.", metavar="REGEX", help="leave this out of every line")
    parser.add_argument("--list", action="store_true", help="name every case, not only those that differ")
    options = parser.parse_args()
    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda call: judge(options.tmetal, call, options.texts, options.without), options.calls))
    count = {}
    for call, (kind, what) in zip(options.calls, verdicts):
        count[kind] = count.get(kind, 0) + 1
        if options.list or kind == "different":
            print(f"{kind:9} {call.parent.name}/{call.stem}: {what}".rstrip(": "))
    compared = count.get("equal", 0) + count.get("different", 0)
    share = 100 * count.get("equal", 0) / compared if compared else 0
    print(", ".join(f"{number} {kind}" for kind, number in sorted(count.items())) + f"; equal {share:.1f} % of {compared}")
    return 0 if compared else 2


if __name__ == "__main__":
    sys.exit(main())
