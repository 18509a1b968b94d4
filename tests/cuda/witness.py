"""Random modules through Triton itself, on an NVIDIA GPU: what it leaves in memory, beside what the interpreter says.

    python3 tests/cuda/witness.py [--build build] [--first N] [--modules N] [--seconds N] [--jobs N] [--write FOLDER]
    python3 tests/cuda/witness.py --cases FOLDER [--seconds N] [--jobs N] [--write FOLDER]

`random` makes the modules, `generate` says what the interpreter leaves in memory. Where Triton's bytes are others the case is
written to FOLDER with Triton's, and `corpus --dir FOLDER` judges our Metal by them, with the bounds for rounding: here, if it
was built, or on another machine. Triton refuses some modules that are right, since its own front end never makes them: they
are counted by reason. Wants Triton 3.6 and libcuda. What is printed and what falls over is kept away by a process for each job.
"""
import argparse, collections, concurrent.futures, ctypes, os, queue, re, subprocess, sys, tempfile, threading, time

# What Triton 3.6 reads but does not lower for NVIDIA (the dialects have it, its front end never makes it) ...
NOT_LOWERED = """math.acos math.acosh math.asin math.asinh math.atan math.atan2 math.atanh math.cbrt math.copysign math.cosh
math.ctlz math.ctpop math.cttz math.erfc math.expm1 math.fpowi math.ipowi math.isinf math.isnan math.log10
math.log1p math.powf math.round math.roundeven math.sinh math.tan math.tanh math.trunc gpu.barrier ttg.barrier
arith.index_cast arith.index_castui arith.addui_extended arith.mulsi_extended arith.mului_extended
arith.bitcast arith.negf cf.assert scf.execute_region llvm.mlir.undef tt.descriptor_gather
tt.descriptor_scatter tt.descriptor_reduce tt.dot_scaled""".split()
# ... and what prints, traps or has no one answer: bins out of range, remainders of floats (NVIDIA's are x - y trunc(x / y)).
OPEN = 'ub.poison tt.histogram arith.remf tt.assert tt.print'.split()

WIDTH = {'i1': ctypes.c_int8, 'i8': ctypes.c_int8, 'i16': ctypes.c_int16, 'i32': ctypes.c_int32, 'i64': ctypes.c_int64,
         'f32': ctypes.c_float, 'f64': ctypes.c_double}


class case:
    """A recorded launch: the statements of NAME.case, and its bytes."""

    def __init__(self, path):
        self.path, self.buffers, self.args, self.grid, self.warps = path, [], [], (1, 1, 1), 4
        self.lines = open(path).read().split('\n')
        self.bytes = open(path[:-5] + '.bin', 'rb').read()
        for w in (line.split() for line in self.lines):
            if w[:1] == ['grid']:
                self.grid = tuple(map(int, w[1:4]))
            elif w[:1] == ['warps']:
                self.warps = int(w[1])
            elif w[:1] == ['buffer']:
                at = dict(zip(w[2::2], map(int, w[3::2])))
                self.buffers.append((at['size'], at['in'], at.get('out', at['in'])))
            elif w[:1] == ['arg']:
                self.args.append(w[1:])

    def write(self, folder, after):
        """The same launch with other bytes behind it."""
        name = os.path.join(folder, os.path.basename(self.path)[:-5])
        data, said = b'', []
        for line in self.lines:
            w = line.split()
            if w[:1] == ['buffer']:
                size, at, _ = self.buffers[int(w[1])]
                before, line = self.bytes[at:at + size], f'buffer {w[1]} size {size} in {len(data)}'
                data += before
                if after[int(w[1])] != before:
                    line += f' out {len(data)}'
                    data += after[int(w[1])]
            said.append(line)
        text = open(self.path[:-5] + '.ttir').read()
        for end, what in (('.ttir', text.encode()), ('.case', '\n'.join(said).encode()), ('.bin', data)):
            with open(name + end, 'wb') as f:
                f.write(what)


