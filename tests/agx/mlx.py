"""Kernels of MLX as one kernel each, for the counter: templates are instantiated here, as text, because OpenCL has no kernels
that are templates. Nothing of MLX is kept in this tree; its folder is given.

Of the files, only the declarations that a kernel reaches go along, so that of Metal's library mlx.h needs little.
"""
import os, re
from collections import namedtuple
import metal

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = 'mlx/backend/metal/kernels/'
# Replaced by mlx.h.
LEFT_OUT = ('atomic.h', 'bf16.h', 'bf16_math.h', 'complex.h', 'logging.h', 'steel/utils/type_traits.h')

# kernel: the template's name; arguments: those of the template; facts: function constants; group: threads of a threadgroup by
# axis; sweeps: how many loops go over the data (not those of ragged ends and of strides), 0 where the whole kernel is counted;
# element: bytes of device memory that an element costs; ours: rows of counts.txt that do the same.
Row = namedtuple('Row', 'name files kernel arguments facts group sweeps element ours')
TYPES = {'f32': ('float', 4), 'f16': ('half', 2)}


def rows():
    """Each as MLX launches it on an M1: templates and threads from mlx/backend/metal/*.cpp."""
    for dtype, (t, size) in TYPES.items():
        def row(name, files, kernel, arguments, ours, element=0, sweeps=0, group=(256, 1), **facts):
            return Row('%s %s' % (name, dtype), files.split(), kernel, arguments.format(T=t).split(), facts, group, sweeps, element * size,
                       [o for text in ours for o in (text.format(t=dtype), text.format(t=dtype) + ' :16')])
        yield row('add', 'binary_ops.h binary.h', 'binary_vv', '{T} {T} Add', ['add {t}'], 3)
        for name, sweeps, ours in (('row sum', 0, ['row_sum {t}', 'row_sum_tile {t}']),
                                   ('row sum of long rows', 1, ['op sum 16384x4096 {t} axis=1'])):
            yield row(name, 'reduce_utils.h reduction/reduce_row.h', 'row_reduce_simple', '{T} {T} Sum<{T}> int', ours, 1, sweeps)
        yield row('column sum', 'reduce_utils.h reduction/reduce_col.h', 'col_reduce_looped', '{T} {T} Sum<{T}> int 1 32 32',
                  ['column_sum {t}', 'op sum 65536x1024 {t} axis=0'], 1, 1)
        if dtype == 'f32':
            yield row('argmax', 'arg_reduce.metal', 'arg_reduce_general', '{T} ArgMax<{T}>', ['argmax {t}', 'kernels argmax'], 1, 1)
        yield row('scan', 'scan.h', 'contiguous_scan', '{T} {T} CumSum<{T}> 4 true false',
                  ['cumsum {t}', 'op cumsum 65536x1024 {t} axis=1'], 2, 1)
        yield row('softmax', 'softmax.h', 'softmax_single_row', '{T}', ['softmax {t}', 'op softmax 65536x1024 {t} axis=1'], 2)
        yield row('softmax of long rows', 'softmax.h', 'softmax_looped', '{T}', ['softmax_loop {t}'], 3, 2, group=(1024, 1))
        yield row('layer norm', 'layer_norm.metal', 'layer_norm_single_row', '{T}',
                  ['layer_norm {t}', 'op layer_norm 65536x1024 1024 {t} axis=1'], 4, group=(128, 1), has_w=True)
        yield row('layer norm of long rows', 'layer_norm.metal', 'layer_norm_looped', '{T}', ['layer_norm_loop {t}'], 6, 3,
                  group=(1024, 1), has_w=True)
        yield row('rms norm', 'rms_norm.metal', 'rms_single_row', '{T}', ['rms_norm {t}'], 3, has_w=True)
        yield row('transpose', 'copy.h', 'copy_g_nd2', '{T} {T} int', ['transpose {t} 32 32', 'op transpose 8192x8192 {t}'], 2,
                  group=(32, 32))
        yield row('rope', 'rope.metal', 'rope', '{T} int32_t', ['kernels rope'] if dtype == 'f32' else [], 2, group=(32, 32),
                  forward=True, traditional=False, hs_transpose=False)
        yield row('gemv', 'gemv.h', 'gemv', '{T} 8 1 1 32 4 4 false false', ['gemv {t}'], 1.25, 1)
        tile = {'f32': '64 64 16 2 2', 'f16': '64 64 16 1 2'}[dtype]
        yield row('matmul', 'steel/gemm/gemm.h steel/gemm/kernels/steel_gemm_fused.h', 'gemm', '{T} %s false false float' % tile,
                  ['matmul {t} %s' % o for o in ('64x64x32', '128x64x32', '32x32x32')] + ['op matmul 2048x2048 2048x2048 {t}'],
                  has_batch=False, use_out_source=False, do_axpby=False, align_M=True, align_N=True, align_K=True)
        for causal in (False, True):
            word = ' causal' if causal else ''
            yield row('attention 32x32 D64' + word, 'steel/attn/kernels/steel_attention.h', 'attention',
                      '{T} 32 32 64 4 1 {T} float',
                      ['attention {t} %s D64%s' % (o, word) for o in ('32x32', '64x32', '64x64')] +
                      ['op attention %s {t} causal=%s' % (' '.join(['2x32x2048x64'] * 2), causal)],
                      align_Q=True, align_K=True, has_mask=False, do_causal=causal, has_sinks=False)


