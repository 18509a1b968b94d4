#!/usr/bin/env python3
"""Has anything that tmetal gives become another? A few bits of every output, against those committed here.

    python3 tests/golden/fingerprints.py BUILD DIGEST [--bless]
    python3 tests/golden/fingerprints.py BUILD DIGEST --all [WAS]

fingerprints.txt has a line for each text of ours: two digits each of Metal, plan, reports, remarks, diagnostics and the
text printed back, by default and in one further mode that its bytes choose (tests/robust/digest.c --modes); for a kernel's
source two digits each of the IR before any pass and after each of them, of the Metal, and of what was said. It is no
judge: it says what changed. `make bless` writes it anew and counts what changed, which belongs into the commit's message.

--all hashes everything in every mode, ../shared/corpus too if it is there, sources on three chips, and prints one number
for all of it. The lines are written to BUILD/everything.txt; WAS is an earlier copy of that file, and what differs from it
is listed by part and mode. For changes that should change no output: `make check-same WAS=FILE`.
"""
import hashlib
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "tests", "triton"))
from compare import command  # noqa: E402
from pathlib import Path  # noqa: E402

KEPT = os.path.join(HERE, "fingerprints.txt")
TEXTS = ("tests/kernels", "examples/kernels", "tests/detect", "tests/robust/odd", "tests/cases", "tests/chips/kernels")
SOURCES = ("tests/kernels/recorded", "examples/kernels")
PARTS = ("Metal", "plans", "reports", "remarks", "diagnostics", "printed texts")
SOURCE_PARTS = ("Metal", "diagnostics", "IR")


def lists(build):
    """The op lists of the tests, as files."""
    folder = os.path.join(build, "fingerprints")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    subprocess.run([os.path.join(build, "oplist"), "--quick", "--write", folder], cwd=TOP, check=True, stdout=subprocess.DEVNULL)
    return folder


def of_texts(build, digest):
    made = lists(build)
    r = subprocess.run([digest, "--parts", "--modes", *TEXTS, made], cwd=TOP, stdout=subprocess.PIPE, text=True)
    found = {}
    for line in r.stdout.splitlines():
        *parts, _, code, name = line.split(" ", 8)
        name = name.partition("@")[0]
        if name.startswith(made): # by what it is: a number would be another's once a case is put in
            with open(name, "rb") as f:
                name = "op list " + hashlib.sha1(f.read()).hexdigest()[:8]
        found[name] = found.get(name, "") + " " + "".join(p[:2] for p in parts)
    if r.returncode: sys.exit("fingerprints: digest failed")
    return found


def of_everything(build, digest):
    """Lines of all texts in all modes, and of sources on three chips; a digest per core."""
    corpus = os.environ.get("CORPUS") or os.path.join(TOP, "..", "shared", "corpus")
    made, jobs, found = lists(build), int(os.environ.get("JOBS") or os.cpu_count() or 1), {}
    folders = [*TEXTS, made] + [corpus] * os.path.isdir(corpus)
    run = [subprocess.Popen([digest, "--parts", "--mode", "all", "--share", f"{i}/{jobs}", *folders],
                            cwd=TOP, stdout=subprocess.PIPE, text=True) for i in range(jobs)]
    with ThreadPoolExecutor(jobs + 1) as pool:
        texts = list(pool.map(lambda r: (r.communicate()[0], r.returncode), run))
    for out, code in texts:
        if code: sys.exit("fingerprints: digest failed")
        for line in out.splitlines():
            *parts, _, code, name = line.split(" ", 8)
            found[os.path.relpath(name, TOP)] = " ".join((*parts, code))
    for gpu in ("", "apple-m3-max", "apple-m5"):
        for name, what in of_sources(build, *(("--gpu", gpu) if gpu else ())).items(): found[f"{name}@{gpu}"] = what
    return found


