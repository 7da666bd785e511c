/*
 * __launch_bounds__ that leave 64 registers for a kernel which wants more: values are
 * spilled to local memory and filled again.
 */
#define N 80

extern "C" __global__ void __launch_bounds__(512, 2) launch_bounds(const int *in, int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    int v[N];

#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = in[(k * n + t * 5) % (N * n)];
#pragma unroll
    for (int r = 1; r < 4; r++)
#pragma unroll
        for (int k = 0; k < N; k++)
            v[k] = v[k] * v[(k * 5 + r) % N] + r;
    int sum = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        sum = sum * 7 + v[N - 1 - k];
    out[t] = sum;
}
