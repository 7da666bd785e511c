/*
 * wgmma with a sparse A (sm_90a): two of four elements kept (of TF32 one of two), metadata in registers. FP16, BF16, TF32,
 * FP8 and bytes; both selectors, swizzles, matrices contiguous along rows, A in registers, negation. One warpgroup.
 *
 * a: 64 rows of 128, dense; pairs: for each four of a row which two are kept, two bits each; tf32 and ones: the same of
 * TF32, a bit for each two. b: 64 columns of 128. Metadata lies as PTX ISA's figures for sparse wgmma have it.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "../common/wgmma.cuh"

typedef unsigned char u8;

enum { M = 64, N = 64, K = 128, KEPT = K / 2 };
enum { OTHER_LANES = 0x5a5a5a5a }; /* metadata of lanes that the selector leaves out */

__device__ unsigned pair_of(const u8 *pairs, int row, int group)
{
    return pairs[row * (K / 4) + group];
}

/* Element j of those kept. */
__device__ float kept(const float *a, const u8 *pairs, int row, int j)
{
    return a[row * K + j / 2 * 4 + (pair_of(pairs, row, j / 2) >> j % 2 * 2 & 3)];
}

__device__ float kept_tf32(const float *a, const u8 *ones, int row, int j)
{
    return a[row * K + 2 * j + ones[row * (K / 2) + j]];
}

template <typename T, typename F> __device__ void put_kept(u8 *to, swizzle s, F element)
{
    for (int i = threadIdx.x; i < M * KEPT; i += blockDim.x) {
        int row = i / KEPT, byte = i % KEPT * sizeof(T);
        *(T *)(to + place(s, row, byte / 16, M) + byte % 16) = T(element(row, i % KEPT));
    }
}

template <typename T> __device__ void put_b(u8 *to, swizzle s, const float *b)
{
    for (int i = threadIdx.x; i < N * K; i += blockDim.x) {
        int column = i / K, byte = i % K * sizeof(T);
        *(T *)(to + place(s, column, byte / 16, N) + byte % 16) = T(b[i]);
    }
}

/* Of 16-bit elements, 32 columns of A from `step` * 32 on: in the pair `sel` of each four lanes. */
__device__ unsigned metadata16(const u8 *pairs, int step, int sel)
{
    int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
    unsigned m = 0;
    if (lane / 2 % 2 != sel)
        return OTHER_LANES;
    for (int i = 0; i < 4; i++)
        for (int h = 0; h < 2; h++)
            m |= pair_of(pairs, row + 8 * h, step * 8 + lane % 2 * 4 + i) << 4 * i + 16 * h;
    return m;
}

/* Of TF32, 16 columns: 0b0100 keeps the first of two, 0b1110 the second. */
__device__ unsigned metadata32(const u8 *ones, int step, int sel)
{
    int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
    unsigned m = 0;
    if (lane / 2 % 2 != sel)
        return OTHER_LANES;
    for (int i = 0; i < 4; i++)
        for (int h = 0; h < 2; h++)
            m |= (ones[(row + 8 * h) * (K / 2) + step * 8 + lane % 2 * 4 + i] ? 14u : 4u) << 4 * i + 16 * h;
    return m;
}

/* Of bytes, 64 columns, in all lanes. */
__device__ unsigned metadata8(const u8 *pairs, int step)
{
    int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4 + lane % 2 * 8;
    unsigned m = 0;
    for (int i = 0; i < 8; i++)
        m |= pair_of(pairs, row, step * 16 + lane / 2 % 2 * 8 + i) << 4 * i;
    return m;
}

template <typename T> __device__ void get(float *d, const T *r)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < N / 2; i++)
        d[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * N + i / 4 * 8 + lane % 4 * 2 + i % 2] = float(r[i]);
    __syncthreads();
}

#define PRODUCT(SHAPE, A, B, META, SEL, TAIL)                                                                       \
    asm volatile("wgmma.mma_async.sp.sync.aligned." SHAPE " {" LIST32 "}, %32, %33, %34, " SEL ", 1" TAIL ";"       \
                 : REGS32("+f", d, 0)                                                                               \
                 : "l"(A), "l"(B), "r"(META))

