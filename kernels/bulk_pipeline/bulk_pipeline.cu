// Tiles through shared memory by bulk copies: while one is worked on, the next one comes, announced at an mbarrier; results
// leave by bulk copies in groups.
#include <cstdint>

enum { THREADS = 128, TILE = 512, STAGES = 2 };

static __device__ uint32_t shared_of(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ void load(float *to, const float *from, uint64_t *bar)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_of(bar)), "r"(TILE * 4));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(shared_of(to)), "l"(from), "r"(TILE * 4), "r"(shared_of(bar)) : "memory");
}

extern "C" __global__ void bulk_pipeline(const float *x, float *y, int tiles)
{
    __shared__ alignas(128) float in[STAGES][TILE], out[STAGES][TILE];
    __shared__ alignas(8) uint64_t full[STAGES];
    const int first = blockIdx.x * tiles;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_of(&full[s])));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(x + first * TILE), "r"(TILE * 4));
    }
    __syncthreads();
    if (threadIdx.x == 0) load(in[0], x + first * TILE, &full[0]);
    for (int k = 0; k < tiles; k++) {
        const int s = k % STAGES;
        if (threadIdx.x == 0 && k + 1 < tiles) load(in[1 - s], x + (first + k + 1) * TILE, &full[1 - s]);
        asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W; }"
                     ::"r"(shared_of(&full[s])), "r"(k / STAGES & 1) : "memory");
        // What was stored from this buffer two tiles ago must have been read.
        if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        __syncthreads();
        for (int i = threadIdx.x; i < TILE; i += THREADS) out[s][i] = in[s][TILE - 1 - i] * 2.0f + 1.0f;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                         ::"l"(y + (first + k) * TILE), "r"(shared_of(out[s])), "r"(TILE * 4) : "memory");
            asm volatile("cp.async.bulk.commit_group;");
        }
    }
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
