"""What the simulator counts of some kernels, held to tests/sim/counters.txt: a change that makes one count worse fails.

    python3 tests/sim/counters.py BUILD [--bless REASON [ROWS]]

Rows of the file name the kernels: a recorded launch by its path, or an op list (the table below) by its name. Counts are of a
whole launch for apple-m3-max. --bless writes the file anew; a row that became worse keeps REASON behind it, so none may
be empty then; with ROWS only those that have this in their names. What becomes better passes and asks to be blessed, or it
could be lost again unseen.
"""
import json, os, shutil, struct, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(HERE, 'counters.txt')
GPU = 'apple-m3-max'

COLUMNS = (
    ('lines', "128-byte lines of device memory that loads and stores of simdgroups touch"),
    ('accesses', "loads and stores of device memory, by simdgroups"),
    ('group', "the same of threadgroup memory"),
    ('conflicts', "cycles that its banks take beyond the fewest"),
    ('barriers', "threadgroup barriers, over all threadgroups"),
    ('simd', "simd and matrix operations of simdgroups"),
    ('memory', "bytes of threadgroup memory"),
    ('registers', "of a thread, as the plan estimates them; 0 where it says nothing"),
)

BYTES = {'f32': 4, 'f16': 2, 'bf16': 2}
OPS = [('sum', [(256, 1024)], dict(axis=1)), ('sum', [(2048, 256)], dict(axis=0)), ('sum', [(65536,)], dict(axis=0)),
       ('softmax', [(64, 1024)], dict(axis=1)), ('softmax', [(4, 16384)], dict(axis=1)),
       ('layer_norm', [(64, 1024), (1024,), (1024,)], dict(axis=1)), ('rms_norm', [(64, 1000), (1000,)], dict(axis=1)),
       ('cumsum', [(64, 1024)], dict(axis=1)), ('transpose', [(128, 128)], {}), ('gelu', [(32768,)], {}),
       ('matmul', [(128, 128), (128, 128)], {}), ('matmul', [(4, 512), (512, 512)], {}),
       ('attention', [(1, 2, 128, 64)] * 3, dict(causal=True))]


def op_name(kind, shapes, dtype, args):
    words = [kind] + ['x'.join(map(str, s)) for s in shapes[:2]] + [dtype] + ['%s=%s' % (k, args[k]) for k in sorted(args)]
    return 'op-' + '-'.join(words)


def op_lists():
    return {op_name(k, s, d, a): (k, s, d, a) for k, s, a in OPS for d in ('f32', 'f16')}


def result_elements(kind, shapes, args):
    total = 1
    for i, n in enumerate(shapes[0]):
        total *= 1 if kind == 'sum' and i == args['axis'] else n
    return shapes[0][0] * shapes[1][1] if kind == 'matmul' else total


