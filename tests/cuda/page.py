"""The tables of docs/performance.md from what measure.py wrote.

    python3 tests/cuda/page.py run.json [layouts.json]      prints them
    python3 tests/cuda/page.py run.json [layouts.json] --into docs/performance.md

A cell is the share of the copy's bytes a second, and behind the bar the same of Triton or PyTorch in that run. Cases with two
types in their names, and products, have rows of their own.
"""
import json, re, sys
from measure import geometric, shown, speed

TYPES = ('f32', 'f16', 'bf16')


def cell(row, copy, peer):
    mine, other = speed(row, 'ours', copy), speed(row, peer, copy)
    return '-' if mine is None else shown(mine) + (' / ' + shown(other) if other else '')


def by_type(rows, copy, peer):
    """One line a kernel and shape, one column a type."""
    lines = {}
    for row in rows:
        words = row['name'].split()
        types = [w for w in words if w in TYPES]
        if len(types) != 1:
            continue
        words.remove(types[0])
        lines.setdefault(' '.join(words), {})[types[0]] = cell(row, copy, peer)
    return [[name] + [cells.get(t, '') for t in TYPES] for name, cells in lines.items()]


def summary(rows, copy, peer):
    pairs = [(speed(r, 'ours', copy) / speed(r, peer, copy), r['name']) for r in rows
             if speed(r, 'ours', copy) and speed(r, peer, copy)]
    least = min(pairs)
    return 'Of %d kernels the geometric mean is %.2f of the other\'s speed; the least is %.2f (%s); %d are below 0.9.' % (
        len(pairs), geometric([p for p, _ in pairs]), least[0], least[1], sum(p < 0.9 for p, _ in pairs))


def markdown(head, lines):
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in [head, ['---'] * len(head)] + lines)


def products(rows, copy):
    lines = []
    for r in rows:
        of = lambda label: shown(speed(r, label, copy))
        lines.append([r['name'], str(r['results']['ours'].get('threads', '')), of('ours'), of('tf32') if 'tf32' in r['results'] else '',
                      of('triton') if 'triton' in r['results'] else '', of('torch')])
    return markdown(['product, TFLOP/s', 'threads', 'ours', 'ours, tf32', 'Triton', 'PyTorch'], lines)


def layouts(data):
    times = lambda r: [r['results'].get(n, {}).get('ms') for n in ['ours'] + data['variants']]
    lines = [[r['name'][len('op sum '):]] + ['-' if t is None else '%.1f' % (1000 * t) for t in times(r)] for r in data['rows']]
    return markdown(['sum over the last axis, microseconds', 'automatic'] + data['variants'], lines)


def tables(run, forced):
    rows, copy = run['rows'], run['copy']
    ttir = [r for r in rows if not r['name'].startswith('op ')]
    ops = [r for r in rows if r['name'].startswith('op ')]
    memory = lambda some: [r for r in some if r['bytes']]
    found = {'triton': summary(memory(ttir), copy, 'triton') + '\n\n' +
             markdown(['kernel, ours / Triton'] + list(TYPES), by_type(memory(ttir), copy, 'triton')),
             'lists': summary(memory(ops), copy, 'torch') + '\n\n' +
             markdown(['op list, ours / PyTorch'] + list(TYPES), by_type(memory(ops), copy, 'torch')),
             'products': products([r for r in rows if r['flops']], copy),
             'copy': 'One %s; a copy moves %.0f GB/s, read plus written.' % (run['device'], copy)}
    if forced:
        found['layouts'] = layouts(forced)
    return found


def main():
    files = [a for a in sys.argv[1:] if a.endswith('.json')]
    data = [json.load(open(f)) for f in files]
    found = tables(data[0], data[1] if len(data) > 1 else None)
    if '--into' not in sys.argv:
        print('\n\n'.join(found.values()))
        return
    page = sys.argv[sys.argv.index('--into') + 1]
    text = open(page).read()
    for name, body in found.items():
        mark = r'(<!-- timed %s -->\n).*?(<!-- end of %s -->)' % (name, name)
        text = re.sub(mark, lambda m: m.group(1) + body + '\n' + m.group(2), text, flags=re.S)
    open(page, 'w').write(text)


if __name__ == '__main__':
    main()