__device__ void finish(float *out, float *d)
{
    group_commit();
    group_wait<0>();
    get(out, d);
}

__device__ void swizzled_f16(u8 *sa, u8 *sb, const float *a, const u8 *pairs, const float *b, float *out)
{
    float d[32] = {};
    put_kept<__half>(sa, SWIZZLE_128, [=](int row, int j) { return kept(a, pairs, row, j); });
    put_b<__half>(sb, SWIZZLE_128, b);
    shared_written();
    unsigned m[4] = {metadata16(pairs, 0, 0), metadata16(pairs, 1, 1), metadata16(pairs, 2, 0), metadata16(pairs, 3, 1)};
    group_fence();
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned long long da = matrix(sa + 32 * k, 16, 1024, SWIZZLE_128);
        unsigned long long db = matrix(sb + k / 2 * (N / 8) * 1024 + k % 2 * 64, 16, 1024, SWIZZLE_128);
        if (k % 2)
            PRODUCT("m64n64k32.f32.f16.f16", da, db, m[k], "1", ", 1, 1, 0, 0");
        else
            PRODUCT("m64n64k32.f32.f16.f16", da, db, m[k], "0", ", 1, 1, 0, 0");
    }
    finish(out, d);
}

/* Rows contiguous: of A 32 in an atom, B without swizzle. */
__device__ void transposed_f16(u8 *sa, u8 *sb, const float *a, const u8 *pairs, const float *b, float *out)
{
    float d[32] = {};
    for (int i = threadIdx.x; i < M * KEPT; i += blockDim.x) {
        int row = i / KEPT, k = i % KEPT;
        *(__half *)(sa + place(SWIZZLE_64, k, row / 8, KEPT) + row % 8 * 2) = __half(kept(a, pairs, row, k));
    }
    for (int i = threadIdx.x; i < N * K; i += blockDim.x) {
        int column = i / K, k = i % K;
        *(__half *)(sb + place(SWIZZLE_NONE, k, column / 8, K) + column % 8 * 2) = __half(b[i]);
    }
    shared_written();
    unsigned m[4] = {metadata16(pairs, 0, 0), metadata16(pairs, 1, 0), metadata16(pairs, 2, 0), metadata16(pairs, 3, 0)};
    group_fence();
    for (int k = 0; k < 4; k++) {
        unsigned long long da = matrix(sa + 2 * k * 512, KEPT / 8 * 512, 512, SWIZZLE_64);
        unsigned long long db = matrix(sb + 4 * k * 128, 128, K / 8 * 128, SWIZZLE_NONE);
        PRODUCT("m64n64k32.f32.f16.f16", da, db, m[k], "0", ", 1, 1, 1, 1");
    }
    finish(out, d);
}

/* -A in registers; B's atoms hold the 32 elements of a step. */
__device__ void registers_bf16(u8 *sb, const float *a, const u8 *pairs, const float *b, float *out)
{
    float d[32] = {};
    unsigned ra[4][4], m[4] = {metadata16(pairs, 0, 1), metadata16(pairs, 1, 1), metadata16(pairs, 2, 1), metadata16(pairs, 3, 1)};
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 2;
    put_b<__nv_bfloat16>(sb, SWIZZLE_64, b);
    shared_written();
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 4; i++) {
            int r = row + i % 2 * 8, j = k * 16 + col + i / 2 * 8;
            __nv_bfloat162 v = __floats2bfloat162_rn(kept(a, pairs, r, j), kept(a, pairs, r, j + 1));
            ra[k][i] = *(unsigned *)&v;
        }
    group_fence();
    for (int k = 0; k < 4; k++) {
        unsigned long long db = matrix(sb + k * (N / 8) * 512, 16, 512, SWIZZLE_64);
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.bf16.bf16 {" LIST32 "}, {%32, %33, %34, %35}, %36, %37, 1, 1, -1, 1, 0;"
                     : REGS32("+f", d, 0)
                     : "r"(ra[k][0]), "r"(ra[k][1]), "r"(ra[k][2]), "r"(ra[k][3]), "l"(db), "r"(m[k]));
    }
    finish(out, d);
}

