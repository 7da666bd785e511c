/*
 * Layer normalisation of rows of 128 floats, one warp per row: 128-bit loads,
 * butterfly shuffles for mean and variance, rsqrtf, scale and shift.
 */
#define COLS 128

static __device__ float warp_sum(float v)
{
    for (int m = 16; m > 0; m /= 2)
        v += __shfl_xor_sync(~0u, v, m);
    return v;
}

extern "C" __global__ void layernorm(const float4 *x, const float4 *gain, const float4 *bias,
                                     float4 *y, float eps)
{
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float4 v = x[row * 32 + lane], g = gain[lane], b = bias[lane];

    float mean = warp_sum(v.x + v.y + v.z + v.w) / COLS;
    v = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
    float var = warp_sum(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w) / COLS;
    float r = rsqrtf(var + eps);
    y[row * 32 + lane] = make_float4(v.x * r * g.x + b.x, v.y * r * g.y + b.y,
                                     v.z * r * g.z + b.z, v.w * r * g.w + b.w);
}
