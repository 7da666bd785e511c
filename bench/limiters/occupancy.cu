/* Chains of dependent loads from L2, past L1: CTAs that ask for 48 KiB of shared memory, of which two fit on an SM, against
 * CTAs that ask for what they use. The launch files are what differs. */
__device__ void chase(const unsigned *next, unsigned *out, int n)
{
    extern __shared__ unsigned last[];
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, at = t & 65535;

#pragma unroll 1
    for (int i = 0; i < n; i++)
        at = __ldcg(&next[at]) & 65535;
    last[threadIdx.x] = at;
    out[t] = last[threadIdx.x];
}

extern "C" __global__ void occupancy_slow(const unsigned *next, unsigned *out, int n)
{
    chase(next, out, n);
}

extern "C" __global__ void occupancy_fast(const unsigned *next, unsigned *out, int n)
{
    chase(next, out, n);
}