# Arrays are copied by loads and stores; a function takes pointers of any space until it is inlined.
FLAGS = ('-fno-builtin', '-mllvm', '-inline-threshold=100000')


class Missing(Exception):
    """The folder has not what a row asks for: another version of MLX."""


# -- Declarations ----------------------------------------------------------------------------------

def read(folder, path, seen):
    """A file with those of MLX that it includes."""
    if path in seen or path in LEFT_OUT:
        return ''
    seen.add(path)
    try:
        with open(os.path.join(folder, SOURCE + path), encoding='utf-8') as f:
            text = f.read()
    except OSError as e:
        raise Missing(str(e))
    text = re.sub(r'//[^\n]*', '', text)
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    return re.sub(r'#include "%s([^"]+)"' % SOURCE, lambda m: '\n' + read(folder, m.group(1), seen), text)


def body_ends(text, i):
    """The position after the declaration that starts at i: after its `;` or its closing bracket, or the end of the text."""
    head = re.sub(r'template\s*<[^{;]*?>\s*(?=[\w\[])', '', text[i:text.find('{', i) if '{' in text[i:] else len(text)])
    kind = re.search(r'\b(struct|union|class|enum)\b', head) and '(' not in head or '=' in head.split('(')[0]
    while i < len(text):
        c = text[i]
        if c == ';':
            return i + 1
        if c in '([{':
            i = metal.closing(text, i)
            if c == '{' and not kind and not re.match(r'\s*[;,(]', text[i + 1:]):
                return i + 1
        i += 1
    return i


def declarations(text):
    """(text, the name that it declares); '' for directives and the brackets of namespaces, which always stay."""
    i = 0
    while i < len(text):
        directive = re.compile(r'[ \t]*#(?:\\\n|[^\n])*\n?|\s+|namespace [\w:]+\s*\{|using namespace [^;]*;|\}|;').match(text, i)
        if directive:
            yield directive.group(0), ''
            i = directive.end()
            continue
        end = body_ends(text, i)
        yield text[i:end], name_of(text[i:end])
        i = end


def without_template(text):
    m = re.match(r'\s*template\s*<', text)
    while m:
        depth, i = 1, m.end()
        while depth:
            depth += (text[i] == '<') - (text[i] == '>')
            i += 1
        text = text[i:]
        m = re.match(r'\s*template\s*<', text)
    return text


def name_of(text):
    own = re.sub(r'\[\[.*?\]\]', '', without_template(text), flags=re.S)
    m = re.match(r'\s*(?:struct|union|class|enum)\s+(\w+)', own) or re.match(r'\s*using\s+(\w+)', own) \
        or re.match(r'\s*typedef\b.*?(\w+)\s*;', own, re.S) or re.match(r'[^(={;]*?(operator)\b', own) \
        or re.match(r'[^(={;]*?(\w+)\s*(?:<[^(]*>)?\s*[(={;]', own)
    return m.group(1) if m else ''


