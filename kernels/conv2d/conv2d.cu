/*
 * 5 x 5 convolution of an 8-bit image in a shared-memory tile with clamped edges
 * and a rounding right shift: byte loads, byte shared memory, integer filter in
 * constant memory, saturation.
 */
#define R 2
#define TX 32
#define TY 8

__constant__ short filter[2 * R + 1][2 * R + 1];

extern "C" __global__ void conv2d(const unsigned char *in, unsigned char *out, int w, int h)
{
    __shared__ unsigned char tile[TY + 2 * R][TX + 2 * R];
    int x0 = blockIdx.x * TX - R, y0 = blockIdx.y * TY - R;
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;

    for (int i = threadIdx.y * TX + threadIdx.x; i < (TY + 2 * R) * (TX + 2 * R); i += TX * TY) {
        int tx = i % (TX + 2 * R), ty = i / (TX + 2 * R);
        int sx = min(max(x0 + tx, 0), w - 1), sy = min(max(y0 + ty, 0), h - 1);
        tile[ty][tx] = in[sy * w + sx];
    }
    __syncthreads();
    int sum = 128;
    for (int v = 0; v <= 2 * R; v++)
        for (int u = 0; u <= 2 * R; u++)
            sum += filter[v][u] * tile[threadIdx.y + v][threadIdx.x + u];
    if (x < w && y < h)
        out[y * w + x] = (unsigned char)min(max(sum >> 8, 0), 255);
}
