"""A module of values whose runs, divisors and repeats differ, in pairs under every operation that has a rule in >>analyse.

    python3 tests/interp/facts.py > FILE.ttir

`generate --case` and `interp --facts` then hold each value to what tmetal takes to be known of it. Nothing divides by zero
and nothing overflows: what is said of such values is nobody's promise.
"""
N = 64
TILE, MASK = f'tensor<{N}xi32>', f'tensor<{N}xi1>'
lines, count = [], 0


def op(text, result):
    global count
    count += 1
    lines.append(f'    %v{count} = {text} : {result}')
    return f'%v{count}'


def whole(n):
    return op(f'arith.constant dense<{n}>', TILE)


def binary(name, a, b, type=TILE):
    return op(f'{name} {a}, {b}', type)


def main():
    pid = op('tt.get_program_id x', 'i32')
    spread = lambda x: op(f'tt.splat {x}', f'i32 -> {TILE}')
    whole_of = {n: whole(n) for n in (0, 1, 2, 3, 4, 8, 12, 48, 64, -8)}
    first = op(f'tt.make_range {{end = {N} : i32, start = 0 : i32}}', TILE)
    later = op(f'tt.make_range {{end = {N + 16} : i32, start = 16 : i32}}', TILE)
    odd = op(f'tt.make_range {{end = {N + 6} : i32, start = 6 : i32}}', TILE)
    blocks = binary('arith.muli', spread(pid), whole_of[64])
    blocks_of_12 = binary('arith.muli', spread(pid), whole_of[12])
    steps = binary('arith.muli', first, whole_of[4])
    repeats = binary('arith.divsi', first, whole_of[8])
    tiles = [first, later, odd, steps, repeats, binary('arith.muli', repeats, whole_of[8]), binary('arith.remsi', first, whole_of[8]),
             binary('arith.addi', blocks, first), binary('arith.addi', blocks_of_12, first), binary('arith.subi', later, whole_of[8]),
             binary('arith.subi', first, whole_of[48]), binary('arith.subi', odd, whole_of[12]), spread('%n'), spread('%aligned'), binary('arith.addi', spread('%aligned'), first), whole_of[8], whole_of[12], whole_of[0], whole_of[-8]]
    positive = [whole_of[1], whole_of[3], whole_of[8], whole_of[64], later, odd, spread('%aligned'),
                binary('arith.addi', repeats, whole_of[4]), binary('arith.addi', steps, whole_of[4])]
    small = [whole_of[0], whole_of[2], whole_of[3], repeats]
    for a in tiles:
        for b in tiles:
            for name in ('addi', 'subi', 'muli', 'andi', 'ori', 'xori', 'minsi', 'maxsi', 'minui', 'maxui'):
                binary('arith.' + name, a, b)
            for p in ('eq', 'ne', 'slt', 'sle', 'sgt', 'sge', 'ult', 'ule', 'ugt', 'uge'):
                c = binary(f'arith.cmpi {p},', a, b)
                op(f'arith.select {c}, {a}, {b}', f'{MASK}, {TILE}')
        for b in positive:
            for name in ('divsi', 'divui', 'remsi', 'remui'):
                binary('arith.' + name, a, b)
        for b in small:
            for name in ('shli', 'shrsi', 'shrui'):
                binary('arith.' + name, a, b)
        wide = op(f'arith.extsi {a}', f'{TILE} to tensor<{N}xi64>')
        op(f'arith.trunci {wide}', f'tensor<{N}xi64> to {TILE}')
        op(f'arith.extui {a}', f'{TILE} to tensor<{N}xi64>')
        for type in ('i8', 'f32', 'i64'):
            pointers = op(f'tt.splat %{type}', f'!tt.ptr<{type}> -> tensor<{N}x!tt.ptr<{type}>>')
            one = op(f'tt.addptr {pointers}, {a}', f'tensor<{N}x!tt.ptr<{type}>>, {TILE}')
            op(f'tt.addptr {one}, {steps}', f'tensor<{N}x!tt.ptr<{type}>>, {TILE}')
        shapes(a)
        narrow(a)
    loops(first, steps, repeats, whole_of)
    lines.append(f'    tt.store %out, {pid} : !tt.ptr<i32>')


