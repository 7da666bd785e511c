/*
 * mma.sync with f16 accumulators: m16n8k16 and m16n8k8, operands straight from
 * global memory, A row-major and B column-major, so that a fragment register is one
 * aligned word of a row.
 */
static __device__ void mma16(unsigned (&c)[2], const unsigned *a, const unsigned *b, int ld)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
                 "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(a[0]), "r"(a[8 * ld]), "r"(a[4]), "r"(a[8 * ld + 4]), "r"(b[0]), "r"(b[4]));
}

static __device__ void mma8(unsigned (&c)[2], const unsigned *a, const unsigned *b, int ld)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 "
                 "{%0, %1}, {%2, %3}, {%4}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(a[0]), "r"(a[8 * ld]), "r"(b[0]));
}

extern "C" __global__ void mma_f16(const unsigned *a, const unsigned *b, const unsigned *c,
                                   unsigned *d16, unsigned *d8, int n, int k)
{
    int lane = threadIdx.x, group = lane / 4, t = lane % 4, ld = k / 2; /* in words */
    const unsigned *pa = a + (blockIdx.y * 16 + group) * ld + t;
    const unsigned *pb = b + (blockIdx.x * 8 + group) * ld + t;
    int at = (blockIdx.y * 16 + group) * n / 2 + blockIdx.x * 4 + t;
    unsigned x[2] = {c[at], c[at + 4 * n]}, y[2] = {x[0], x[1]};

    for (int i = 0; i < ld; i += 8) {
        mma16(x, pa + i, pb + i, ld);
        mma8(y, pa + i, pb + i, ld);
        mma8(y, pa + i + 4, pb + i + 4, ld);
    }
    d16[at] = x[0];
    d16[at + 4 * n] = x[1];
    d8[at] = y[0];
    d8[at + 4 * n] = y[1];
}
