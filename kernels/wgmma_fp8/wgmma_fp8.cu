/*
 * wgmma (sm_90a) on FP8: pairs of E4M3 and E5M2, FP32 and FP16 sums, A in registers, negated. Sums of many small
 * numbers beside a large one show how few bits the unit keeps. One warpgroup.
 */
#include "../common/wgmma.cuh"

enum { M = 64, N = 64, K = 32 };

typedef unsigned char u8;

template <typename T> __device__ void get(float *d, const T *r)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < N / 2; i++)
        d[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * N + i / 4 * 8 + lane % 4 * 2 + i % 2] = float(r[i]);
}

#define PRODUCT(SHAPE, TAIL)                                                                      \
    do {                                                                                          \
        for (int i = 0; i < 32; i++)                                                              \
            d[i] = start;                                                                         \
        group_fence();                                                                            \
        asm volatile("wgmma.mma_async.sync.aligned." SHAPE " {" LIST32 "}, %32, %33, 1" TAIL ";"  \
                     : REGS32("+f", d, 0)                                                         \
                     : "l"(da), "l"(db));                                                         \
        group_commit();                                                                           \
        group_wait<0>();                                                                          \
        get(out, d);                                                                              \
        out += M * N;                                                                             \
    } while (0)

extern "C" __global__ void __launch_bounds__(128) wgmma_fp8(const u8 *a, const u8 *b, float *out)
{
    __shared__ __align__(1024) u8 sa[M * K], sb[N * K];
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 4;
    float d[32], start = 0;
    for (int i = threadIdx.x; i < M * K; i += blockDim.x) {
        unsigned at = place(SWIZZLE_32, i / K, i % K / 16, M) + i % 16;
        sa[at] = a[i], sb[at] = b[i];
    }
    shared_written();
    unsigned long long da = matrix(sa, 16, 256, SWIZZLE_32), db = matrix(sb, 16, 256, SWIZZLE_32);
    PRODUCT("m64n64k32.f32.e4m3.e4m3", ", 1, 1");
    PRODUCT("m64n64k32.f32.e4m3.e5m2", ", 1, -1");
    PRODUCT("m64n64k32.f32.e5m2.e4m3", ", -1, 1");
    PRODUCT("m64n64k32.f32.e5m2.e5m2", ", -1, -1");
    start = 4096.25f; /* beside it, products count in steps of 1/2: 13 fraction bits at 2^12 */
    PRODUCT("m64n64k32.f32.e4m3.e4m3", ", 1, 1");
    unsigned ra[4], h[16] = {};
    for (int i = 0; i < 4; i++)
        ra[i] = *(const unsigned *)(a + (row + i % 2 * 8) * K + col + i / 2 * 16);
    group_fence();
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k32.f16.e4m3.e5m2 {" LIST16 "}, {%16, %17, %18, %19}, %20, 0, 1, 1;"
                 : REGS16("+r", h, 0)
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "l"(db));
    group_commit();
    group_wait<0>();
    for (int i = 0; i < 16; i++)
        asm("{.reg .f16 x, y; mov.b32 {x, y}, %2; cvt.f32.f16 %0, x; cvt.f32.f16 %1, y;}"
            : "=f"(d[2 * i]), "=f"(d[2 * i + 1])
            : "r"(h[i]));
    get(out, d);
}
