/*
 * mbarrier objects in shared memory: init, arrive with a state token, test_wait
 * polling, inval; two warps hand tiles back and forth without bar.sync.
 */
typedef unsigned long long u64;

static __device__ unsigned smem(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ u64 arrive(u64 *b)
{
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(smem(b)) : "memory");
    return state;
}

static __device__ void wait(u64 *b, u64 state)
{
    unsigned done;
    do {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2;"
                     " selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(smem(b)), "l"(state)
                     : "memory");
    } while (!done);
}

extern "C" __global__ void mbarrier(const int *in, int *out, int rounds)
{
    __shared__ u64 full, empty;
    __shared__ int tile[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;

    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(smem(&full)) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(smem(&empty)) : "memory");
    }
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        if (warp == r % 2)
            tile[lane] = in[r * 32 + lane] * (r + 1);
        wait(&full, arrive(&full));
        if (warp != r % 2)
            sum = sum * 5 + tile[31 - lane];
        wait(&empty, arrive(&empty));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(smem(&full)) : "memory");
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(smem(&empty)) : "memory");
    }
    out[threadIdx.x] = sum;
}
