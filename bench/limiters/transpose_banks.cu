/* Transpose through a tile in shared memory, repeated inside the kernel as in the ladder of Ruetsch and Micikevicius,
 * "Optimizing Matrix Transpose in CUDA". A column of a tile of 32 words a row lies in one bank; a padded row spreads it. */
template <int ROW>
__device__ void transpose(const float *in, float *out, int width, int height, int reps)
{
    __shared__ float tile[32][ROW];
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

extern "C" __global__ void transpose_banks_slow(const float *in, float *out, int width, int height, int reps)
{
    transpose<32>(in, out, width, height, reps);
}

extern "C" __global__ void transpose_banks_fast(const float *in, float *out, int width, int height, int reps)
{
    transpose<33>(in, out, width, height, reps);
}