def reached(parts, wanted):
    """The declarations behind these names, over and over, until none is new. Operators and calls of macros stay."""
    words = [set(re.findall(r'\w+', text)) for text, _ in parts]
    macros = {m.group(1) for text, _ in parts for m in [re.match(r'\s*#\s*define\s+(\w+)', text)] if m}
    for w, (text, name) in zip(words, parts):
        if text.lstrip().startswith('#'):
            wanted |= w
    kept, more = set(), True
    while more:
        more = False
        for i, (text, name) in enumerate(parts):
            if i not in kept and (not name or name in wanted or name == 'operator' or name in macros):
                kept.add(i)
                wanted |= words[i]
                more = True
    return [parts[i] for i in sorted(kept)]


# -- One kernel ------------------------------------------------------------------------------------

FOREIGN = r'\b(complex64_t|complex_t|bfloat16_t)\b'  # types of other rows
POSITIONS = {
    'thread_position_in_threadgroup': 'agx_place',
    'thread_position_in_grid': '(threadgroup_position() * agx_group + agx_place)',
    'threadgroup_position_in_grid': 'threadgroup_position()',
    'threadgroups_per_grid': 'threadgroups()',
    'threads_per_threadgroup': 'agx_group',
    'threads_per_grid': 'agx_grid',
}
NUMBERS = {
    'thread_index_in_threadgroup': 'agx_tid_u32()',
    'thread_index_in_simdgroup': 'agx_lane_u32()',
    'simdgroup_index_in_threadgroup': 'agx_simdgroup_u32()',
    'simdgroups_per_threadgroup': '(agx_group.x * agx_group.y / 32)',
    'threads_per_simdgroup': '32u',
}


# What OpenCL does not take of it, as (pattern, what it becomes).
EVERYWHERE = (
    # Two neighbors of threadgroup memory in one load, as if Apple's compiler joined them: Mesa's does so for device memory only.
    (r'dst\[i \* kElemCols \+ j\] = static_cast<T>\(src\[i \* str_x \+ j \* str_y\]\);',
     r'if (j == 0) load_pair(dst, src + i * str_x, str_y);'),
    (r'metal::is_integral\b', 'is_integer'),                            # mlx::steel defines its own
    (r'METAL_FUNC \w+\(\) thread \{\}', ''),                            # constructors that do nothing
    (r'thread const (short|int)&', r'const \1'),                        # bound to a converted value
    (r'typename (?:metal::)?(simdgroup_matrix|vec|conditional_t)<', r'\1<'),
    (r'return (current|best);', r'return {\1.index, \1.val};'),           # a copy of a struct takes any space
    (r'(src) \+= (str_\w)', r'\1 += long(\2)'),                         # a class that becomes a number
)
BODY = (
    # Ways of ragged ends, which are not those that are counted: no array is indexed by a variable.
    (r'for \(int i = 0; i < n; i\+\+\)', 'for (int i = 0; i < N_READS; i++) if (i < n)'),
    (r'for \(int i = n; i < N_READS; i\+\+\)', 'for (int i = 0; i < N_READS; i++) if (i >= n)'),
    (r'for \(int i = 0; (\w*column \+ i < reduction_stride); i\+\+\)', r'for (int i = 0; i < n_reads; i++) if (\1)'),
    (r'(threadgroup \w+ \w+\[\w+\]) = \{0\};', r'\1;'),
    (r'(\w+) (\w+)\[(\w+)\] = \{0\};', r'\1 \2[\3]; for (int z = 0; z < \3; z++) \2[z] = 0;'),
    (r'\b((?:short|int|uint|float)[234]) (\w+)\(', r'\1 \2 = \1('),
    (r'(for \([^)]*?/= 2\))', r'_Pragma("unroll") \1'),
)


def changed(text, rules):
    for pattern, by in rules:
        text = re.sub(pattern, by, text)
    return text


def built_in(kind, name, attribute):
    if attribute in NUMBERS:
        return '%s %s = %s;' % (kind, name, NUMBERS[attribute])
    count = {'uint': 1, 'uint2': 2, 'uint3': 3}[kind]
    return '%s %s = %s%s;' % (kind, name, POSITIONS[attribute], {1: '.x', 2: '.xy', 3: ''}[count])