/* Half of k, in steps of 16. */
__device__ void plain_tf32(u8 *sa, u8 *sb, const float *a, const u8 *ones, const float *b, float *out)
{
    float d[32] = {};
    put_kept<float>(sa, SWIZZLE_NONE, [=](int row, int j) { return kept_tf32(a, ones, row, j); });
    put_b<float>(sb, SWIZZLE_128, b);
    shared_written();
    unsigned m[4] = {metadata32(ones, 0, 1), metadata32(ones, 1, 1), metadata32(ones, 2, 1), metadata32(ones, 3, 1)};
    group_fence();
    for (int k = 0; k < 4; k++) {
        unsigned long long da = matrix(sa + 2 * k * (M / 8) * 128, M / 8 * 128, 128, SWIZZLE_NONE);
        unsigned long long db = matrix(sb + k / 2 * (N / 8) * 1024 + k % 2 * 64, 16, 1024, SWIZZLE_128);
        PRODUCT("m64n64k16.f32.tf32.tf32", da, db, m[k], "1", ", 1, 1");
    }
    finish(out, d);
}

__device__ void swizzled_fp8(u8 *sa, u8 *sb, const float *a, const u8 *pairs, const float *b, float *out)
{
    float d[32] = {};
    put_kept<__nv_fp8_e4m3>(sa, SWIZZLE_32, [=](int row, int j) { return kept(a, pairs, row, j); });
    put_b<__nv_fp8_e5m2>(sb, SWIZZLE_NONE, b);
    shared_written();
    unsigned m[2] = {metadata8(pairs, 0), metadata8(pairs, 1)};
    group_fence();
    for (int k = 0; k < 2; k++) {
        unsigned long long da = matrix(sa + k * (M / 8) * 256, 16, 256, SWIZZLE_32);
        unsigned long long db = matrix(sb + 4 * k * (N / 8) * 128, N / 8 * 128, 128, SWIZZLE_NONE);
        PRODUCT("m64n64k64.f32.e4m3.e5m2", da, db, m[k], "0", ", 1, 1");
    }
    finish(out, d);
}

/* Of 2 a; A in registers, the sums begin with the column's number. */
__device__ void registers_s8(u8 *sb, const float *a, const u8 *pairs, const float *b, float *out)
{
    int d[32], row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, col = threadIdx.x % 4;
    unsigned ra[2][4], m[2] = {metadata8(pairs, 0), metadata8(pairs, 1)};
    for (int i = 0; i < 32; i++)
        d[i] = i / 4 * 8 + col * 2 + i % 2;
    put_b<signed char>(sb, SWIZZLE_128, b);
    shared_written();
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 4; i++) {
            ra[k][i] = 0;
            for (int e = 0; e < 4; e++) {
                int v = (int)(2 * kept(a, pairs, row + i % 2 * 8, k * 32 + i / 2 * 16 + col * 4 + e));
                ra[k][i] |= (v & 255u) << 8 * e;
            }
        }
    group_fence();
    for (int k = 0; k < 2; k++) {
        unsigned long long db = matrix(sb + 64 * k, 16, 1024, SWIZZLE_128);
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n64k64.s32.s8.s8 {" LIST32 "}, {%32, %33, %34, %35}, %36, %37, 0, 1;"
                     : REGS32("+r", d, 0)
                     : "r"(ra[k][0]), "r"(ra[k][1]), "r"(ra[k][2]), "r"(ra[k][3]), "l"(db), "r"(m[k]));
    }
    group_commit();
    group_wait<0>();
    get(out, d);
}

extern "C" __global__ void __launch_bounds__(128)
    wgmma_sparse(const float *a, const u8 *pairs, const float *tf32, const u8 *ones, const float *b, float *out)
{
    extern __shared__ __align__(1024) u8 shared[];
    u8 *sa = shared, *sb = shared + M * KEPT * 4;
    swizzled_f16(sa, sb, a, pairs, b, out);
    transposed_f16(sa, sb, a, pairs, b, out + M * N);
    registers_bf16(sb, a, pairs, b, out + 2 * M * N);
    plain_tf32(sa, sb, tf32, ones, b, out + 3 * M * N);
    swizzled_fp8(sa, sb, a, pairs, b, out + 4 * M * N);
    registers_s8(sb, a, pairs, b, out + 5 * M * N);
}
