/*
 * Products with a scale for each row, column and block of k: mma.sync with .block_scale on FP8, FP4 in bytes and packed
 * FP4 (sm_120a), also with a sparse A. Fragments, scales and selectors as the PTX ISA draws them; bytes and lanes that a selector leaves out
 * hold something else.
 */
typedef unsigned char u8;

enum { M = 16, N = 8, OTHER = 0x5a };

__device__ unsigned load4(const u8 *p)
{
    return *(const unsigned *)p;
}

/* Scales of a row of A: `bytes` of them at byte BYTE of the lanes 2 THREAD (row g) and 2 THREAD + 1 (row g + 8). */
template <int BYTE, int THREAD, int BYTES> __device__ unsigned scale_a(const u8 *s)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned v = OTHER * 0x01010101u;
    if (t / 2 == THREAD)
        for (int i = 0; i < BYTES; i++)
            v = (v & ~(255u << 8 * (BYTE + i))) | (unsigned)s[(g + 8 * (t % 2)) * BYTES + i] << 8 * (BYTE + i);
    return v;
}

/* Of a column of B: lane THREAD of the four. */
template <int BYTE, int THREAD, int BYTES> __device__ unsigned scale_b(const u8 *s)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned v = OTHER * 0x01010101u;
    if (t == THREAD)
        for (int i = 0; i < BYTES; i++)
            v = (v & ~(255u << 8 * (BYTE + i))) | (unsigned)s[g * BYTES + i] << 8 * (BYTE + i);
    return v;
}

/* Rows of A and columns of B of `ROW` bytes; 32 of them are four and two registers. */
template <int ROW> __device__ void deal(unsigned *ra, unsigned *rb, const u8 *a, const u8 *b, int b_row)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (int c = 0; c < ROW / 16; c++)
        for (int h = 0; h < 2; h++)
            ra[2 * c + h] = load4(a + (g + 8 * h) * ROW + 16 * c + 4 * t);
    for (int c = 0; c < b_row / 16; c++)
        rb[c] = load4(b + g * b_row + 16 * c + 4 * t);
}

__device__ void store(float *d, const float *r)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (int i = 0; i < 4; i++)
        d[(g + i / 2 * 8) * N + 2 * t + i % 2] = r[i];
}

#define C_AND_SCALES(BA, TA, BB, TB)                                                             \
    "{%10, %10, %10, %10}, %11, {" #BA ", " #TA "}, %12, {" #BB ", " #TB "};"                    \
        : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])                                         \
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "f"(c), "r"(x), "r"(y)

#define PRODUCT(INSTR, BYTES, BA, TA, BB, TB)                                                    \
    do {                                                                                         \
        unsigned ra[4], rb[2], x = scale_a<BA, TA, BYTES>(sa), y = scale_b<BB, TB, BYTES>(sb);   \
        float r[4];                                                                              \
        deal<32>(ra, rb, a, b, 32);                                                              \
        asm("mma.sync.aligned." INSTR " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "          \
            C_AND_SCALES(BA, TA, BB, TB));                                                       \
        store(d, r);                                                                             \
        d += M * N;                                                                              \
    } while (0)

/* Two of four bytes of A are kept: at says which. */
#define SPARSE(INSTR, BYTES, BA, TA, BB, TB)                                                                          \
    do {                                                                                                              \
        unsigned ra[4], rb[4], meta = 0;                                                                              \
        float r[4];                                                                                                   \
        int g = threadIdx.x / 4, t = threadIdx.x % 4;                                                                 \
        deal<32>(ra, rb, a, b, 64);                                                                                   \
        for (int j = 0; j < 16; j++)                                                                                  \
            meta |= (unsigned)at[(g + 8 * (t % 2)) * 32 + t / 2 * 16 + j] << 2 * j;                                   \
        asm("mma.sp::ordered_metadata.sync.aligned." INSTR                                                            \
            " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %12, %12, %12}, %13, 0, %14, {" #BA ", "   \
            #TA "}, %15, {" #BB ", " #TB "};"                                                                         \
            : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])                                                          \
            : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rb[2]), "r"(rb[3]), "f"(c), \
              "r"(meta), "r"(scale_a<BA, TA, BYTES>(sa)), "r"(scale_b<BB, TB, BYTES>(sb)));                           \
        store(d, r);                                                                                                  \
        d += M * N;                                                                                                   \
    } while (0)

/* fp8, packed: 16 rows of A, 16 columns of B (or 8, 64 long); fp4: codes in the middle of a byte; packed: two in a byte. */
extern "C" __global__ void mma_scaled(const u8 *fp8, const u8 *fp4, const u8 *packed, const u8 *at, const u8 *e8,
                                      const u8 *e4m3, float *d)
{
    const u8 *a = fp8, *b = fp8 + 512, *sa = e8, *sb = e8 + 64;
    float c = 0;
    PRODUCT("m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0", 1, 0, 0, 0, 0);
    PRODUCT("m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0", 1, 3, 1, 2, 3);
    a = fp4, c = -2.5f;
    PRODUCT("m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0", 1, 1, 0, 3, 1);
    a = packed, b = packed + 512, c = 3.0f;
    PRODUCT("m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 2, 0, 0, 0, 0);
    PRODUCT("m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 2, 2, 1, 0, 2);
    sa = e4m3, sb = e4m3 + 64;
    PRODUCT("m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 4, 0, 0, 0, 0);
    PRODUCT("m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 4, 0, 1, 0, 3);
    SPARSE("m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 4, 0, 1, 0, 2);
    sa = e8, sb = e8 + 64;
    SPARSE("m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 2, 2, 0, 2, 1);
    a = fp8, b = fp8 + 512, c = 0;
    SPARSE("m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0", 1, 1, 1, 2, 3);
}
