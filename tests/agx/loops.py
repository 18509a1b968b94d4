"""From a listing of agx-count to what a lane executes: blocks, loops, the taken path, its classes and cycles."""
import re
from collections import Counter, namedtuple

Instruction = namedtuple('Instruction', 'line bytes op text')
Block = namedtuple('Block', 'index instructions next')

# Classes of instructions, and cycles that a simdgroup takes for one (throughput; 1 where nothing is said). From measurements on
# an M1: metal-benchmarks (Philip Turner), applegpu (Dougall Johnson). A shuffle by a computed lane is four `shuffle`.
CLASSES = {
    'matrix': {'simd_matmul': 17.5},
    'lanes': {'simd_reduce': 14.5, 'simd_prefix': 12.6, 'quad_reduce': 6, 'quad_prefix': 2, 'shuffle': 7, 'shuffle_xor': 2,
              'shuffle_up': 2, 'shuffle_down': 2, 'quad_shuffle': 2, 'icmp_ballot': 2, 'fcmp_ballot': 2},
    'device': {'device_load': 1, 'device_store': 1, 'atomic': 1},
    'threadgroup': {'local_load': 1, 'local_store': 1, 'local_atomic': 1},
    'spill': {'stack_load': 1, 'stack_store': 1, 'stack_adjust': 1},
    'barrier': {'threadgroup_barrier': 1, 'memory_barrier': 1},
    'wait': {'wait': 0},
    'branch': {'if_icmp': 1, 'if_fcmp': 1, 'else_icmp': 1, 'else_fcmp': 1, 'while_icmp': 1, 'while_fcmp': 1, 'pop_exec': 1,
               'jmp_exec_any': 1, 'jmp_exec_none': 1, 'jmp_exec_none_after': 1, 'stop': 0},
    'float': {'ffma': 1, 'fadd': 1, 'fmul': 1, 'hfma': 1, 'hadd': 1, 'hmul': 1},
    'special': {'exp2': 4, 'log2': 4, 'rcp': 6, 'rsqrt': 8, 'srsqrt': 8, 'sin_pt_1': 5, 'sin_pt_2': 5, 'floor': 4, 'ceil': 4,
                'trunc': 4, 'roundeven': 4},
    'select': {'icmpsel': 1, 'fcmpsel': 1},
    'convert': {'convert': 4},
    'add': {'iadd': 1},
    'add64': {'iadd64': 4.7, 'imad64': 8},
    'multiply': {'imad': 4},
    'shift': {'bfi': 4, 'bfeil': 4, 'extr': 4, 'asr': 4},
    'bits': {'bitop': 1, 'and': 1, 'or': 1, 'xor': 1, 'nand': 1, 'nor': 1, 'xnor': 1, 'andn1': 1, 'andn2': 1, 'orn1': 1,
             'orn2': 1, 'intl': 1, 'bitrev': 4, 'popcount': 4, 'ffs': 4},
    'move': {'mov_imm': 1, 'mov': 1, 'get_sr': 2, 'get_sr_barrier': 2, 'uniform_store': 1},
}
CLASS = {op: name for name, ops in CLASSES.items() for op in ops}
CYCLES = {op: cycles for ops in CLASSES.values() for op, cycles in ops.items()}


def operation(text):
    """The opcode, with 64-bit integer arithmetic, whose result is a pair, told apart."""
    m = re.match(r'(?:([^=]*?) = )?([a-z][a-z_0-9]*)', text)
    wide = m.group(2) in ('iadd', 'imad') and m.group(1) and re.match(r'r\d+:r\d+$', m.group(1))
    return m.group(2) + ('64' if wide else '')


def parse(listing):
    blocks, instructions, index = [], [], 0
    for line in listing.splitlines():
        begin = re.match(r'block(\d+) \{', line)
        if begin:
            index, instructions = int(begin.group(1)), []
        elif line.startswith('}'):
            to = re.match(r'\} -> ((?:block\d+ )*)', line)
            blocks.append(Block(index, instructions, [int(n) for n in re.findall(r'\d+', to.group(1))] if to else []))
        elif line.strip():
            number, size, text = line.split(None, 2)
            instructions.append(Instruction(int(number), int(size), operation(text), text))
    return blocks


def loops_of(blocks, at, trips):
    """(first, last, rounds) of each loop, by places of blocks; rounds is 0 where it is no constant."""
    last = {}
    for b in blocks:
        for n in b.next:
            if n in at and at[n] <= at[b.index]:
                last[at[n]] = max(last.get(at[n], 0), at[b.index])
    heads = sorted(last)
    known = trips if len(trips) == len(heads) else [0] * len(heads)
    return [(h, last[h], t) for h, t in zip(heads, known)]


