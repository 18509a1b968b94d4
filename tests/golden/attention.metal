// attention: from @attention (attention.py:10)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 32 x 32 elements, 16 a thread, 4 of them neighbours
//   memory   9728 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void attention(
    device const half *q_ptr   [[buffer(0)]],
    device const half *k_ptr   [[buffer(1)]],
    device const half *v_ptr   [[buffer(2)]],
    device half *out_ptr       [[buffer(3)]],
    constant float &scale      [[buffer(4)]],
    constant int &n_ctx        [[buffer(5)]],
    constant uint &stride_head [[buffer(6)]],
    constant uint &stride_row  [[buffer(7)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    threadgroup half4 q_shared[320];
    threadgroup half4 k_shared[320];
    threadgroup half4 v_shared[320];
    threadgroup half shared[1024];
    const uint q_pitch = 40;    // elements from row to row
    const uint k_pitch = 40;    // elements from row to row
    const uint v_pitch = 40;    // elements from row to row

    // line 12: head
    const int head = int(program.y * stride_head);
    device const half *const q_start = q_ptr + head;
    half4 q[4];
    // line 13: m
    const uint m = lane % 8 * 4;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        const uint m_offset = program.x * 32 + tid / 8 + i * 8;
        // line 16: q = tl.load
        q[i] = int(m_offset) < n_ctx
                ? *(device const half4 *)(q_start + int(m_offset * stride_row) + m) : half4(0.0h);
    }
    simdgroup_float8x8 acc[8];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            acc[j + i * 4].thread_elements()[0] = 0.0f;
            acc[j + i * 4].thread_elements()[1] = 0.0f;
        }
    }
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // line 27: scores = tl.dot
        q_shared[(tid / 8 + i * 8) * (q_pitch / 4) + lane % 8] = q[i];
    }
    // line 21: scale_log2
    const float scale_log2 = scale * 1.442695f;
    float row_max[2] = {-INFINITY, -INFINITY};
    float row_sum[2] = {};
    device const half *const k_start = k_ptr + head;
    device const half *const v_start = v_ptr + head;
    // line 22: for
    for (uint start = 0; start < uint(max(int((program.x + 1) * 32), 0)); start += 32) {
        half4 k[4];
        half4 v[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // line 23: cols
            const uint cols = start + tid / 8 + i * 8;
            // line 24: inside
            const bool inside = int(cols) < n_ctx;
            // line 25: k = tl.load
            k[i] = inside ? *(device const half4 *)(k_start + int(cols * stride_row) + m)
                    : half4(0.0h);
            // line 26: v = tl.load
            v[i] = inside ? *(device const half4 *)(v_start + int(cols * stride_row) + m)
                    : half4(0.0h);
        }
        simdgroup_float8x8 scores[8];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 8; i++) {
            scores[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            k_shared[(tid / 8 + i * 8) * (k_pitch / 4) + lane % 8] = k[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // q_shared is complete
        simdgroup_half8x8 a_tile[2];
        simdgroup_half8x8 b_tile[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                simdgroup_load(a_tile[j],
                        (const threadgroup half *)q_shared + ((sg * 16 + j * 8) * q_pitch + i * 8),
                        q_pitch);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                simdgroup_load(b_tile[j],
                        (const threadgroup half *)k_shared + (j * 8 * k_pitch + i * 8), k_pitch,
                        ulong2(0, 0), true);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                #pragma clang loop unroll(full)
                for (uint l = 0; l < 4; l++) {
                    simdgroup_multiply_accumulate(scores[j * 4 + l], a_tile[j], b_tile[l],
                            scores[j * 4 + l]);
                }
            }
        }
        float2 scores_chosen[8];
        float2 new_max_part[2] = {float2(NAN), float2(NAN)};
        float new_max[2];
        float shrink[2];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            const int m_sum = int(program.x * 32 + (lane / 2 % 4 + lane / 16 * 4 + sg * 16)
                    + i * 8);
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                const float2 scores_held = float2(scores[j + i * 4].thread_elements()[0],
                        scores[j + i * 4].thread_elements()[1]);
                const uint2 m_bound = uint2(lane % 2 * 2 + lane / 8 % 2 * 4 + j * 8,
                        lane % 2 * 2 + lane / 8 % 2 * 4 + 1 + j * 8);
                const int2 cols = int2(uint2(start) + m_bound);
                // line 28: scores = tl.where
                scores_chosen[j + i * 4] = select(float2(-INFINITY), scores_held * scale_log2,
                        (int2(m_sum) >= cols) & (cols < int2(n_ctx)));
                // line 29: new_max = tl.max
                new_max_part[i] = fmax(new_max_part[i], scores_chosen[j + i * 4]);
            }
            const float new_max_part_2 = fmax(new_max_part[i].x, new_max_part[i].y);
            const float new_max_part_3 = fmax(new_max_part_2, simd_shuffle_xor(new_max_part_2, 8));
            new_max[i] = fmax(row_max[i],
                    fmax(new_max_part_3, simd_shuffle_xor(new_max_part_3, 1)));
            // line 31: shrink = tl.exp2
            shrink[i] = fast::exp2(row_max[i] - new_max[i]);
            // line 32: row_sum
            row_sum[i] *= shrink[i];
        }
        float2 row_sum_part[2] = {float2(-0.0f), float2(-0.0f)};
        half2 acc_f16[8];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                // line 30: weights = tl.exp2
                const float2 weights = fast::exp2(scores_chosen[j + i * 4] - new_max[i]);
                row_sum_part[i] += weights;
                // line 33: acc
                acc_f16[j + i * 4] = half2(weights);
                const float2 acc_product = float2(acc[j + i * 4].thread_elements()[0],
                        acc[j + i * 4].thread_elements()[1]) * shrink[i];
                acc[j + i * 4].thread_elements()[0] = acc_product.x;
                acc[j + i * 4].thread_elements()[1] = acc_product.y;
            }
            const float row_sum_part_2 = row_sum_part[i].x + row_sum_part[i].y;
            const float row_sum_part_3 = row_sum_part_2 + simd_shuffle_xor(row_sum_part_2, 8);
            row_sum[i] += row_sum_part_3 + simd_shuffle_xor(row_sum_part_3, 1);
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            v_shared[(tid / 8 + i * 8) * (v_pitch / 4) + lane % 8] = v[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // v_shared is complete
        simdgroup_half8x8 a_tile_2[2];
        simdgroup_half8x8 b_tile_2[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                a_tile_2[j].thread_elements()[0] = acc_f16[i + j * 4][0];
                a_tile_2[j].thread_elements()[1] = acc_f16[i + j * 4][1];
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                simdgroup_load(b_tile_2[j],
                        (const threadgroup half *)v_shared + (i * 8 * v_pitch + j * 8), v_pitch);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                #pragma clang loop unroll(full)
                for (uint l = 0; l < 4; l++) {
                    simdgroup_multiply_accumulate(acc[j * 4 + l], a_tile_2[j], b_tile_2[l],
                            acc[j * 4 + l]);
                }
            }
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // line 34
            row_max[i] = new_max[i];
        }
    }
    const uint slot = lane % 2 * 2 + lane / 2 % 4 * 32 + lane / 8 % 2 * 4 + lane / 16 * 128
            + sg * 512;
    const uint slot_2 = ((lane / 4 % 2 + lane / 16 * 2) * 8) ^ (lane / 4 % 2 * 2);
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            // line 36: out
            const float2 out = float2(acc[j + i * 4].thread_elements()[0],
                    acc[j + i * 4].thread_elements()[1]) / row_sum[i];
            const half2 value = half2(out);
            // line 37
            shared[(i * 256 + slot + j * 8) ^ slot_2] = value.x;
            shared[(slot + 1 + i * 256 + j * 8) ^ slot_2] = value.y;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    device half *const out_start = out_ptr + head;
    const uint slot_3 = (tid / 16 * 8) ^ (lane / 16 * 2);
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        const half4 value = half4(shared[(tid * 4 + i * 256) ^ slot_3],
                shared[(tid * 4 + 1 + i * 256) ^ slot_3], shared[(tid * 4 + 2 + i * 256) ^ slot_3],
                shared[(tid * 4 + 3 + i * 256) ^ slot_3]);
        const uint m_offset = program.x * 32 + tid / 8 + i * 8;
        if (int(m_offset) < n_ctx) {
            *(device half4 *)(out_start + int(m_offset * stride_row) + m) = value;
        }
    }
}