def narrow(a):
    """Cut to few bits, where it begins again from the least number, and widened."""
    for bits in (1, 8, 16):
        small = f'tensor<{N}xi{bits}>'
        cut = op(f'arith.trunci {a}', f'{TILE} to {small}')
        three = op('arith.constant dense<true>' if bits == 1 else 'arith.constant dense<3>', small)
        eight = op('arith.constant dense<false>' if bits == 1 else 'arith.constant dense<8>', small)
        for x in (cut, binary('arith.addi', cut, three, small), binary('arith.muli', cut, eight, small)):
            for name in ('extsi', 'extui'):
                wide = op(f'arith.{name} {x}', f'{small} to {TILE}')
                pointers = op(f'tt.splat %f32', f'!tt.ptr<f32> -> tensor<{N}x!tt.ptr<f32>>')
                op(f'tt.addptr {pointers}, {wide}', f'tensor<{N}x!tt.ptr<f32>>, {TILE}')
            pointers = op(f'tt.splat %f32', f'!tt.ptr<f32> -> tensor<{N}x!tt.ptr<f32>>')
            if bits > 1:
                op(f'tt.addptr {pointers}, {x}', f'tensor<{N}x!tt.ptr<f32>>, {small}')
            for p in ('slt', 'sge', 'ult', 'uge', 'sgt', 'ule'):
                lines.append(f'    %c{count}_{p} = arith.cmpi {p}, {x}, {eight} : {small}')
                lines.append(f'    %d{count}_{p} = arith.cmpi {p}, {eight}, {x} : {small}')
            if bits > 1:
                for name in ('divsi', 'divui', 'remsi', 'remui'):
                    binary('arith.' + name, x, eight, small)


def shapes(a):
    """A value as rows and columns, turned, repeated, put in other shapes."""
    row = op(f'tt.expand_dims {a} {{axis = 0 : i32}}', f'{TILE} -> tensor<1x{N}xi32>')
    column = op(f'tt.expand_dims {a} {{axis = 1 : i32}}', f'{TILE} -> tensor<{N}x1xi32>')
    both = [op(f'tt.broadcast {row}', f'tensor<1x{N}xi32> -> tensor<4x{N}xi32>'), op(f'tt.broadcast {column}', f'tensor<{N}x1xi32> -> tensor<{N}x4xi32>')]
    turned = op(f'tt.trans {both[0]} {{order = array<i32: 1, 0>}}', f'tensor<4x{N}xi32> -> tensor<{N}x4xi32>')
    binary('arith.addi', turned, both[1], f'tensor<{N}x4xi32>')
    for text in ('8x8', '16x4', '4x16', '2x4x8', '64x1', '1x64'):
        here = op(f'tt.reshape {a}', f'{TILE} -> tensor<{text}xi32>')
        op(f'tt.reshape {here}', f'tensor<{text}xi32> -> {TILE}')
    op(f'tt.reshape {turned}', f'tensor<{N}x4xi32> -> tensor<4x{N}xi32>')
    op(f'tt.reshape {both[0]}', f'tensor<4x{N}xi32> -> tensor<2x2x{N}xi32>')
    joined = op(f'tt.join {a}, {a}', f'{TILE} -> tensor<{N}x2xi32>')
    global count
    lines.append(f'    %s{count}, %t{count} = tt.split {joined} : tensor<{N}x2xi32> -> {TILE}')


def loops(first, steps, repeats, whole_of):
    """Values carried from round to round: what is known of them is what holds in every round."""
    for step in (1, 8, 12, 64):
        for begin in (first, steps, repeats, whole_of[0]):
            global count
            count += 1
            k = count
            lines.append(f'    %l{k} = arith.constant 0 : i32\n    %u{k} = arith.constant 5 : i32\n    %w{k} = arith.constant {step} : i32')
            add = whole_of[step]
            lines.append(f'    %r{k} = scf.for %i{k} = %l{k} to %u{k} step %w{k} iter_args(%c{k} = {begin}) -> ({TILE})  : i32 {{')
            spread = op(f'tt.splat %i{k}', f'i32 -> {TILE}')
            binary('arith.addi', spread, first)
            binary('arith.muli', spread, whole_of[8])
            moved = binary('arith.addi', f'%c{k}', add)
            lines.append(f'      scf.yield {moved} : {TILE}\n    }}')
            binary('arith.addi', f'%r{k}', first)


main()
print('//! grid 3 1\n//! scalar i32 37\n//! scalar i32 48\n//! buffer i8 64 ints -8 8\n//! buffer f32 64 ints -8 8\n'
      '//! buffer i64 64 ints -8 8\n//! buffer i32 1 ints 0 1')
print('module {\n  tt.func public @facts(%n: i32, %aligned: i32 {tt.divisibility = 16 : i32}, %i8: !tt.ptr<i8> {tt.divisibility = 16 : i32}, '
      '%f32: !tt.ptr<f32>, %i64: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32>) {')
print('\n'.join(lines))
print('    tt.return\n  }\n}')
