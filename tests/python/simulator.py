"""The Metal simulator for the stand-ins of torch and mlx: build/python-sim, by its standard input and output."""
import os
import struct
import subprocess


class Refused(Exception):
    """What the simulator says of a text, of a launch or of a result."""


_process = None


def _ask(head, parts=()):
    global _process
    if _process is None:
        path = os.environ.get("PYTHON_SIM", os.path.join(os.path.dirname(__file__), "../../build/python-sim"))
        _process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    _process.stdin.write(head.encode() + b"\n" + b"".join(parts))
    _process.stdin.flush()
    words = _process.stdout.readline().decode().split()
    if not words:
        raise RuntimeError("the simulator has ended")
    if words[0] == "error":
        raise Refused(_process.stdout.read(int(words[1])).decode())
    return words


def compile(text, version, threads=0):
    """Metal text -> number of the library and {kernel: its max_total_threads, 0 if it says none}."""
    data = text.encode("ascii")
    words = _ask(f"compile {version} {threads} {len(data)}", [data])
    names = _process.stdout.read(int(words[2])).decode().split()
    return int(words[1]), dict(zip(names[::2], map(int, names[1::2])))


class Memory:
    """A buffer of the GPU: its bytes, and whether anything was ever written there."""

    def __init__(self, size, data=None):
        self.defined = data is not None
        self.data = bytearray(data if self.defined else b"\xcd" * size)


def run(library, kernel, groups, threads, bindings):
    """bindings: {index: bytes or (Memory, offset, writable)}."""
    head = f"run {library} {kernel} {' '.join(map(str, groups))} {' '.join(map(str, threads))} {len(bindings)}"
    parts, placed, order = [], {}, []
    for at, (index, b) in enumerate(sorted(bindings.items())):
        if isinstance(b, bytes):
            parts += [f"bytes {index} {len(b)}\n".encode(), b]
            continue
        memory, offset, writable = b
        of = placed.setdefault(id(memory), at)
        parts.append(f"memory {index} {offset} {len(memory.data)} {int(memory.defined)} {int(writable)} "
                     f"{'-' if of == at else of}\n".encode())
        if of == at:
            order.append(memory)
            parts.append(bytes(memory.data) if memory.defined else b"\n"[:0])
    _ask(head, parts)
    for memory in order:
        memory.data[:] = _process.stdout.read(len(memory.data))
        memory.defined = True


def read_case(path):
    """A .case as lists of words."""
    data = path.encode()
    words = _ask(f"read {len(data)}", [data])
    return [line.split() for line in _process.stdout.read(int(words[1])).decode().splitlines()]


def judge(path, buffers):
    """buffers: (bytes, written) each; raises Refused where one is not as recorded."""
    data = path.encode()
    parts = [data]
    for b, written in buffers:
        parts += [f"\n{len(b)} {int(written)}\n".encode(), b]
    _ask(f"judge {len(data)} {len(buffers)}", parts)


# How numbers lie in memory, by the names that both libraries use: bytes, and what struct calls them.
FORMATS = {"bool": (1, "?"), "int8": (1, "b"), "uint8": (1, "B"), "int16": (2, "h"), "uint16": (2, "H"),
           "int32": (4, "i"), "uint32": (4, "I"), "int64": (8, "q"), "uint64": (8, "Q"),
           "float16": (2, "e"), "bfloat16": (2, None), "float32": (4, "f"), "float64": (8, "d"),
           "float8_e5m2": (1, None), "float8_e4m3fn": (1, None)}


def flatten(values):
    """The shape of nested lists, the first number in them, and all numbers in one list; a number has no shape."""
    shape, first = [], values
    while isinstance(first, (list, tuple)):
        shape.append(len(first))
        first = first[0] if len(first) else 0
    for _ in shape[1:]:
        values = [v for row in values for v in row]
    return shape, first, values


def pack(values, dtype):
    values = list(values)
    if dtype == "bfloat16":
        words = [struct.unpack("<I", struct.pack("<f", v))[0] for v in values]
        return b"".join(struct.pack("<H", w >> 16 if v != v else (w + 0x7fff + (w >> 16 & 1)) >> 16)
                        for v, w in zip(values, words))
    return struct.pack(f"<{len(values)}{FORMATS[dtype][1]}", *values)


def unpack(data, dtype):
    size, letter = FORMATS[dtype]
    if dtype == "bfloat16":
        return [struct.unpack("<f", struct.pack("<I", w << 16))[0] for w in unpack(data, "uint16")]
    return list(struct.unpack(f"<{len(data) // size}{letter}", data))
