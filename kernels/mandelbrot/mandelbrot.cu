/*
 * Escape-time iteration: neighbouring lanes leave the loop after different
 * numbers of rounds, so warps run most of it partly masked.  Built with
 * -fmad=false to fix every rounding.
 */
extern "C" __global__ void mandelbrot(unsigned char *out, int width, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    /* steps of 3/64 and 1/16 are exact */
    float cx = -2.25f + px * 0.046875f, cy = -1.0f + py * 0.0625f;
    float x = 0.0f, y = 0.0f;
    int k;

    for (k = 0; k < limit; k++) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2.0f * (x * y) + cy;
        x = (xx - yy) + cx;
    }
    out[py * width + px] = (unsigned char)k;
}
