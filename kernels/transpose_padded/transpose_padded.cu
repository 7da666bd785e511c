/*
 * Matrix transpose through a 32x33 tile in shared memory.  The padding column
 * puts consecutive rows in consecutive banks: no conflicts; the pair to
 * transpose_naive.
 */
extern "C" __global__ void transpose_padded(const float *in, float *out, int width, int height)
{
    __shared__ float tile[32][33];
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
