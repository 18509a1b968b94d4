"""Instructions of kernels on an M1, by Mesa's AGX compiler. `make agx` and its sisters call it; README.md says what to trust.

    python3 tests/agx/agx.py [--build BUILD] COMMAND

    report [--json FILE] [--threads N] [--free] FILES...   a line for each kernel; .metal, or what tmetal compiles
    asm FILE...                            the instructions, each with its line of the text
    counts [--bless REASON] [--rows TEXT]  the kernels of counts.txt, compared with it
    all [FILES...]                         every recorded kernel and example goes through, except known.txt
    mlx FOLDER                             MLX's kernels by the same counter, beside those of counts.txt that do the same
    registers                              tmetal's estimate of registers beside the compiler's: is it near enough?

After `--` come options for `tmetal compile`, for FILES that it compiles.
"""
import argparse, concurrent.futures, glob, json, os, re, sys
import counter, kernels, loops, metal, mlx

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTS = os.path.join(HERE, 'counts.txt')
KNOWN = os.path.join(HERE, 'known.txt')
FOLDERS = ('tests/kernels/recorded', 'tests/kernels/lookalikes', 'tests/kernels/releases', 'examples/kernels')
LISTS = 'examples/lists'


def workers(function, items):
    """In the order of items; each worker waits for programs, so threads do."""
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('JOBS') or os.cpu_count() or 2)) as pool:
        return list(pool.map(function, items))


def text_of(o, path):
    if path.endswith('.metal'):
        with open(path) as f:
            return f.read()
    return kernels.emit(o.tmetal, (o.compile or ['--gpu', kernels.M1]) + [path])


def unit(kernel, element):
    """What instructions are counted per: a product of 8x8 matrices, an element, or a run of the kernel."""
    hot = kernel['hot']
    if hot['products']:
        return 'product', hot['products']
    if element and hot['device_bytes'] >= element:
        return 'element', hot['device_bytes'] / element
    return 'thread', 1


# -- report ---------------------------------------------------------------------------------------

HEAD = ('kernel', 'threads', 'fit', 'regs', 'spills', 'memory', 'bytes', 'instr', 'hot', 'cycles', 'per product', 'cycles/byte')
ROW = '%-36s %7s %5s %6s %6s %7s %6s %6s %6s %8s %15s %11s'


def line(k):
    hot = k['hot']
    per = hot.get('per_product')
    return ROW % (k['kernel'][:36], k['threadgroup'], k['max_threads'], '%.4g' % k['registers'], k['spills'] + k['fills'],
                  k['threadgroup_bytes'], k['bytes'], k['instructions'], hot['instructions'], '%g' % hot['cycles'],
                  '%.2f in %.1f' % (per['instructions'], per['cycles']) if per else '', hot.get('cycles_per_byte', ''))


def sum_of(text):
    """FNV-1a over the characters, as the page of `tmetal explain --html` takes it."""
    h = 2166136261
    for c in text.rstrip():
        h = (h ^ ord(c)) * 16777619 & 0xffffffff
    return h


def report(o):
    found, bad = [], 0
    if not o.json:
        print(ROW % HEAD)
    for path in o.files:
        try:
            text = text_of(o, path)
            some = o.counter.kernels(text, o.threads, o.free)
        except (counter.Failed, kernels.Refused) as e:
            print('%s: %s' % (path, e), file=sys.stderr)
            bad = 1
            continue
        for k in some:
            del k['listing']
            found.append(dict(file=path, text=sum_of(text), **k))
            if not o.json:
                print(line(k))
                print('    hot: ' + ', '.join('%d %s' % (n, c) for c, n in k['hot']['classes'].items()))
    if o.json:
        with open(o.json, 'w') if o.json != '-' else sys.stdout as f:
            json.dump(dict(schema=1, gpu='G13', kernels=found), f, indent=1)
            f.write('\n')
    return bad


def asm(o):
    for path in o.files:
        text = text_of(o, path)
        source = [''] + text.split('\n')
        for k in o.counter.kernels(text, o.threads, o.free):
            print('// %s: %s' % (path, k['kernel']))
            last = 0
            for l in k['listing'].splitlines():
                m = re.match(r' *(\d+) +\d+ +(.*)', l)
                if not m:
                    print(l)
                    continue
                at = int(m.group(1))
                if at != last and 0 < at < len(source):
                    print('%5d // %s' % (at, source[at].strip()))
                last = at or last
                print('          ' + m.group(2))
    return 0


