/*
 * mma.sync with bfloat16 operands and f32 accumulators: m16n8k16 and m16n8k8.  The
 * operands span exponents that f16 does not have.
 */
static __device__ void mma16(float (&c)[4], const unsigned *a, const unsigned *b, int ld)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[8 * ld]), "r"(a[4]), "r"(a[8 * ld + 4]), "r"(b[0]), "r"(b[4]));
}

static __device__ void mma8(float (&c)[4], const unsigned *a, const unsigned *b, int ld)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[8 * ld]), "r"(b[0]));
}

extern "C" __global__ void mma_bf16(const unsigned *a, const unsigned *b, float *d16, float *d8,
                                    int n, int k)
{
    int lane = threadIdx.x, group = lane / 4, t = lane % 4, ld = k / 2; /* in words */
    const unsigned *pa = a + (blockIdx.y * 16 + group) * ld + t;
    const unsigned *pb = b + (blockIdx.x * 8 + group) * ld + t;
    int at = (blockIdx.y * 16 + group) * n + blockIdx.x * 8 + 2 * t;
    float x[4] = {}, y[4] = {};

    for (int i = 0; i < ld; i += 8) {
        mma16(x, pa + i, pb + i, ld);
        mma8(y, pa + i, pb + i, ld);
        mma8(y, pa + i + 4, pb + i + 4, ld);
    }
    for (int i = 0; i < 4; i++) {
        d16[at + i / 2 * 8 * n + i % 2] = x[i];
        d8[at + i / 2 * 8 * n + i % 2] = y[i];
    }
}
