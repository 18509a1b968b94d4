#!/usr/bin/env python3
"""The public interface as it stands, as text: public.py CC tmetal.h > tests/formats/public.txt

Every function with its parameters, every constant with its value, every struct with its size and the offset of each
field (64-bit, as the compiler at hand lays it out), macros without arguments. Names come from >>api alone, with every
part switched on; values, sizes and offsets from a program that is compiled and run.
"""
import re
import subprocess
import sys
import tempfile
import os

PARTS = ["TMETAL_TRITON", "TMETAL_CACHE", "TMETAL_METAL", "TMETAL_LAUNCH_CODE", "TMETAL_TUNE"]


def without_comments(text): return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def squeeze(text):
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\(\s+|\s+\)|\*\s+", lambda m: m.group().strip(), text)


def preprocessed(cc, header):
    """The header's declarations, macros left alone but for X lists, with every part on."""
    with tempfile.TemporaryDirectory() as d:
        c = os.path.join(d, "p.c")
        open(c, "w").write("#define TMETAL_API TMETAL_FUNCTION\n" + "".join("#define %s\n" % p for p in PARTS) + '#include "%s"\n' % os.path.abspath(header))
        return subprocess.run([*cc.split(), "-std=c99", "-E", "-P", c], check=True, stdout=subprocess.PIPE).stdout.decode()


def functions(text):
    return [squeeze(m.group(1)) for m in re.finditer(r"TMETAL_FUNCTION\s+(.*?);", text, flags=re.S)]


def structs(text):
    for m in re.finditer(r"typedef struct (tmetal_\w+) \{(.*?)\} \1;", text, flags=re.S):
        fields, depth, one = [], 0, ""
        for ch in m.group(2):
            depth += (ch in "({[") - (ch in ")}]")
            if ch == ";" and not depth: fields.append(one); one = ""
            else: one += ch
        names = []
        for f in fields:
            f = squeeze(f)
            p = re.match(r".*?\(\*(\w+)\)[(\[]", f)
            if p: names.append((p.group(1), f)); continue
            parts = f.split(",")
            names += [(re.search(r"(\w+)(\[[^\]]*\])*$", x.strip()).group(1), f if i == 0 else parts[0].rsplit(" ", 1)[0] + " " + x.strip()) for i, x in enumerate(parts)]
            if len(parts) > 1: names[-len(parts)] = (names[-len(parts)][0], parts[0])
        yield m.group(1), names


def constants(text):
    for m in re.finditer(r"enum(?: tmetal_\w+)? \{(.*?)\}", text, flags=re.S):
        for x in m.group(1).split(","):
            name = x.split("=")[0].strip()
            if name.startswith("TMETAL_"): yield name


def macros(header):
    api = header[header.index(" * >>api"):header.index(" * >>config")]
    for m in re.finditer(r"^#\s*define (TMETAL_\w+)[ \t]+(\"[^\"\n]*\"|[0-9][\w.]*)", without_comments(api), flags=re.M): yield m.group(1), m.group(2)


def main():
    cc, header = sys.argv[1], sys.argv[2]
    text = preprocessed(cc, header)
    out = ["# Written by `make bless-public`; tests/formats/README.md says what a difference means."]
    rows = []
    for s, fields in structs(text):
        rows.append('printf("struct %s: %%u bytes\\n", (unsigned)sizeof(%s));' % (s, s))
        rows += ['printf("  %%3u %s\\n", (unsigned)offsetof(%s, %s));' % (f.replace("%", "%%"), s, n) for n, f in fields]
    rows += ['printf("%s = %%lld\\n", (long long)%s);' % (c, c) for c in constants(text)]
    with tempfile.TemporaryDirectory() as d:
        c, exe = os.path.join(d, "p.c"), os.path.join(d, "p")
        open(c, "w").write("#include <stdio.h>\n" + "".join("#define %s\n" % p for p in PARTS) + '#include "%s"\nint main(void) {\n%s\nreturn 0; }\n' % (os.path.abspath(header), "\n".join(rows)))
        subprocess.run([*cc.split(), "-std=c99", c, "-o", exe], check=True)
        out += subprocess.run([exe], check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()
    out += ["%s %s" % m for m in macros(open(header).read())]
    out += functions(text)
    print("\n".join(out))


if __name__ == "__main__":
    main()