# -- counts.txt ------------------------------------------------------------------------------------

# Judged: a change for the worse fails. The rest is to be read.
COLUMNS = (
    ('per', 'instructions per unit in the hot loop', True),
    ('cycles', 'estimated cycles of a simdgroup per unit', True),
    ('threads', 'threads that fit a core', True),
    ('spills', 'registers stored to memory and loaded again', True),
    ('memory', 'bytes of threadgroup memory', True),
    ('registers', 'of 32 bits', False),
    ('static', 'instructions of the whole kernel', False),
)


def counted(o, kernel):
    """The kernels of one text as one row: the costliest of them says the unit."""
    some = o.counter.kernels(kernels.compile_kernel(o.tmetal, kernel))
    k = max(some, key=lambda k: (k['hot']['products'], k['hot']['cycles']))
    name, n = unit(k, kernel.element)
    return dict(unit=name, per=round(k['hot']['instructions'] / n, 2), cycles=round(k['hot']['cycles'] / n, 1),
                threads=min(x['max_threads'] for x in some), spills=sum(x['spills'] + x['fills'] for x in some),
                memory=max(x['threadgroup_bytes'] for x in some), registers=max(x['registers'] for x in some),
                static=sum(x['instructions'] for x in some))


def try_counted(o, kernel):
    try:
        return counted(o, kernel)
    except (counter.Failed, kernels.Refused) as e:
        return str(e).split('\n')[0]


def read_counts():
    rows = {}
    if os.path.exists(COUNTS):
        with open(COUNTS) as f:
            for l in f:
                if l.strip() and not l.startswith('#'):
                    name, numbers, reason = (l.rstrip('\n').split('|') + [''])[:3]
                    words = numbers.split()
                    rows[name.strip()] = (dict(zip(['unit'] + [c for c, _, _ in COLUMNS], words[:1] + [float(w) for w in words[1:]])),
                                          reason.strip())
    return rows


def worse(was, now):
    """Judged columns that became worse, as text."""
    if was['unit'] != now['unit']:
        return ['per %s, was per %s' % (now['unit'], was['unit'])]
    return ['%s %g to %g' % (c, was[c], now[c]) for c, _, judged in COLUMNS
            if judged and (now[c] < was[c] if c == 'threads' else now[c] > was[c])]


def write_counts(found, old, reason, rows):
    head = ['# What an M1 executes, by `make agx`: a column that becomes worse fails, until `make agx-bless WHY=\'the reason\'` writes it',
            '# here. Columns: tests/agx/agx.py; kernels: tests/agx/kernels.py. Text for another chip is counted on the same M1.']
    width = max(len(n) for n in found)
    head.append('%-*s | %-7s %s' % (width, '#', 'unit', ' '.join('%9s' % c for c, _, _ in COLUMNS)))
    lines = []
    for name, now in found.items():
        was, why = old.get(name, (None, ''))
        if was and rows not in name:
            now = was
        bad = worse(was, now) if was else []
        if bad and not reason:
            sys.exit('agx: %s became worse (%s): say why' % (name, ', '.join(bad)))
        if bad:
            why = '%s (%s)' % (reason, ', '.join(bad))
        elif was and was != now:
            why = ''
        numbers = ' '.join('%9g' % now[c] for c, _, _ in COLUMNS)
        lines.append('%-*s | %-7s %s%s' % (width, name, now['unit'], numbers, ' | ' + why if why else ''))
    with open(COUNTS, 'w') as f:
        f.write('\n'.join(head + lines) + '\n')


def counts(o):
    listed = list(kernels.every())
    old = read_counts()
    results = workers(lambda k: try_counted(o, k), listed)
    found, bad, better = {}, 0, 0
    for kernel, now in zip(listed, results):
        if isinstance(now, str):
            print('agx: %s: %s' % (kernel.name, now))
            bad += 1
            continue
        found[kernel.name] = now
        was = old.get(kernel.name, (None,))[0]
        if o.bless is None and not was:
            print('agx: %s: not in counts.txt' % kernel.name)
            bad += 1
        if was:
            for text in worse(was, now) if o.bless is None else []:
                print('agx: %s: %s' % (kernel.name, text))
                bad += 1
            better += was['unit'] == now['unit'] and bool(worse(now, was))
    gone = [n for n in old if n not in {k.name for k in listed}]
    if o.bless is not None:
        if not bad:
            write_counts(found, old, o.bless.strip(), o.rows)
        return 1 if bad else 0
    for name in gone:
        print('agx: %s: counts.txt has it, kernels.py has not' % name)
    print('agx: %d kernels; %d counts are worse or missing, %d rows better%s' % (
        len(listed), bad + len(gone), better, "; `make agx-bless WHY='the reason'` keeps what is" if bad or better or gone else ''))
    return 1 if bad or gone else 0


