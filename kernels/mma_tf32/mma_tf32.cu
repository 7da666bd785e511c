/*
 * mma.sync with tf32 operands: m16n8k8 and m16n8k4.  Operands are rounded by
 * cvt.rna.tf32, ties away from zero.
 */
static __device__ unsigned tf32(float x)
{
    unsigned u;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(u) : "f"(x));
    return u;
}

extern "C" __global__ void mma_tf32(const float *a, const float *b, float *d8, float *d4,
                                    unsigned *rounded, int n, int k)
{
    int lane = threadIdx.x, group = lane / 4, t = lane % 4;
    const float *pa = a + (blockIdx.y * 16 + group) * k + t;
    const float *pb = b + (blockIdx.x * 8 + group) * k + t;
    int at = (blockIdx.y * 16 + group) * n + blockIdx.x * 8 + 2 * t;
    float x[4] = {}, y[4] = {};
    unsigned f[4], g[2];

    for (int i = 0; i < k; i += 8) {
        f[0] = tf32(pa[i]);
        f[1] = tf32(pa[i + 8 * k]);
        f[2] = tf32(pa[i + 4]);
        f[3] = tf32(pa[i + 8 * k + 4]);
        g[0] = tf32(pb[i]);
        g[1] = tf32(pb[i + 4]);
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
                     : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(g[0]), "r"(g[1]));
        for (int h = 0; h < 2; h++)
            asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
                         "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                         : "+f"(y[0]), "+f"(y[1]), "+f"(y[2]), "+f"(y[3])
                         : "r"(f[2 * h]), "r"(f[2 * h + 1]), "r"(g[h]));
    }
    for (int i = 0; i < 4; i++) {
        d8[at + i / 2 * 8 * n + i % 2] = x[i];
        d4[at + i / 2 * 8 * n + i % 2] = y[i];
    }
    if (blockIdx.x == 0 && blockIdx.y == 0)
        rounded[lane] = g[0];
}
