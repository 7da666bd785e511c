/*
 * Local alignment with the dynamic-programming intrinsics (one instruction each from
 * sm_90 on, several before): three-way maxima with ReLU, a maximum that reports its
 * side, and two 16-bit alignments in one register.
 */
#define N 32

extern "C" __global__ void smith_waterman(const signed char *a, const signed char *b, int *best,
                                          int *from_left, unsigned *best2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row[N + 1] = {}, top = 0, left = 0;
    unsigned row2[N + 1] = {}, top2 = 0; /* low half: +3 -3 -2; high half: +2 -1 -1 */

    for (int x = 0; x < N; x++) {
        int diagonal = 0;
        unsigned diagonal2 = 0;
        signed char c = a[i * N + x];
#pragma unroll
        for (int y = 1; y <= N; y++) {
            bool same = c == b[i * N + y - 1], up = false;
            int gap = __vibmax_s32(row[y], row[y - 1], &up) - 2;
            int v = __vimax_s32_relu(diagonal + (same ? 3 : -3), gap);
            left += !up && v == gap && v > 0;
            diagonal = row[y];
            row[y] = v;
            top = max(top, v);
            unsigned d2 = __vadd2(diagonal2, same ? 0x00020003 : 0xfffffffd);
            unsigned u2 = __vadd2(row2[y], 0xfffffffe), l2 = __vadd2(row2[y - 1], 0xfffffffe);
            unsigned v2 = __vimax3_s16x2_relu(d2, u2, l2);
            diagonal2 = row2[y];
            row2[y] = v2;
            top2 = __vmaxs2(top2, v2);
        }
    }
    best[i] = top;
    from_left[i] = left;
    best2[i] = top2;
}