def parameters(text, at):
    """What stays a parameter, and the variables that the built-in ones become."""
    buffers, variables = [], []
    for p in metal.at_commas(text):
        plain = ' '.join(re.sub(r'\[\[.*?\]\]', '', p, flags=re.S).split())
        attribute = re.search(r'\[\[\s*(\w+)', p)
        if attribute and attribute.group(1) in dict(POSITIONS, **NUMBERS):
            variables.append(built_in(*plain.rsplit(' ', 1), attribute.group(1)))
            continue
        plain = re.sub(r'^(const )?(device|constant) (const )?', lambda m: m.group(2) + (' const ' if m.group(1) or m.group(3)
                                                                                       else ' '), plain)
        buffers.append('%s [[buffer(%d)]]' % (re.sub(r'(\w+) (\w+)\[\w+\]$', r'\1 *\2', plain), at + len(buffers)))
    return buffers, variables


def arguments_of(text, given):
    """Template parameters as types and constants of the file."""
    head = re.match(r'\s*template\s*<', text)
    inner = text[head.end():len(text) - len(without_template(text)) - 1]
    lines = []
    for k, p in enumerate(metal.at_commas(inner)):
        p, _, default = (w.strip() for w in p.partition('='))
        value = given[k] if k < len(given) else default
        if not value:
            raise Missing('template parameter %s has no value' % p)
        kind, name = p.rsplit(None, 1)
        lines.append('using %s = %s;' % (name, value) if kind in ('typename', 'class')
                     else 'constexpr constant %s %s = %s;' % (kind.replace('const ', ''), name, value))
    return lines


def instantiated(text, row):
    own = without_template(text)
    m = re.match(r'\s*\[\[\s*kernel.*?\]\]\s*void\s+(\w+)\s*\(', own, re.S)
    close = metal.closing(own, m.end() - 1)
    buffers, variables = parameters(own[m.end():close], 2)
    x, y = row.group
    buffers = ['constant uint3 &agx_group [[buffer(0)]]', 'constant uint3 &agx_grid [[buffer(1)]]'] + buffers
    place = ('uint3(agx_tid_u32() %% %du, agx_tid_u32() / %du, 0u)' % (x, x)) if y > 1 else 'uint3(agx_tid_u32(), 0u, 0u)'
    body = changed(own[own.index('{', close) + 1:], BODY)
    return '\n'.join(arguments_of(text, row.arguments)) + '\n[[max_total_threads_per_threadgroup(%d)]] kernel void %s(%s) {\n' % (
        x * y, m.group(1), ', '.join(buffers)) + 'const uint3 agx_place = %s;\n%s\n' % (place, '\n'.join(variables)) + body


def foreign(text):
    """What only other rows need and mlx.h has not: functions of other types, and instantiations."""
    own = text.lstrip().startswith('#') or re.match(r'\s*(template\s*<[^>]*>\s*)?struct\s+\w+\s*\{', text)
    return re.search(FOREIGN, text) and not own or 'instantiate_kernel' in text \
        or re.search(r'\binline\s+(bool|u?int64_t)\s+simd_\w+\(', text)


def text_of(folder, row):
    """A text that counter.py takes."""
    seen = set()
    whole = ''.join(read(folder, f, seen) + '\n' for f in ['utils.h'] + row.files)
    parts = list(declarations(whole))
    kernels = [t for t, n in parts if n == row.kernel and re.search(r'\[\[\s*kernel', t) and '{' in t]
    if len(kernels) != 1:
        raise Missing('%d kernels %s in %s' % (len(kernels), row.kernel, ' '.join(row.files)))
    parts = [(t, n) for t, n in parts if t == kernels[0] or not re.search(r'\[\[\s*(kernel|host_name)', t)
             and not foreign(t)]
    out = []
    for t, n in reached(parts, {row.kernel} | set(re.findall(r'\w+', ' '.join(row.arguments)))):
        if t == kernels[0]:
            t = instantiated(t, row)
        fact = re.match(r'\s*constant bool (\w+) \[\[', t)
        if fact:
            if fact.group(1) not in row.facts:
                raise Missing('no value of the function constant %s' % fact.group(1))
            t = 'constexpr constant bool %s = %s;' % (fact.group(1), str(row.facts[fact.group(1)]).lower())
        out.append(t)
    with open(os.path.join(HERE, 'mlx.h')) as f:
        return f.read() + changed(''.join(out), EVERYWHERE)
