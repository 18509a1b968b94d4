// attention: from @attention (attention.py:10)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 32 x 32 elements, 16 a thread, 4 of them neighbours
//   memory   9984 bytes of threadgroup memory
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
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup half4 q_shared[320];
    threadgroup half4 k_shared[320];
    threadgroup half4 v_shared[320];
    threadgroup half shared[1152];

    // attention.py:12  head
    const int head = int(program.y * stride_head);
    // attention.py:13  m
    const uint m = program.x * 32;
    // attention.py:16  q
    device const half *const q_2 = q_ptr + head;
    half4 q[4];
    // attention.py:13  m
    const uint index = tid / 8;
    const uint offset = m + index;
    const uint index_2 = lane % 8;
    const uint m_2 = index_2 * 4;
    // attention.py:16  q = tl.load
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // attention.py:13  m
        const uint m_3 = offset + i * 8;
        // attention.py:16  q = tl.load
        const half4 q_3 = int(m_3) < n_ctx ? *(device const half4 *)(q_2 + int(m_3 * stride_row) + m_2) : half4(0.0h);
        q[i] = q_3;
    }
    // attention.py:22  acc = for
    float row_max[2];
    float row_sum[2];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        row_max[i] = -INFINITY;
        row_sum[i] = 0.0f;
    }
    simdgroup_float8x8 acc[8];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        const int index_3 = i * 4;
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            const int index_4 = j + index_3;
            acc[index_4].thread_elements()[0] = 0.0f;
            acc[index_4].thread_elements()[1] = 0.0f;
        }
    }
    // attention.py:27  scores = tl.dot
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        q_shared[(index + i * 8) * 10 + index_2] = q[i];
    }
    // attention.py:21  scale_log2
    const float scale_log2 = scale * 1.442695f;
    // attention.py:25  k
    device const half *const k_2 = k_ptr + head;
    // attention.py:26  v
    device const half *const v_2 = v_ptr + head;
    // attention.py:27  scores = tl.dot
    const uint index_3 = group * 16;
    // attention.py:13  m
    const uint index_4 = lane / 2 % 4;
    const uint index_5 = lane / 16;
    const uint offset_2 = m + (index_4 + index_5 * 4 + index_3);
    const uint index_6 = lane % 2 * 2;
    const uint index_7 = lane / 8 % 2 * 4;
    const uint index_8 = index_6 + index_7;
    const uint index_9 = index_8 + 1;
    // attention.py:22  acc = for
    for (uint start = 0; start < uint(max(int((program.x + 1) * 32), 0)); start += 32) {
        // attention.py:25  k = tl.load
        half4 k[4];
        // attention.py:23  cols
        const uint offset_3 = start + index;
        // attention.py:25  k = tl.load
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // attention.py:23  cols
            const uint cols = offset_3 + i * 8;
            // attention.py:25  k = tl.load
            const half4 k_3 = int(cols) < n_ctx ? *(device const half4 *)(k_2 + int(cols * stride_row) + m_2) : half4(0.0h);
            k[i] = k_3;
        }
        // attention.py:26  v = tl.load
        half4 v[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // attention.py:23  cols
            const uint cols = offset_3 + i * 8;
            // attention.py:26  v = tl.load
            const half4 v_3 = int(cols) < n_ctx ? *(device const half4 *)(v_2 + int(cols * stride_row) + m_2) : half4(0.0h);
            v[i] = v_3;
        }
        // attention.py:27  scores = tl.dot
        simdgroup_float8x8 scores[8];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 8; i++) {
            scores[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            k_shared[(index + i * 8) * 10 + index_2] = k[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // q_shared is complete
        simdgroup_half8x8 a_tile[2];
        simdgroup_half8x8 b_tile[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            const int index_10 = i * 8;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                simdgroup_load(a_tile[j], (const threadgroup half *)q_shared + ((index_3 + j * 8) * 40 + index_10), 40);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                simdgroup_load(b_tile[j], (const threadgroup half *)k_shared + (j * 8 * 40 + index_10), 40, ulong2(0, 0), true);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                const int index_11 = j * 4;
                #pragma clang loop unroll(full)
                for (uint l = 0; l < 4; l++) {
                    simdgroup_multiply_accumulate(scores[index_11 + l], a_tile[j], b_tile[l], scores[index_11 + l]);
                }
            }
        }
        // attention.py:29  new_max = tl.max
        float2 new_max[2];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            new_max[i] = float2(NAN);
        }
        // attention.py:28  scores = tl.where
        float2 scores_2[8];
        // attention.py:29  new_max = tl.max
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // attention.py:27  scores = tl.dot
            const int index_10 = i * 4;
            // attention.py:13  m
            const int m_3 = int(offset_2 + i * 8);
            // attention.py:29  new_max = tl.max
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                // attention.py:27  scores = tl.dot
                const int index_11 = j + index_10;
                // attention.py:13  m
                const int index_12 = j * 8;
                // attention.py:23  cols
                const int2 cols = int2(uint2(start) + uint2(index_8 + index_12, index_9 + index_12));
                // attention.py:28  scores = tl.where
                const float2 scores_3 = select(float2(-INFINITY), float2(scores[index_11].thread_elements()[0], scores[index_11].thread_elements()[1]) * scale_log2, (int2(m_3) >= cols) & (cols < int2(n_ctx)));
                scores_2[index_11] = scores_3;
                // attention.py:29  new_max = tl.max
                new_max[i] = fmax(new_max[i], scores_3);
            }
        }
        float new_max_2[2];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            const float2 new_max_4 = new_max[i];
            const float new_max_5 = fmax(new_max_4.x, new_max_4.y);
            const float other = simd_shuffle_xor(new_max_5, 8);
            const float new_max_6 = fmax(new_max_5, other);
            const float other_2 = simd_shuffle_xor(new_max_6, 1);
            new_max_2[i] = fmax(new_max_6, other_2);
        }
        float new_max_3[2];
        // attention.py:31  shrink = tl.exp2
        float shrink[2];
        // attention.py:32  row_sum
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // attention.py:29  new_max = tl.maximum
            const float row_max_2 = row_max[i];
            const float new_max_4 = fmax(row_max_2, new_max_2[i]);
            new_max_3[i] = new_max_4;
            // attention.py:31  shrink = tl.exp2
            const float shrink_2 = fast::exp2(row_max_2 - new_max_4);
            shrink[i] = shrink_2;
            // attention.py:32  row_sum
            row_sum[i] *= shrink_2;
        }
        float2 row_sum_2[2];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            row_sum_2[i] = float2(-0.0f);
        }
        // attention.py:33  acc
        half2 acc_2[8];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // attention.py:28  scores = tl.where
            const int index_10 = i * 4;
            // attention.py:33  acc
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                // attention.py:28  scores = tl.where
                const int index_11 = j + index_10;
                // attention.py:30  weights = tl.exp2
                const float2 weights = fast::exp2(scores_2[index_11] - new_max_3[i]);
                // attention.py:32  row_sum = tl.sum
                row_sum_2[i] += weights;
                // attention.py:33  acc
                acc_2[index_11] = half2(weights);
                const float2 acc_3 = float2(acc[index_11].thread_elements()[0], acc[index_11].thread_elements()[1]) * shrink[i];
                acc[index_11].thread_elements()[0] = acc_3.x;
                acc[index_11].thread_elements()[1] = acc_3.y;
            }
        }
        // attention.py:32  row_sum = tl.sum
        float row_sum_3[2];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            const float2 row_sum_4 = row_sum_2[i];
            const float row_sum_5 = row_sum_4.x + row_sum_4.y;
            const float other = simd_shuffle_xor(row_sum_5, 8);
            const float row_sum_6 = row_sum_5 + other;
            const float other_2 = simd_shuffle_xor(row_sum_6, 1);
            row_sum_3[i] = row_sum_6 + other_2;
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            row_sum[i] += row_sum_3[i];
        }
        // attention.py:33  acc = tl.dot
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            v_shared[(index + i * 8) * 10 + index_2] = v[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // v_shared is complete
        simdgroup_half8x8 a_tile_2[2];
        simdgroup_half8x8 b_tile_2[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                const int index_10 = i + j * 4;
                a_tile_2[j].thread_elements()[0] = acc_2[index_10][0];
                a_tile_2[j].thread_elements()[1] = acc_2[index_10][1];
            }
            const int index_10 = i * 8 * 40;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                simdgroup_load(b_tile_2[j], (const threadgroup half *)v_shared + (index_10 + j * 8), 40);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                const int index_11 = j * 4;
                #pragma clang loop unroll(full)
                for (uint l = 0; l < 4; l++) {
                    simdgroup_multiply_accumulate(acc[index_11 + l], a_tile_2[j], b_tile_2[l], acc[index_11 + l]);
                }
            }
        }
        // attention.py:34
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            row_max[i] = new_max_3[i];
        }
    }
    // attention.py:37
    const uint index_10 = index_6 + index_4 * 32 + index_7 + index_5 * 128;
    const uint index_11 = index_10 + group * 512;
    const uint index_12 = lane / 4 % 2 + index_5 * 2 + group * 8;
    const uint index_13 = index_11 + 1;
    // attention.py:22  acc = for
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        const int index_14 = i * 4;
        // attention.py:37
        const int index_15 = i * 256;
        const uint index_16 = (index_12 + index_14) * 8;
        const uint index_17 = index_16 + (index_15 + index_11);
        const uint index_18 = index_16 + (index_13 + index_15);
        // attention.py:22  acc = for
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            const int index_19 = j + index_14;
            // attention.py:37
            const half2 value = half2(float2(acc[index_19].thread_elements()[0], acc[index_19].thread_elements()[1]) / row_sum[i]);
            const int index_20 = j * 8;
            shared[index_17 + index_20] = value.x;
            shared[index_18 + index_20] = value.y;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    device half *const ptr = out_ptr + head;
    const uint index_14 = tid * 4;
    const uint index_15 = tid / 16;
    const uint index_16 = index_14 + 1;
    const uint index_17 = index_14 + 2;
    const uint index_18 = index_14 + 3;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        const int index_19 = i * 256;
        const uint index_20 = (index_15 + i * 4) * 8;
        const half value = shared[index_14 + index_19 + index_20];
        const half value_2 = shared[index_16 + index_19 + index_20];
        const half value_3 = shared[index_17 + index_19 + index_20];
        const half value_4 = shared[index_18 + index_19 + index_20];
        // attention.py:13  m
        const uint m_3 = offset + i * 8;
        // attention.py:37  tl.store
        if (int(m_3) < n_ctx) {
            *(device half4 *)(ptr + int(m_3 * stride_row) + m_2) = half4(value, value_2, value_3, value_4);
        }
    }
}
