/*
 * Products whose left factor keeps two of four elements: mma.sp on f16, bytes and (sm_120a) FP8. Fragments and
 * metadata are dealt out as the PTX ISA draws them; a is stored without its zeros, `at` says which of four each
 * element was. Every value is a small integer.
 */
#include <cuda_fp16.h>

enum { M = 16, N = 8 };
typedef signed char i8;

/* Two bits for each of `n` stored elements of a row from element j0 on. */
__device__ unsigned positions(const unsigned char *at, int stored, int row, int j0, int n)
{
    unsigned bits = 0;
    for (int j = 0; j < n; j++)
        bits |= (unsigned)at[row * stored + j0 + j] << 2 * j;
    return bits;
}

__device__ unsigned half_pair(const i8 *p, int step)
{
    __half2 h = __floats2half2_rn(p[0], p[step]);
    return *(unsigned *)&h;
}

__device__ unsigned bytes(const i8 *p, int step)
{
    unsigned v = 0;
    for (int j = 0; j < 4; j++)
        v |= (unsigned)(p[j * step] & 255) << 8 * j;
    return v;
}

/* E4M3 of -8..8. */
__device__ unsigned fp8(const i8 *p, int step)
{
    const unsigned char code[9] = {0, 0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c, 0x4e, 0x50};
    unsigned v = 0;
    for (int j = 0; j < 4; j++) {
        int x = p[j * step];
        v |= (unsigned)(code[abs(x)] | (x < 0 ? 0x80 : 0)) << 8 * j;
    }
    return v;
}

/* Registers of a (rows of `stored`) and b (k by N) for elements of 16 (per 2) or 8 bits (per 4). */
template <int STORED, int PER, typename F>
__device__ void deal(unsigned *ra, unsigned *rb, const i8 *a, const i8 *b, F pack)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (int c = 0; c < STORED / (4 * PER); c++)
        for (int h = 0; h < 2; h++)
            ra[2 * c + h] = pack(a + (g + 8 * h) * STORED + (4 * c + t) * PER, 1);
    for (int c = 0; c < 2 * STORED / (4 * PER); c++)
        rb[c] = pack(b + (4 * c + t) * PER * N + g, N);
}

__device__ void store(float *d, const float *r)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (int i = 0; i < 4; i++)
        d[(g + i / 2 * 8) * N + 2 * t + i % 2] = r[i];
}

template <int SELECT> __device__ void f16_k16(const i8 *a, const unsigned char *at, const i8 *b, float *d)
{
    unsigned ra[2], rb[2], meta = 0xdeadbeef;
    float r[4];
    int g = threadIdx.x / 4;
    deal<8, 2>(ra, rb, a, b, half_pair);
    if (threadIdx.x % 4 == SELECT)
        meta = positions(at, 8, g, 0, 8) | positions(at, 8, g + 8, 0, 8) << 16;
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, "
        "{%8, %8, %8, %8}, %9, %10;" : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]), "r"(rb[1]), "f"(0.0f), "r"(meta), "n"(SELECT));
    store(d, r);
}

template <int SELECT> __device__ void f16_k32(const i8 *a, const unsigned char *at, const i8 *b, float *d)
{
    unsigned ra[4], rb[4], meta = 0xdeadbeef;
    float r[4];
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    deal<16, 2>(ra, rb, a, b, half_pair);
    if (t / 2 == SELECT)
        meta = positions(at, 16, g, t % 2 * 8, 8) | positions(at, 16, g + 8, t % 2 * 8, 8) << 16;
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9, %10, %11}, {%12, %12, %12, %12}, %13, %14;" : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rb[2]), "r"(rb[3]), "f"(0.0f), "r"(meta),
          "n"(SELECT));
    store(d, r);
}

template <int SELECT> __device__ void s8_k32(const i8 *a, const unsigned char *at, const i8 *b, float *d)
{
    unsigned ra[2], rb[2], meta = 0xdeadbeef;
    int r[4], g = threadIdx.x / 4, t = threadIdx.x % 4;
    deal<16, 4>(ra, rb, a, b, bytes);
    if (t / 2 == SELECT)
        meta = positions(at, 16, g + 8 * (t % 2), 0, 16);
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, "
        "{%8, %8, %8, %8}, %9, %10;" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]), "r"(rb[1]), "r"(0), "r"(meta), "n"(SELECT));
    float f[4] = {(float)r[0], (float)r[1], (float)r[2], (float)r[3]};
    store(d, f);
}

/* Rows g and g + 8, elements 0..15 and 16..31: a register of one lane each. */
__device__ unsigned positions_k64(const unsigned char *at)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    return positions(at, 32, g + 8 * (t % 2), t / 2 * 16, 16);
}

__device__ void s8_k64(const i8 *a, const unsigned char *at, const i8 *b, float *d)
{
    unsigned ra[4], rb[4];
    int r[4];
    deal<32, 4>(ra, rb, a, b, bytes);
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9, %10, %11}, {%12, %12, %12, %12}, %13, 0;" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rb[2]), "r"(rb[3]), "r"(0),
          "r"(positions_k64(at)));
    float f[4] = {(float)r[0], (float)r[1], (float)r[2], (float)r[3]};
    store(d, f);
}

__device__ void fp8_k64(const i8 *a, const unsigned char *at, const i8 *b, float *d)
{
#ifdef __CUDA_ARCH_FEAT_SM120_ALL
    unsigned ra[4], rb[4];
    float r[4];
    deal<32, 4>(ra, rb, a, b, fp8);
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %12, %12, %12}, %13, 0;" : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rb[2]), "r"(rb[3]), "f"(0.0f),
          "r"(positions_k64(at)));
    store(d, r);
#else
    s8_k64(a, at, b, d);
#endif
}

/* A block's a: 16 x 32 stored elements, of which narrower products take the first columns of rows of their own. */
extern "C" __global__ void mma_sparse(const i8 *a, const unsigned char *at, const i8 *b, float *d)
{
    a += blockIdx.x * 512, at += blockIdx.x * 512, b += blockIdx.x * 512, d += blockIdx.x * 8 * M * N;
    f16_k16<0>(a, at, b, d);
    f16_k16<3>(a, at, b, d + M * N);
    f16_k32<0>(a, at, b, d + 2 * M * N);
    f16_k32<1>(a, at, b, d + 3 * M * N);
    s8_k32<0>(a, at, b, d + 4 * M * N);
    s8_k32<1>(a, at, b, d + 5 * M * N);
    s8_k64(a, at, b, d + 6 * M * N);
    fp8_k64(a, at, b, d + 7 * M * N);
}
