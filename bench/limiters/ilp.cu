/* Volkov, "Better Performance at Lower Occupancy": four chains of dependent multiply-adds, one after the other, against the
 * same four at once. */
extern "C" __global__ void ilp_slow(float *out, float b, float c, int n)
{
    float sum = 0;

#pragma unroll 1
    for (int chain = 0; chain < 4; chain++) {
        float v = (float)(threadIdx.x + chain);
#pragma unroll 16
        for (int i = 0; i < n; i++)
            v = v * b + c;
        sum += v;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void ilp_fast(float *out, float b, float c, int n)
{
    float v[4], sum = 0;

    for (int chain = 0; chain < 4; chain++)
        v[chain] = (float)(threadIdx.x + chain);
#pragma unroll 16
    for (int i = 0; i < n; i++)
        for (int chain = 0; chain < 4; chain++)
            v[chain] = v[chain] * b + c;
    for (int chain = 0; chain < 4; chain++)
        sum += v[chain];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
