/*
 * LU decomposition with partial pivoting of one 16 x 16 matrix of doubles per CTA:
 * a reduction over |column| by one warp, row swaps, rank-one updates.
 */
#define N 16

extern "C" __global__ void lu(double *matrix, int *pivot)
{
    __shared__ double a[N][N + 1];
    __shared__ int chosen;
    int t = threadIdx.x, r = t / N, c = t % N;

    a[r][c] = matrix[blockIdx.x * N * N + t];
    __syncthreads();
    for (int k = 0; k < N; k++) {
        if (t < 32) {
            double best = t < N && t >= k ? fabs(a[t][k]) : -1;
            int at = t;
            for (int m = 16; m > 0; m /= 2) {
                double other = __shfl_xor_sync(~0u, best, m);
                int from = __shfl_xor_sync(~0u, at, m);
                if (other > best || (other == best && from < at)) {
                    best = other;
                    at = from;
                }
            }
            if (t == 0) {
                chosen = at;
                pivot[blockIdx.x * N + k] = at;
            }
        }
        __syncthreads();
        int p = chosen;
        if (r == k && p != k) {
            double x = a[k][c];
            a[k][c] = a[p][c];
            a[p][c] = x;
        }
        __syncthreads();
        if (c == k && r > k)
            a[r][k] /= a[k][k];
        __syncthreads();
        if (r > k && c > k)
            a[r][c] -= a[r][k] * a[k][c];
        __syncthreads();
    }
    matrix[blockIdx.x * N * N + t] = a[r][c];
}