def work(instructions):
    """What decides which way is taken: matrix products, then bytes of device memory."""
    return (sum(i.op == 'simd_matmul' for i in instructions),
            sum(i.bytes for i in instructions if CLASS.get(i.op) == 'device'))


def taken(blocks, at, first, last, inner):
    """The instructions of the way from one block to another that does the most work, and of those the shortest. Back edges are
    not followed; a block in a loop of `inner` counts as often as that loop goes round."""
    best = {}
    for i in range(last, first - 1, -1):
        b = blocks[i]
        times = 1
        for h, l, t in inner:
            if h <= i <= l:
                times *= max(t, 1)
        own = b.instructions * times
        ways = [best[at[n]] for n in b.next if at.get(n, -1) > i and at[n] in best]
        if i == last or not b.next and last == len(blocks) - 1:
            ways.append((0, 0, 0, []))
        if ways:
            m, d, n, rest = max(ways, key=lambda w: w[:3])
            mine = work(own)
            best[i] = (m + mine[0], d + mine[1], n - len(own), own + rest)
    return best[first][3] if first in best else []


def hot(blocks, trips, most=None):
    """The taken path of the kernel, and what of it is repeated: the loop with the most products, else all outermost loops that
    touch device memory, or those `most` of them that touch the most, else the path itself."""
    at = {b.index: i for i, b in enumerate(blocks)}
    every = loops_of(blocks, at, trips)
    path = taken(blocks, at, 0, len(blocks) - 1, every)
    bodies = []
    for h, l, t in every:
        inner = [x for x in every if x != (h, l, t) and h <= x[0] and x[1] <= l]
        outer = [x for x in every if x != (h, l, t) and x[0] <= h and l <= x[1]]
        body = taken(blocks, at, h, l, inner)
        bodies.append(dict(instructions=body, outermost=not outer, key=work(body) + (-len(body),),
                           static=sum(len(b.instructions) for b in blocks[h:l + 1])))
    products = [b for b in bodies if b['key'][0]]
    if products:
        b = max(products, key=lambda b: b['key'])
        return path, dict(instructions=b['instructions'], loops=1, static=b['static'])
    sweeps = [b for b in bodies if b['outermost'] and b['key'][1]]
    if most is not None:
        sweeps = sorted(sweeps, key=lambda b: -b['key'][1])[:most]
    if sweeps and not work(path)[0]:
        return path, dict(instructions=[i for b in sweeps for i in b['instructions']], loops=len(sweeps),
                          static=sum(b['static'] for b in sweeps))
    return path, dict(instructions=path, loops=0, static=sum(len(b.instructions) for b in blocks))


def cycles(instructions):
    return sum(CYCLES.get(i.op, 1) for i in instructions)


def tally(instructions):
    found = Counter(CLASS.get(i.op, 'other') for i in instructions)
    products = found['matrix']
    t = dict(instructions=len(instructions), cycles=round(cycles(instructions), 1), products=products,
             device_bytes=sum(i.bytes for i in instructions if CLASS.get(i.op) == 'device'),
             threadgroup_bytes=sum(i.bytes for i in instructions if CLASS.get(i.op) == 'threadgroup'),
             classes={name: found[name] for name in list(CLASSES) + ['other'] if found[name]})
    if products:
        t['per_product'] = dict(instructions=round(len(instructions) / products, 2),
                                cycles=round(t['cycles'] / products, 1))
    elif t['device_bytes']:
        t['cycles_per_byte'] = round(t['cycles'] / t['device_bytes'], 2)
    return t


def by_line(every, path, repeated):
    """{line: [instructions, those of the taken path, those of the hot loop, cycles of the taken path]}"""
    lines = {}
    for k, some in enumerate((every, path, repeated)):
        for i in some:
            lines.setdefault(i.line, [0, 0, 0, 0])[k] += 1
    for i in path:
        lines[i.line][3] += CYCLES.get(i.op, 1)
    return {n: v[:3] + [round(v[3], 1)] for n, v in sorted(lines.items())}


def guarded_loads(blocks):
    """Loads of one element in a branch of their own, where each is waited for: none overlaps another."""
    last = lambda b: b.instructions[-1].op if b.instructions else ''
    guarded = {b.next[0] for b in blocks if b.next and last(b).startswith(('if_', 'else_'))}
    loads = [[i for i in b.instructions if i.op == 'device_load'] for b in blocks if b.index in guarded and
             any(i.op == 'wait' for i in b.instructions)]
    return sum(len(some) == 1 and some[0].bytes <= 4 for some in loads)
