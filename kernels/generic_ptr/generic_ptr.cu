/*
 * Generic addressing: one pointer that points to shared, local or global memory
 * by lane, used for loads and stores (LD, ST), and one to shared or global
 * memory for atomics (ATOM through the window check).
 */
static __device__ __noinline__ unsigned mix(unsigned *p, unsigned n, unsigned seed)
{
    unsigned sum = seed;
    for (unsigned k = 0; k < n; k++) {
        sum = sum * 5 + p[k];
        p[k] = sum;
    }
    return sum;
}

extern "C" __global__ void generic_ptr(unsigned *global, unsigned *out, unsigned *counters)
{
    __shared__ unsigned shared[64][4], count[4];
    unsigned local[4];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;

    for (unsigned k = 0; k < 4; k++) {
        shared[t][k] = t + k;
        local[k] = 3 * t + k;
    }
    if (t < 4)
        count[t] = 0;
    __syncthreads();

    unsigned *p = t % 3 == 0 ? shared[t] : t % 3 == 1 ? local : global + 4 * i;
    unsigned sum = mix(p, 4, i);

    /* read back through each space's own pointer */
    unsigned back = t % 3 == 0 ? shared[t][2] : t % 3 == 1 ? local[t % 4] : global[4 * i + 2];
    unsigned kind = __isShared(p) * 1 + __isLocal(p) * 2 + __isGlobal(p) * 4;
    out[3 * i] = sum;
    out[3 * i + 1] = back;
    out[3 * i + 2] = kind;

    unsigned *c = t & 1 ? &count[t >> 1 & 3] : &counters[t >> 1 & 3];
    atomicAdd(c, t);
    __syncthreads();
    if (t < 4)
        atomicAdd(&counters[4 + t], count[t]);
}
