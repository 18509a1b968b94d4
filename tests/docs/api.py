#!/usr/bin/env python3
"""The reference of the public functions, from the header: api.py [--check] writes docs/api.md and docs/api/*.md

What stands between >>api and >>config becomes a page a topic: each declaration as it stands, the comment above it as text.
A heading of the header that has no page here, a public name of tests/formats/public.txt that no page shows, and with
--check a page that is not what would be written, are errors."""
import os
import re
import sys

# page, title, the guide, what it is for, headings of >>api
PAGES = [
    ("compiling", "Compiling", "embedding.md", "from a text to a result, in one call or in parts", ["Memory", "What comes in", "Compiling"]),
    ("results", "Results", "plan.md", "kernels, their arguments, layouts, accesses, barriers", ["What comes out"]),
    ("op-lists", "Op lists", "oplists.md", "graphs of whole tensors", ["Op lists"]),
    ("triton", "Triton without Python", "triton.md", "kernels from their `.py` files", ["Triton without Python"]),
    ("builder", "Building IR", "ttir.md", "modules made call by call", ["Building IR without text"]),
    ("launching", "Launching", "launch.md", "devices, buffers, launches on Apple GPUs", ["Launching on Apple GPUs"]),
    ("launch-code", "Launch code", "hosts.md", "files that launch a kernel without tmetal", ["Launch code in other languages"]),
    ("cache", "Cache", "launch.md#caching", "results on disk", ["A cache on disk"]),
    ("tuning", "Tuning", "tuning.md", "the fastest way to compile a kernel", ["Tuning", "What the model counts", "The tuning cache"]),
    ("reports", "Reports", "memory.md", "a result as text and JSON, layouts, names", ["Layouts", "Names of other enums", "Reports as text"]),
    ("patterns", "Reductions and patterns", "fusion.md", "what a kernel computes, and what was done to it", ["What a kernel computes", "Transformations with a summary"]),
    ("tables", "Tables", "hardware.md", "GPUs, their features, operations", ["The tables"]),
    ("codes", "Codes", "diagnostics.md", "version, diagnostic codes", ["Version", "Diagnostic codes"]),
]
HEAD = "<!-- Written by `make docs` from tmetal.h: change it there. -->\n\n"
TOKEN = re.compile(r"/\*.*?\*/|^#(?:[^\n]*\\\n)*[^\n]*|\n[ \t]*\n|\s+|[^\s/#]+|.", re.S | re.M)


def api(header):
    text = header[header.index(" * >>api"):header.index(" * >>config")]
    return text[text.index("*/") + 2:text.index("#endif /* TMETAL_H */")]


def tokens(text):
    """Comments, lines of the preprocessor, empty lines ("\\n\\n"), and declarations up to their semicolon."""
    at, decl, depth = 0, "", 0
    while at < len(text):
        piece = TOKEN.match(text, at).group()
        at += len(piece)
        inside = bool(decl.strip())
        if piece.startswith("/*") and not inside: yield "comment", piece
        elif piece.startswith("#") and not inside:
            if piece.count("/*") > piece.count("*/"):  # a comment that goes on below
                end = text.index("*/", at) + 2
                piece, at = piece + text[at:end], end
            yield "line", piece
        elif not inside and not piece.strip():
            if piece.count("\n") > 1: yield "gap", ""
        else:
            decl += piece
            if not piece.startswith(("/*", "#")): depth += sum(piece.count(c) for c in "({") - sum(piece.count(c) for c in ")}")
            if not depth and decl.rstrip().endswith(";") and not piece.startswith("/*"):
                m = re.match(r"[ \t]*(/\*.*?\*/)", text[at:], re.S)
                if m: at += m.end()
                yield "declaration", (decl + ("  " + m.group(1) if m else "")).strip("\n")
                decl = ""


def without_comment(text): return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def prose(comment):
    """The text of a comment, its decoration taken off; and its heading, if it is one."""
    lines = [re.sub(r"^ ?\*( |$)", "", l.strip() if not i else re.sub(r"^\s*\*", " *", l)) for i, l in enumerate(comment[2:-2].split("\n"))]
    text = "\n".join(lines).strip("\n").rstrip()
    m = re.match(r"\s*-- (.*?) -+ *(?:\n|$)", text)
    return (m.group(1), text[m.end():]) if m else ("", text.strip())


def names(decl):
    """What a declaration is about: the name that its entry has, and all further public names in it."""
    bare = without_comment(decl)
    function = re.search(r"\b(tmetal_\w+)\s*\((?!\*)", bare) if "TMETAL_API" in bare else None
    typedef = re.search(r"(\w+)\s*;\s*$", bare) or re.search(r"\(\*(\w+)\)", bare)
    if function: return function.group(1), "function"
    pointer = re.search(r"typedef .*\(\*(tmetal_\w+)\)", bare, re.S)
    if pointer: return pointer.group(1), "type"
    if bare.lstrip().startswith("typedef"): return typedef.group(1), "type"
    return re.search(r"TMETAL_\w+", bare).group(), "constants"


