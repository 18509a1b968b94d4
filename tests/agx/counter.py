"""Runs a Metal text through clang, llvm-spirv and Mesa's AGX compiler: the instructions of each of its kernels for an M1."""
import hashlib, json, os, re, struct, subprocess, tempfile
import loops, metal

HERE = os.path.dirname(os.path.abspath(__file__))
# As Apple's compiler is told: floats stay floats, loops and vectors stay as the text has them.
CLANG = ['clang-19', '-x', 'clcpp', '-cl-std=clc++2021', '-cl-no-stdinc', '-target', 'spir64-unknown-unknown', '-I' + HERE,
         '-cl-single-precision-constant', '-Wno-everything', '-O2', '-fno-vectorize', '-fno-slp-vectorize',
         '-gline-tables-only', '-emit-llvm', '-c']
SECONDS = 300


class Failed(Exception):
    """A text does not go through; the first line says at which step."""


def run(command, step):
    try:
        r = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Failed('%s: more than %d s' % (step, SECONDS))
    if r.returncode:
        said = [l for l in r.stderr.splitlines() if l.strip() and not re.match(r' +|SPIR-V WARNING', l)] or ['signal %d' % -r.returncode]
        raise Failed('%s: %s' % (step, '\n'.join(said[:4] + said[4:][-2:])))
    return r.stdout


def drop_merges(path):
    """Of a loop with several back edges llvm-spirv repeats the OpLoopMerge, and Mesa's reader stops at the second one. It needs none:
    without them the instructions are the same."""
    with open(path, 'rb') as f:
        words = struct.unpack('<%dI' % (os.path.getsize(path) // 4), f.read())
    kept, at = list(words[:5]), 5
    while at < len(words):
        size = words[at] >> 16
        if words[at] & 0xffff not in (246, 247):  # OpLoopMerge, OpSelectionMerge
            kept += words[at:at + size]
        at += size
    with open(path, 'wb') as f:
        f.write(struct.pack('<%dI' % len(kept), *kept))


class Counter:
    """`home` is where build.sh built; results are kept there by what they depend on."""

    def __init__(self, home, flags=()):
        self.clang = CLANG + list(flags)
        self.home = os.path.abspath(home)
        self.program = os.path.join(self.home, 'agx-count')
        if not os.path.exists(self.program):
            raise SystemExit('agx: %s is missing: `make agx-build` makes it' % self.program)
        self.judge = hashlib.sha256(' '.join(self.clang).encode())
        for path in (self.program, os.path.join(HERE, 'metal.h'), os.path.join(HERE, 'metal.py')):
            with open(path, 'rb') as f:
                self.judge.update(f.read())
        self.kept = os.path.join(self.home, 'kept')
        os.makedirs(self.kept, exist_ok=True)

    def spirv(self, folder):
        library = os.path.join(self.home, 'trixie/usr/lib/x86_64-linux-gnu')
        return [os.path.join(library, 'ld-linux-x86-64.so.2'), '--library-path',
                library + ':' + os.path.join(self.home, 'trixie/usr/lib/llvm-19/lib'),
                os.path.join(self.home, 'trixie/usr/bin/llvm-spirv-19'), '--spirv-max-version=1.4',
                '--spirv-allow-unknown-intrinsics=llvm', folder + '/text.bc', '-o', folder + '/text.spv']

    def listing(self, text, threads):
        """What agx-count prints of a text. threads: {kernel: size of its threadgroup}."""
        key = self.judge.copy()
        key.update(repr((text, sorted(threads.items()))).encode())
        path = os.path.join(self.kept, key.hexdigest()[:40])
        if os.path.exists(path):
            with open(path) as f:
                return f.read()
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + '/text.cl', 'w') as f:
                f.write(metal.opencl(text))
            run(self.clang + [folder + '/text.cl', '-o', folder + '/text.bc'], 'clang')
            run(self.spirv(folder), 'llvm-spirv')
            drop_merges(folder + '/text.spv')
            out = run([self.program, folder + '/text.spv'] + ['%s=%d' % t for t in threads.items()], 'agx-count')
        out = re.sub(r', #[0-9a-f]{9,}', '', out)  # where a jump goes, as an address of this run
        with open(path + '.%d' % os.getpid(), 'w') as f:
            f.write(out)
        os.replace(path + '.%d' % os.getpid(), path)
        return out

    def kernels(self, text, threads=0, free=False, most=None):
        """A dictionary for each kernel. `free`: as if its threadgroups were of 32, so that nothing limits registers. `most`: see
        loops.hot."""
        sizes = {k: 32 if free else threads or n or 32 for k, n in metal.kernels(text).items()}
        try:
            out = self.listing(text, sizes)
        except metal.Unknown as e:
            raise Failed('metal.py: %s' % e)
        found = []
        for part in re.findall(r'^(\{"kernel".*\n(?:.*\n)*?)end\n', out, re.M):
            head, _, body = part.partition('\n')
            found.append(summary(json.loads(head), body, most))
        if {k['kernel'] for k in found} != set(sizes):
            raise Failed('agx-count: kernels are missing')
        return found


def summary(head, listing, most):
    blocks = loops.parse(listing)
    every = [i for b in blocks for i in b.instructions]
    path, hot = loops.hot(blocks, head.pop('trips'), most)
    head['registers'] = head['halves'] / 2
    head['instructions'] = len(every)
    head['spills'] = sum(i.op == 'stack_store' for i in every)
    head['fills'] = sum(i.op == 'stack_load' for i in every)
    head['path'], head['hot'] = loops.tally(path), loops.tally(hot['instructions'])
    head['hot'].update(loops=hot['loops'], static=hot['static'])
    head['guarded_loads'] = loops.guarded_loads(blocks)
    head['lines'] = loops.by_line(every, path, hot['instructions'])
    head['listing'] = listing
    return head
