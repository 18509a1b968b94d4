"""From Triton IR or Metal text to cubins: tmetal, build/cuda-text, nvcc. What spills.py, measure.py share.

Everything is kept in a folder by the hash of what went in, so a second run is quick.
"""
import collections, hashlib, json, os, re, shutil, subprocess, threading
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))


def find_nvcc():
    """The path of nvcc, or None; said by whoever asks."""
    for path in (os.environ.get('NVCC'), shutil.which('nvcc'), '/usr/local/cuda/bin/nvcc'):
        if path and os.path.exists(path):
            return path
    return None


def put(path, text):
    """Writes a file whole or not at all."""
    mine = '%s.%d-%d' % (path, os.getpid(), threading.get_ident())
    with open(mine, 'w') as f:
        f.write(text)
    os.replace(mine, path)


def run(words, **kw):
    return subprocess.run(words, capture_output=True, text=True, **kw)


class Failure(Exception):
    """One kernel could not be made; the text says at which step and why."""


def emitted(tmetal, path, emit='msl', seconds=60):
    """What `tmetal` (a command with its options) prints for a file."""
    words = tmetal.split()
    r = run([words[0], 'compile', *words[1:], '--emit', emit, path], timeout=seconds)
    if r.returncode:
        raise Failure('tmetal: ' + (r.stderr.strip().splitlines() or ['exit %d' % r.returncode])[0])
    return r.stdout


class Mapper:
    """Maps Metal text to CUDA and compiles it."""

    def __init__(self, build, nvcc, arch='sm_90', tf32=False, cache=None, nvcc_flags='', ptxas_flags=''):
        self.text = os.path.join(build, 'cuda-text')
        self.nvcc, self.arch, self.tf32 = nvcc, arch, tf32
        self.nvcc_flags, self.ptxas_flags = nvcc_flags.split(), ptxas_flags.split()
        self.cache = cache or os.path.join(build, 'cuda-cache')
        os.makedirs(self.cache, exist_ok=True)
        self.locks = collections.defaultdict(threading.Lock)  # two cases may have one text
        self.version = hashlib.sha256()
        for path in (os.path.join(HERE, 'metal.h'), self.text):
            self.version.update(open(path, 'rb').read())
        self.version.update(repr((nvcc_flags, ptxas_flags)).encode())

    def path(self, *parts):
        h = self.version.copy()
        for p in parts:
            h.update(repr(p).encode())
        return os.path.join(self.cache, h.hexdigest()[:24])

    def ptx(self, metal, options=(), defines=()):
        """PTX for one Metal text, and the descriptions of its kernels."""
        base = self.path(metal, options, defines, self.arch, self.tf32)
        with self.locks[base]:
            if not os.path.exists(base + '.ptx'):
                self.make_ptx(metal, base, options, defines)
        kernels = [json.loads(line) for line in open(base + '.json')]
        return base + '.ptx', kernels

    def make_ptx(self, metal, base, options, defines):
        put(base + '.metal', metal)
        r = run([self.text, *options, 'k=' + base + '.metal'])
        if r.returncode:
            raise Failure('cuda-text: ' + r.stderr.strip()[-300:])
        put(base + '.json', r.stderr)
        put(base + '.cu', r.stdout)
        flags = ['-DMETAL_MATRICES'] if 'simdgroup_matrix' in metal or 'simdgroup_load' in metal else []
        flags += ['-DMETAL_TF32'] if self.tf32 else []
        flags += ['-fmad=false'] if 'contract(off)' in metal else []
        mine = base + '.ptx.%d' % os.getpid()
        r = run([self.nvcc, '-arch=' + self.arch, '-std=c++17', '-w', '-I' + HERE, *flags, *defines, *self.nvcc_flags, '-ptx', base + '.cu', '-o', mine],
                timeout=300)
        if r.returncode:
            raise Failure('nvcc: ' + '\n'.join(x for x in r.stderr.splitlines() if 'error' in x)[:500])
        os.replace(mine, base + '.ptx')

    def cubin(self, metal, options=(), registers=0, bounds=True, defines=()):
        """A cubin, its kernels, and for each what ptxas says: registers, stack, spilled bytes."""
        ptx, kernels = self.ptx(metal, options, defines)
        base = ptx[:-4] + '-%d-%d' % (registers, bounds)
        with self.locks[base]:
            if not os.path.exists(base + '.cubin'):
                self.make_cubin(ptx, base, registers, bounds)
        return base + '.cubin', kernels, read_ptxas(open(base + '.log').read())

    def make_cubin(self, ptx, base, registers, bounds):
        text = open(ptx).read()
        if not bounds:  # they would set a limit of their own
            text = re.sub(r'^\.maxntid.*$', '', text, flags=re.M)
        put(base + '.ptx', text)
        limit = ['--maxrregcount', str(registers)] if registers else []
        ptxas = os.path.join(os.path.dirname(self.nvcc), 'ptxas')
        mine = base + '.cubin.%d' % os.getpid()
        r = run([ptxas, '-arch=' + self.arch, '-v', *limit, *self.ptxas_flags, base + '.ptx', '-o', mine], timeout=300)
        if r.returncode:
            raise Failure('ptxas: ' + r.stderr.strip()[-300:])
        put(base + '.log', r.stderr)
        os.replace(mine, base + '.cubin')


def read_ptxas(log):
    """{entry: dict(registers, stack, spill, shared)} from what `ptxas -v` prints."""
    found, name = {}, None
    for line in log.splitlines():
        m = re.search(r"Compiling entry function '(\w+)'|Function properties for (\w+)", line)
        if m:
            name = m.group(1) or m.group(2)
            found.setdefault(name, dict(registers=0, stack=0, spill=0, shared=0))
        m = re.search(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads', line)
        if m and name:
            found[name].update(stack=int(m.group(1)), spill=int(m.group(2)))
        m = re.search(r'Used (\d+) registers', line)
        if m and name:
            found[name]['registers'] = int(m.group(1))
            m = re.search(r'(\d+) bytes smem', line)
            found[name]['shared'] = int(m.group(1)) if m else 0
    return found


def in_parallel(function, items, jobs=None):
    """Results in order; a Failure or a timeout stands for the result of its item."""
    def one(item):
        try:
            return function(item)
        except (Failure, subprocess.TimeoutExpired, OSError, ValueError) as e:
            return e if isinstance(e, Failure) else Failure('%s: %s' % (type(e).__name__, str(e)[:200]))
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        return list(pool.map(one, items))
