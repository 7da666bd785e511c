/*
 * Quantised matrix times vector: rows of signed bytes with one float scale per row,
 * DP4A for signed and mixed operands, DP2A for 16-bit activations.
 */
#define COLS 256

extern "C" __global__ void dot_int8(const int *w, const int *x, const unsigned *u, const int *h,
                                    const float *scale, float *y, int *mixed, int *wide)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int *r = w + row * COLS / 4;
    int acc = 0, accu = 0, acch = 0;

    for (int i = lane; i < COLS / 4; i += 32) {
        acc = __dp4a(r[i], x[i], acc);
        int p;
        asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(p) : "r"(r[i]), "r"(u[i]), "r"(accu));
        accu = p;
        acch = __dp2a_lo(h[2 * i], r[i], acch); /* halfwords of h with bytes 0 and 1 of r */
        acch = __dp2a_hi(h[2 * i + 1], r[i], acch);
    }
    for (int m = 16; m > 0; m /= 2) {
        acc += __shfl_xor_sync(~0u, acc, m);
        accu += __shfl_xor_sync(~0u, accu, m);
        acch += __shfl_xor_sync(~0u, acch, m);
    }
    if (lane == 0) {
        y[row] = (float)acc * scale[row];
        mixed[row] = accu;
        wide[row] = acch;
    }
}