# -- every kernel ----------------------------------------------------------------------------------

def read_known():
    known = {}
    with open(KNOWN) as f:
        for l in f:
            if l.strip() and not l.startswith('#'):
                name, step, reason = [w.strip() for w in l.split('|')]
                known[name] = (step, reason)
    return known


def every_file(files):
    return files or [f for d in FOLDERS for f in sorted(glob.glob(d + '/*.ttir'))] + sorted(glob.glob(LISTS + '/*.json'))


def try_all(o, path):
    """Kernels of a file, None where tmetal refuses it, or the reason why it does not go through."""
    try:
        return o.counter.kernels(text_of(o, path))
    except kernels.Refused:
        return None
    except counter.Failed as e:
        return str(e).split('\n')[0]


def run_all(o):
    files, known = every_file(o.files), read_known()
    results = dict(zip(files, workers(lambda f: try_all(o, f), files)))
    bad, through = 0, []
    for path, r in results.items():
        step = r.split(':')[0] if isinstance(r, str) else ''
        expected = known.get(path, ('',))[0]
        if step != expected:
            print('agx: %s: %s' % (path, '%s, but known.txt says %s' % (r if step else 'goes through', expected) if expected else r))
            bad += 1
        if isinstance(r, list):
            through += [(path, k) for k in r]
    spilled = [(p, k) for p, k in through if k['spills'] or k['fills']]
    chains = [(p, k) for p, k in through if k['guarded_loads'] >= 4]
    for title, some, what in (('registers spill', spilled, lambda k: '%d stores and loads' % (k['spills'] + k['fills'])),
                              ('guarded loads wait for one another', chains, lambda k: '%d' % k['guarded_loads'])):
        print('%s in %d of %d kernels' % (title, len(some), len(through)))
        for p, k in some if o.verbose else []:
            print('    %s %s: %s' % (p, k['kernel'], what(k)))
    listed = len([p for p in files if p in known])
    print('agx: %d files; %d kernels go through, %d files are in known.txt, %d are refused by tmetal, %d differ' % (
        len(files), len(through), listed, sum(r is None for r in results.values()), bad))
    if o.json:
        with open(o.json, 'w') as f:
            json.dump([dict(file=p, **{n: v for n, v in k.items() if n not in ('listing', 'lines')}) for p, k in through], f)
    return 1 if bad else 0


# -- MLX -------------------------------------------------------------------------------------------

SIDE = '%-36s %8s %8s %8s %9s %8s'


def theirs(o, row):
    """The counts of an MLX kernel for this row, or the reason it could not be counted."""
    try:
        k, = o.mlx_counter.kernels(mlx.text_of(o.files[0], row), most=row.sweeps)
    except (counter.Failed, mlx.Missing, metal.Unknown) as e:
        return str(e).split('\n')[0]
    name, n = unit(k, row.element)
    return dict(unit=name, per=round(k['hot']['instructions'] / n, 2), cycles=round(k['hot']['cycles'] / n, 1),
                threads=k['max_threads'], registers=k['registers'])


def beside(o, row, ours):
    kernel = ours._replace(element=ours.element or row.element)
    return try_counted(o, kernel)


def side(name, r, times=''):
    return SIDE % (name, '%.2f' % r['per'], '%.1f' % r['cycles'], '%g' % r['registers'], r['threads'], times)


