"""Kernels that we did not tune for, one file per family; tests/cuda/README.md says why.

A family is a module with Triton kernels as people write them and cases(small), which yields kernels.Case: a name that begins
with the kernel's, and shapes of real models, or small ones for the simulator.
"""
import dataclasses, hashlib, importlib, os, types

SEED = 20261129
HALVES = ('seen', 'unseen')


def half(kernel):
    """The half that a kernel is in. By a hash of its name, so that a new kernel moves no other."""
    return HALVES[hashlib.sha256(b'%d %s' % (SEED, kernel.encode())).digest()[0] & 1]


def families():
    names = sorted(os.listdir(os.path.dirname(os.path.abspath(__file__))))
    return [importlib.import_module('fresh.' + n[:-3]) for n in names if n.endswith('.py') and n not in ('__init__.py', 'check.py')]


def held(x, seen=None):
    """A copy of a case with its own variables: the family changes those that its functions read for the next case."""
    seen = {} if seen is None else seen
    if id(x) in seen:
        return seen[id(x)]
    if isinstance(x, types.FunctionType) and x.__closure__:
        cells = tuple(types.CellType() for _ in x.__closure__)
        f = seen[id(x)] = types.FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, cells)
        f.__kwdefaults__ = x.__kwdefaults__
        for new, old in zip(cells, x.__closure__):
            try:
                new.cell_contents = held(old.cell_contents, seen)
            except ValueError:
                pass  # a variable that has not been set
        return f
    if isinstance(x, dict):
        return {k: held(v, seen) for k, v in x.items()}
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return dataclasses.replace(x, **{f.name: held(getattr(x, f.name), seen) for f in dataclasses.fields(x)})
    return x


def cases(which='all', small=False):
    for family in families():
        for case in family.cases(small):
            if which in ('all', half(case.name.split()[0])):
                yield held(case)
