"""Runs mapped kernels on the GPU by their launch plan: the CUDA driver through ctypes, buffers and streams from PyTorch."""
import ctypes, struct
import torch

cuda = None  # the driver, opened when it is first called


def call(name, *args):
    global cuda
    cuda = cuda or ctypes.CDLL('libcuda.so.1')
    code = getattr(cuda, name)(*args)
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(code, ctypes.byref(text))
        raise RuntimeError('%s: %s' % (name, (text.value or b'?').decode()))


def load(cubin, entries):
    """Functions by name."""
    module = ctypes.c_void_p()
    with open(cubin, 'rb') as f:
        call('cuModuleLoadData', ctypes.byref(module), f.read())
    found = {}
    for e in entries:
        found[e] = ctypes.c_void_p()
        call('cuModuleGetFunction', ctypes.byref(found[e]), module, e.encode())
    return found


FORMATS = {'i1': '?', 'i8': 'b', 'i16': 'h', 'i32': 'i', 'i64': 'q', 'f16': 'e', 'f32': 'f', 'f64': 'd'}


def encode(value, kind, size):
    if kind in ('i8', 'i16', 'i32', 'i64'):
        return (int(value) & (1 << 8 * size) - 1).to_bytes(size, 'little')
    return struct.pack('<' + FORMATS[kind], value)


def triple(x):
    if isinstance(x, dict):
        return (x.get('x', 1), x.get('y', 1), x.get('z', 1))
    if isinstance(x, list):
        return tuple((x + [1, 1])[:3])
    return (x, 1, 1)


def packed(kernel, params, grid):
    """Bytes of each constant buffer by index, as the plan packs them; grid is the Triton launch's."""
    found = {}
    for a in kernel['args']:
        if a['kind'] == 'bytes':
            data = encode(params[a['param']], a['type'], a['size'])
        elif a['kind'] == 'programs':
            data = struct.pack('<i', grid[a['param']])
        elif a['kind'] == 'padding':
            data = struct.pack('<i', 0)
        elif a['kind'] == 'address':
            data = struct.pack('<Q', params[a['param']].data_ptr())
        else:
            continue
        at = a.get('offset', 0)
        b = found.setdefault(a['index'], bytearray())
        end = (at + len(data) + 7) // 8 * 8 if at else len(data)
        b.extend(bytes(max(0, end - len(b))))
        b[at:at + len(data)] = data
    return found


class Program:
    """A plan with its compiled kernels. `made` is [(cubin, description)] in the order of the plan's kernels."""

    def __init__(self, plan, made, threads=None, grid=None):
        self.plan, self.threads, self.fixed_grid = plan, threads, grid
        self.kernels = []
        for kernel, (cubin, about) in zip(plan['kernels'], made):
            self.kernels.append((kernel, load(cubin, [about['entry']])[about['entry']], about))

    def bind(self, params, grid):
        """Launches for these parameters: call each with a stream. Memory that they point to is kept."""
        kept, launches = [], []
        programs = grid[0] * grid[1] * grid[2]
        scratch = {s['id']: torch.zeros(max(1, s['bytes'] + programs * s.get('program_bytes', 0)), dtype=torch.uint8, device='cuda')
                   for s in self.plan.get('scratch', [])}
        to_clear = [scratch[s['id']] for s in self.plan.get('scratch', []) if s.get('zero')]
        for kernel, function, about in self.kernels:
            values = packed(kernel, params, grid)
            at = {}
            for a in kernel['args']:
                if a['kind'] == 'buffer':
                    at[a['index']] = params[a['param']].data_ptr()
                elif a['kind'] == 'scratch':
                    at[a['index']] = scratch[a['id']].data_ptr()
                elif a['kind'] == 'debug':
                    kept.append(torch.zeros(a.get('bytes', a.get('size', 4)), dtype=torch.uint8, device='cuda'))
                    at[a['index']] = kept[-1].data_ptr()
            slots = []
            for a in about['arguments']:
                if a['kind'] == 'buffer':
                    slots.append(ctypes.c_uint64(at[a['index']]))
                elif a['kind'] == 'value':
                    data = bytes(values[a['index']])
                    slots.append((ctypes.c_uint8 * max(8, len(data)))(*data))
            pointers = (ctypes.c_void_p * max(1, len(slots)))(*[ctypes.cast(ctypes.byref(s), ctypes.c_void_p) for s in slots])
            g = self.fixed_grid or (grid if kernel['grid'] == 'program' else triple(kernel['grid']))
            if not self.fixed_grid:
                g = (-(-g[0] // kernel.get('programs_per_threadgroup', 1)),) + tuple(g[1:])
            times = triple(kernel.get('grid_times', [1, 1, 1]))
            g = tuple(x * y for x, y in zip(g, times))
            t = (self.threads, 1, 1) if self.threads else triple(kernel['threads_per_threadgroup'])
            dynamic = kernel.get('dynamic_threadgroup_bytes', [])
            shared = sum(d['bytes'] if isinstance(d, dict) else d for d in dynamic)
            kept.append((slots, pointers))
            launches.append((function, g, t, shared, pointers))
        kept.append(scratch)
        kept.append(params)

        def launch(kept=kept):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            for s in to_clear:
                s.zero_()
            for function, g, t, shared, pointers in launches:
                call('cuLaunchKernel', function, *[ctypes.c_uint(x) for x in g + t], ctypes.c_uint(shared), stream, pointers, None)
        return launch


def median_time(launches, least_ms=3.0, rounds=7):
    """Milliseconds of one launch: all of them in turn, over and over, in a graph; the median of some rounds,
    the least one of up to four medians where rounds differ."""
    for f in launches[:2]:
        f()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for f in launches[:4]:
        f()
    end.record()
    torch.cuda.synchronize()
    once = max(1e-3, begin.elapsed_time(end) / min(4, len(launches)))
    n = max(4, min(256, int(least_ms / once)), min(len(launches), 64))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode='thread_local'):  # other threads compile meanwhile
        for i in range(n):
            launches[i % len(launches)]()
    graph.replay()
    best = None
    for _ in range(4):  # again while the rounds differ by more than 5 %: something else ran
        times = []
        for _ in range(rounds):
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) / n)
        times.sort()
        middle = times[len(times) // 2]
        best = middle if best is None else min(best, middle)
        if times[-2] < 1.05 * times[1]:
            break
    del graph
    return best