def everything(build, digest, was):
    now = of_everything(build, digest)
    with open(os.path.join(build, "everything.txt"), "w", encoding="utf-8") as f:
        f.writelines(f"{name}\t{now[name]}\n" for name in sorted(now))
    print(f"fingerprints: {len(now)} outputs, {hashlib.sha256(repr(sorted(now.items())).encode()).hexdigest()[:16]}")
    if not was: return 0
    with open(was, encoding="utf-8") as f: kept = dict(line.rstrip("\n").split("\t") for line in f)
    changed = {}
    for name in sorted(now.keys() | kept.keys()):
        a, b = kept.get(name), now.get(name)
        if a == b: continue
        text, _, mode = name.partition("@")
        if a is None or b is None: parts = ["texts that are new or gone"]
        elif text.endswith(".call"): parts = sorted(which(text, a, b))
        else: parts = [part for part, x, y in zip((*PARTS, "codes"), a.split(), b.split()) if x != y]
        for part in parts: changed.setdefault(part, {}).setdefault(mode or "default", []).append(text)
    for part, modes in changed.items():
        for mode, names in modes.items():
            print(f"fingerprints: {part}: {mode}: {len(names)}: {', '.join(names[:6])}{', ...' if len(names) > 6 else ''}")
    return int(bool(changed))


def digits(text):
    return hashlib.sha1(text).hexdigest()[:2]


def of_source(tmetal, call, *more):
    r = subprocess.run([tmetal, "compile", *command(Path(call)), "--debug", *more], cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said, *passes = r.stderr.split(b"// ---- after ")
    return " " + digits(r.stdout) + digits(said + str(r.returncode).encode()) + "".join(digits(p) for p in passes)


def of_sources(build, *more):
    calls = [os.path.join(d, n) for d in SOURCES for n in sorted(os.listdir(os.path.join(TOP, d))) if n.endswith(".call")]
    tmetal = os.path.abspath(os.path.join(build, "tmetal"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(calls, pool.map(lambda c: of_source(tmetal, c, *more), calls)))


def which(name, was, now):
    """The parts that differ."""
    if name.endswith(".call"):
        return {SOURCE_PARTS[min(i // 2, 2)] for i in range(0, max(len(was), len(now)), 2) if was[i:i + 2] != now[i:i + 2]}
    a, b = was.split(), now.split()
    return {PARTS[i // 2] for x, y in zip(a, b) for i in range(0, 12, 2) if x[i:i + 2] != y[i:i + 2]} or {"modes"}


def main():
    build, digest, bless = sys.argv[1], sys.argv[2], "--bless" in sys.argv
    if "--all" in sys.argv: return everything(build, digest, (sys.argv[4:] or [None])[0])
    now = of_texts(build, digest)
    now.update(of_sources(build))
    kept = {}
    if os.path.exists(KEPT):
        for line in open(KEPT, encoding="utf-8"):
            if not line.startswith("#"):
                name, _, rest = line.rstrip("\n").rpartition("\t")
                kept[name] = rest
    changed = {}
    for name in sorted(now.keys() & kept.keys()):
        if now[name].strip() != kept[name]:
            for part in which(name, kept[name], now[name].strip()):
                changed.setdefault(part, []).append(name)
    for part, names in (("texts that are new", sorted(now.keys() - kept.keys())), ("texts that are gone", sorted(kept.keys() - now.keys()))):
        if names: changed[part] = names
    for part, names in changed.items():
        print(f"fingerprints: {part}: {len(names)}: {', '.join(names[:4])}{', ...' if len(names) > 4 else ''}")
    if bless:
        with open(KEPT, "w", encoding="utf-8") as f:
            f.write("# Of each text of ours, a few bits of all that is given for it: fingerprints.py. Written by `make bless`.\n")
            f.writelines(f"{name}\t{now[name].strip()}\n" for name in sorted(now))
    elif changed:
        print("fingerprints: look what became of them; `make bless` accepts it")
        return 1
    else:
        print(f"fingerprints: what is given for {len(now)} texts is as committed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
