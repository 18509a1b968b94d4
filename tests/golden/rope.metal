// rope: from @rope (rope.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 16 elements, 1 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void rope(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant uint &n_heads    [[buffer(2)]],
    constant float &base      [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]])
{
    // line 16: start = (position * n_heads + head) * 32
    const uint start = (program.x * n_heads + program.y) * 32;
    // line 12: i = tl.arange(0, 16)
    const uint i = lane % 16;
    // line 17: low = tl.load(x_ptr + start + i)
    const float low = x_ptr[int(start + i)];
    // line 18: high = tl.load(x_ptr + start + 16 + i)
    const float high = x_ptr[int(start + (i + 16))];
    // in place, other threads read what is written next
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // line 13: angle = position * tl.exp((0.0 - tl.log(base)) * i / 16.0)
    const float angle = float(program.x)
            * fast::exp((0.0f - precise::log(base)) * float(i) / 16.0f);
    // line 14: cos = tl.cos(angle)
    const float cos_ = precise::cos(angle);
    // line 15: sin = tl.sin(angle)
    const float sin_ = precise::sin(angle);
    if (tid < 16) {
        // line 19: tl.store(out_ptr + start + i, low * cos - high * sin)
        out_ptr[int(start + i)] = low * cos_ - high * sin_;
        // line 20: tl.store(out_ptr + start + 16 + i, high * cos + low * sin)
        out_ptr[int(start + (i + 16))] = high * cos_ + low * sin_;
    }
}