def entries(header):
    """(heading, name, kind, declaration, text, condition) in order; a heading's own text is an entry without a name."""
    heading, text, fresh, conditions, last = "Version", "", True, [], ""
    for kind, piece in tokens(api(header)):
        if kind == "comment":
            title, body = prose(piece)
            if title:
                heading, text, last = re.split(r"[:(]| as text", title)[0].strip() if not title.startswith("Reports") else "Reports as text", "", ""
                if body: yield heading, "", "", "", body, ""
            else: text = body if fresh or not text else text + "\n\n" + body
            fresh = False
        elif kind == "gap": text, fresh, last = "", True, ""
        elif kind == "line":
            word = re.match(r"#\s*(\w+)\s*(.*)", without_comment(piece), re.S)
            rest = " ".join(word.group(2).split())
            if word.group(1) in ("ifdef", "ifndef", "if"): conditions.append((word.group(1), rest))
            elif word.group(1) == "endif": conditions.pop()
            constant = re.match(r'(TMETAL_\w+)\s+("[^"]*"|[0-9]\w*)$', rest)
            if word.group(1) == "define" and constant and not conditions_private(conditions): yield heading, constant.group(1), "constant", piece, "", condition(conditions)
            last = ""
        else:
            name, what = names(piece)
            piece = re.sub(r"\n {1,11}", lambda m: "\n" + " " * max(len(m.group()) - 12, 0), piece.strip()[11:]) if what == "function" else piece.strip()
            yield heading, name, what, piece, text or ("See [`%s`](#%s), above." % (last, last.lower()) if last and what == "function" and "*/" not in piece else ""), condition(conditions)
            last, text, fresh = (last if not text and last else name), "", True


def conditions_private(conditions): return any(c in ("TMETAL_CORE", "TMETAL_API") for _, c in conditions)


def condition(conditions):
    said = []
    for word, rest in conditions:
        if word == "ifdef": said.append("with `%s`" % rest)
        elif word == "ifndef": said.append("not with `%s`" % rest)
        else: said.append("with " + " or ".join("`%s`" % x for x in re.findall(r"defined\((\w+)\)", rest)))
    return ", ".join(said)


def markdown(text, where):
    """A comment as Markdown: runs of indented lines stay as they stand; public names lead to their entries."""
    out, code = [], False
    for line in text.split("\n"):
        indented = line.startswith("  ")
        if indented != code: out.append("```" if code else "\n```"); code = indented
        out.append(line if indented else words(line, where))
    return "\n".join(out + (["```"] if code else []))


def escaped(text): return "".join(s if k % 2 else re.sub(r"([\\*_<>|\[\]])", r"\\\1", s) for k, s in enumerate(re.split(r"(`[^`]*`)", text)))


def words(text, where):
    """Names in it lead to their entries; spans of code stay as they are."""
    return "".join(s if k % 2 else linked(s, where) for k, s in enumerate(re.split(r"(`[^`]*`)", text)))


def linked(text, where):
    text = re.sub(r"([\\*_<>|\[\]])", r"\\\1", text)
    text = re.sub(r"\bdocs/([\w-]+\.md)(#[\w-]+)?", lambda m: "[%s](../%s%s)" % (m.group(1), m.group(1), m.group(2) or ""), text)
    return re.sub(r"\b((?:tmetal|TMETAL)(?:\\_\w+?)+)(?![\w\\])", lambda m: link(m.group(1).replace("\\_", "_"), where), text)


def link(name, where): return "[`%s`](%s.md#%s)" % (name, where[name], name.lower()) if name in where else "`%s`" % name


def kind_of(kind, decl):
    m = re.match(r"typedef (struct|enum)\b", decl)
    return m.group(1) if m else kind


def fields(decl, where):
    """The fields of a struct as a table: a comment above one, and what stands behind it, is what is said of it."""
    body = re.match(r"typedef struct \w+ \{(.*)\} \w+;\s*(/\*.*?\*/)?\s*$", decl, re.S)
    if not body: return None
    rows, said, at = ["| field | type | |", "|---|---|---|"], "", 0
    text = body.group(1)
    while text[at:].strip():
        m = re.compile(r"\s*(/\*.*?\*/)", re.S).match(text, at)
        if m: said, at = prose(m.group(1))[1], m.end(); continue
        m = re.compile(r"((?:[^;/]|/(?!\*)|/\*.*?\*/)*);(?:[ \t]*(/\*.*?\*/))?", re.S).match(text, at)
        inside = re.findall(r"/\*.*?\*/", m.group(1), re.S)
        c = " ".join(without_comment(m.group(1)).split())
        said = ": ".join(filter(None, [said] + [prose(x)[1] for x in inside] + [prose(m.group(2))[1] if m.group(2) else ""]))
        called = re.search(r"\(\*(\w+)\)", c)
        first, _, others = c.partition(",") if not called else (c, "", "")
        name = called.group(1) if called else re.search(r"\(?\*?(\w+)\)?((?:\[[^\]]*\])*)$", first).group(1)
        kind = c if called else re.sub(r"\b%s\b" % name, "", first).replace("()", "").strip()
        more = [name] + re.findall(r"\w+(?=\s*(?:\[[^\]]*\])*\s*(?:,|$))", others) if others else [name]
        rows.append("| %s | `%s` | %s |" % (", ".join("`%s`" % n for n in more), kind.replace("|", "\\|"), words(" ".join(said.split()), where)))
        said, at = "", m.end()
    return "\n".join(rows)


