#!/usr/bin/env python3
"""A PNG of eight bits a channel as one of at most 256 colours: smaller.py IN.png OUT.png"""
import struct
import sys
import zlib


def read(path):
    data, at, parts = open(path, "rb").read(), 8, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR": width, height, bits, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        if kind == b"IDAT": parts += data[at + 8:at + 8 + n]
        at += 12 + n
    assert bits == 8 and colour in (2, 6)
    step = 3 if colour == 2 else 4
    raw, rows, above, size = zlib.decompress(parts), [], bytearray(width * step), width * step
    for y in range(height):
        how, row = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1:(y + 1) * (size + 1)])
        for i in range(size):
            a, b, c = row[i - step] if i >= step else 0, above[i], above[i - step] if i >= step else 0
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            row[i] = row[i] + (0, a, b, (a + b) // 2, a if pa <= pb and pa <= pc else b if pb <= pc else c)[how] & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, size, step)])
        above = row
    return width, height, rows


def main():
    width, height, rows = read(sys.argv[1])
    count = {}
    for row in rows:
        for c in row: count[c] = count.get(c, 0) + 1
    palette = sorted(count, key=lambda c: (-count[c], c))[:64]   # the commonest; the rest goes to the nearest of them
    for c in sorted(count, key=lambda c: (-count[c], c)):
        if len(palette) == 256: break
        if all(sum((x - y) ** 2 for x, y in zip(c, p)) > 400 for p in palette): palette.append(c)
    near = {c: min(range(len(palette)), key=lambda i: sum((x - y) ** 2 for x, y in zip(c, palette[i]))) for c in count}
    body = b"".join(b"\0" + bytes(near[c] for c in row) for row in rows)

    def part(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    open(sys.argv[2], "wb").write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) +
        part(b"PLTE", b"".join(bytes(c) for c in palette)) + part(b"IDAT", zlib.compress(body, 9)) + part(b"IEND", b""))


main()
