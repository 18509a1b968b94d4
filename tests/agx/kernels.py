"""The kernels of counts.txt: what `tmetal compile` is given for each, and the bytes of device memory per element.

The Triton kernels are those that tests/cuda times, compiled from their source; `:16` in a name means that all sizes and strides
are multiples of 16, as Triton specializes them. Others are recorded ones and op lists.
"""
import json, os, re, subprocess, tempfile
from collections import namedtuple

SOURCE = 'tests/cuda/kernels.py'
M1, M3 = 'apple-m1', 'apple-m3-max'
TYPES = {'f32': 'fp32', 'f16': 'fp16', 'bf16': 'bf16', 'i8': 'i8'}
BYTES = {'f32': 4, 'f16': 2, 'bf16': 2, 'i8': 1}

# args: of `tmetal compile`. ops: the op list that it gets, if it is one. element: bytes of device memory that one element costs
# in a kernel without products of matrices; 0 where that has no meaning.
Kernel = namedtuple('Kernel', 'name gpu args ops element')


def triton(kernel, label, signature, constants, gpu=M1, element=0):
    words = [SOURCE, '--kernel', kernel, '--signature', ', '.join(signature)]
    for name, value in constants.items():
        words += ['--const', '%s=%s' % (name, value)]
    return Kernel(kernel + ' ' + label + ('' if gpu == M1 else ' @' + gpu), gpu, words, None, element)


def aligned(signature, yes):
    """Pointers always are: an allocation is."""
    return [t + ':16' if t.startswith('*') or (yes and t == 'i32') else t for t in signature]


# Kernels of rows: pointers, then numbers, by letters: T the type of the row, F f32, I i32, L i64, n an i32, e a float. Then
# the constants, and bytes per element of the row beside and in it: (f32 ones, others).
ROWS = {
    'add': ('TTT n', dict(BLOCK=1024), (0, 3)),
    'gelu_erf': ('TT n', dict(BLOCK=1024), (0, 2)),
    'row_sum': ('TF nn', dict(BLOCK=1024), (0, 1)),
    'row_sum_tile': ('TF nnn', dict(ROWS=64, BLOCK=64), (0, 1)),
    'argmax': ('TI nn', dict(BLOCK=1024), (0, 1)),
    'cumsum': ('TT nn', dict(BLOCK=1024), (0, 2)),
    'softmax': ('TT nnn', dict(BLOCK=1024), (0, 2)),
    'softmax_loop': ('TT nn', dict(BLOCK=4096), (0, 4)),
    'layer_norm': ('TTFF nne', dict(BLOCK=1024), (2, 2)),
    'layer_norm_loop': ('TTFF nne', dict(BLOCK=4096), (2, 4)),
    'rms_norm': ('TTF nne', dict(BLOCK=1024), (1, 2)),
    'add_rms_norm': ('TTTTT nne', dict(BLOCK=1024), (0, 5)),
    'cross_entropy': ('TLF nn', dict(BLOCK=4096), (0, 1)),
    'column_sum': ('TF nnn', dict(CHUNK=512, ROWS=16, BLOCK=128), (0, 1)),
    'transpose': ('TT nnnn', dict(BM=32, BN=32), (0, 2)),
    'gather': ('ITT n', dict(BLOCK=1024), (0, 2)),
    'gemv': ('TTF nnn', dict(BN=4, BK=256), (0, 1.25)),
}


def row(kernel, dtype, multiple, **constants):
    letters, fixed, (floats, own) = ROWS[kernel]
    kinds = {'T': '*' + TYPES[dtype], 'F': '*fp32', 'I': '*i32', 'L': '*i64', 'n': 'i32', 'e': 'fp32'}
    signature = aligned([kinds[c] for c in letters.replace(' ', '')], multiple)
    shape = ' '.join('%s' % v for v in constants.values())
    label = dtype + (' ' + shape if shape else '') + (' :16' if multiple else '')
    return triton(kernel, label, signature, dict(fixed, **constants), element=4 * floats + BYTES[dtype] * own)


def product(dtype, bm, bn, bk, multiple, gpu=M1):
    t = '*' + TYPES[dtype]
    signature = aligned([t, t, t] + ['i32'] * 3, multiple)
    for _ in 'abc':
        signature += aligned(['i32'], multiple) + ['1']
    return triton('matmul', '%s %dx%dx%d%s' % (dtype, bm, bn, bk, ' :16' if multiple else ''), signature,
                  dict(BM=bm, BN=bn, BK=bk, GROUP=8, PRECISION='"ieee"'), gpu)


def attention(dtype, bm, bn, causal, multiple=True, d=64, gpu=M1):
    t = '*' + TYPES[dtype]
    signature = aligned([t, t, t, t], multiple) + ['fp32'] + aligned(['i32'] * 3, multiple)
    label = '%s %dx%d D%d%s%s' % (dtype, bm, bn, d, ' causal' if causal else '', ' :16' if multiple else '')
    return triton('attention', label, signature, dict(CAUSAL=causal, BM=bm, BN=bn, D=d), gpu)


