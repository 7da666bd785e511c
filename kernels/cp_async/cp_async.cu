/*
 * Software pipeline with cp.async (LDGSTS): three commit groups in flight over
 * four shared-memory stages, wait_group 2, 1 and 0 at the tail, zero-filled
 * copies past the end of the input, and 4-byte copies beside 16-byte ones.
 */
#define STAGES 4
#define THREADS 128

static __device__ unsigned smem(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

extern "C" __global__ void cp_async(const uint4 *in, const unsigned *scale, unsigned *out,
                                    unsigned tiles, unsigned n4)
{
    __shared__ uint4 stage[STAGES][THREADS];
    __shared__ unsigned factor[THREADS];
    unsigned t = threadIdx.x, sum = 0;
    unsigned first = blockIdx.x * tiles * THREADS;

    auto fetch = [&](unsigned tile) {
        unsigned i = first + tile * THREADS + t;
        unsigned bytes = i < n4 ? 16 : 0; /* the rest of the 16 bytes becomes zero */
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                         smem(&stage[tile % STAGES][t])),
                     "l"(__cvta_generic_to_global(in + (i < n4 ? i : 0))), "r"(bytes)
                     : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(smem(&factor[t])),
                 "l"(__cvta_generic_to_global(scale + t))
                 : "memory"); /* belongs to the first group */
    for (unsigned k = 0; k < STAGES - 1; k++)
        fetch(k);
    for (unsigned k = 0; k < tiles; k++) {
        unsigned younger = tiles - 1 - k;
        if (younger >= 2)
            asm volatile("cp.async.wait_group 2;" ::: "memory");
        else if (younger == 1)
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        else
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads(); /* tile k is complete for all, stage k - 1 is free */
        if (k + STAGES - 1 < tiles)
            fetch(k + STAGES - 1);
        uint4 v = stage[k % STAGES][(t + 1) % THREADS]; /* another thread's copy */
        sum += (v.x + 3 * v.y + 5 * v.z + 7 * v.w) * factor[(t + 37) % THREADS] + k;
    }
    out[blockIdx.x * THREADS + t] = sum;
}
