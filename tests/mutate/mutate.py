#!/usr/bin/env python3
"""Changes tmetal.h one place at a time and looks which test sees it. README.md says how; the Makefile calls it.

    mutate.py BUILD [--mutants N] [--from SEED] [--jobs N] [--minutes N] [--floors A,B] [--kinds A,B] [--least PERCENT]
    mutate.py BUILD --show SEED...      print these mutants
    mutate.py BUILD --one SEED...       run these again, whatever is known of them, and say more
    mutate.py BUILD --holes             the mistakes of holes.txt: behaviour must show each
    mutate.py BUILD --base              every suite on the header as it is: all must pass
    mutate.py BUILD --summary           of the results so far
"""
import argparse
import collections
import concurrent.futures
import difflib
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import places

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
FLOORS = "analyse detect rewrite flow transform shape peel thread layout plan lower clean emit python tri tl triton metal tune".split()
READERS = ("python", "tri", "tl", "triton")
NO_TEXT = READERS + ("metal", "tune")  # what no Triton IR and no op list comes to: the digest cannot see a change there
OWN = ("tests/kernels", "examples/kernels", "tests/detect", "tests/robust/odd")
TEXTS = OWN + ("tests/cases", "tests/chips/kernels")  # with the op lists, those of fingerprints.py
DIGEST_PARTS = ("Metal", "plan", "reports", "remarks", "diagnostics", "printed text")
# As outcome.c names them, and what gives the corpus runner the same.
MODES = {"a15": ["--gpu", "apple-a15"], "32-threads": ["--threads", "32"], "staged": ["--operands", "staged"],
         "direct": ["--gpu", "apple-m3", "--operands", "direct"]}
for gpu in ("", "m3-max", "m5"):
    on = ["--gpu", "apple-" + gpu] if gpu else []
    MODES[gpu] = on
    for what in (["--two-stage", "4"], ["--threads", "64"], ["--plain"], ["--bounds"]):
        name = "64-threads" if what[0] == "--threads" else what[0][2:]
        MODES[f"{gpu}-{name}" if gpu else name] = on + what
# Make targets, cheapest first: name, floors that it is for ("" all), whether it judges what is done rather than how it is
# written. Longest first come those that hardly any mutant reaches.
SUITES = [
    ("test-detect", "", True), ("test-cases", "", True), ("odd", "", True), ("test-triton-quick", "python tri tl triton", True),
    ("test-explain", "", True), ("test-reductions", "", True), ("test-moves", "", True), ("test-transform", "", True),
    ("test-cli", "", True), ("test-tune", "tune", True), ("test-why", "tune", True), ("test-metal", "metal", True), ("test-unit", "", True),
    ("test-counters", "", True), ("test-layouts-quick", "", True), ("test-memory", "", True), ("test-chips", "", True),
    ("depth", "", True), ("test-oplist-quick", "", True), ("test-style", "", False), ("test-golden", "", False), ("test-fingerprints", "", False),
]
SECONDS = {"digest": 60, "simulator": 120}  # others: 300
BATCHES = (3, 9, 24, 60)  # launches simulated at a time, the smallest first
FIELDS = ("seed", "floor", "function", "kind", "fingerprint", "change", "verdict", "suite", "seconds", "texts")


def limits(memory, seconds):
    def set_them():
        os.nice(int(os.environ.get("MUTATE_NICE", "10")))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 29, 1 << 29))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    return set_them


LIVE = set()  # process groups, which end with this program


def end_all(*_):
    for group in list(LIVE):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os._exit(1)


def run(command, folder, seconds, memory=0, env=None):
    """(status, output); -1 where it took too long, and then nothing of its process group is left. The seconds are of a
    process on its processor; on a busy machine all may take eight times as long."""
    p = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                         start_new_session=True, preexec_fn=limits(memory, int(seconds)), env=dict(os.environ, **(env or {})))
    LIVE.add(p.pid)
    try:
        out = p.communicate(timeout=8 * seconds)[0]
        status = p.returncode
    except subprocess.TimeoutExpired:
        status, out = -1, b"took too long\n"
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    LIVE.discard(p.pid)
    p.wait()
    return status, out.decode("utf-8", "replace")


def libtcc1():
    """What tcc's objects want of it where another compiler links them."""
    out = subprocess.run(["tcc", "-print-search-dirs"], capture_output=True, text=True).stdout
    return next((s.strip() for s in out.split("\n") if s.strip().endswith("libtcc1.a") and os.path.exists(s.strip())), "")


