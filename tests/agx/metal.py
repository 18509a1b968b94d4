"""Metal text as C++ for OpenCL over metal.h. What a header cannot do is done here; lines stay where they are.

    comments, includes, pragmas of Metal    taken out; `fp contract(off)` becomes OpenCL's
    kernel parameters                       built-in inputs become variables, references to constants pointers
    c ? a : b                               operands become values, see metal.h
    float4(...)                             made<float4>(...): clang's vectors have no constructors
"""
import re

BUILT_IN = {
    'threadgroup_position_in_grid': 'threadgroup_position()',
    'threadgroups_per_grid': 'threadgroups()',
    'thread_index_in_threadgroup': 'agx_tid_u32()',
    'thread_index_in_simdgroup': 'agx_lane_u32()',
    'simdgroup_index_in_threadgroup': 'agx_simdgroup_u32()',
}
VECTOR = r'\b((?:packed_)?(?:(?:u?(?:char|short|int|long)|half|float)[234]))\s*\('
KERNEL = r'(?:\[\[max_total_threads_per_threadgroup\((\d+)\)\]\]\s*)?kernel\s+void\s+(\w+)\s*\('


class Unknown(Exception):
    """Something in a text that this does not know."""


def closing(text, i):
    """The place of the bracket that closes the one at i."""
    depth = 0
    for k in range(i, len(text)):
        depth += (text[k] in '([{') - (text[k] in ')]}')
        if depth == 0:
            return k
    raise Unknown('a bracket that nothing closes')


def at_commas(text):
    parts, depth = [''], 0
    for c in text:
        depth += (c in '([{<') - (c in ')]}>')
        if c == ',' and depth == 0:
            parts.append('')
        else:
            parts[-1] += c
    return parts if parts[-1].strip() else parts[:-1]


def parameter(text):
    """A kernel's parameter: what stands for it in OpenCL's list, and what the body begins with."""
    attribute = re.search(r'\[\[\s*(\w+)', text)
    declared = ' '.join(re.sub(r'\[\[.*?\]\]', '', text, flags=re.S).split())
    name = re.search(r'\w+$', declared)
    if attribute and name and attribute.group(1) in BUILT_IN:
        return '', ' const %s = %s;' % (declared, BUILT_IN[attribute.group(1)])
    if not attribute or not name or attribute.group(1) != 'buffer':
        raise Unknown('parameter `%s`' % ' '.join(text.split()))
    constant = re.match(r'constant\s+(.*?)\s*&\s*(\w+)$', declared)
    if not constant:
        return declared, ''
    kind, name = constant.groups()
    return 'constant %s *%s_at' % (kind, name), ' constant %s &%s = *%s_at;' % (kind, name, name)


def kernels(text):
    """{name: threads of a threadgroup that the text allows, 0 where it does not say}"""
    return {m.group(2): int(m.group(1) or 0) for m in re.finditer(KERNEL, text)}


def signatures(text):
    done, last = '', 0
    for m in re.finditer(KERNEL, text):
        close = closing(text, m.end() - 1)
        parts = [parameter(p) for p in at_commas(text[m.end():close])]
        body = text.index('{', close)
        done += text[last:m.start()] + 'kernel void %s(%s) {' % (m.group(2), ', '.join(p for p, _ in parts if p))
        done += ''.join(b for _, b in parts) + '\n' * text.count('\n', m.start(), body)
        last = body + 1
    return done + text[last:]


def choices(text):
    """A value behind each `?` and the `:` that belongs to it: a colon with a `?` before it in the same brackets."""
    out, waiting = [], [0]
    for i, c in enumerate(text):
        out.append(c)
        if c in '([{':
            waiting.append(0)
        elif c in ')]}':
            waiting = waiting[:-1] or [0]
        elif c == ';':
            waiting[-1] = 0
        colon = c == ':' and waiting[-1] and text[i - 1] != ':' and text[i + 1:i + 2] != ':'
        if c == '?' or colon:
            waiting[-1] += 1 if c == '?' else -1
            out.append(' metal_value() ->* ')
    return ''.join(out)


# clang's own vectors compare to integers of their elements' width, so that two of other widths do not go together
UNEQUAL = r'\^ \(((?:[^()]|\((?:[^()]|\([^()]*\))*\))* != u?int([24])\(0\))\)'


def opencl(text):
    text = re.sub(r'//[^\n]*', '', text)
    text = re.sub(r'/\*.*?\*/', lambda m: '\n' * m.group(0).count('\n') or ' ', text, flags=re.S)
    text = re.sub(r'#pragma METAL fp contract\(off\)', '#pragma OPENCL FP_CONTRACT OFF', text)
    text = re.sub(r'^[ \t]*#(include|pragma (clang diagnostic|METAL))[^\n]*', '', text, flags=re.M)
    text = text.replace('mem_flags::', '').replace('metal::', '')
    text = re.sub(r'\busing namespace metal;', '', text)
    text = choices(signatures(text))
    text = re.sub(UNEQUAL, r'^ bool\2(\1)', text)
    text = re.sub(VECTOR, r'made<\1>(', text)
    return '#include "metal.h"\n#line 1 "text.metal"\n' + text