class device:
    """What of CUDA's driver a launch needs."""

    def __init__(self):
        self.cu = ctypes.CDLL('libcuda.so.1')
        context, number = ctypes.c_void_p(), ctypes.c_int()
        self.ask('cuInit', 0)
        self.ask('cuDeviceGet', ctypes.byref(number), 0)
        self.ask('cuDevicePrimaryCtxRetain', ctypes.byref(context), number)
        self.ask('cuCtxSetCurrent', context)

    def ask(self, name, *args):
        status = getattr(self.cu, name)(*args)
        if status:
            raise SystemExit(f'{name} answers {status}')

    def memory(self, data):
        at = ctypes.c_uint64()
        self.ask('cuMemAlloc_v2', ctypes.byref(at), ctypes.c_size_t(max(len(data), 16)))
        self.ask('cuMemcpyHtoD_v2', at, data, ctypes.c_size_t(len(data)))
        return at

    def launch(self, cubin, name, grid, threads, shared, values):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.ask('cuModuleLoadData', ctypes.byref(module), cubin)
        self.ask('cuModuleGetFunction', ctypes.byref(function), module, name.encode())
        if shared > 48 << 10:
            self.ask('cuFuncSetAttribute', function, 8, shared)
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
        self.ask('cuLaunchKernel', function, *grid, threads, 1, 1, shared, None, pointers, None)
        self.ask('cuCtxSynchronize')
        self.ask('cuModuleUnload', module)


