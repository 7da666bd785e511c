/*
 * 1D convolution with a filter of 17 taps in constant memory; four outputs per
 * thread from a sliding window of registers.
 */
#define TAPS 17

__constant__ float tap[TAPS];

extern "C" __global__ void conv1d(const float *in, float *out)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    float window[TAPS + 3], acc[4] = {};

#pragma unroll
    for (int k = 0; k < (TAPS + 3) / 4; k++) {
        float4 v = *(const float4 *)&in[i + 4 * k];
        window[4 * k] = v.x;
        window[4 * k + 1] = v.y;
        window[4 * k + 2] = v.z;
        window[4 * k + 3] = v.w;
    }
#pragma unroll
    for (int k = 0; k < TAPS; k++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            acc[j] += tap[k] * window[j + k];
    *(float4 *)&out[i] = make_float4(acc[0], acc[1], acc[2], acc[3]);
}
