/*
 * Inclusive prefix sum of each CTA's 512 elements: SHFL.UP inside warps, the
 * warp totals through shared memory.  Exercises the predicate output of SHFL
 * and branches taken by a single warp between two barriers.
 */
extern "C" __global__ void scan(const int *x, int *y)
{
    __shared__ int warp_sum[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = x[i];

    for (int d = 1; d < 32; d *= 2) {
        int up = __shfl_up_sync(~0u, v, d);
        if (lane >= d)
            v += up;
    }
    if (lane == 31)
        warp_sum[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int s = lane < blockDim.x / 32 ? warp_sum[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            int up = __shfl_up_sync(~0u, s, d);
            if (lane >= d)
                s += up;
        }
        warp_sum[lane] = s;
    }
    __syncthreads();
    if (warp > 0)
        v += warp_sum[warp - 1];
    y[i] = v;
}