def first_sentence(text):
    text = " ".join(re.split(r"\n\s*\n|\n  ", text)[0].split())
    return re.split(r"(?<=[.;:])\s", text)[0].rstrip(".;:")


def codes_table(header):
    rows = ["| code | constant | text |", "|---|---|---|"]
    for number, name, text in re.findall(r'X\((\d+), (\w+), \\?\s*"((?:[^"\\]|\\.)*)"\)', api(header)):
        rows.append("| TM%s | `TMETAL_E_%s` | %s |" % (number, name, text.replace('\\"', '"').replace("|", "\\|").replace("<", "\\<")))
    return "\n".join(rows)


def made(header):
    """Path to text, of all pages."""
    page_of = {h: p[0] for p in PAGES for h in p[4]}
    all_entries = list(entries(header))
    lost = {e[0] for e in all_entries} - set(page_of)
    if lost: sys.exit("api: no page has the part %s of the header: give it one in PAGES" % ", ".join(sorted(lost)))
    where = {e[1]: page_of[e[0]] for e in all_entries if e[1]}
    files, index = {}, [HEAD + "# Public functions and types\n", "All of them, by topic. A name leads to its declaration and what the header says of it. What may change is in "
                        "[formats.md](formats.md); the manual at the top of `tmetal.h` has the whole way in a page.\n"]
    for page, title, guide, what, headings in PAGES:
        mine = [e for e in all_entries if e[0] in headings]
        text = [HEAD + "# %s\n" % title, "%s. The guide is [%s](../%s); [all pages](../api.md).\n" % (what[0].upper() + what[1:], guide.split("#")[0], guide)]
        index += ["\n## [%s](api/%s.md)\n" % (title, page), what[0].upper() + what[1:] + ": [%s](%s).\n" % (guide.split("#")[0], guide), "| name | |", "|---|---|"]
        for heading, name, kind, decl, doc, when in mine:
            if not name: text.append(markdown(doc, where) + "\n"); continue
            text.append("## %s\n" % name)
            if when: text.append(when[0].upper() + when[1:] + ".\n")
            if doc: text.append((doc if doc.startswith("See [") else markdown(doc, where)) + "\n")
            table = fields(decl, where)
            text.append(codes_table(header) + "\n" if name == "tmetal_code" else table + "\n" if table else "```c\n%s\n```\n" % decl)
            said = ("see `%s`" % re.search("`(\\w+)`", doc).group(1) if doc.startswith("See [") else first_sentence(doc)) or first_sentence(prose(m.group(1))[1] if (m := re.search(r";\s*(/\*[^\n]*\*/)\s*$", decl)) and kind == "function" else "")
            index.append("| [`%s`](api/%s.md#%s) | %s |" % (name, page, name.lower(), escaped(said) or kind_of(kind, decl)))
        files["docs/api/%s.md" % page] = re.sub(r"\n{3,}", "\n\n", "\n".join(text)).rstrip() + "\n"
    files["docs/api.md"] = re.sub(r"\n{3,}", "\n\n", "\n".join(index)).rstrip() + "\n"
    return files


def missing(files):
    """Public names that no page shows."""
    shown = set(re.findall(r"\w+", "\n".join(files.values())))
    public = "".join(l for l in open("tests/formats/public.txt") if not l.startswith("#"))
    return sorted(n for n in set(re.findall(r"\b(?:tmetal|TMETAL)_\w+", public)) - shown if n != "TMETAL_E_LAST")


def main():
    check = "--check" in sys.argv
    files = made(open("tmetal.h").read())
    gone = missing(files)
    if gone: sys.exit("api: no page shows %s" % ", ".join(gone[:12]))
    os.makedirs("docs/api", exist_ok=True)
    stale = [f for f in files if not os.path.exists(f) or open(f).read() != files[f]]
    extra = ["docs/api/" + f for f in os.listdir("docs/api") if "docs/api/" + f not in files]
    if check and (stale or extra): sys.exit("api: %s is not what tmetal.h says: run 'make docs'" % ", ".join(stale + extra))
    for f in [] if check else stale: open(f, "w").write(files[f])
    for f in [] if check else extra: os.remove(f)
    print("docs: %d names in %d pages of docs/api" % (sum(t.count("\n## ") for f, t in files.items() if f != "docs/api.md"), len(files) - 1))


main()