def recorded(name, element=0, folder='tests/kernels/recorded'):
    return Kernel(folder.split('/')[-1] + ' ' + name, M1, ['%s/%s.ttir' % (folder, name)], None, element)


def op(kind, shapes, dtype, element=0, **args):
    ops = {'ops': [dict(type=kind, id='y', inputs=['x%d' % i for i in range(len(shapes))],
                        input_shapes=[list(s) for s in shapes], dtype=dtype, args=args)]}
    label = ' '.join(['x'.join(map(str, s)) for s in shapes[:2]] + [dtype] + ['%s=%s' % (k, args[k]) for k in sorted(args)])
    return Kernel('op %s %s' % (kind, label), M1, [], ops, element * BYTES[dtype])


def every():
    for multiple in (True, False):
        for kernel, types in (('add', ['f32', 'f16']), ('row_sum', ['f32', 'f16']), ('argmax', ['f32']),
                              ('cumsum', ['f32', 'f16']), ('softmax', ['f32', 'f16', 'bf16']), ('softmax_loop', ['f32']),
                              ('layer_norm', ['f32', 'f16']), ('layer_norm_loop', ['f16']), ('rms_norm', ['f32', 'f16']),
                              ('gemv', ['f32', 'f16'])):
            for dtype in types:
                yield row(kernel, dtype, multiple)
    for kernel, dtype in (('gelu_erf', 'f32'), ('row_sum_tile', 'f32'), ('add_rms_norm', 'f16'), ('cross_entropy', 'f32'),
                          ('column_sum', 'f32'), ('column_sum', 'f16'), ('gather', 'f16')):
        yield row(kernel, dtype, True)
    for dtype, b in (('f32', 32), ('f16', 32), ('f32', 64)):
        yield row('transpose', dtype, True, BM=b, BN=b)
    for multiple in (True, False):
        for dtype, tile in (('f16', (64, 64, 32)), ('f16', (128, 64, 32)), ('f16', (32, 32, 32)), ('bf16', (64, 64, 32)),
                            ('f32', (64, 64, 32)), ('f32', (32, 32, 32))):
            yield product(dtype, *tile, multiple)
        for dtype in ('f16', 'bf16', 'f32'):
            yield product(dtype, 64, 64, 32, multiple, M3)
    for bm, bn in ((32, 32), (64, 32), (64, 64)):
        for causal in (False, True):
            yield attention('f16', bm, bn, causal)
    yield attention('f16', 64, 32, False, multiple=False)
    yield attention('f32', 32, 32, False)
    yield attention('f16', 64, 32, False, gpu=M3)
    for name, element in (('argmax', 4), ('matmul', 0), ('attention', 0), ('rope', 0), ('dropout', 8), ('sum_columns', 4)):
        yield recorded(name, element, 'examples/kernels')
    for name in ('sorting-sort', 'sorting-sort_long', 'scans-sum_f32', 'dots-i8', 'dots-weights_in_int8', 'descriptors-matmul',
                 'descriptors-raw_block_matmul', 'attentions-attention_grouped'):
        yield recorded(name)
    for dtype in ('f32', 'f16'):
        yield op('matmul', [(2048, 2048), (2048, 2048)], dtype)
        yield op('sum', [(16384, 4096)], dtype, 1, axis=1)
        yield op('softmax', [(65536, 1024)], dtype, 2, axis=1)
    yield op('sum', [(65536, 1024)], 'f32', 1, axis=0)
    yield op('layer_norm', [(65536, 1024), (1024,), (1024,)], 'f16', 4, axis=1)
    yield op('cumsum', [(65536, 1024)], 'f32', 2, axis=1)
    yield op('transpose', [(8192, 8192)], 'f32', 2)
    yield op('matmul', [(4, 8192), (8192, 8192)], 'f16')
    yield op('conv2d', [(8, 64, 32, 32), (64, 64, 3, 3)], 'f32', padding=1)
    for causal in (False, True):
        yield op('attention', [(2, 32, 2048, 64)] * 3, 'f16', causal=causal)


class Refused(Exception):
    pass


def emit(tmetal, args, what='msl'):
    r = subprocess.run([tmetal, 'compile', '--emit', what] + args, capture_output=True, text=True)
    if r.returncode:
        raise Refused(r.stderr.strip().split('\n')[0])
    return r.stdout


def compile_kernel(tmetal, kernel, what='msl'):
    if kernel.ops is None:
        return emit(tmetal, ['--gpu', kernel.gpu] + kernel.args, what)
    with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
        json.dump(kernel.ops, f)
        f.flush()
        return emit(tmetal, ['--gpu', kernel.gpu, f.name], what)
