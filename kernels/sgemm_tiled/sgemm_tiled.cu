/*
 * C = A * B in FP32 with 16x16 tiles in shared memory, row-major.  The sizes
 * need not be multiples of the tile: exercises predicated loads, bar.sync in a
 * loop and the broadcast of shared-memory words.
 */
#define T 16

extern "C" __global__ void sgemm_tiled(const float *a, const float *b, float *c,
                                       int m, int n, int k)
{
    __shared__ float ta[T][T], tb[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;

    for (int k0 = 0; k0 < k; k0 += T) {
        ta[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0.0f;
        tb[ty][tx] = k0 + ty < k && col < n ? b[(k0 + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += ta[ty][i] * tb[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
