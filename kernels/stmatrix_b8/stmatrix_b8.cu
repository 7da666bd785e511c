/*
 * Products of byte matrices, scaled down to bytes and stored by columns: stmatrix transposes them on the way to shared
 * memory. A warp multiplies 16 x 32 by 32 x 56: tiles of eight columns, one, two and four at a time.
 */
enum { M = 16, N = 56, K = 32, TILES = N / 8 };

/* Eight columns as stmatrix takes them: two neighbours of row g and of row g + 8. */
__device__ unsigned tile(const int *a, const int *b, int g, int q)
{
    int d[4];
    unsigned bytes = 0;
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[g * 8 + q]), "r"(a[(g + 8) * 8 + q]), "r"(a[g * 8 + 4 + q]), "r"(a[(g + 8) * 8 + 4 + q]),
          "r"(b[g * 8 + q]), "r"(b[g * 8 + 4 + q]), "r"(0));
    for (int k = 0; k < 4; k++)
        bytes |= (unsigned)(max(-128, min(127, d[k] >> 9)) & 255) << 8 * k;
    return bytes;
}

extern "C" __global__ void stmatrix_b8(const int *as, const int *bs, uint4 *cs)
{
    __shared__ uint4 columns[N]; /* a column of the product is 16 bytes */
    int lane = threadIdx.x, g = lane / 4, q = lane % 4;
    const int *a = as + blockIdx.x * (M * K / 4), *b = bs + blockIdx.x * (N * K / 4);
    unsigned r[TILES];
    for (int t = 0; t < TILES; t++)
        r[t] = tile(a, b + t * 8 * (K / 4), g, q);

    unsigned at = (unsigned)__cvta_generic_to_shared(columns);
    asm volatile("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%0], {%1};" ::"r"(at + 16 * (lane % 8)), "r"(r[0]) : "memory");
    asm volatile("stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%0], {%1, %2};" ::"r"(at + 16 * (8 + lane % 16)), "r"(r[1]),
                 "r"(r[2]) : "memory");
    asm volatile("stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%0], {%1, %2, %3, %4};" ::"r"(at + 16 * (24 + lane)), "r"(r[3]),
                 "r"(r[4]), "r"(r[5]), "r"(r[6]) : "memory");
    __syncwarp();
    for (int n = lane; n < N; n += 32)
        cs[blockIdx.x * N + n] = columns[n];
}
