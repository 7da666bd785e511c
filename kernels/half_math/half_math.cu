/*
 * Packed half and bfloat16 arithmetic: HADD2, HMUL2, HFMA2 (also .RELU and
 * .BF16_V2), HMNMX2, HSET2 and HSETP2, each with two results per thread that
 * round, overflow and go subnormal independently.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef __nv_bfloat162 bf162;

extern "C" __global__ void half_math(const __half2 *a, const __half2 *b, const __half2 *c,
                                     const bf162 *ba, const bf162 *bb, const bf162 *bc,
                                     __half2 *oh, bf162 *ob, unsigned *flags, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 x = a[i], y = b[i], z = c[i];

    oh[0 * n + i] = __hadd2(x, y);
    oh[1 * n + i] = __hsub2(x, y);
    oh[2 * n + i] = __hmul2(x, y);
    oh[3 * n + i] = __hfma2(x, y, z);
    oh[4 * n + i] = __hfma2_relu(x, y, z);
    oh[5 * n + i] = __hmin2(x, y);
    oh[6 * n + i] = __hmax2(x, y);
    oh[7 * n + i] = __hlt2(x, y); /* 1.0 or 0.0 per half */
    oh[8 * n + i] = __hneg2(__habs2(x));
    oh[9 * n + i] = __halves2half2(__high2half(x), __hadd(__low2half(y), __high2half(z)));

    bf162 p = ba[i], q = bb[i], r = bc[i];
    ob[0 * n + i] = __hadd2(p, q);
    ob[1 * n + i] = __hmul2(p, q);
    ob[2 * n + i] = __hfma2(p, q, r);
    ob[3 * n + i] = __hmin2(p, q);
    ob[4 * n + i] = __hmax2(p, q);
    ob[5 * n + i] = __hge2(p, q);

    unsigned f = __hgt2_mask(x, y);
    f ^= (unsigned)__hbeq2(x, y) << 4;
    f ^= (unsigned)__hbltu2(x, z) << 8; /* true for NaN too */
    f ^= (unsigned)__hisnan(__low2half(x)) << 12;
    flags[i] = f;
}
