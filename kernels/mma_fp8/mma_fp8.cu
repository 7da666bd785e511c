/*
 * mma.sync with FP8 operands: e4m3 and e5m2, m16n8k32 with f32 and f16 accumulators, m16n8k16.
 * Targets without FP8 mma.sync widen to f16 first.
 */
#define MMA32(types, c, n, a, b)                                                                   \
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32." types ".f32 "                           \
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                  \
                 : "r"((a)[0]), "r"((a)[8 * (n)]), "r"((a)[4]), "r"((a)[8 * (n) + 4]),             \
                   "r"((b)[0]), "r"((b)[4]))

#define MMA16(types, c, n, a, b)                                                                   \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." types ".f32 "                           \
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                             \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                  \
                 : "r"((a)[0]), "r"((a)[8 * (n)]), "r"((b)[0]))

#define MMA32H(types, c, n, a, b)                                                                  \
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f16." types ".f16 "                           \
                 "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"                                 \
                 : "+r"(c[0]), "+r"(c[1])                                                          \
                 : "r"((a)[0]), "r"((a)[8 * (n)]), "r"((a)[4]), "r"((a)[8 * (n) + 4]),             \
                   "r"((b)[0]), "r"((b)[4]))

/* a4, b4: e4m3; a5, b5: the same numbers as e5m2. */
extern "C" __global__ void mma_fp8(const unsigned *a4, const unsigned *a5, const unsigned *b4,
                                   const unsigned *b5, float *d44, float *d55, float *d54,
                                   unsigned *half, int n, int k)
{
    int lane = threadIdx.x, group = lane / 4, t = lane % 4, ld = k / 4; /* in words */
    int ia = (blockIdx.y * 16 + group) * ld + t, ib = (blockIdx.x * 8 + group) * ld + t;
    int at = (blockIdx.y * 16 + group) * n + blockIdx.x * 8 + 2 * t;
    float x[4] = {}, y[4] = {}, z[4] = {};
    unsigned h[2] = {};

    for (int i = 0; i < ld; i += 8) {
        MMA32("e4m3.e4m3", x, ld, a4 + ia + i, b4 + ib + i);
        MMA32("e5m2.e5m2", y, ld, a5 + ia + i, b5 + ib + i);
        MMA16("e5m2.e4m3", z, ld, a5 + ia + i, b4 + ib + i);
        MMA16("e5m2.e4m3", z, ld, a5 + ia + i + 4, b4 + ib + i + 4);
        MMA32H("e4m3.e5m2", h, ld, a4 + ia + i, b5 + ib + i);
    }
    for (int i = 0; i < 4; i++) {
        d44[at + i / 2 * 8 * n + i % 2] = x[i];
        d55[at + i / 2 * 8 * n + i % 2] = y[i];
        d54[at + i / 2 * 8 * n + i % 2] = z[i];
    }
    half[at / 2] = h[0];
    half[(at + 8 * n) / 2] = h[1];
}
