/*
 * Cholesky decomposition of one 16 x 16 matrix of floats per warp: each lane keeps a
 * row in registers, columns travel by shuffles, square root and division per step.
 */
#define N 16

extern "C" __global__ void cholesky(float *matrix)
{
    int lane = threadIdx.x, row = lane % N;
    float *m = matrix + blockIdx.x * N * N;
    float a[N];

#pragma unroll
    for (int j = 0; j < N; j++)
        a[j] = m[row * N + j];
#pragma unroll
    for (int k = 0; k < N; k++) {
        float d = sqrtf(__shfl_sync(~0u, a[k], k));
        a[k] = row == k ? d : a[k] / d;
#pragma unroll
        for (int j = k + 1; j < N; j++) {
            float other = __shfl_sync(~0u, a[k], j);
            if (row >= j)
                a[j] -= a[k] * other;
        }
    }
    if (lane < N)
#pragma unroll
        for (int j = 0; j < N; j++)
            m[row * N + j] = j <= row ? a[j] : 0;
}
