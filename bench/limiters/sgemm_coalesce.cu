/* Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance": the step from the naive kernel, where the lanes
 * of a warp run down a column of A and of C, to coalesced accesses. */
extern "C" __global__ void sgemm_coalesce_slow(const float *a, const float *b, float *c, int n, int k)
{
    int row = blockIdx.x * 32 + threadIdx.x % 32, col = blockIdx.y * 32 + threadIdx.x / 32;
    float sum = 0;

    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}

extern "C" __global__ void sgemm_coalesce_fast(const float *a, const float *b, float *c, int n, int k)
{
    int row = blockIdx.x * 32 + threadIdx.x / 32, col = blockIdx.y * 32 + threadIdx.x % 32;
    float sum = 0;

    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}
