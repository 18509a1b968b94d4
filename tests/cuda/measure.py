"""Times emitted kernels on an NVIDIA GPU beside Triton, PyTorch and a copy in the same run; every result is checked.

    python3 tests/cuda/measure.py --build build [--only softmax] [--variant 'staged=build/tmetal --lacks DIRECT_DOT']
                                  [--fresh unseen] [--try DIR] [--budget 240] [--json out.json] [--table out.md]

What is compared, how it is timed, what it says of Apple's GPUs and what not: README.md. One kernel's failure does not stop
the run. The JSON file is written anew after each case.
"""
import argparse, json, math, os, re, sys, time
from concurrent.futures import ThreadPoolExecutor
import maps

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
ROTATED = 256 << 20  # bytes that must pass before a buffer comes again: five times the cache of an H200


def slug(name):
    return re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_')


def parameters(case):
    """Names of the launch's arguments as Triton IR has them: integers of 1 are constants there."""
    return [n for n, v in case.args.items() if not (isinstance(v, int) and v == 1)]


def hand_made(folders):
    """{slug of a case: [(label, path)]} of files [perf-]SLUG.LABEL.metal or SLUG-LABEL.metal."""
    found = {}
    for folder in folders:
        for f in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if f.endswith('.metal'):
                base = f[:-6]
                for prefix in ('perf-', 'more-'):
                    base = base[len(prefix):] if base.startswith(prefix) else base
                parts = re.split(r'[.-]', base, maxsplit=1)
                found.setdefault(parts[0].strip('_'), []).append((parts[1] if len(parts) > 1 else 'hand', os.path.join(folder, f)))
    return found