def compare_mlx(o):
    """A kernel of ours is above MLX if it needs more instructions per unit."""
    if len(o.files) != 1:
        sys.exit('agx: mlx takes the folder of MLX')
    o.mlx_counter = counter.Counter(o.counter.home, mlx.FLAGS)
    own = {k.name: k for k in kernels.every()}
    rows = list(mlx.rows())
    found = workers(lambda r: theirs(o, r), rows)
    wanted = [(r, own[n]) for r in rows for n in r.ours if n in own]
    results = dict(zip([(r.name, k.name) for r, k in wanted], workers(lambda w: beside(o, *w), wanted)))
    above, bad = [], 0
    print(SIDE % ('kernel', 'per unit', 'cycles', 'regs', 'threads', 'of MLX'))
    for row, r in zip(rows, found):
        if isinstance(r, str):
            print('agx: MLX %s: %s' % (row.name, r))
            bad += 1
            continue
        print(side('MLX %s, per %s' % (row.name, r['unit']), r))
        for name in row.ours:
            mine = results.get((row.name, name))
            if isinstance(mine, str):
                print('agx: %s: %s' % (name, mine))
                bad += 1
            elif mine:
                print(side('    ' + name, mine, '%.2f' % (mine['per'] / r['per'])))
                above += [name] if mine['per'] > r['per'] else []
    print('agx: %d rows of MLX, %d of ours; %d above MLX%s' % (
        len(rows), len(results), len(above), ': ' + ', '.join(above) if above else ''))
    return 1 if bad or above else 0


# -- Registers -----------------------------------------------------------------------------------

# Bounds of the estimate against the compiler's count, and the least share of kernels that must keep them.
MANY, NEAR, SHARE, LEAST, FEW = 32, 0.15, 0.7, 0.8, 52
STEPS = ((384, 128), (448, 116), (512, 104), (576, 92), (640, 80), (704, 72), (768, 68), (832, 64), (896, 56), (1024, 52))


def estimates(o, item):
    """(registers by the compiler, by the plan, threads, name) of each kernel of a file or row."""
    try:
        if isinstance(item, str):
            text, plan = text_of(o, item), kernels.emit(o.tmetal, ['--gpu', kernels.M1, item], 'plan')
        else:
            text, plan = (kernels.compile_kernel(o.tmetal, item, what) for what in ('msl', 'plan'))
        counted = {k['kernel']: k['registers'] for k in o.counter.kernels(text)}
    except (counter.Failed, kernels.Refused):
        return []
    name = item if isinstance(item, str) else item.name
    return [(counted[p['entry']], p['registers'], p['threads_per_threadgroup'], name) for p in json.loads(plan)['kernels']
            if p['entry'] in counted]


def limited(have):
    """An estimate beyond what a kernel's threads leave room for: there the compiler's count ends, too."""
    count, estimate, threads, _ = have
    return min(estimate, next((r for t, r in STEPS if threads <= t), 52))


def registers(o):
    items = o.files or [f for f in every_file([]) if 'lookalikes' not in f] + list(kernels.every())
    rows = [r for some in workers(lambda i: estimates(o, i), items) for r in some]
    many = [r for r in rows if r[0] > MANY]
    near = [r for r in many if abs(limited(r) - r[0]) <= NEAR * r[0]]
    low = [r for r in rows if r[0] > FEW and limited(r) < LEAST * r[0]]
    for r in sorted(many, key=lambda r: limited(r) / r[0]) if o.verbose or o.files else low:
        print('%6.4g registers, estimate %3d, %5.2f of it, %4d threads: %s' % (r[0], r[1], limited(r) / r[0], r[2], r[3]))
    print('registers: %d kernels, %d of them above %d; %d estimates (%.0f %%) within %.0f %%; %d below %.1f above %d' % (
        len(rows), len(many), MANY, len(near), 100 * len(near) / max(len(many), 1), 100 * NEAR, len(low), LEAST, FEW))
    return 1 if len(near) < SHARE * len(many) and not o.files else 0


def main():
    argv = sys.argv[1:]
    rest = argv[argv.index('--') + 1:] if '--' in argv else []
    argv = argv[:argv.index('--')] if '--' in argv else argv
    p = argparse.ArgumentParser(usage=__doc__, add_help=False)
    p.add_argument('--build', default='build')
    p.add_argument('command', choices=['report', 'asm', 'counts', 'all', 'mlx', 'registers'])
    p.add_argument('--json')
    p.add_argument('--threads', type=int, default=0)
    p.add_argument('--free', action='store_true')
    p.add_argument('--bless')
    p.add_argument('--rows', default='')
    p.add_argument('--verbose', action='store_true')
    p.add_argument('files', nargs='*')
    o = p.parse_intermixed_args(argv)
    o.compile = rest
    o.tmetal = os.environ.get('TMETAL') or os.path.join(o.build, 'tmetal')
    o.counter = counter.Counter(os.environ.get('AGX') or os.path.join(o.build, 'agx'))
    return {'report': report, 'asm': asm, 'counts': counts, 'all': run_all, 'mlx': compare_mlx, 'registers': registers}[o.command](o)


if __name__ == '__main__':
    sys.exit(main())
