/*
 * Asynchronous copies that an mbarrier counts: cp.async.mbarrier.arrive, with the pending count raised
 * before (the form without .noinc) and counted in the barrier's own arrivals (.noinc); barriers at
 * uniform addresses and one per warp.
 */
typedef unsigned long long u64;

static __device__ unsigned smem(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void init(u64 *b, unsigned count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem(b)), "r"(count) : "memory");
}

static __device__ u64 arrive(u64 *b)
{
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(smem(b)) : "memory");
    return state;
}

static __device__ bool passed(u64 *b, u64 state)
{
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(smem(b)), "l"(state)
                 : "memory");
    return done;
}

static __device__ void copy(int *to, const int *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(smem(to)), "l"(from) : "memory");
}

extern "C" __global__ void copy_barrier(const int *in, int *out, int rounds)
{
    __shared__ u64 all, own[4];
    __shared__ int tile[128], mine[128];
    int t = threadIdx.x, warp = t / 32, sum = 0;

    if (t == 0) {
        init(&all, 128);
        for (int w = 0; w < 4; w++)
            init(&own[w], 64);
    }
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        copy(&tile[t], in + r * 128 + t);
        asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(smem(&all)) : "memory");
        copy(&mine[t], in + r * 128 + (t ^ 5));
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem(&own[warp])) : "memory");
        u64 state = arrive(&own[warp]);
        while (!passed(&own[warp], state))
            ;
        sum = sum * 7 + mine[warp * 32 + (31 - t % 32)];
        state = arrive(&all);
        while (!passed(&all, state))
            ;
        sum = sum * 3 + tile[127 - t];
        __syncthreads();
    }
    out[t] = sum;
}