class Runner:
    def __init__(self, o):
        self.o = o
        self.mapper = maps.Mapper(o.build, maps.find_nvcc())
        self.tf32 = maps.Mapper(o.build, maps.find_nvcc(), tf32=True)
        self.compilers = dict([('ours', o.tmetal or os.path.join(o.build, 'tmetal') + ' --gpu apple-m3-max')] +
                              [v.split('=', 1) for v in o.variant])
        self.hand = hand_made(o.attempts)
        self.folder = os.path.join(o.build, 'cuda-cases')
        os.makedirs(self.folder, exist_ok=True)
        self.began = o.began or time.time()

    # -- Before the GPU: everything that can be done in parallel --------------------------------------------

    def source(self, case):
        """The file that tmetal compiles: Triton IR of the launch, or the op list."""
        base = os.path.join(self.folder, slug(case.name))
        if case.ops:
            with open(base + '.json', 'w') as f:
                json.dump(case.ops, f)
            return base + '.json'
        from kernels import DTYPES, Tensor
        args = [DTYPES[v.dtype] if isinstance(v, Tensor) else v for v in case.args.values()]
        ttir = case.fn.warmup(*args, **case.meta, grid=case.grid).asm['ttir']
        with open(base + '.ttir', 'w') as f:
            f.write(ttir)
        return base + '.ttir'

    def values(self, case, plan):
        """Arguments by the plan's number of a parameter; None stands for tensors."""
        names = [p['name'] for p in plan['params']] if case.ops else parameters(case)
        from kernels import Tensor
        return names, [None if isinstance(case.args[n], Tensor) else case.args[n] for n in names]

    def compile_one(self, case, path, label, mapper=None):
        """One way of compiling a case: plan and cubins."""
        tmetal = self.compilers.get(label, self.compilers['ours'])
        plan = json.loads(maps.emitted(tmetal, path, 'plan'))
        metal = maps.emitted(tmetal, path)
        options = []
        if label == 'literal':
            options = ['--restrict']
            if len(plan['kernels']) == 1:
                from gpu import packed
                names, values = self.values(case, plan)
                kernel = dict(plan['kernels'][0])
                with_address = {a['index'] for a in kernel['args'] if a['kind'] == 'address'}
                kernel['args'] = [a for a in kernel['args'] if a['kind'] in ('bytes', 'programs') and a['index'] not in with_address]
                for index, data in packed(kernel, values, (tuple(case.grid) + (1, 1, 1))[:3]).items():
                    data = bytes(data) + bytes(-len(data) % 4)
                    words = ','.join('0x%xu' % int.from_bytes(data[i:i + 4], 'little') for i in range(0, len(data), 4))
                    options += ['--literal', '%d=%s' % (index, words)]
        return dict(label=label, plan=plan, made=self.match(plan, (mapper or self.mapper).cubin(metal, tuple(options))))

    @staticmethod
    def match(plan, made):
        cubin, kernels, ptxas = made
        by_name = {k['kernel']: k for k in kernels}
        return [(cubin, dict(by_name[k['entry']], ptxas=ptxas[by_name[k['entry']]['entry']])) for k in plan['kernels']]

    def compile_hand(self, case, plan, label, path):
        metal = open(path).read()
        cubin, kernels, ptxas = self.mapper.cubin(metal)
        about = dict(kernels[0], ptxas=ptxas[kernels[0]['entry']])
        threads = about['threads'] or plan['kernels'][0]['threads_per_threadgroup']
        def said(word):  # `// grid: X Y Z`, `// programs: P`
            m = re.search(r'^// %s:? ([0-9 ]+)$' % word, metal, flags=re.M)
            return tuple(int(x) for x in m.group(1).split()) if m else None
        kernel = dict(plan['kernels'][0], programs_per_threadgroup=(said('programs') or (1,))[0])
        grid = said('grid')
        return dict(label=label, plan=dict(plan, kernels=[kernel]), made=[(cubin, about)], threads=threads,
                    grid=(grid + (1, 1))[:3] if grid else None)

    def prepare(self, case):
        """All variants of a case, or the reasons why not: [(label, dict or Failure)]."""
        try:
            path = self.source(case)
        except Exception as e:
            return [('ours', maps.Failure('Triton: %s' % str(e)[:300]))]
        found, plan = [], None
        labels = list(self.compilers) + ([] if self.o.quick else ['literal'])
        labels += ['tf32'] if re.search(r'(matmul|attention) f32', case.name) else []
        for label in labels:
            try:
                found.append((label, self.compile_one(case, path, label, self.tf32 if label == 'tf32' else None)))
                plan = plan or found[-1][1]['plan']
            except Exception as e:
                found.append((label, maps.Failure(str(e)[:400])))
        for label, file in self.hand.get(slug(case.name), []) if plan else []:
            try:
                found.append((label, self.compile_hand(case, plan, label, file)))
            except Exception as e:
                found.append((label, maps.Failure(str(e)[:400])))
        return found

    # -- On the GPU ------------------------------------------------------------------------------------------

    def sets(self, case):
        """As many sets of the case's arguments as it takes to come round behind the cache."""
        from kernels import Tensor
        one = {n: v.make() if isinstance(v, Tensor) else v for n, v in case.args.items()}
        size = sum(v.nbytes for v in one.values() if hasattr(v, 'nbytes'))
        copies = max(1, min(64, -(-ROTATED // max(1, size))))
        clone = lambda: {n: v.clone() if hasattr(v, 'clone') else v for n, v in one.items()}
        return [one] + [clone() for _ in range(copies - 1)]

    def check_and_time(self, case, sets, reference, launches, tol=None):
        import gpu, torch
        from kernels import spoil, wrong
        spoil(case, sets[0])
        launches[0]()
        torch.cuda.synchronize()
        if case.tol < 0 and int(sets[0][case.out[0]].min()) < 0:
            return dict(wrong='nothing was written')
        why = wrong(case, sets[0], reference, tol)
        return dict(wrong=why) if why else dict(ms=gpu.median_time(launches), launches=launches)

    def ours(self, case, sets, reference, made):
        import gpu
        program = gpu.Program(made['plan'], made['made'], made.get('threads'), made.get('grid'))
        names, _ = self.values(case, made['plan'])
        grid = (tuple(case.grid) + (1, 1, 1))[:3]
        launches = [program.bind([s[n] for n in names], grid) for s in sets]
        r = self.check_and_time(case, sets, reference, launches, 2e-3 if made['label'] == 'tf32' else None)
        first = made['made'][0][1]
        r.update(threads=made.get('threads') or made['plan']['kernels'][0]['threads_per_threadgroup'],
                 kernels=len(made['made']), registers=first['ptxas']['registers'], spill=max(m[1]['ptxas']['spill'] for m in made['made']))
        return r

    def run_case(self, case, prepared):
        import gpu, torch
        sets = self.sets(case)
        with torch.no_grad():
            reference = case.ref(sets[0]) if case.tol >= 0 else None
            row = dict(name=case.name, bytes=case.bytes, flops=case.flops, results={})
            def record(label, function):
                try:
                    row['results'][label] = function()
                except Exception as e:
                    row['results'][label] = dict(failed='%s: %s' % (type(e).__name__, str(e)[:300]))
            for label, made in prepared:
                if isinstance(made, maps.Failure):
                    row['results'][label] = dict(failed=str(made))
                else:
                    record(label, lambda: self.ours(case, sets, reference, made))
            if case.fn:
                record('triton', lambda: self.check_and_time(case, sets, reference, [
                    lambda s=s: case.fn[case.grid](*s.values(), **case.meta) for s in sets]))
            if case.torch and not self.o.quick:
                launches = [lambda s=s: case.torch(s) for s in sets]
                record('torch', lambda: dict(ms=gpu.median_time(launches), launches=launches))
            for r in row['results'].values():  # a second time, after all others: now and then one is slow for long
                launches = r.pop('launches', None)
                try:
                    if launches:
                        r['ms'] = min(r['ms'], gpu.median_time(launches))
                except RuntimeError:
                    pass  # the first time stands; broken() sees what became of the GPU
        return row

    def copy_speed(self):
        """GB/s read and written by a copy of 512 MiB: PyTorch's and a kernel's, whichever is faster."""
        import gpu, torch, kernels
        x, y = (torch.zeros(1 << 27, device='cuda') for _ in range(2))
        n = x.numel()
        ms = min(gpu.median_time([lambda: y.copy_(x)]),
                 gpu.median_time([lambda: kernels.copy[(n // 1024,)](x, y, n, BLOCK=1024, num_warps=4)]))
        return 2 * x.nbytes / ms / 1e6

    def late(self, share=1.0):
        return self.o.budget and time.time() - self.began > self.o.budget * share


# -- The table -----------------------------------------------------------------------------------------------

def speed(row, label, copy):
    """Share of the copy, or TFLOP/s; None where there is no time."""
    r = row['results'].get(label, {})
    if 'ms' not in r:
        return None
    return row['flops'] / r['ms'] / 1e9 if row['flops'] else row['bytes'] / r['ms'] / 1e6 / copy


KERNEL_OF = dict(sum='row_sum', gelu='gelu_erf')


def same_kernel(op, name):
    """Does the Triton kernel `name` compute what the op list does, on the same shape?"""
    kind, rest = op[3:].split(' ', 1)
    words = name.split(' ', 1)
    return words[0] in (KERNEL_OF.get(kind, kind), KERNEL_OF.get(kind, kind) + '_tile') and (words[1] + ' ').startswith(rest + ' ')


def shown(x):
    return '-' if x is None else '%.1f' % x if x > 2 else '%.2f' % x


def geometric(xs):
    return math.exp(sum(math.log(x) for x in xs) / len(xs)) if xs else float('nan')


def table(data):
    rows, copy = data['rows'], data['copy']
    fixed = ['ours', 'literal', 'triton', 'torch']
    named = [v for v in data['variants'] if v not in fixed]
    lines = ['Copy: %.0f GB/s. Shares of it, TFLOP/s above 2. %s' % (copy, data['device']), '',
             '| kernel | threads | registers | ours | literal | Triton | torch | ours / Triton (op: torch) | %sothers |' %
             ''.join(n + ' | ' for n in named), '|' + '---|' * (9 + len(named))]
    for row in rows:
        r, of = row['results'], lambda label: speed(row, label, copy)
        peer = of('torch' if row['name'].startswith('op ') else 'triton')
        others = [(l, of(l)) for l in r if l not in fixed + named]
        first = r.get('ours', {})
        ours = shown(of('ours')) if of('ours') else first.get('wrong') and 'WRONG' or 'failed'
        lines.append('| %s | %s | %s | %s | %s | %s | %s | %s | %s%s |' % (
            row['name'], first.get('threads', '-'), str(first.get('registers', '-')) + ('*' if first.get('spill') else ''), ours,
            shown(of('literal')), shown(of('triton')), shown(of('torch')), shown(of('ours') / peer if peer and of('ours') else None),
            ''.join(shown(of(n)) + ' | ' for n in named), ', '.join('%s %s' % (l, shown(s)) for l, s in others if s)))
    lines += ['', '`*`: spills.', '']
    for name, test, peer in (('bound by memory, of Triton', lambda r: r['bytes'] and not r['name'].startswith('op '), 'triton'),
                             ('op lists bound by memory, of torch', lambda r: r['bytes'] and r['name'].startswith('op '), 'torch'),
                             ('bound by products, of Triton', lambda r: r['flops'] and not r['name'].startswith('op '), 'triton')):
        for label in ['ours', 'literal'] + named:
            pairs = [(speed(r, label, copy) / speed(r, peer, copy), r['name']) for r in rows
                     if test(r) and speed(r, label, copy) and speed(r, peer, copy)]
            if pairs:
                least = min(pairs)
                lines.append('%s, %s: geometric mean %.3f over %d, least %.2f (%s), %d below 0.9' % (
                    label, name, geometric([p for p, _ in pairs]), len(pairs), least[0], least[1], sum(p < 0.9 for p, _ in pairs)))
    pairs = []
    for row in (r for r in rows if r['name'].startswith('op ')):
        kernels = [speed(r, 'ours', copy) for r in rows if not r['name'].startswith('op ') and same_kernel(row['name'], r['name'])]
        if any(kernels) and speed(row, 'ours', copy):
            pairs.append((speed(row, 'ours', copy) / max(k for k in kernels if k), row['name']))
    if pairs:
        lines.append('op lists, of the best Triton kernel through tmetal: geometric mean %.3f over %d, least %.2f (%s)' % (
            geometric([p for p, _ in pairs]), len(pairs), min(pairs)[0], min(pairs)[1]))
    for row in rows:
        for label, r in row['results'].items():
            if 'wrong' in r or 'failed' in r:
                lines.append('%s, %s: %s' % (row['name'], label, r.get('wrong') or 'failed: ' + r['failed'].replace('\n', ' ')[:200]))
    lines += ['not run: ' + n for n in data['left']]
    return '\n'.join(lines) + '\n'


def options():
    a = argparse.ArgumentParser()
    a.add_argument('--build', default='build')
    a.add_argument('--tmetal', default='', help="ours: the compiler and its options")
    a.add_argument('--variant', action='append', default=[], help='NAME=compiler and options, another column')
    a.add_argument('--try', dest='attempts', action='append', default=[], help='a folder of hand-made CASE.LABEL.metal')
    a.add_argument('--only', action='append', default=[], help='cases that have this in their names; several may be given')
    a.add_argument('--fresh', choices=('seen', 'unseen', 'all'), help="the population in fresh/, or half of it, in place of kernels.py")
    a.add_argument('--quick', action='store_true', help='ours and Triton only')
    a.add_argument('--resume', action='store_true', help='go on with the run that --json FILE has')
    a.add_argument('--began', type=float, default=0, help=argparse.SUPPRESS)
    a.add_argument('--budget', type=float, default=0, help='seconds after which no further case begins')
    a.add_argument('--json', default='')
    a.add_argument('--table', default='')
    return a.parse_args()


def main():
    o = options()
    if not maps.find_nvcc():
        print('cuda: there is no nvcc here; nothing was timed')
        return 3
    try:
        import torch
        import triton  # noqa: F401: the cases need it
        there = torch.cuda.is_available()
    except ImportError as e:
        print('cuda: %s; nothing was timed' % e)
        return 3
    if not there:
        print('cuda: there is no GPU here; nothing was timed')
        return 3
    import kernels
    if o.fresh:
        import fresh
    every = list(fresh.cases(o.fresh)) if o.fresh else list(kernels.cases()) + list(kernels.oplists())
    todo = [c for c in every if not o.only or any(w in c.name for w in o.only)]
    todo.sort(key=lambda c: ' bf16' in c.name)  # last, should time run out
    runner = Runner(o)
    torch.zeros(1, device='cuda')
    torch.backends.cudnn.allow_tf32 = False  # references of convolutions
    data = dict(device=torch.cuda.get_device_name(), variants=list(runner.compilers)[1:], rows=[], left=[],
                compilers=runner.compilers, began=runner.began)
    if o.resume and os.path.exists(o.json):
        data.update(json.load(open(o.json)), began=runner.began, left=[])
    data['copy'] = max(data.get('copy', 0), runner.copy_speed())
    known = {r['name'] for r in data['rows']}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = [(c, pool.submit(runner.prepare, c)) for c in todo if c.name not in known]
        for case, future in waiting:
            if runner.late():
                data['left'].append(case.name)
                future.cancel()
                continue
            lost = dict(name=case.name, bytes=case.bytes, flops=case.flops, results=dict(ours=dict(failed='the run ended here')))
            data['rows'].append(lost)
            save(o, data)
            try:
                data['rows'][-1] = runner.run_case(case, future.result())
            except Exception as e:
                lost['results']['ours']['failed'] = '%s: %s' % (type(e).__name__, str(e)[:300])
            if broken():
                again(o, data)
            torch.cuda.empty_cache()
            save(o, data)
    save(o, data)
    print(table(data))
    print('%.0f s' % (time.time() - runner.began))
    bad = [r for r in data['rows'] if any('wrong' in x for x in r['results'].values())]
    return 1 if bad else 0


def broken():
    """After an illegal access nothing runs in this process any more."""
    import torch
    try:
        torch.cuda.synchronize()
        return False
    except Exception:
        return True


def again(o, data):
    """Goes on in a new process behind the last case."""
    save(o, data)
    if not o.json:
        sys.exit('cuda: the GPU refuses further work after %s; --json FILE lets a run go on' % data['rows'][-1]['name'])
    sys.stdout.flush()
    words = [w for w in sys.argv if not w.startswith('--began=') and w != '--resume']
    os.execv(sys.executable, [sys.executable] + words + ['--resume', '--began=%f' % data['began']])


def save(o, data):
    for path, text in ((o.json, lambda: json.dumps(data, indent=1)), (o.table, lambda: table(data))):
        if path:
            with open(path + '.new', 'w') as f:
                f.write(text())
            os.replace(path + '.new', path)


if __name__ == '__main__':
    sys.exit(main())
