"""Registers, spills and stack of emitted kernels as NVIDIA's ptxas has them, at 128 registers a thread and unlimited.

    python3 tests/cuda/spills.py [--build build] [--tmetal 'build/tmetal --gpu apple-m3-max'] FILES OR FOLDERS...

128 registers is what a thread of an Apple GPU has before fewer threads fit a core. Needs nvcc and no GPU. Bounds on threads
are taken out first, because 1,024 threads would leave each only 64 registers here. ptxas is not Apple's compiler:
what spills here may not there, and the other way round; see README.md.
"""
import argparse, json, os, sys
import maps


def files_of(paths, only):
    found = []
    for p in paths:
        if os.path.isdir(p):
            found += sorted(os.path.join(p, f) for f in os.listdir(p) if f.endswith('.ttir') and only in f)
        else:
            found.append(p)
    return found


def measure(mapper, tmetal, path):
    metal = open(path).read() if path.endswith('.metal') else maps.emitted(tmetal, path)
    rows = []
    _, kernels, free = mapper.cubin(metal, bounds=False)
    _, _, tight = mapper.cubin(metal, registers=128, bounds=False)
    for k in kernels:
        a, b = free[k['entry']], tight[k['entry']]
        rows.append(dict(file=path, kernel=k['kernel'], threads=k['threads'], registers=a['registers'], spill=a['spill'],
                         stack=a['stack'], spill_128=b['spill'], stack_128=b['stack'], private=k['array_bytes'],
                         statements=k['statements']))
    return rows


def share(rows, test):
    n = sum(1 for r in rows if test(r))
    return '%d of %d (%.1f %%)' % (n, len(rows), 100.0 * n / max(1, len(rows)))


def print_summary(rows, failed, out):
    worst = lambda key: max(rows, key=lambda r: r[key]) if rows else None
    out.write('\nkernels                 %d, not compiled %d\n' % (len(rows), len(failed)))
    for name, test in (('spill at 128', lambda r: r['spill_128']), ('spill over 256 bytes', lambda r: r['spill_128'] > 256),
                       ('spill unlimited', lambda r: r['spill']), ('private over 512 bytes', lambda r: r['private'] > 512),
                       ('over 4,000 statements', lambda r: r['statements'] > 4000)):
        out.write('%-24s%s\n' % (name, share(rows, test)))
    for name, key in (('largest spill at 128', 'spill_128'), ('largest private', 'private'), ('most statements', 'statements')):
        if rows:
            r = worst(key)
            out.write('%-24s%d (%s)\n' % (name, r[key], os.path.basename(r['file'])))


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--build', default='build')
    a.add_argument('--tmetal', default='', help='the compiler and its options')
    a.add_argument('--only', default='', help='files of folders that have this in their names')
    a.add_argument('--json', default='')
    a.add_argument('--jobs', type=int, default=0)
    a.add_argument('--mma', action='store_true', help='products as they run here, not as two operands and a sum')
    a.add_argument('--all', action='store_true', help='print kernels without spills too')
    a.add_argument('paths', nargs='+')
    o = a.parse_args()
    nvcc = maps.find_nvcc()
    if not nvcc:
        print('cuda-spills: there is no nvcc here (NVCC=path, or CUDA 13); nothing was checked')
        return 3
    tmetal = o.tmetal or os.path.join(o.build, 'tmetal') + ' --gpu apple-m3-max'
    # mma.sync and its fragments take registers that products of Apple's do not.
    mapper = maps.Mapper(o.build, nvcc, nvcc_flags='' if o.mma else '-DMETAL_REGISTERS')
    paths = files_of(o.paths, o.only)
    results = maps.in_parallel(lambda p: measure(mapper, tmetal, p), paths, o.jobs)
    failed = [(p, r) for p, r in zip(paths, results) if isinstance(r, maps.Failure)]
    rows = [r for rs in results if not isinstance(rs, maps.Failure) for r in rs]
    print('| kernel | threads | registers | spilled | at 128: spilled | stack | private bytes | statements |')
    print('|---|---|---|---|---|---|---|---|')
    for r in sorted(rows, key=lambda r: (-r['spill_128'], -r['private'], r['file'])):
        if o.all or r['spill_128'] or r['private'] > 512 or r['statements'] > 4000:
            print('| %s | %d | %d | %d | %d | %d | %d | %d |' % (os.path.basename(r['file']), r['threads'], r['registers'], r['spill'],
                                                                r['spill_128'], r['stack_128'], r['private'], r['statements']))
    for p, f in failed:
        print('not compiled: %s: %s' % (os.path.basename(p), f))
    print_summary(rows, failed, sys.stdout)
    if o.json:
        json.dump(rows, open(o.json, 'w'), indent=1)
    return 0


if __name__ == '__main__':
    sys.exit(main())
