/*
 * Solutions of the N-queens problem for N = 4 to 8, each thread counting those with
 * given first two columns: backtracking with an explicit stack of masks in local
 * memory.
 */
extern "C" __global__ void nqueens(unsigned *solutions)
{
    int n = 4 + blockIdx.x, first = threadIdx.x / 8, second = threadIdx.x % 8;
    unsigned all = (1u << n) - 1, count = 0;
    unsigned open[8], cols[8], left[8], right[8];

    if (first < n && second < n && abs(first - second) > 1) {
        unsigned a = 1u << first, b = 1u << second;
        int d = 2;
        cols[2] = a | b;
        left[2] = a << 2 | b << 1;
        right[2] = a >> 2 | b >> 1;
        open[2] = all & ~(cols[2] | left[2] | right[2]);
        while (d >= 2) {
            if (open[d] == 0) {
                d--;
                continue;
            }
            unsigned q = open[d] & -open[d];
            open[d] ^= q;
            if (d + 1 == n) {
                count++;
                continue;
            }
            cols[d + 1] = cols[d] | q;
            left[d + 1] = (left[d] | q) << 1;
            right[d + 1] = (right[d] | q) >> 1;
            d++;
            open[d] = all & ~(cols[d] | left[d] | right[d]);
        }
    }
    unsigned total = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0 && total)
        atomicAdd(&solutions[blockIdx.x], total);
}
