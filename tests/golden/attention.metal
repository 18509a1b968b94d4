// attention: from @attention (attention.py:10)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 32 x 32 elements, 16 a thread, 4 of them neighbours
//   memory   8320 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
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
    threadgroup half q_shared[1280];
    threadgroup half k_shared[1280];
    threadgroup float new_max_shared[32];
    threadgroup float new_max_shared_2[32];
    threadgroup float shrink_shared[32];
    threadgroup float row_sum_shared[32];
    threadgroup half v_shared[1280];
    threadgroup float acc_shared[32];

    // attention.py:12  head
    const int head = int(program.y * stride_head);
    // attention.py:13  m
    const uint m = program.x * 32;
    // attention.py:16  q
    device const half *const q_2 = q_ptr + head;
    half4 q[4];
    // attention.py:13  m
    const uint idx = tid / 8;
    const uint idx_2 = m + idx;
    const uint m_2 = lane % 8 * 4;
    // attention.py:16  q = tl.load
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // attention.py:13  m
        const uint m_3 = idx_2 + i * 8;
        // attention.py:16  q = tl.load
        const half4 q_3 = int(m_3) < n_ctx ? *(device const half4 *)(q_2 + int(m_3 * stride_row) + m_2) : half4(0.0h);
        q[i] = q_3;
    }
    // attention.py:22  acc = for
    float row_max_23;
    row_max_23 = -INFINITY;
    float row_sum_24;
    row_sum_24 = 0.0f;
    simdgroup_float8x8 acc_25[8];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        const int idx_3 = i * 4;
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            const int idx_4 = j + idx_3;
            acc_25[idx_4].thread_elements()[0] = 0.0f;
            acc_25[idx_4].thread_elements()[1] = 0.0f;
        }
    }
    // attention.py:21  scale_log2
    const float scale_log2 = scale * 1.442695f;
    // attention.py:25  k
    device const half *const k_2 = k_ptr + head;
    // attention.py:26  v
    device const half *const v_2 = v_ptr + head;
    // attention.py:27  scores = tl.dot
    const uint idx_5 = group * 16;
    // attention.py:13  m
    const uint idx_6 = lane / 2 % 4 + lane / 16 * 4;
    const uint idx_7 = idx_6 + idx_5;
    const uint idx_8 = m + idx_7;
    const uint idx_9 = lane % 2 * 2 + lane / 8 % 2 * 4;
    const uint idx_10 = idx_9 + 1;
    // attention.py:29  new_max = tl.max
    const bool is_set = (lane & 9) == 0;
    const bool is_set_2 = tid < 32;
    // attention.py:22  acc = for
    for (uint start = 0; start < uint(max(int((program.x + 1) * 32), 0)); start += 32) {
        // attention.py:25  k = tl.load
        half4 k[4];
        // attention.py:23  cols
        const uint idx_11 = start + idx;
        // attention.py:25  k = tl.load
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // attention.py:23  cols
            const uint cols = idx_11 + i * 8;
            // attention.py:25  k = tl.load
            const half4 k_3 = int(cols) < n_ctx ? *(device const half4 *)(k_2 + int(cols * stride_row) + m_2) : half4(0.0h);
            k[i] = k_3;
        }
        // attention.py:26  v = tl.load
        half4 v[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // attention.py:23  cols
            const uint cols_2 = idx_11 + i * 8;
            // attention.py:26  v = tl.load
            const half4 v_3 = int(cols_2) < n_ctx ? *(device const half4 *)(v_2 + int(cols_2 * stride_row) + m_2) : half4(0.0h);
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
            const uint idx_12 = (idx + i * 8) * 40 + m_2;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                q_shared[idx_12 + j] = q[i][j];
            }
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            const uint idx_13 = (idx + i * 8) * 40 + m_2;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                k_shared[idx_13 + j] = k[i][j];
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // q_shared is complete
        simdgroup_half8x8 a_tile[2];
        simdgroup_half8x8 b_tile[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            const int idx_14 = i * 8;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                simdgroup_load(a_tile[j], q_shared + ((idx_5 + j * 8) * 40 + idx_14), 40);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                simdgroup_load(b_tile[j], k_shared + (j * 8 * 40 + idx_14), 40, ulong2(0, 0), true);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                const int idx_15 = j * 4;
                #pragma clang loop unroll(full)
                for (uint l = 0; l < 4; l++) {
                    simdgroup_multiply_accumulate(scores[idx_15 + l], a_tile[j], b_tile[l], scores[idx_15 + l]);
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
            const int idx_16 = i * 4;
            // attention.py:13  m
            const int m_4 = int(idx_8 + i * 8);
            // attention.py:29  new_max = tl.max
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                // attention.py:27  scores = tl.dot
                const int idx_17 = j + idx_16;
                // attention.py:13  m
                const int idx_18 = j * 8;
                // attention.py:23  cols
                const int2 cols_3 = int2(uint2(start) + uint2(idx_9 + idx_18, idx_10 + idx_18));
                // attention.py:28  scores = tl.where
                const float2 scores_3 = select(float2(-INFINITY), float2(scores[idx_17].thread_elements()[0], scores[idx_17].thread_elements()[1]) * scale_log2, (int2(m_4) >= cols_3) & (cols_3 < int2(n_ctx)));
                scores_2[idx_17] = scores_3;
                // attention.py:29  new_max = tl.max
                new_max[i] = fmax(new_max[i], scores_3);
            }
        }
        float new_max_2[2];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            const float2 t = new_max[i];
            const float t_2 = fmax(t.x, t.y);
            const float other = simd_shuffle_xor(t_2, 8);
            const float t_3 = fmax(t_2, other);
            const float other_2 = simd_shuffle_xor(t_3, 1);
            new_max_2[i] = fmax(t_3, other_2);
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            const float new_max_4 = new_max_2[i];
            if (is_set) {
                new_max_shared[idx_7 + i * 8] = new_max_4;
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // new_max_shared is complete
        const float new_max_5 = fmax(row_max_23, new_max_shared[lane]);
        if (is_set_2) {
            new_max_shared_2[lane] = new_max_5;
        }
        // attention.py:31  shrink = tl.exp2
        const float shrink_2 = fast::exp2(row_max_23 - new_max_5);
        if (is_set_2) {
            shrink_shared[lane] = shrink_2;
        }
        // attention.py:32  row_sum
        row_sum_24 *= shrink_2;
        threadgroup_barrier(mem_flags::mem_threadgroup);    // new_max_shared_2 is complete
        // attention.py:29  new_max = tl.maximum
        float new_max_3[2];
        // attention.py:31  shrink = tl.exp2
        float shrink[2];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // attention.py:29  new_max = tl.maximum
            const uint idx_19 = idx_7 + i * 8;
            new_max_3[i] = new_max_shared_2[idx_19];
            // attention.py:31  shrink = tl.exp2
            shrink[i] = shrink_shared[idx_19];
        }
        // attention.py:32  row_sum = tl.sum
        float2 row_sum[2];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            row_sum[i] = float2(-0.0f);
        }
        // attention.py:33  acc
        half2 acc[8];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // attention.py:28  scores = tl.where
            const int idx_20 = i * 4;
            // attention.py:33  acc
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                // attention.py:28  scores = tl.where
                const int idx_21 = j + idx_20;
                // attention.py:30  weights = tl.exp2
                const float2 weights = fast::exp2(scores_2[idx_21] - new_max_3[i]);
                // attention.py:32  row_sum = tl.sum
                row_sum[i] += weights;
                // attention.py:33  acc
                acc[idx_21] = half2(weights);
                const float2 acc_3 = float2(acc_25[idx_21].thread_elements()[0], acc_25[idx_21].thread_elements()[1]) * shrink[i];
                acc_25[idx_21].thread_elements()[0] = acc_3.x;
                acc_25[idx_21].thread_elements()[1] = acc_3.y;
            }
        }
        // attention.py:32  row_sum = tl.sum
        float row_sum_2[2];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            const float2 t_4 = row_sum[i];
            const float t_5 = t_4.x + t_4.y;
            const float other_3 = simd_shuffle_xor(t_5, 8);
            const float t_6 = t_5 + other_3;
            const float other_4 = simd_shuffle_xor(t_6, 1);
            row_sum_2[i] = t_6 + other_4;
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            const float row_sum_3 = row_sum_2[i];
            if (is_set) {
                row_sum_shared[idx_7 + i * 8] = row_sum_3;
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // row_sum_shared is complete
        row_sum_24 += row_sum_shared[lane];
        // attention.py:33  acc = tl.dot
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            const uint idx_22 = (idx + i * 8) * 40 + m_2;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                v_shared[idx_22 + j] = v[i][j];
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // v_shared is complete
        simdgroup_half8x8 a_tile_2[2];
        simdgroup_half8x8 b_tile_2[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                const int idx_23 = i + j * 4;
                a_tile_2[j].thread_elements()[0] = acc[idx_23][0];
                a_tile_2[j].thread_elements()[1] = acc[idx_23][1];
            }
            const int idx_24 = i * 8 * 40;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                simdgroup_load(b_tile_2[j], v_shared + (idx_24 + j * 8), 40);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                const int idx_25 = j * 4;
                #pragma clang loop unroll(full)
                for (uint l = 0; l < 4; l++) {
                    simdgroup_multiply_accumulate(acc_25[idx_25 + l], a_tile_2[j], b_tile_2[l], acc_25[idx_25 + l]);
                }
            }
        }
        // attention.py:34
        row_max_23 = new_max_5;
    }
    // attention.py:22  acc = for
    if (is_set_2) {
        acc_shared[lane] = row_sum_24;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // acc_shared is complete
    float acc_2[2];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        acc_2[i] = acc_shared[idx_7 + i * 8];
    }
    // attention.py:37
    device half *const ptr = out_ptr + head;
    // attention.py:22  acc = for
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        const int idx_26 = i * 4;
        // attention.py:13  m
        const uint m_5 = idx_8 + i * 8;
        // attention.py:37
        device half *const ptr_2 = ptr + int(m_5 * stride_row);
        // attention.py:16  q
        const bool q_4 = int(m_5) < n_ctx;
        // attention.py:22  acc = for
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            const int idx_27 = j + idx_26;
            const float t_7 = acc_25[idx_27].thread_elements()[0];
            const float t_8 = acc_25[idx_27].thread_elements()[1];
            const float acc_4 = acc_2[i];
            // attention.py:37  tl.store
            if (q_4) {
                *(device half2 *)(ptr_2 + (idx_9 + j * 8)) = half2(float2(t_7, t_8) / acc_4);
            }
        }
    }
}
