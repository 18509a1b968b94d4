// Every built-in input, in several spellings.
// launch 2 3 4 threads 64
// buffer 0 u32 24 zero
// want 0 u32 64
#include <metal_stdlib>
using namespace metal;

[[kernel, max_total_threads_per_threadgroup(64)]] void inputs(
    device atomic_uint *ok [[buffer(0)]],
    uint3 pid [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]],
    uint3 tid [[thread_position_in_threadgroup]], uint3 size [[threads_per_threadgroup]], uint3 asked [[dispatch_threads_per_threadgroup]],
    uint3 gid [[thread_position_in_grid]], uint3 total [[threads_per_grid]], uint index [[thread_index_in_threadgroup]],
    ushort lane [[thread_index_in_simdgroup]], ushort group [[simdgroup_index_in_threadgroup]], ushort width [[threads_per_simdgroup]],
    ushort simdgroups [[simdgroups_per_threadgroup]], ushort which [[quadgroup_index_in_threadgroup]], ushort corner [[thread_index_in_quadgroup]]) {
    bool good = groups.x == 2 && groups.y == 3 && groups.z == 4 && size.x == 64 && size.y == 1 && asked.x == 64;
    good = good && tid.x == index && tid.y == 0 && gid.x == pid.x * 64 + index && gid.y == pid.y && gid.z == pid.z;
    good = good && total.x == 128 && total.y == 3 && lane == index % 32 && group == index / 32 && width == 32 && simdgroups == 2;
    good = good && which == index / 4 && corner == index % 4;
    if (good) atomic_fetch_add_explicit(&ok[(pid.z * 3 + pid.y) * 2 + pid.x], 1u, memory_order_relaxed);
}
