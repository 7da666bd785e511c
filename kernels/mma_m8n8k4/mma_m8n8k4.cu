/*
 * mma.sync.m8n8k4: four 8 x 8 products at once, one in each quad pair (lanes 4q .. 4q + 3 and 16 more), in all
 * layouts of A and B, with f16 and f32 accumulators, and with f32 results added to f16 numbers.
 * Fragments as in the PTX ISA; matrices row by row, those of a quad pair after those of the one before.
 */
#define K 12

static __device__ unsigned pair(const unsigned short *low, const unsigned short *high)
{
    return *low | (unsigned)*high << 16;
}

/* Two registers with elements (row, 0 .. 3) of k, or (0 .. 3, k), of a matrix whose rows are `ld` long. */
static __device__ uint2 fragment(const unsigned short *m, int step, int ld)
{
    return make_uint2(pair(m, m + step * ld), pair(m + 2 * step * ld, m + 3 * step * ld));
}

#define F16(LAYOUT, d, a, b)                                                                              \
    asm("mma.sync.aligned.m8n8k4." LAYOUT ".f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3};" \
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y))

#define F32(LAYOUT, d, a, b)                                                                              \
    asm("mma.sync.aligned.m8n8k4." LAYOUT ".f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, " \
        "{%0,%1,%2,%3,%4,%5,%6,%7};"                                                                      \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])  \
        : "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y))

#define MIXED(LAYOUT, d, a, b, c)                                                                         \
    asm("mma.sync.aligned.m8n8k4." LAYOUT ".f32.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, " \
        "{%12,%13,%14,%15};"                                                                              \
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])  \
        : "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))

/* a_by_k: a thread has elements of four rows of one k, not of four k of one row; b_by_k alike. */
#define PRODUCTS(LAYOUT, a_by_k, b_by_k)                                                                  \
    {                                                                                                     \
        unsigned half[4], start[4];                                                                       \
        float one[8], mix[8];                                                                             \
        for (int i = 0; i < 4; i++) half[i] = start[i] = pair(c + 8 * row + 2 * i, c + 8 * row + 2 * i + 1); \
        for (int i = 0; i < 8; i++) one[i] = c32[8 * (x + (i & 2)) + (i & 4) + (lane & 2) + (i & 1)];     \
        for (int k = 0; k < K; k += 4) {                                                                  \
            uint2 fa = a_by_k ? fragment(a + high * K + k + lane % 4, 1, K) : fragment(a + row * K + k, 1, 1); \
            uint2 fb = b_by_k ? fragment(b + (k + lane % 4) * 8 + high, 1, 1) : fragment(b + k * 8 + row, 1, 8); \
            F16(LAYOUT, half, fa, fb);                                                                    \
            F32(LAYOUT, one, fa, fb);                                                                     \
            if (k == 0)                                                                                   \
                MIXED(LAYOUT, mix, fa, fb, start);                                                        \
            else                                                                                          \
                F32(LAYOUT, mix, fa, fb);                                                                 \
        }                                                                                                 \
        for (int i = 0; i < 8; i++) {                                                                     \
            int at = 8 * (x + (i & 2)) + (i & 4) + (lane & 2) + (i & 1);                                  \
            d16[8 * row + i] = (unsigned short)(half[i / 2] >> 16 * (i & 1));                             \
            d32[at] = one[i];                                                                             \
            dmix[at] = mix[i];                                                                            \
        }                                                                                                 \
        d16 += 256, d32 += 256, dmix += 256;                                                              \
    }

extern "C" __global__ void mma_m8n8k4(const unsigned short *a, const unsigned short *b, const unsigned short *c,
                                      const float *c32, unsigned short *d16, float *d32, float *dmix)
{
    int lane = threadIdx.x, q = lane % 16 / 4, high = lane / 16 * 4, row = lane % 4 + high, x = (lane & 1) + high;

    a += q * 8 * K, b += q * 8 * K;
    c += q * 64, c32 += q * 64, d16 += q * 64, d32 += q * 64, dmix += q * 64;
    PRODUCTS("row.col", false, false)
    PRODUCTS("row.row", false, true)
    PRODUCTS("col.col", true, false)
    PRODUCTS("col.row", true, true)
}
