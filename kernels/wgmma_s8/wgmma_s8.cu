/*
 * wgmma (sm_90a) on bytes and bits: all pairs of signs, saturating sums, A in registers, one bit an element (AND).
 * One warpgroup.
 */
#include "../common/wgmma.cuh"

enum { M = 64, N = 64, K = 64 };

typedef unsigned char u8;

/* `rows` rows of K bytes. */
__device__ void put(u8 *to, swizzle s, const u8 *from, int rows)
{
    for (int i = threadIdx.x; i < rows * K; i += blockDim.x)
        to[place(s, i / K, i % K / 16, rows) + i % 16] = from[i];
}

template <int COLUMNS> __device__ void get(int *d, const int *r)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < COLUMNS / 2; i++)
        d[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * COLUMNS + i / 4 * 8 + lane % 4 * 2 + i % 2] = r[i];
}

#define BOTH_STEPS(SHAPE)                                                                                          \
    do {                                                                                                           \
        int d[32];                                                                                                 \
        for (int i = 0; i < 32; i++)                                                                               \
            d[i] = start;                                                                                          \
        group_fence();                                                                                             \
        for (int k = 0; k < 2; k++) {                                                                              \
            unsigned long long da = matrix(sa + 32 * k, 16, 512, SWIZZLE_64), db = matrix(sb + 32 * k, 16, 512, SWIZZLE_64); \
            asm volatile("wgmma.mma_async.sync.aligned." SHAPE " {" LIST32 "}, %32, %33, 1;"                       \
                         : REGS32("+r", d, 0)                                                                      \
                         : "l"(da), "l"(db));                                                                      \
        }                                                                                                          \
        group_commit();                                                                                            \
        group_wait<0>();                                                                                           \
        get<N>(out, d);                                                                                            \
        out += M * N;                                                                                              \
    } while (0)

extern "C" __global__ void __launch_bounds__(128) wgmma_s8(const u8 *a, const u8 *b, int *out)
{
    __shared__ __align__(1024) u8 sa[M * K], sb[N * K];
    int start = 0, row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 4;
    put(sa, SWIZZLE_64, a, M), put(sb, SWIZZLE_64, b, N);
    shared_written();
    BOTH_STEPS("m64n64k32.s32.s8.s8");
    BOTH_STEPS("m64n64k32.s32.s8.u8");
    BOTH_STEPS("m64n64k32.s32.u8.s8");
    BOTH_STEPS("m64n64k32.s32.u8.u8");
    start = 0x7fff0000;
    BOTH_STEPS("m64n64k32.s32.s8.s8.satfinite");
    __syncthreads();
    put(sa, SWIZZLE_NONE, a, M), put(sb, SWIZZLE_NONE, b, N);
    shared_written();
    /* 48 columns, A in registers; then eight columns of 256 bits */
    int d[24] = {}, e[4] = {};
    unsigned ra[4];
    for (int i = 0; i < 4; i++)
        ra[i] = *(const unsigned *)(a + (row + i % 2 * 8) * K + col + i / 2 * 16);
    unsigned long long da = matrix(sa, M * 16, 128, SWIZZLE_NONE), db = matrix(sb, N * 16, 128, SWIZZLE_NONE);
    group_fence();
    asm volatile("wgmma.mma_async.sync.aligned.m64n48k32.s32.u8.s8 {" LIST16 ", %16, %17, %18, %19, %20, %21, %22, %23}, "
                 "{%24, %25, %26, %27}, %28, 0;"
                 : REGS16("+r", d, 0), REGS4("+r", d, 16), REGS4("+r", d, 20)
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {" LIST4 "}, %4, %5, 0;"
                 : REGS4("+r", e, 0)
                 : "l"(da), "l"(db));
    group_commit();
    group_wait<0>();
    get<48>(out, d);
    get<8>(out + M * 48, e);
}