def compiled(path, warps):
    """(cubin, PTX, metadata) of a module."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget, Language
    from triton.compiler.compiler import make_backend
    target = GPUTarget('cuda', 90, 32)
    backend, context = make_backend(target), ir.context()
    options = backend.parse_options({'num_warps': warps})
    ir.load_dialects(context)
    backend.load_dialects(context)
    made = ir.parse_mlir_module(path, context)
    made.context = context
    stages, metadata, texts = {}, {'target': target, **options.__dict__}, {}
    backend.add_stages(stages, options, Language.TRITON)
    for name, stage in stages.items():
        made = texts[name] = stage(made, metadata)
    return texts['cubin'], texts['ptx'], metadata


def run(gpu, c):
    """The bytes of each buffer behind the launch."""
    cubin, ptx, metadata = compiled(c.path[:-5] + '.ttir', c.warps)
    entry = re.search(r'\.entry\s+(\w+)\s*\(([^)]*)\)', ptx)
    held = [gpu.memory(c.bytes[at:at + size]) for size, at, _ in c.buffers]
    values = []
    for a in c.args:
        if a[0] == 'ptr':
            values.append(ctypes.c_uint64(held[int(a[3])].value + int(a[5])))
        elif a[0] in WIDTH:
            number = float.fromhex(a[1]) if a[0][0] == 'f' else int(a[1])
            values.append(WIDTH[a[0]](number))
        else:
            raise ValueError(f'an argument {a[0]}')
    scratch = gpu.memory(bytes(max(metadata.get('global_scratch_size') or 0, 1) * c.grid[0] * c.grid[1] * c.grid[2]))
    more = entry[2].count('.param') - len(values)
    values += [scratch, ctypes.c_uint64(0)][:more]
    gpu.launch(cubin, entry[1], c.grid, 32 * (metadata.get('num_warps') or c.warps), metadata['shared'], values)
    after = []
    for at, (size, _, _) in zip(held, c.buffers):
        got = ctypes.create_string_buffer(size)
        gpu.ask('cuMemcpyDtoH_v2', got, at, ctypes.c_size_t(size))
        after.append(got.raw)
    for at in held + [scratch]:
        gpu.ask('cuMemFree_v2', at)
    return after


def worker(folder):
    """Answers a line for each path. What kernels print must not come between: it goes where the errors go."""
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    gpu = device()
    for line in sys.stdin:
        path = line.rstrip('\n')
        try:
            c = case(path)
            after = run(gpu, c)
            same = all(got == c.bytes[out:out + size] for got, (size, _, out) in zip(after, c.buffers))
            if not same:
                c.write(folder, after)
            answer = 'same' if same else 'differs'
        except Exception as e:
            answer = f'refused {type(e).__name__}: {str(e)[:150]!r}'
        print(answer, file=answers, flush=True)


def in_triton(path):
    """Whether Triton's own front end would make the products: along what is summed at least 16 elements, 32 of 8 bits. It takes
    others in Triton IR, and computes something else."""
    text = open(path[:-5] + '.ttir').read()
    sums = re.findall(r'= tt.dot .* : tensor<(?:\d+x)*?(\d+)x([a-z]\w*)> \*', text)
    return all(int(k) >= (32 if t.startswith(('i8', 'f8')) else 16) for k, t in sums)


class place:
    """A worker, started anew where it ended or took too long."""

    def __init__(self, number, folder):
        self.folder, self.log, self.p = folder, os.path.join(folder, f'log{number}'), None

    def ask(self, path, seconds=20):
        if not self.p or self.p.poll() is not None:
            command = [sys.executable, os.path.abspath(__file__), '--worker', '--write', self.folder]
            self.p = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=open(self.log, 'w'), start_new_session=True)
        begun, timer = self.said(), threading.Timer(seconds, os.killpg, (self.p.pid, 9))
        timer.start()
        try:
            self.p.stdin.write(path + '\n')
            self.p.stdin.flush()
            answer = self.p.stdout.readline().strip()
        except BrokenPipeError:
            answer = ''
        timer.cancel()
        if not answer:
            self.p.wait()
            answer = f'ended {self.p.returncode}'
        if not answer.startswith(('same', 'differs')):
            with open(self.log, errors='replace') as f:
                f.seek(begun)
                text = f.read()
            why = re.search(r'error: (.*)|LLVM ERROR: (.*)|Assertion(.*)|(cu\w+ answers \d+)', text)
            answer += ' | ' + (why[4] or re.sub(r"[%#]\w+|'[^']*[^\w.'][^']*'|\b\d+", '_', why[0])[:110]) if why else ''
        return answer

    def said(self):
        return os.path.getsize(self.log) if os.path.exists(self.log) else 0


def of_folder(folder):
    return sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith('.case'))


def made(build, folder, first, count, jobs):
    """The paths of modules that are made, with what the interpreter leaves in memory beside each."""
    without = ','.join(NOT_LOWERED + OPEN)
    subprocess.run(f'"{build}/random" --print --without {without} --write "{folder}" --range {first} {first + count - 1} | '
                   f'xargs -n 20 -P {jobs} "{build}/generate" --case', shell=True, check=True)
    return of_folder(folder)


def asked(paths, jobs, seconds, folder):
    """{path: what became of it}"""
    todo, end, answers, lock = queue.SimpleQueue(), time.time() + seconds, {}, threading.Lock()
    for path in paths:
        todo.put(path)
    said = open(os.path.join(folder, 'answers'), 'w')

    def work(number):
        at = place(number, folder)
        while time.time() < end:
            try:
                path = todo.get_nowait()
            except queue.Empty:
                return
            answer = at.ask(path)
            with lock:
                answers[path] = answer
                print(os.path.basename(path)[:-5], answer, file=said, flush=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for f in [pool.submit(work, k) for k in range(jobs)]:
            f.result()
    return answers


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--build', default='build')
    a.add_argument('--first', type=int, default=1)
    a.add_argument('--modules', type=int, default=400)
    a.add_argument('--seconds', type=float, default=400, help='begin nothing new after these')
    a.add_argument('--jobs', type=int, default=os.cpu_count())
    a.add_argument('--cases', help='ask of the cases in this folder instead: NAME.ttir, .case and .bin')
    a.add_argument('--write', default='build/witness')
    a.add_argument('--worker', action='store_true', help=argparse.SUPPRESS)
    o = a.parse_args()
    os.makedirs(o.write, exist_ok=True)
    if o.worker:
        worker(o.write)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        paths = of_folder(o.cases) if o.cases else made(o.build, folder, o.first, o.modules, o.jobs)
        asked_for, paths = len(paths), [p for p in paths if in_triton(p)]
        answers = asked(paths, o.jobs, o.seconds, o.write)
    count = collections.Counter(re.sub(r'type of return operand.*', 'type of return operand ...', s) for s in answers.values())
    for why, n in count.most_common():
        print(f'{n:6} {why}')
    print(f'witness: {asked_for} modules, {len(paths)} that Triton may make, {len(answers)} asked, '
          f'{count["same"]} the same bytes, {count["differs"]} others')
    if not count['differs'] or not os.path.exists(o.build + '/corpus'):
        return 0
    return subprocess.run([o.build + '/corpus', '--dir', o.write, '--fresh']).returncode


if __name__ == '__main__':
    sys.exit(main())
