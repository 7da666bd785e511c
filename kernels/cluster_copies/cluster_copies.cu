// Bulk copies to other CTAs of a cluster: rows go to two CTAs at once, from each CTA to the next, and are added there; then all
// CTAs of the grid add theirs up in global memory.
#include <cstdint>

enum { CTAS = 4, ROW = 256, BYTES = ROW * 4, ROUNDS = 3 };

static __device__ uint32_t shared_of(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ uint32_t map(const void *p, uint32_t rank)
{
    uint32_t r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(shared_of(p)), "r"(rank));
    return r;
}

static __device__ void sync_cluster()
{
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

static __device__ void expect(uint64_t *bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_of(bar)), "r"(bytes));
}

static __device__ void wait(uint64_t *bar, uint32_t parity)
{
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W; }"
                 ::"r"(shared_of(bar)), "r"(parity) : "memory");
}

extern "C" __global__ void __cluster_dims__(CTAS, 1, 1)
cluster_copies(const uint32_t *x, uint32_t *out, uint32_t *sum, unsigned long long *wide)
{
    __shared__ alignas(128) uint32_t row[ROW], added[ROW], copied[ROW];
    __shared__ alignas(16) unsigned long long total[ROW];
    __shared__ alignas(8) uint64_t full, more;
    uint32_t rank, t = threadIdx.x;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const uint32_t first = blockIdx.x / CTAS * CTAS;

    row[t] = 100 * blockIdx.x;
    added[t] = t;
    total[t] = 0;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;\nmbarrier.init.shared.b64 [%1], 1;" ::"r"(shared_of(&full)),
                     "r"(shared_of(&more)));
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    for (uint32_t k = 0; k < ROUNDS; k++) {
        if (t == 0) expect(&full, rank & 1 ? BYTES : 0), expect(&more, 2 * BYTES);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        sync_cluster();
        if (rank == 0 && t == 0)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                         ::"r"(shared_of(row)), "l"(x + (first + k) * ROW), "r"(BYTES), "r"(shared_of(&full)), "h"((uint16_t)0xa)
                         : "memory");
        wait(&full, k & 1);
        if (t == 0) {
            uint32_t next = (rank + 1) % CTAS, bar = map(&more, next);
            asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], %2, [%3];"
                         ::"r"(map(added, next)), "r"(shared_of(row)), "r"(BYTES), "r"(bar) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         ::"r"(map(copied, next)), "r"(shared_of(row)), "r"(BYTES), "r"(bar) : "memory");
        }
        wait(&more, k & 1);
        total[t] += (unsigned long long)copied[t] << 20;
        sync_cluster();
    }
    out[blockIdx.x * ROW + t] = added[t];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;"
                     ::"l"(sum), "r"(shared_of(added)), "r"(BYTES) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%0], [%1], %2;"
                     ::"l"(wide), "r"(shared_of(total)), "r"(2 * BYTES) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
    sync_cluster();
}
