"""Checks the kernels of this folder where there is no GPU; needs a Python with PyTorch for the CPU, and `make python`.

    python3 tests/cuda/fresh/check.py [--only TEXT] [--which seen] [--agx FOLDER]

runs each kernel at its small shapes through triton_metal, in the simulator, and compares with the reference: a line each.
--agx FOLDER writes the Metal of the real shapes instead, for `make agx-report`. --triton compiles those by Triton itself, for
an H200, and their Triton IR by tmetal; --ttir FOLDER keeps the Triton IR.
"""
import argparse, os, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = 232448  # bytes of threadgroup memory that a program may have on an H200


class Device:
    """What Triton asks of a driver in order to compile."""

    def __init__(self):
        from triton.backends.compiler import GPUTarget
        self.target = GPUTarget('cuda', 90, 32)

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


def options():
    a = argparse.ArgumentParser()
    a.add_argument('--build', default='build')
    a.add_argument('--only', action='append', default=[], help='cases that have this in their names; several may be given')
    a.add_argument('--which', choices=('seen', 'unseen', 'all'), default='all')
    a.add_argument('--agx', default='', help='a folder for the Metal of the real shapes')
    a.add_argument('--triton', action='store_true', help='do Triton and tmetal accept the real shapes?')
    a.add_argument('--ttir', default='', help='with --triton: a folder for the Triton IR')
    return a.parse_args()


def compiled(case):
    """The kernel for the case's arguments, of whichever Triton was imported."""
    from kernels import DTYPES, Tensor
    args = [DTYPES[v.dtype] if isinstance(v, Tensor) else v for v in case.args.values()]
    return case.fn.warmup(*args, **case.meta, grid=case.grid)


def keep(folder, case, ending, text):
    from measure import slug
    path = os.path.join(folder, slug(case.name) + ending)
    with open(path, 'w') as f:
        f.write(text)
    return path


def run(case):
    """Why the small case is wrong, or nothing."""
    import torch
    from kernels import Tensor, spoil, wrong
    tensors = {n: v.make() if isinstance(v, Tensor) else v for n, v in case.args.items()}
    reference = case.ref(tensors) if case.tol >= 0 else None
    spoil(case, tensors)
    case.fn[case.grid](*tensors.values(), **case.meta)
    if case.tol >= 0 and not all(torch.isfinite(r).all() and r.double().norm() > 0 for r in reference):
        return 'the reference is zero or not finite'
    return wrong(case, tensors, reference)


def judged_by_triton(o, case):
    kernel = compiled(case)
    if kernel.metadata.shared > SHARED:
        return '%d bytes of threadgroup memory' % kernel.metadata.shared
    path = keep(o.ttir, case, '.ttir', kernel.asm['ttir'])
    r = subprocess.run([os.path.join(o.build, 'tmetal'), 'compile', path], capture_output=True, text=True)
    return 'tmetal: ' + r.stderr.strip().splitlines()[0] if r.returncode else ''


def main():
    o = options()
    sys.path[:0] = [os.path.dirname(HERE), os.path.join(o.build, 'package')]
    if o.triton:
        o.ttir = o.ttir or os.path.join(o.build, 'fresh')
        import triton
        triton.runtime.driver.set_active(Device())
        judge = lambda case: judged_by_triton(o, case)
    else:
        import triton_metal
        triton_metal.install()
        judge = (lambda case: keep(o.agx, case, '.metal', compiled(case).asm['metal']) and '') if o.agx else run
    for folder in filter(None, (o.ttir, o.agx)):
        os.makedirs(folder, exist_ok=True)
    import fresh, kernels
    kernels.DEVICE = 'cpu'
    names, bad = set(), 0
    for case in fresh.cases(o.which, small=not (o.agx or o.triton)):
        if o.only and not any(w in case.name for w in o.only):
            continue
        began = time.time()
        try:
            why = 'two cases have this name' if case.name in names else \
                'the name does not begin with the kernel\'s' if case.name.split()[0] != case.fn.__name__ else judge(case)
        except Exception as e:
            why = '%s: %s' % (type(e).__name__, ' '.join(str(e).split())[-400:])
        names.add(case.name)
        bad += bool(why)
        print('%-5s %s, %.1f s%s' % ('WRONG' if why else 'right', case.name, time.time() - began, ': ' + why if why else ''), flush=True)
    print('%d passed, %d failed' % (len(names) - bad, bad))
    return 1 if bad or not names else 0


if __name__ == '__main__':
    sys.exit(main())
