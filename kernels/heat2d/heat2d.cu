/*
 * Several explicit steps of the heat equation on a 32 x 32 plate per CTA, ping-pong
 * between two shared-memory planes with one barrier per step.  Edges are fixed.
 */
#define W 32
#define ROWS 8 /* rows of threads; each thread owns W / ROWS cells */

extern "C" __global__ void heat2d(float *plate, int steps)
{
    __shared__ float cell[2][W][W];
    int x = threadIdx.x, y0 = threadIdx.y, now = 0;
    float *p = plate + blockIdx.x * W * W;

    for (int y = y0; y < W; y += ROWS)
        cell[0][y][x] = cell[1][y][x] = p[y * W + x];
    __syncthreads();
    for (int s = 0; s < steps; s++, now ^= 1) {
        for (int y = y0; y < W; y += ROWS)
            if (x > 0 && x < W - 1 && y > 0 && y < W - 1)
                cell[now ^ 1][y][x] = 0.25f * (cell[now][y - 1][x] + cell[now][y + 1][x] +
                                               cell[now][y][x - 1] + cell[now][y][x + 1]);
        __syncthreads();
    }
    for (int y = y0; y < W; y += ROWS)
        p[y * W + x] = cell[now][y][x];
}
