/*
 * Matrix transpose through a 32x32 tile in shared memory.  The tile's columns lie
 * in one bank each, so every column read is a 32-way bank conflict; the pair to
 * transpose_padded.
 */
extern "C" __global__ void transpose_naive(const float *in, float *out, int width, int height)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;

    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