class job:
    """A copy of the tree with a header of its own."""

    def __init__(self, build, number, text):
        self.build, self.folder = os.path.abspath(build), os.path.join(os.path.abspath(build), "mutate", f"job{number}")
        self.cc = shutil.which("tcc") and "tcc -w" or "cc -w -O0"
        self.runtime = libtcc1() if self.cc[0] == "t" else ""
        self.link = "SIM_LINK=-rdynamic -ldl " + self.runtime
        self.base_time = os.stat(os.path.join(TOP, "tmetal.h")).st_mtime
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("tests", "examples", "docs"):
            shutil.copytree(os.path.join(TOP, name), os.path.join(self.folder, name), ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("Makefile", "README.md", "LICENSE"):
            shutil.copy2(os.path.join(TOP, name), self.folder)
        self.write(text)

    def write(self, text):
        """What is built of other texts goes; programs and objects that hold no mutant are linked."""
        with open(os.path.join(self.folder, "tmetal.h"), "w") as f:
            f.write(text)
        os.utime(os.path.join(self.folder, "tmetal.h"), (self.base_time, self.base_time))
        mine = os.path.join(self.folder, "build")
        shutil.rmtree(mine, ignore_errors=True)
        for folder, _, names in os.walk(os.path.join(self.build, "obj")):
            os.makedirs(os.path.join(mine, os.path.relpath(folder, self.build)), exist_ok=True)
            for name in names:
                if name not in ("library.o", "program.o"):  # hold the header
                    path = os.path.join(folder, name)
                    os.symlink(path, os.path.join(mine, os.path.relpath(path, self.build)))
        for name in ("corpus", "sim", "random", "test-sim", "generate"):
            if os.path.exists(os.path.join(self.build, name)):
                os.symlink(os.path.join(self.build, name), os.path.join(mine, name))

    def sh(self, command, seconds, memory=0, tmetal="tmetal"):
        tmetal = os.path.join(self.folder, "build", tmetal)
        return run(command, self.folder, seconds, memory, {"TMETAL": tmetal, "MAKEFLAGS": "", "TMETAL_AGAIN": "1", "JOBS": "1", "UNTIMED": "1"})

    def make(self, target, seconds=120):
        """Without sanitizers, which tcc lacks: the assertions of the header stand in for them."""
        return self.sh(["make", "-s", "BUILD=build", "CC=" + self.cc, self.link, "LDLIBS=" + self.runtime, "SANITIZE=-g", "UNIT_FLAGS=-g", "FUZZ_SAN=", "JOBS=1",
                        "TRANSFORM_JOBS=1", "OPLIST_CC=" + self.cc, "INTERP_CC=" + self.cc, "EXPLAIN_CC=" + self.cc, "TRANSFORM_CC=" + self.cc, target], seconds)

    def compiles(self):
        """The compiler and the digest, and both with known ranges in the text, 0.7 s with tcc."""
        cc = self.cc.split()
        os.makedirs(os.path.join(self.folder, "build/robust"), exist_ok=True)
        for command in (cc + ["examples/tmetal.c", "-o", "build/tmetal", "-lm"],
                        cc + ["tests/robust/digest.c", "tests/robust/outcome.c", "tests/robust/text.c", "tests/robust/header.c", "-o", "build/digest"],
                        cc + ["-DTMI_CHECK_RANGES", "examples/tmetal.c", "-o", "build/tmetal-ranges", "-lm"],
                        cc + ["-DTMI_CHECK_RANGES", "-c", "tests/robust/header.c", "-o", "build/robust/ranges.o"],
                        cc + ["tests/robust/digest.c", "tests/robust/outcome.c", "tests/robust/text.c", "build/robust/ranges.o", "-o", "build/digest-ranges"]):
            status, out = self.sh(command, 120)
            if status:
                return out
        return ""

    def digest(self, inputs, program="build/digest-ranges"):
        """{input: parts} of what it gives, or what went wrong."""
        status, out = self.sh([program, "--parts", "--modes"] + inputs, SECONDS["digest"], 4 << 30)
        found = {}
        for line in out.split("\n"):
            w = line.split(" ")
            if len(w) == 9 and re.match("TM[0-9]+$", w[7]):
                found[w[8]] = w[:6] + [w[7]]
        bad = [line for line in out.split("\n") if "error TM" in line]
        return found, "" if status == 0 else bad[0] if bad else f"status {status}"

    def sieve(self, lines, seconds=60):
        """The first of these lines of a digest that is another now, or what went wrong; ("", "") where all are the same."""
        with open(os.path.join(self.folder, "build/lines"), "w") as f:
            f.writelines(lines)
        status, out = self.sh(["build/digest", "--against", "build/lines"], seconds, 4 << 30)
        if status == 3:
            return out.split("\n")[0].split(" ", 8)[8], ""
        return "", "" if status == 0 else out.strip().split("\n")[-1][:120] or f"status {status}"

    def facts(self, folders):
        """What >>analyse says of values, against the values."""
        status, out = self.make("build/interp")
        return (status, out) if status else self.sh(["build/interp", "--jobs", "1", "--facts"] + folders, 60)

    def asserting(self, inputs):
        """The same with every assertion on."""
        status, out = self.sh(self.cc.split() + ["-DTMETAL_DEBUG", "-c", "tests/robust/header.c", "-o", "build/asserting.o"], 120)
        if status == 0:
            status, out = self.sh(self.cc.split() + ["tests/robust/digest.c", "tests/robust/outcome.c", "tests/robust/text.c", "build/asserting.o",
                                                     "-o", "build/digest-asserting"], 120)
        return self.digest(inputs, "build/digest-asserting")[1] if status == 0 else out

    def sanitized(self, inputs):
        """The same under sanitizers, the arena closed to all but what was taken from it."""
        status, out = self.sh(["cc", "-w", "-g1", "-O0", "-D_XOPEN_SOURCE=700", "-DTMETAL_DEBUG", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                               "-I.", "tests/fuzz/header.c", "tests/robust/digest.c", "tests/robust/outcome.c", "tests/robust/text.c", "-lm", "-o", "build/digest-san"], 240)
        if status == 0:
            status, out = self.sh(["build/digest-san", "--parts"] + inputs, 240)
        return "" if status == 0 else next((s for s in out.split("\n") if "ERROR:" in s or "runtime error" in s), f"status {status}")[:160]

    def sources(self, calls, expected=None):
        """{case: Metal and plan} of the kernels read from their source; up to the first that is not as expected."""
        found = {}
        for call in calls:
            command, folder = ["build/tmetal", "compile"], os.path.dirname(call)
            for line in open(os.path.join(TOP, call)):
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "file":
                    command.insert(2, os.path.join(folder, rest))
                elif word == "module":
                    name, _, path = rest.partition("=")
                    command += ["--module", f"{name}={folder}/{path}"]
                elif word:
                    command += ["--" + word, rest]
            status, text = self.sh(command, 10, 4 << 30)
            if status < 0 or status > 2:
                return found, f"{call}: status {status}"
            found[call[:-5]] = text
            if expected and text != expected[call[:-5]]:
                return found, f"{call}: another text"
        return found, ""

    @staticmethod
    def pick(source, folder, start):
        """Links to the files of a case, and to every Python file beside them."""
        for name in os.listdir(os.path.join(TOP, source)):
            path = os.path.join(folder, name)
            if (start and name.startswith(start) or name.endswith(".py")) and not os.path.lexists(path):
                os.symlink(os.path.join(TOP, source, name), path)

    def launches(self, cases, options):
        """Runs recorded launches; "" where all are right."""
        pick = os.path.join(self.folder, "pick")
        shutil.rmtree(pick, ignore_errors=True)
        for case in cases:
            folder = os.path.join(pick, os.path.basename(os.path.dirname(case)))
            os.makedirs(folder, exist_ok=True)
            self.pick(os.path.dirname(case), folder, os.path.basename(case) + ".")
            self.pick(os.path.dirname(os.path.dirname(case)), pick, None)  # what a .call names with ../
        status, out = self.sh(["build/corpus", "--all", "--dir", pick, "--jobs", "1", "--seconds", "20"] + options,
                              SECONDS["simulator"] + 20 * len(cases), tmetal="tmetal-ranges")
        return "" if status == 0 else first_wrong(out)


def first_line(out):
    return next((s for s in out.split("\n") if s.startswith("WRONG")), out.strip().split("\n")[-1])[:160]


def first_wrong(out):
    m = re.search(r"\n(?:wrong|violations|refused):\n  (\S+).*\n *(.*)", out)
    return (m[1] + ": " + m[2]) if m else out.strip().split("\n")[-1][:200] or "failed"


class tree:
    """The header, its places, its inputs, and what it gives unchanged."""

    def __init__(self, build, names):
        self.build, self.names, self.quick, self.lock, self.reach = build, names, False, threading.Lock(), {}
        self.seen, self.costs = collections.Counter(), {}  # mutants seen, by section and suite; seconds of a suite
        with open(os.path.join(TOP, "tmetal.h")) as f:
            self.text = f.read()
        found = [p for p in places.places(self.text, places.floors(self.text)) if p.function != "tmi_emit_range"]  # a judge
        self.all = places.by_floor(found, names)
        self.equal = known_equal(os.path.join(HERE, "equal.txt"))

    def mutant(self, seed):
        return places.chosen(self.all, self.names, seed)

    def measure(self):
        """Inputs, and what is given for them: of the header itself, so made anew with it."""
        folder = os.path.join(os.path.abspath(self.build), "mutate")
        lists, made = os.path.join(folder, "lists"), os.path.join(folder, "random")
        self.facts = ["tests/kernels", "examples/kernels", os.path.join(os.path.abspath(self.build), "facts"), made]
        self.inputs = list(OWN) + [lists, made] + [p for p in os.environ.get("MUTATE_CORPUS", "").split() if os.path.isdir(p)]
        self.calls = sorted(os.path.join(d, n) for d in ("tests/kernels/recorded", "examples/kernels")
                            for n in os.listdir(os.path.join(TOP, d)) if n.endswith(".call"))
        kept, key = os.path.join(folder, "base.json"), self.key()
        if os.path.exists(kept):
            with open(kept) as f:
                before = json.load(f)
            if before["key"] == key:
                self.digests, self.plain, self.sources = before["digests"], before["plain"], before["sources"]
                return self.order()
        for path in (lists, made):
            shutil.rmtree(path, ignore_errors=True)
            os.makedirs(path)
        run([os.path.join(self.build, "oplist"), "--quick", "--write", lists], TOP, 60)
        for seed in re.sub("#.*", "", open(os.path.join(TOP, "tests/interp/seeds.txt")).read()).split():
            with open(os.path.join(made, seed + ".ttir"), "w") as f:
                f.write(run([os.path.join(self.build, "random"), "--print", seed], TOP, 60)[1])
        run([os.path.join(self.build, "generate"), "--case"] + sorted(os.path.join(made, n) for n in os.listdir(made)), TOP, 60)
        j = job(self.build, "base", self.text)
        wrong = j.compiles()
        false = j.facts(self.facts) if "analyse" in self.names else (0, "")
        self.digests, bad = j.digest(self.inputs)
        self.plain = j.digest(list(TEXTS) + [lists], "build/digest")[0]
        self.sources, bad_source = j.sources(self.calls) if set(self.names) & set(READERS) else ({}, "")
        if wrong or bad or bad_source or false[0] or not self.digests:
            sys.exit(f"mutate: the header as it is fails: {wrong}{bad}{bad_source}{false[1][-400:] if false[0] else ''}")
        with open(kept, "w") as f:
            json.dump({"key": key, "digests": self.digests, "plain": self.plain, "sources": self.sources}, f)
        self.order()

    def reached(self):
        """{suite: the functions that it enters}: what does not enter a function cannot see a change in it."""
        kept, key = os.path.join(self.build, "mutate", "reach.json"), hashlib.sha1((self.key() + str(SUITES)).encode()).hexdigest()
        if os.path.exists(kept):
            with open(kept) as f:
                before = json.load(f)
            if before["key"] == key:
                self.reach = {suite: set(names) for suite, names in before["reach"].items()}
                return
        text, names = places.noting(self.text)
        j = job(self.build, "reach", text)
        marks = os.environ["REACH"] = os.path.join(j.folder, "marks")
        if j.compiles():
            sys.exit("mutate: the header does not compile with marks in its functions")
        for suite, _, _ in SUITES:
            open(marks, "w").close()
            begun = time.time()
            status, out = j.make(suite, 600)
            if status:
                print(f"mutate: {suite} fails where functions note that they are entered: taken to enter all", flush=True)
                continue
            with open(marks) as f:
                self.reach[suite] = {names[int(n)] for n in f.read().split()}
            print(f"mutate: {suite} enters {len(self.reach[suite])} functions, {time.time() - begun:.0f} s", flush=True)
        del os.environ["REACH"]
        with open(kept, "w") as f:
            json.dump({"key": key, "reach": {suite: sorted(names) for suite, names in self.reach.items()}}, f)

    def order(self):
        """The lines of the digest and the sources, mixed, so that whatever is seen is seen soon."""
        names = sorted(self.plain, key=lambda n: hashlib.sha1(n.encode()).digest())
        self.lines = collections.OrderedDict((n, " ".join(self.plain[n][:6] + ["0" * 16, self.plain[n][6], n]) + "\n") for n in names)
        self.calls.sort(key=lambda n: hashlib.sha1(n.encode()).digest())

    def key(self):
        """Of the header, what reads its outputs, and the names, sizes and times of the inputs."""
        h = hashlib.sha1((self.text + " ".join(self.names) + os.environ.get("MUTATE_CORPUS", "")).encode())
        for top in ("tests/kernels", "examples/kernels", "tests/detect", "tests/robust", "tests/cases", "tests/chips/kernels"):
            for folder, _, names in sorted(os.walk(os.path.join(TOP, top))):
                for name in sorted(names):
                    s = os.stat(os.path.join(folder, name))
                    h.update(f"{folder}/{name} {s.st_size} {int(s.st_mtime)}\n".encode())
        return h.hexdigest()


def known_equal(path):
    """{fingerprint: reason}. A line is the fingerprint, the place in words, and behind ` -- ` the reason."""
    found = {}
    if os.path.exists(path):
        for line in open(path):
            if line.strip() and not line.startswith("#"):
                mark, _, rest = line.strip().partition(" ")
                found[mark] = rest.partition(" -- ")[2]
    return found


def is_case(name):
    return name.startswith(("tests/kernels/", "examples/")) and os.path.exists(os.path.join(TOP, name[:-5] + ".case"))


def size_of(name):
    path = os.path.join(TOP, name.partition("@")[0])
    return os.path.getsize(path) if os.path.exists(path) else 0


class trial:
    """One mutant on its way through the suites."""

    def __init__(self, t, j, p, says=False):
        self.t, self.j, self.p, self.says, self.begun, self.texts, self.modes, self.others = t, j, p, says, time.time(), 0, (), 0

    def note(self, text):
        if self.says:
            print(f"  {time.time() - self.begun:6.1f} s  {text}", flush=True)

    def verdict(self):
        """(verdict, suite). invalid: no compiler takes it."""
        self.j.write(places.changed(self.t.text, self.p))
        if self.j.compiles():
            return "invalid", "compiler"
        seen = self.t.quick and self.sieved()
        if seen:
            return seen
        if self.t.quick and self.p.floor in NO_TEXT:
            return self.suites()
        found, bad = self.j.digest(self.t.inputs)
        if bad:
            return "behaviour", "digest: " + bad
        return self.simulated(found) or self.suites()

    def sieved(self):
        """Is a text of test-fingerprints another? What once was the first goes first: most are seen in a tenth of a second."""
        with self.t.lock:
            lines = [] if self.p.floor in NO_TEXT else list(self.t.lines.values())
        name, bad = self.j.sieve(lines) if lines else ("", "")
        if bad:
            return "behaviour", "digest: " + bad
        if name:
            with self.t.lock:
                self.t.lines.move_to_end(name, last=False)
            return "text", "test-fingerprints: " + name
        if self.p.floor in READERS:
            with self.t.lock:
                calls = list(self.t.calls)
            now, bad = self.j.sources(calls, self.t.sources)
            if bad.endswith(": another text"):
                with self.t.lock:
                    self.t.calls.remove(bad.split(":")[0])
                    self.t.calls.insert(0, bad.split(":")[0])
                return "text", "test-fingerprints: " + bad
            if bad:
                return "behaviour", "sources: " + bad
        return None

    def differences(self, found):
        """{mode: inputs whose Metal or plan is another}, and those that are taken or refused otherwise."""
        texts, codes, others = collections.defaultdict(list), [], 0
        for name, was in self.t.digests.items():
            now = found.get(name)
            if now == was:
                continue
            path, _, mode = name.partition("@")
            if now is None or now[6] != was[6]:
                codes.append(name)
            elif now[:2] != was[:2]:
                texts[mode].append(path)
            else:
                others += 1
        for mode in texts:
            texts[mode].sort(key=lambda n: (size_of(n), n))
        self.texts, self.modes, self.others = sum(map(len, texts.values())) + len(codes), set(texts), others
        self.note(f"{self.texts} texts differ ({', '.join(f'{m or chr(45)} {len(n)}' for m, n in texts.items())}; {len(codes)} codes), {others} other outputs")
        return texts, codes

    def simulated(self, found):
        texts, codes = self.differences(found)
        refused = [n for n in codes if is_case(n) and self.t.digests[n][6] == "TM000"]
        if refused:
            wrong = self.j.launches([refused[0][:-5]], [])
            if wrong:
                return "behaviour", "own: " + wrong
        for mode in sorted(texts, key=lambda m: m != ""):
            done = 0
            for upto in BATCHES if mode == "" else BATCHES[:2]:
                wrong = self.batch(texts[mode], done, upto, mode)
                if wrong:
                    return "behaviour", wrong
                done = upto
        if self.p.floor in READERS:
            now, bad = self.j.sources(self.t.calls)
            if bad:
                return "behaviour", "sources: " + bad
            other = sorted((n for n in now if now[n] != self.t.sources[n]), key=lambda n: size_of(n + ".ttir"))
            self.texts += len(other)
            self.note(f"{len(other)} texts from source differ")
            for a, b in zip((0,) + BATCHES, BATCHES):
                wrong = other[a:b] and self.j.launches(other[a:b], ["--sources"])
                if wrong:
                    return "behaviour", "sources: " + wrong
        return None

    def batch(self, names, done, upto, mode):
        cases = [n[:-5] for n in names if is_case(n)][done:upto]
        made = [n for n in names if "/mutate/random/" in n][done:upto]
        lists = [str(int(os.path.basename(n)[:-5])) for n in names if "/mutate/lists/" in n][done:upto]
        if cases and mode in MODES:
            wrong = self.j.launches(cases, MODES[mode])
            self.note(f"{len(cases)} launches {mode}: {wrong or 'right'}")
            if wrong:
                return "own: " + wrong
        if mode:
            return ""
        if made:
            status, out = self.j.sh(["build/random", "--jobs", "1"] + made, 240, tmetal="tmetal-ranges")
            self.note(f"{len(made)} random modules: {'right' if status == 0 else out[:100]}")
            if status:
                return "random: " + out.split("\n")[0].replace(os.path.abspath(self.t.build), "")[:160]
        if lists:
            status, out = self.j.make("build/oplist")
            if status == 0:
                status, out = self.j.sh(["build/oplist", "--quick", "--only", ",".join(lists)], 240)
            self.note(f"{len(lists)} op lists: {'right' if status == 0 else out[:100]}")
            if status:
                return "oplist: " + out.split("\n")[0][:160]
        return ""

    def steps(self):
        """(name, whether it judges what is done, what makes it and gives what is wrong) of all that a mutant may still meet."""
        if self.p.floor == "analyse":
            yield "facts", True, lambda: (lambda status, out: first_line(out) if status else "")(*self.j.facts(self.t.facts))
        if not (self.t.quick and self.p.floor in NO_TEXT):
            yield "assertions", True, lambda: self.j.asserting(self.t.inputs)
        for name, floors, behaviour in SUITES:
            if self.t.quick and (name in ("test-golden", "test-fingerprints") or self.p.function not in self.t.reach.get(name, {self.p.function})):
                continue
            if floors and self.p.floor not in floors.split() and not (name == "test-metal" and "parts" in self.modes):
                continue
            if not self.texts and name in ("test-golden", "test-style", "test-counters", "test-layouts-quick", "test-oplist-quick") and self.p.floor not in READERS:
                continue
            yield name, behaviour, lambda name=name: self.made(name)
        yield "sanitized", True, lambda: self.j.sanitized(self.t.inputs)

    def made(self, name):
        status, out = self.j.make(name)
        lines = [s for s in out.strip().split("\n") if s and not s.startswith("make")] or [""]
        return (lines[-1][:120] or "fails") if status else ""

    def suites(self):
        """In order; with --quick first what saw most mutants of this section a second."""
        steps = [s for s in self.steps() if s[0] not in self.t.skip]
        if self.t.quick:
            steps.sort(key=lambda s: -(self.t.seen[self.p.floor, s[0]] + 0.3) / self.t.costs.get(s[0], 15))
        for name, behaviour, make in steps:
            begun = time.time()
            wrong = make()
            self.note(f"{name}: {wrong or 'passes'}")
            if wrong:
                with self.t.lock:
                    self.t.seen[self.p.floor, name] += 1
                return ("behaviour" if behaviour else "text"), f"{name}: {wrong}"
            with self.t.lock:
                self.t.costs[name] = time.time() - begun
        return "survived", "changed" if self.texts else f"{self.others} reports or messages differ" if self.others else "no text differs"


def in_words(p, text):
    """The line with the change in it."""
    head = text.rfind("\n", 0, p.at) + 1
    end = text.find("\n", p.end)
    before, after = text[head:end if end > 0 else None], text[head:p.at] + p.new + text[p.end:end if end > 0 else None]
    was, now = (" ".join(s.split()) for s in (before, after))
    a = len(os.path.commonprefix([was, now]))
    b = len(os.path.commonprefix([was[a:][::-1], now[a:][::-1]]))
    a, whole = max(0, a - 24), len(was) <= 110
    return f"{was} => {now}" if whole and len(now) < 110 else f"...{was[a:len(was) - b + 12][:150]} => {now[a:len(now) - b + 12][:150]}"


def line_of(text, p):
    return text.count("\n", 0, p.at) + 1


class results:
    """A line a mutant; the last one of a seed counts."""

    def __init__(self, path):
        self.path, self.lock, self.rows = path, threading.Lock(), {}
        if os.path.exists(path):
            for line in open(path, errors="replace"):
                w = line.rstrip("\n").split("\t")
                if len(w) == len(FIELDS) and w[0].isdigit():
                    self.rows[int(w[0])] = dict(zip(FIELDS, w))

    def add(self, row):
        with self.lock:
            self.rows[row["seed"]] = row
            with open(self.path, "a") as f:
                f.write(self.line(row))

    def line(self, row):
        return "\t".join(re.sub(r"[\t\n]", " ", str(row[k])) for k in FIELDS) + "\n"

    def drop(self, seeds):
        for s in seeds: del self.rows[s]
        with open(self.path, "w") as f:
            f.writelines(map(self.line, self.rows.values()))


def one(t, j, seed, says=False):
    p = t.mutant(seed)
    row = dict(seed=seed, floor=p.floor, function=p.function, kind=p.kind, fingerprint=p.fingerprint, change=in_words(p, t.text), texts=0)
    begun = time.time()
    if p.fingerprint in t.equal and not says:
        row.update(verdict="equal", suite=t.equal[p.fingerprint])
    else:
        tried = trial(t, j, p, says)
        row["verdict"], row["suite"] = tried.verdict()
        row["texts"] = tried.texts
    row["seconds"] = f"{time.time() - begun:.1f}"
    return row


def summary(rows, full=True):
    """The table of floors; the percentage of those not equal that behaviour kills, and of all that are killed."""
    count = collections.defaultdict(collections.Counter)
    for r in rows:
        if r["verdict"] != "invalid":
            count[r["floor"]][r["verdict"]] += 1
            count["all"][r["verdict"]] += 1
    names = [f for f in FLOORS if f in count] + [f for f in count if f not in FLOORS and f != "all"] + ["all"]
    print(f"{'floor':10} {'mutants':>8} {'behaviour':>10} {'text only':>10} {'equal':>6} {'survived':>9} {'killed':>8}")
    for f in names:
        c = count[f]
        n, judged = sum(c.values()), sum(c.values()) - c["equal"]
        share = f"{100.0 * (c['behaviour'] + c['text']) / judged:.1f}%" if judged else "-"
        print(f"{f:10} {n:8} {c['behaviour']:10} {c['text']:10} {c['equal']:6} {c['survived']:9} {share:>8}")
    if full:
        for r in sorted((r for r in rows if r["verdict"] in ("survived", "text")), key=lambda r: (r["verdict"], int(r["seed"]))):
            print(f"{r['verdict']} {r['seed']} {r['fingerprint']} >>{r['floor']} {r['function']} [{r['kind']}] ({r['suite']})\n    {r['change']}")
    c = count["all"]
    judged = sum(c.values()) - c["equal"]
    return 100.0 * (c["behaviour"] + c["text"]) / judged if judged else 100.0


def go(t, found, o):
    """Mutants from the seed --from on until enough have a verdict, in as many jobs as asked."""
    end, lock = time.time() + o.minutes * 60, threading.Lock()
    state = {"next": o.from_seed, "valid": 0}

    def known(seed):
        r = found.rows.get(seed)
        return r if r and r["fingerprint"] == t.mutant(seed).fingerprint and r["verdict"] not in ("equal",) and r["fingerprint"] not in t.equal else None

    def work(number):
        j = job(t.build, number, t.text)
        while time.time() < end:
            with lock:
                if state["valid"] >= o.mutants:
                    return
                seed = state["next"]
                state["next"] += 1
                state["valid"] += 1
            if o.kinds and t.mutant(seed).kind not in o.kinds:
                row = dict(verdict="invalid")
            else:
                row = known(seed)
                if not row:
                    row = one(t, j, seed)
                    found.add(row)
                    print(f"{row['seed']} {row['verdict']:9} {row['seconds']:>6} s  >>{row['floor']} {row['function']} [{row['kind']}] {row['suite'][:100]}", flush=True)
            with lock:
                state["valid"] -= row["verdict"] == "invalid"
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for f in [pool.submit(work, k) for k in range(o.jobs)]:
            f.result()
    return range(o.from_seed, state["next"])


def main():
    a = argparse.ArgumentParser()
    a.add_argument("build")
    a.add_argument("--mutants", type=int, default=20)
    a.add_argument("--from", type=int, default=1, dest="from_seed")
    a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--minutes", type=float, default=1e6)
    a.add_argument("--floors", default=",".join(FLOORS))
    a.add_argument("--kinds", default="")
    a.add_argument("--least", type=float, default=0)
    a.add_argument("--results", default="")
    a.add_argument("--show", type=int, nargs="*")
    a.add_argument("--one", type=int, nargs="*")
    a.add_argument("--suites", default="")
    a.add_argument("--skip", default="")
    a.add_argument("--quick", action="store_true", help="golden texts before suites: what they see may be counted as text though a suite would see it")
    a.add_argument("--holes", action="store_true")
    a.add_argument("--base", action="store_true")
    a.add_argument("--summary", action="store_true")
    o = a.parse_args()
    signal.signal(signal.SIGTERM, end_all)
    signal.signal(signal.SIGINT, end_all)
    t = tree(o.build, o.floors.split(","))
    t.skip = o.skip.split(",")
    t.quick = o.quick
    os.makedirs(os.path.join(o.build, "mutate"), exist_ok=True)
    found = results(o.results or os.path.join(o.build, "mutate", "results.tsv"))
    if o.summary:
        current = [r for s, r in found.rows.items() if t.mutant(int(s)).fingerprint == r["fingerprint"]]
        summary(current)
        return 0
    if o.show is not None:
        for seed in o.show:
            p = t.mutant(seed)
            print(f"seed {seed} {p.fingerprint} >>{p.floor} {p.function} [{p.kind}] line {line_of(t.text, p)}")
            sys.stdout.writelines(difflib.unified_diff(t.text.splitlines(True), places.changed(t.text, p).splitlines(True), "tmetal.h", "tmetal.h", n=3))
        return 0
    t.measure()
    if o.quick:
        t.reached()
    if o.holes:
        return holes(t)
    if o.base:
        return 1 if base(t, o.suites, o.jobs) else 0
    if o.one is not None:
        def again(k):
            j = job(o.build, f"one{k}", t.text)
            for seed in o.one[k::o.jobs]:
                row = one(t, j, seed, o.jobs == 1)
                found.add(row)
                print(f"{seed} {row['verdict']} {row['suite']}\n    {row['change']}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            list(pool.map(again, range(o.jobs)))
        return 0
    with concurrent.futures.ThreadPoolExecutor(1) as aside:
        wrong = aside.submit(base, t, "", max(1, o.jobs // 4))
        seeds, wrong = go(t, found, o), wrong.result()
    found.drop([s for s in seeds if s in found.rows and found.rows[s]["suite"].split(":")[0] in wrong])
    share = summary([found.rows[s] for s in seeds if s in found.rows])
    if share < o.least:
        print(f"mutate: {share:.1f}% killed, should be {o.least:.0f}%")
    for name in wrong:
        print(f"mutate: {name} fails on the header as it is: what it saw was left out, --skip {name} goes on")
    return 1 if share < o.least or wrong else 0


def hole_of(text, line):
    """The place that a line of holes.txt names."""
    function, old, new = (w.strip() for w in line.split(" | "))
    head = re.search(r"^static [^;{}]*\b" + function + r"\([^;{}]*\{", text, flags=re.M)
    at = text.find(old, head.end(), text.index("\n}\n", head.end())) if head else -1
    if at < 0:
        sys.exit(f"mutate: holes.txt: no '{old}' in {function}: is it elsewhere now?")
    floor = [name for begin, name in places.floors(text) if begin < at][-1]
    return places.place(floor, function, "hole", at, at + len(old), new, "", old)


def holes(t):
    j, bad, n = job(t.build, "holes", t.text), 0, 0
    for line in open(os.path.join(HERE, "holes.txt")):
        if not line.strip() or line.startswith("#"):
            continue
        begun, n = time.time(), n + 1
        what, suite = trial(t, j, hole_of(t.text, line), True).verdict()
        bad += what != "behaviour"
        print(f"{what:9} {time.time() - begun:6.1f} s  {line.strip()}\n    {suite}", flush=True)
    print(f"holes: {n - bad} of {n} shown by behaviour")
    return 1 if bad else 0


def base(t, only, jobs):
    """What fails on the header as it is, launches and suites: a mutant that one of them sees is seen by nothing."""
    names = [name for name, _, _ in SUITES if name not in t.skip and (not only or name in only.split(","))]

    def passes(at):
        begun = time.time()
        j = job(t.build, f"base{at % jobs}", t.text)
        j.compiles()
        failed, alone = [], names[at::jobs]
        for name in alone:
            status, out = j.make(name)
            if status: failed.append(name)
            print(f"{name:20} {time.time() - begun:6.1f} s  {'passes' if status == 0 else 'FAILS: ' + out[-400:]}", flush=True)
            begun = time.time()
        return failed

    j = job(t.build, "asserting", t.text)
    j.compiles()
    text = "" if only else j.asserting(t.inputs)
    first = sorted((c[:-5] for c in t.calls), key=lambda c: size_of(c + ".ttir"))[:: max(1, len(t.calls) // 24)]
    alone = {"assertions": text, "own": not only and j.launches(first, []), "sources": not only and j.launches(first, ["--sources"]),
             "sanitized": not only and j.sanitized(t.inputs)}
    for name in alone:
        if alone[name]: print(f"{name} FAIL: {alone[name]}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return sorted(sum(pool.map(passes, range(min(jobs, len(names)))), [name for name in alone if alone[name]]))


if __name__ == "__main__":
    sys.exit(main())
