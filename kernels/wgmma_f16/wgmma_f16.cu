/*
 * wgmma (sm_90a) on FP16, BF16 and TF32: matrices in shared memory with and without swizzle, contiguous along k or
 * along rows, A in registers, negations, FP16 and FP32 sums, sums that begin anew by a run-time choice.
 * One warpgroup. Each product has 64 rows; b holds the columns of B, k contiguous.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../common/wgmma.cuh"

enum { M = 64, K = 64 };

/* `rows` rows of K elements, k contiguous. */
template <typename T> __device__ void put(unsigned char *to, swizzle s, const float *from, int rows)
{
    for (int i = threadIdx.x; i < rows * K; i += blockDim.x) {
        int row = i / K, byte = i % K * sizeof(T);
        *(T *)(to + place(s, row, byte / 16, rows) + byte % 16) = T(from[i]);
    }
}

/* The same, rows contiguous. */
__device__ void put_transposed(unsigned char *to, swizzle s, const float *from, int rows)
{
    for (int i = threadIdx.x; i < rows * K; i += blockDim.x) {
        int row = i / K, k = i % K;
        *(__half *)(to + place(s, k, row / 8, K) + row % 8 * 2) = __half(from[i]);
    }
}

template <int N, typename T> __device__ void get(float *d, const T *r)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < N / 2; i++)
        d[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * N + i / 4 * 8 + lane % 4 * 2 + i % 2] = float(r[i]);
}

#define PRODUCT_F32(NAME, SHAPE, LIST, A, DA, DB, SCALE, REGS, TAIL)                                               \
    asm volatile("{.reg .pred p; setp.ne.b32 p, " SCALE ", 0;\n"                                                    \
                 "wgmma.mma_async.sync.aligned." SHAPE " {" LIST "}, " DA ", " DB ", p, 1, 1" TAIL ";}"              \
                 : REGS                                                                                             \
                 : "l"(A), "l"(b), "r"(add))

/* k of 32 bytes a step. */
__device__ void swizzled_f16(unsigned char *sa, unsigned char *sb, const float *a, const float *bcol, float *out)
{
    float d[32];
    put<__half>(sa, SWIZZLE_128, a, M), put<__half>(sb, SWIZZLE_128, bcol, 64);
    shared_written();
    group_fence();
    for (int k = 0; k < 4; k++) {
        unsigned long long a = matrix(sa + 32 * k, 16, 1024, SWIZZLE_128), b = matrix(sb + 32 * k, 16, 1024, SWIZZLE_128);
        int add = k > 0;
        PRODUCT_F32(f16, "m64n64k16.f32.f16.f16", LIST32, a, "%32", "%33", "%34", REGS32("+f", d, 0), ", 0, 0");
    }
    group_commit();
    group_wait<0>();
    get<64>(out, d);
    __syncthreads();
}

__device__ void plain_bf16(unsigned char *sa, unsigned char *sb, const float *a, const float *bcol, float *out)
{
    float d[12];
    put<__nv_bfloat16>(sa, SWIZZLE_NONE, a, M), put<__nv_bfloat16>(sb, SWIZZLE_NONE, bcol, 24);
    shared_written();
    group_fence();
    for (int k = 0; k < 4; k++) {
        unsigned long long a = matrix(sa + 2 * k * 1024, 1024, 128, SWIZZLE_NONE);
        unsigned long long b = matrix(sb + 2 * k * 384, 384, 128, SWIZZLE_NONE);
        int add = k > 0;
        PRODUCT_F32(bf16, "m64n24k16.f32.bf16.bf16", LIST12, a, "%12", "%13", "%14", REGS12("+f", d), ", 0, 0");
    }
    group_commit();
    group_wait<0>();
    get<24>(out, d);
    __syncthreads();
}

/* Rows contiguous: A and B 64 rows, of which an atom holds 32, k in groups of eight. */
__device__ void transposed_f16(unsigned char *sa, unsigned char *sb, const float *a, const float *bcol, float *out)
{
    float d[32];
    put_transposed(sa, SWIZZLE_64, a, M), put_transposed(sb, SWIZZLE_NONE, bcol, 64);
    shared_written();
    group_fence();
    for (int k = 0; k < 4; k++) {
        unsigned long long a = matrix(sa + 2 * k * 512, K / 8 * 512, 512, SWIZZLE_64);
        unsigned long long b = matrix(sb + 2 * k * 128, 128, K / 8 * 128, SWIZZLE_NONE);
        int add = k > 0;
        PRODUCT_F32(f16, "m64n64k16.f32.f16.f16", LIST32, a, "%32", "%33", "%34", REGS32("+f", d, 0), ", 1, 1");
    }
    group_commit();
    group_wait<0>();
    get<64>(out, d);
    __syncthreads();
}

/* -A in registers, FP16 sums that begin with what is in d; B's atoms hold 16 elements of k. */
__device__ void registers_f16(unsigned char *sb, const float *a, const float *bcol, float *out)
{
    __half2 d[16];
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 2;
    put<__half>(sb, SWIZZLE_32, bcol, 64);
    shared_written();
    for (int i = 0; i < 16; i++)
        d[i] = __floats2half2_rn(i, -i);
    unsigned ra[4][4], *rd = (unsigned *)d;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 4; i++) {
            const float *p = a + (row + i % 2 * 8) * K + k * 16 + col + i / 2 * 8;
            __half2 v = __floats2half2_rn(p[0], p[1]);
            ra[k][i] = *(unsigned *)&v;
        }
    group_fence();
    for (int k = 0; k < 4; k++) {
        unsigned long long b = matrix(sb + k * 8 * 256, 16, 256, SWIZZLE_32);
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {" LIST16 "}, {%16, %17, %18, %19}, %20, 1, -1, 1, 0;"
                     : REGS16("+r", rd, 0)
                     : "r"(ra[k][0]), "r"(ra[k][1]), "r"(ra[k][2]), "r"(ra[k][3]), "l"(b));
    }
    group_commit();
    group_wait<0>();
    get<64>(out, (const __half *)d);
    __syncthreads();
}

/* 32 elements of k, eight a step; -B; a step whose sum is thrown away comes first. */
__device__ void swizzled_tf32(unsigned char *sa, unsigned char *sb, const float *a, const float *bcol, float *out)
{
    float d[32];
    put<float>(sa, SWIZZLE_128, a, M), put<float>(sb, SWIZZLE_128, bcol, 64);
    shared_written();
    for (int i = 0; i < 32; i++)
        d[i] = 1e30f;
    group_fence();
    for (int k = 0; k < 5; k++) {
        unsigned long long a = matrix(sa + 32 * (k % 4), 16, 1024, SWIZZLE_128);
        unsigned long long b = matrix(sb + 32 * (k % 4), 16, 1024, SWIZZLE_128);
        int add = k > 1;
        asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {" LIST32 "}, %32, %33, p, 1, -1;}"
                     : REGS32("+f", d, 0)
                     : "l"(a), "l"(b), "r"(add));
        group_commit();
    }
    group_wait<0>();
    get<64>(out, d);
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(128) wgmma_f16(const float *a, const float *b, float *out)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    unsigned char *sa = shared, *sb = shared + M * K * 4;
    swizzled_f16(sa, sb, a, b, out);
    transposed_f16(sa, sb, a, b, out + M * 64);
    registers_f16(sb, a, b, out + 2 * M * 64);
    swizzled_tf32(sa, sb, a, b, out + 3 * M * 64);
    plain_bf16(sa, sb, a, b, out + 4 * M * 64);
}
