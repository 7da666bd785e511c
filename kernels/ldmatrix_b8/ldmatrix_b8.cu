/*
 * Products of byte matrices whose right factor is stored by rows: ldmatrix transposes it on the way to mma.sync.
 * A warp multiplies 16 x 32 by 32 x 16.
 */
enum { M = 16, N = 16, K = 32 };

__device__ void multiply(const int a[4], int b0, int b1, int *c, int g, int q)
{
    int d[4];
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(0));
    for (int k = 0; k < 4; k++)
        c[(g + k / 2 * 8) * N + q * 2 + k % 2] = d[k];
}

extern "C" __global__ void ldmatrix_b8(const int *as, const uint4 *bs, int *cs)
{
    __shared__ uint4 rows[K]; /* a row of the right factor is 16 bytes */
    int lane = threadIdx.x, g = lane / 4, q = lane % 4, r[4], one[2];
    const int *a = as + blockIdx.x * (M * K / 4);
    int *c = cs + blockIdx.x * (M * N);

    rows[lane] = bs[blockIdx.x * K + lane];
    __syncwarp();
    unsigned at = (unsigned)__cvta_generic_to_shared(&rows[lane]);
    asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
    asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %1}, [%2];"
                 : "=r"(one[0]), "=r"(one[1]) : "r"(at) : "memory"); /* the upper 16 rows again */
    int frag[4] = {a[g * 8 + q], a[(g + 8) * 8 + q], a[g * 8 + 4 + q], a[(g + 8) * 8 + 4 + q]};
    multiply(frag, one[0], r[2], c, g, q);
    multiply(frag, r[1], r[3], c + 8, g, q);
}
