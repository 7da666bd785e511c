/*
 * Atomic additions of f16, bf16, f32 and f64 in global and shared memory, single and
 * packed; inputs are small integers, so that no order rounds.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_atomics(const int *in, __half *h, __half2 *h2, __nv_bfloat16 *b,
                                        __nv_bfloat162 *b2, float *f, double *d, double *old)
{
    __shared__ __half2 sh[4];
    __shared__ float sf[4];
    __shared__ double sd[4];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int v = in[i];

    if (t < 4) {
        sh[t] = __floats2half2_rn(0, 0);
        sf[t] = 0;
        sd[t] = 0;
    }
    __syncthreads();
    atomicAdd(&h[i % 6], __int2half_rn(v));
    atomicAdd(&h2[i % 3], __floats2half2_rn((float)v, (float)-v));
    atomicAdd(&b[i % 6], __float2bfloat16_rn((float)v));
    atomicAdd(&b2[i % 3], __floats2bfloat162_rn((float)v, (float)(v & 1)));
    atomicAdd(&sh[t % 4], __floats2half2_rn((float)(v & 3), (float)v));
    atomicAdd(&sf[t % 4], v * 0.25f);
    atomicAdd(&sd[t % 4], v * 0.125);
    old[i] = atomicAdd(&d[8 + i], v * 1.5); /* alone at its address */
    __syncthreads();
    if (t < 4) {
        f[blockIdx.x * 8 + t] = sf[t];
        f[blockIdx.x * 8 + 4 + t] = __low2float(sh[t]) * 1000 + __high2float(sh[t]);
        d[blockIdx.x * 4 + t] = sd[t];
    }
}
