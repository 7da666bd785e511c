/* redux.sync on FP32: minimum and maximum, of magnitudes, with and without NaN, on the whole warp and on a part. */
#define REDUX(op, v, mask)                                                                     \
    ({                                                                                         \
        float r_;                                                                              \
        asm volatile("redux.sync." op ".f32 %0, %1, %2;" : "=f"(r_) : "f"(v), "r"(mask));      \
        r_;                                                                                    \
    })

__device__ void all_forms(float v, unsigned mask, float *o, unsigned n)
{
    o[0] = REDUX("min", v, mask);
    o[n] = REDUX("max", v, mask);
    o[2 * n] = REDUX("min.abs", v, mask);
    o[3 * n] = REDUX("max.abs", v, mask);
    o[4 * n] = REDUX("min.NaN", v, mask);
    o[5 * n] = REDUX("max.NaN", v, mask);
    o[6 * n] = REDUX("min.abs.NaN", v, mask);
    o[7 * n] = REDUX("max.abs.NaN", v, mask);
}

extern "C" __global__ void redux_float(const float *in, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float v = in[i];

    all_forms(v, 0xffffffffu, out + i, n);
    if (threadIdx.x % 32 % 3 == 1)
        all_forms(v, 0x92492492u, out + 8 * n + i, n);
}
