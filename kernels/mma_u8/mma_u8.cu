/*
 * mma.sync with unsigned bytes times unsigned and signed ones, and with .satfinite: the
 * sums of the saturated product start close to the limits of 32 bits.
 */
extern "C" __global__ void mma_u8(const int *a, const int *b, const int *c,
                                  int *duu, int *dus, int *dsat, int n, int ld)
{
    int lane = threadIdx.x, group = lane / 4, t = lane % 4; /* ld counts words */
    const int *pa = a + (blockIdx.y * 16 + group) * ld + t;
    const int *pb = b + (blockIdx.x * 8 + group) * ld + t;
    int at = (blockIdx.y * 16 + group) * n + blockIdx.x * 8 + 2 * t;
    int x[4], y[4], z[4];

    for (int i = 0; i < 4; i++)
        x[i] = y[i] = z[i] = c[at + i / 2 * 8 * n + i % 2];
    for (int i = 0; i < ld; i += 8) {
        int a0 = pa[i], a1 = pa[i + 8 * ld], a2 = pa[i + 4], a3 = pa[i + 8 * ld + 4];
        int b0 = pb[i], b1 = pb[i + 4];
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(y[0]), "+r"(y[1]), "+r"(y[2]), "+r"(y[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(z[0]), "+r"(z[1]), "+r"(z[2]), "+r"(z[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    for (int i = 0; i < 4; i++) {
        duu[at + i / 2 * 8 * n + i % 2] = x[i];
        dus[at + i / 2 * 8 * n + i % 2] = y[i];
        dsat[at + i / 2 * 8 * n + i % 2] = z[i];
    }
}
