/* The first step of the same ladder: a transpose whose stores go down a column, against one through a padded tile. */
extern "C" __global__ void transpose_coalesce_slow(const float *in, float *out, int width, int height, int reps)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

#pragma unroll 1
    for (int r = 0; r < reps; r++)
        for (int j = 0; j < 32; j += 8)
            out[x * height + y + j] = in[(y + j) * width + x];
}

extern "C" __global__ void transpose_coalesce_fast(const float *in, float *out, int width, int height, int reps)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;

#pragma unroll 1
    for (int r = 0; r < reps; r++) {
        for (int j = 0; j < 32; j += 8)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
        __syncthreads();
        for (int j = 0; j < 32; j += 8)
            out[(ty + j) * height + tx] = tile[threadIdx.x][threadIdx.y + j];
        __syncthreads();
    }
}
