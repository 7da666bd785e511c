/*
 * Five-point stencil on a 2D grid with a halo in shared memory.  Threads at the
 * tile's edge load the halo: short divergent branches before a barrier.
 */
#define B 16

extern "C" __global__ void stencil2d(const float *in, float *out, int width, int height)
{
    __shared__ float s[B + 2][B + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;

    s[ty][tx] = in[y * width + x];
    if (tx == 1)
        s[ty][0] = x > 0 ? in[y * width + x - 1] : 0.0f;
    if (tx == B)
        s[ty][B + 1] = x + 1 < width ? in[y * width + x + 1] : 0.0f;
    if (ty == 1)
        s[0][tx] = y > 0 ? in[(y - 1) * width + x] : 0.0f;
    if (ty == B)
        s[B + 1][tx] = y + 1 < height ? in[(y + 1) * width + x] : 0.0f;
    __syncthreads();
    float sum = (s[ty][tx - 1] + s[ty][tx + 1]) + (s[ty - 1][tx] + s[ty + 1][tx]);
    out[y * width + x] = __fmaf_rn(0.125f, sum, 0.5f * s[ty][tx]);
}
