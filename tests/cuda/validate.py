"""Runs recorded launches on the GPU: compiles them all, hands them to build/cuda-validate, counts.

    python3 tests/cuda/validate.py [--build build] [--tmetal '...'] [--only TEXT] [--every N] [--budget SECONDS] FOLDERS...

A case that tmetal refuses is no failure here; tests/corpus/cannot-agree.txt names those that cannot agree.
"""
import argparse, fnmatch, os, subprocess, sys, time
import maps


def cases_of(folders, only, every):
    found = []
    for folder in folders:
        for at, _, files in sorted(os.walk(folder)):
            found += [os.path.join(at, f) for f in sorted(files) if f.endswith('.case')]
    return [f for f in found if only in f][::every]


def known_exceptions():
    """Patterns of cases that cannot agree, and of those among them that no GPU should run."""
    lines = []
    for path in ('../corpus/cannot-agree.txt', 'known.txt'):
        lines += [l for l in open(os.path.join(maps.HERE, path)) if l.strip() and not l.startswith('#')]
    return [l.split()[0] for l in lines], [l.split()[0] for l in lines if '(leave out on a device)' in l]


def fits(path, patterns):
    name = '/'.join(path.split('/')[-2:])[:-5]
    return any(fnmatch.fnmatch(name, p) for p in patterns)


def needs_run(path):
    return not any(line.strip() == 'compile-only' for line in open(path, errors='replace'))


def job(mapper, tmetal, path):
    """The line for cuda-validate; None for what tmetal refuses."""
    ttir = path[:-5] + '.ttir'
    try:
        metal, plan = maps.emitted(tmetal, ttir), maps.emitted(tmetal, ttir, 'plan')
    except maps.Failure:
        return None
    cubin, _, _ = mapper.cubin(metal)
    base = mapper.path('plan', plan)
    with open(base + '.plan', 'w') as f:
        f.write(plan)
    kernels = mapper.ptx(metal)[0][:-4] + '.json'
    return '\t'.join([path, ttir, base + '.plan', cubin, kernels])


def judge(program, jobs, budget):
    """Answers of cuda-validate; started anew behind a case after which the driver refuses."""
    answers, began = [], time.time()
    while jobs:
        left = budget - (time.time() - began) if budget else None
        try:
            r = maps.run([program], input='\n'.join(jobs) + '\n', timeout=max(1, left) if left else None)
            lines, code, error = r.stdout.splitlines(), r.returncode, r.stderr
        except subprocess.TimeoutExpired as e:
            lines, code, error = (e.stdout or b'').decode().splitlines(), 124, 'out of time'
        answers += lines
        jobs = jobs[len(lines):]
        if code == 0 or code == 2 or code == 124:
            if jobs:
                print('not run: %d (%s)' % (len(jobs), error.strip()[:200]))
            break
        if code != 3:  # it died in the case that it was at
            answers.append('wrong %s: cuda-validate ended with %d' % (jobs[0].split('\t')[0], code))
            jobs = jobs[1:]
    return answers


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--build', default='build')
    a.add_argument('--tmetal', default='')
    a.add_argument('--only', default='')
    a.add_argument('--every', type=int, default=1, help='each Nth case')
    a.add_argument('--budget', type=float, default=0, help='seconds for the GPU')
    a.add_argument('--prepare', action='store_true', help='compile only')
    a.add_argument('--jobs', type=int, default=0)
    a.add_argument('--nvcc-flags', default='', help="to see whose error it is: '-Xcicc -O1'")
    a.add_argument('--ptxas-flags', default='', help='such as -O0')
    a.add_argument('folders', nargs='+')
    o = a.parse_args()
    nvcc = maps.find_nvcc()
    if not nvcc:
        print('cuda: there is no nvcc here; nothing was validated')
        return 3
    tmetal = o.tmetal or os.path.join(o.build, 'tmetal') + ' --gpu apple-m3-max'
    mapper = maps.Mapper(o.build, nvcc, nvcc_flags=o.nvcc_flags, ptxas_flags=o.ptxas_flags)
    apart, never = known_exceptions()
    paths = [p for p in cases_of(o.folders, o.only, o.every) if needs_run(p) and not fits(p, never)]
    made = maps.in_parallel(lambda p: job(mapper, tmetal, p), paths, o.jobs)
    failed = [(p, m) for p, m in zip(paths, made) if isinstance(m, maps.Failure)]
    jobs = [m for m in made if m and not isinstance(m, maps.Failure)]
    for p, f in failed:
        print('not mapped: %s: %s' % (p, f))
    print('%d cases, %d refused by tmetal, %d not mapped' % (len(paths), sum(m is None for m in made), len(failed)), flush=True)
    if o.prepare:
        return 1 if failed else 0
    answers = judge(os.path.join(o.build, 'cuda-validate'), jobs, o.budget)
    wrong = [l for l in answers if not l.startswith('right ')]
    nature = [l for l in wrong if fits(l.split()[1].rstrip(':'), apart)]
    for l in wrong:
        print(l + (' (cannot agree)' if l in nature else ''))
    print('%d right, %d wrong, %d that cannot agree' % (len(answers) - len(wrong), len(wrong) - len(nature), len(nature)))
    return 1 if failed or len(wrong) > len(nature) or len(answers) < len(jobs) else 0


if __name__ == '__main__':
    sys.exit(main())
