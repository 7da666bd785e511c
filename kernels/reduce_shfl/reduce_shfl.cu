/*
 * Reductions inside a warp: SHFL.DOWN and SHFL.BFLY trees for float, the
 * __reduce_*_sync instructions (REDUX) for integers, then one atomicAdd per
 * CTA.  The float sums stay per CTA so that the result has one value only.
 */
extern "C" __global__ void reduce_shfl(const float *x, const int *v, float *block_sum,
                                       float *block_max, int *total, int *warp_ops)
{
    __shared__ float ssum[32], smax[32];
    __shared__ int sint[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = x[i], max = sum;
    int n = v[i];

    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_down_sync(~0u, sum, d);
        max = fmaxf(max, __shfl_xor_sync(~0u, max, d));
    }
    int isum = __reduce_add_sync(~0u, n);
    int imin = __reduce_min_sync(~0u, n);
    int imax = __reduce_max_sync(~0u, n);
    unsigned umin = __reduce_min_sync(~0u, (unsigned)n);
    unsigned iand = __reduce_and_sync(~0u, (unsigned)n | 0xff00u);
    unsigned ior = __reduce_or_sync(~0u, (unsigned)n & 0x55555555u);
    unsigned ixor = __reduce_xor_sync(~0u, (unsigned)n);
    if (lane == 0) {
        int *w = warp_ops + 6 * (i / 32);
        ssum[warp] = sum;
        smax[warp] = max;
        sint[warp] = isum;
        w[0] = imin;
        w[1] = imax;
        w[2] = (int)umin;
        w[3] = (int)iand;
        w[4] = (int)ior;
        w[5] = (int)ixor;
    }
    __syncthreads();
    if (warp == 0) {
        unsigned warps = blockDim.x / 32;
        bool in = lane < warps;
        sum = in ? ssum[lane] : 0.0f;
        max = in ? smax[lane] : -INFINITY;
        n = in ? sint[lane] : 0;
        for (int d = 16; d > 0; d /= 2) {
            sum += __shfl_down_sync(~0u, sum, d);
            max = fmaxf(max, __shfl_xor_sync(~0u, max, d));
        }
        isum = __reduce_add_sync(~0u, n);
        if (lane == 0) {
            block_sum[blockIdx.x] = sum;
            block_max[blockIdx.x] = max;
            atomicAdd(total, isum);
        }
    }
}
