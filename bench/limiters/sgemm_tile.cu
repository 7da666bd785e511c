/* Boehm's ladder again: tiles in shared memory with one result a thread, two shared loads for each product, against a
 * column of eight results a thread. */
extern "C" __global__ void sgemm_tile_slow(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ float as[32][32], bs[32][32];
    int ty = threadIdx.x / 32, tx = threadIdx.x % 32;
    int row = blockIdx.x * 32 + ty, col = blockIdx.y * 32 + tx;
    float sum = 0;

    for (int at = 0; at < k; at += 32) {
        as[ty][tx] = a[row * k + at + tx];
        bs[ty][tx] = b[(at + ty) * n + col];
        __syncthreads();
        for (int i = 0; i < 32; i++)
            sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

/* 512 threads, a tile of 64 x 64 of the result, eight steps of k at a time. */
extern "C" __global__ void sgemm_tile_fast(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ float as[64][8], bs[8][64];
    int tx = threadIdx.x % 64, ty = threadIdx.x / 64;
    int row0 = blockIdx.x * 64, col = blockIdx.y * 64 + tx;
    float sum[8] = {0};

    for (int at = 0; at < k; at += 8) {
        as[threadIdx.x / 8][threadIdx.x % 8] = a[(row0 + threadIdx.x / 8) * k + at + threadIdx.x % 8];
        bs[ty][tx] = b[(at + ty) * n + col];
        __syncthreads();
        for (int i = 0; i < 8; i++) {
            float bv = bs[i][tx];
            for (int r = 0; r < 8; r++)
                sum[r] += as[ty * 8 + r][i] * bv;
        }
        __syncthreads();
    }
    for (int r = 0; r < 8; r++)
        c[(row0 + ty * 8 + r) * n + col] = sum[r];
}
