"""The pages of the documents as headings, anchors and text: what the other scripts here need of Markdown."""
import functools
import glob
import re


def all_pages():
    """Every page that a reader meets: README, docs/, and the readmes of the examples and tests."""
    return ["README.md"] + sorted(glob.glob("docs/**/*.md", recursive=True) + glob.glob("examples/**/README.md", recursive=True) + glob.glob("tests/**/README.md", recursive=True))


def without_code(text):
    """Code taken out, line for line: fences, indented blocks behind an empty line, spans between backticks."""
    out, fence, blank, indented = [], False, True, False
    for line in text.split("\n"):
        if re.match(r" *```", line): fence = not fence; out.append(""); continue
        indented = line.startswith("    ") and (indented or blank) and not fence
        out.append("" if fence or indented else line)
        blank = not line.strip()
    return re.sub(r"(`+)[^`].*?\1", "`", "\n".join(out), flags=re.S)


def anchor(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@functools.lru_cache(None)
def sections(path):
    """Headings in order: (level, anchor, text below up to the next heading of that level or a higher one)."""
    fence, lines, found, seen = False, open(path, encoding="utf-8").read().split("\n"), [], {}
    for i, line in enumerate(lines):
        if re.match(r" *```", line): fence = not fence
        m = None if fence else re.match(r"(#+) (.*)", line)
        if m:
            a = anchor(m.group(2))
            seen[a] = seen.get(a, -1) + 1
            found.append((len(m.group(1)), a + ("-%d" % seen[a] if seen[a] else ""), i))
    out = []
    for k, (level, a, i) in enumerate(found):
        end = next((j for l, _, j in found[k + 1:] if l <= level), len(lines))
        out.append((level, a, "\n".join(lines[i + 1:end])))
    return out


def section(path, name):
    return next((text for _, a, text in sections(path) if a == name), None)


def anchors(path):
    text = open(path, encoding="utf-8").read()
    return {a for _, a, _ in sections(path)} | set(re.findall(r'<a (?:id|name)="([^"]*)"', text))