def write_op(folder, name, kind, shapes, dtype, args):
    """An op list as a launch: inputs are small numbers, results are not compared (test-oplist does that)."""
    inputs = ['x%d' % i for i in range(len(shapes))]
    with open(os.path.join(folder, name + '.ttir'), 'w') as f:
        json.dump({'ops': [dict(type=kind, id='y', inputs=inputs, input_shapes=[list(s) for s in shapes], dtype=dtype, args=args)]}, f)
    data, lines = b'', []
    for s in shapes:
        n = 1
        for x in s:
            n *= x
        one = [struct.pack('<f', k / 8)[2 if dtype == 'bf16' else 0:] if dtype != 'f16' else struct.pack('<e', k / 8) for k in range(8)]
        lines.append('buffer %d size %d in %d' % (len(lines), n * BYTES[dtype], len(data)))
        data += (b''.join(one) * (n // 8 + 1))[:n * BYTES[dtype]]
    lines.append('buffer %d size %d' % (len(lines), result_elements(kind, shapes, args) * BYTES[dtype]))
    lines += ['arg ptr %s buffer %d offset 0' % (dtype, i) for i in range(len(shapes) + 1)]
    with open(os.path.join(folder, name + '.bin'), 'wb') as f:
        f.write(data)
    with open(os.path.join(folder, name + '.case'), 'w') as f:
        f.write('# recorded Triton launch, format 1\nsuite counters\nsource op list\nkernel %s\ngrid 1 1 1\nwarps 4\n' % kind)
        f.write('\n'.join(lines) + '\n')


def read_file():
    rows = {}
    for line in open(FILE):
        if line.strip() and not line.startswith('#'):
            row, _, reason = line.partition('|')
            words = row.split()
            rows[words[0]] = (dict(zip((c for c, _ in COLUMNS), map(int, words[1:]))), reason.strip())
    return rows


def registers(build, path):
    r = subprocess.run([os.path.join(build, 'tmetal'), 'compile', '--gpu', GPU, '--emit', 'plan', path], capture_output=True, text=True)
    return max([k.get('registers', 0) for k in json.loads(r.stdout)['kernels']] if r.returncode == 0 else [0])


def counted(build, names):
    """Counts by name: all kernels in one folder, so that one run of the corpus runner does them."""
    folder = os.path.join(build, 'counters')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    ops, known = op_lists(), {}
    for name in names:
        base = name.replace('/', '-')
        known[base] = name
        if name in ops:
            write_op(folder, base, *ops[name])
        else:
            for end in ('.case', '.bin', '.ttir'):
                if os.path.exists(name + end):
                    shutil.copy(name + end, os.path.join(folder, base + end))
    out = os.path.join(build, 'counters.json')
    r = subprocess.run([os.path.join(build, 'corpus'), '--dir', folder, '--gpu', GPU, '--counters', '--json', out],
                       capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stdout + r.stderr + 'counters: not all of them are right')
    found = {}
    for case in json.load(open(out)):
        base = case['name'].split('/')[-1]
        sums = dict.fromkeys((c for c, _ in COLUMNS), 0)
        for k in case['counters']:
            for s in k['sites']:
                device = s['where'] != 'threadgroup'
                sums['lines'] += s['touched'] if device else 0
                sums['accesses' if device else 'group'] += s['simd_accesses']
                sums['conflicts'] += 0 if device else s['touched'] - s['fewest']
            sums['barriers'] += k['barriers']
            sums['simd'] += k['simd_ops'] // 32
            sums['memory'] = max(sums['memory'], k['threadgroup_bytes'])
        sums['registers'] = registers(build, os.path.join(folder, base + '.ttir'))
        found[known[base]] = sums
    return found


def grew(column, was, now):
    """An estimate of registers where there was none is no growth."""
    return now > was and not (column == 'registers' and was == 0)


def write(found, old, reason, rows=''):
    """Rows that have not `rows` in their names stay as they are."""
    found = {n: found[n] if rows in n or n not in old else old[n][0] for n in found}
    head = [line for line in open(FILE) if line.startswith('#')] if os.path.exists(FILE) else []
    width = max(len(n) for n in found)
    lines = ['%-*s %s' % (width, '#', ' '.join('%9s' % c for c, _ in COLUMNS))]
    for name in found:
        was, why = old.get(name, (None, ''))
        worse = ['%s %d to %d' % (c, was[c], found[name][c]) for c, _ in COLUMNS if was and grew(c, was[c], found[name][c])]
        if worse:
            if not reason:
                sys.exit('counters: %s became worse (%s): say why' % (name, ', '.join(worse)))
            why = '%s (%s)' % (reason, ', '.join(worse))
        lines.append(('%-*s %s' % (width, name, ' '.join('%9d' % found[name][c] for c, _ in COLUMNS)) + (' | ' + why if why else '')))
    with open(FILE, 'w') as f:
        f.write(''.join(head[:-1]) + '\n'.join(lines) + '\n')


def main():
    build = sys.argv[1]
    reason = sys.argv[3] if len(sys.argv) > 3 and sys.argv[2] == '--bless' else None
    old = read_file()
    found = counted(build, list(dict.fromkeys(list(old) + list(op_lists()))))
    if reason is not None:
        return write(found, old, reason.strip(), sys.argv[4] if len(sys.argv) > 4 else '')
    bad = better = 0
    for name in found:
        was = old.get(name, ({}, ''))[0]
        if not was:
            print('%s: not in counters.txt' % name)
            bad += 1
        for c, what in COLUMNS:
            if was and grew(c, was[c], found[name][c]):
                print('%s: %s %d, was %d (%s)' % (name, c, found[name][c], was[c], what))
                bad += 1
            better += bool(was) and found[name][c] < was[c]
    print('counters: %d kernels, %d counts worse, %d better%s' % (
        len(found), bad, better, '; make bless-counters WHY=... keeps what is better' if better or bad else ''))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
