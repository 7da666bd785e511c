/*
 * 7-point stencil on a 32 x 16 x 10 grid.  A CTA owns a 32 x 4 column and walks up
 * in z: the planes above and below stay in registers, the current one lies in
 * shared memory with a halo.
 */
#define NX 32
#define TY 4

extern "C" __global__ void stencil3d(const float *in, float *out, int ny, int nz, float centre)
{
    __shared__ float plane[TY + 2][NX + 2];
    int x = threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    int lx = x + 1, ly = threadIdx.y + 1;
    int stride = NX * ny, at = y * NX + x;
    float below = 0, here = in[at], above;

    for (int z = 0; z < nz; z++, at += stride) {
        above = z + 1 < nz ? in[at + stride] : 0;
        plane[ly][lx] = here;
        if (x == 0)
            plane[ly][0] = 0;
        if (x == NX - 1)
            plane[ly][NX + 1] = 0;
        if (ly == 1)
            plane[0][lx] = y > 0 ? in[at - NX] : 0;
        if (ly == TY)
            plane[TY + 1][lx] = y + 1 < ny ? in[at + NX] : 0;
        __syncthreads();
        out[at] = centre * here + plane[ly][lx - 1] + plane[ly][lx + 1] + plane[ly - 1][lx] +
                  plane[ly + 1][lx] + below + above;
        __syncthreads();
        below = here;
        here = above;
    }
}
