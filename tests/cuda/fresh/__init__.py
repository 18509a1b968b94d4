"""Kernels that nobody tuned for, in families, one a file; tests/cuda/README.md says what for.

A family is a module with Triton kernels as people write them and cases(small), which yields kernels.Case: a name that begins
with the kernel's, and shapes of real models, or small ones for the simulator.
"""
import hashlib, importlib, os

SEED = 20261129
HALVES = ('seen', 'unseen')


def half(kernel):
    """The half that a kernel is in. By a hash of its name, so that a new kernel moves no other."""
    return HALVES[hashlib.sha256(b'%d %s' % (SEED, kernel.encode())).digest()[0] & 1]


def families():
    names = sorted(os.listdir(os.path.dirname(os.path.abspath(__file__))))
    return [importlib.import_module('fresh.' + n[:-3]) for n in names if n.endswith('.py') and n not in ('__init__.py', 'check.py')]


def cases(which='all', small=False):
    for family in families():
        for case in family.cases(small):
            if which in ('all', half(case.name.split()[0])):
                yield case
