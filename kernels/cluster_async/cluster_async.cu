// A ring of the CTAs of a cluster: each sends a row to the next one by st.async and adds to a counter of the one behind by
// red.async; both complete transactions at an mbarrier of the receiver. Then every CTA arrives at a barrier of CTA 0,
// which waits for all.
#include <cstdint>

enum { THREADS = 64, ROUNDS = 3 };

static __device__ uint32_t shared_of(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ uint32_t map(uint32_t a, uint32_t rank)
{
    uint32_t r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank));
    return r;
}

static __device__ void sync_cluster()
{
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

static __device__ void wait(uint32_t bar, uint32_t parity)
{
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra W; }" ::"r"(bar), "r"(parity) : "memory");
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_async(const uint32_t *x, uint64_t *out, uint32_t *marks)
{
    __shared__ alignas(16) uint64_t row[2][THREADS];
    __shared__ alignas(16) uint32_t quad[4];
    __shared__ uint32_t sum, top;
    __shared__ alignas(8) uint64_t full, done;
    uint32_t rank, n, t = threadIdx.x;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    uint32_t next = (rank + 1) % n, before = (rank + n - 1) % n;
    uint32_t bar = shared_of(&full), all = shared_of(&done);

    if (t == 0) {
        sum = top = 0;
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(all), "r"(n));
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    sync_cluster();
    uint64_t v = x[blockIdx.x * THREADS + t];
    for (uint32_t k = 0; k < ROUNDS; k++) {
        if (t == 0) {
            // Rows of 8 bytes, sums and maxima of 4 of every thread, four words once.
            uint32_t bytes = THREADS * (8 + 4 + 4) + 16;
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes));
        }
        uint32_t far = map(bar, next), behind = map(bar, before);
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
                     ::"r"(map(shared_of(&row[k % 2][t]), next)), "l"(v + k), "r"(far) : "memory");
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
                     ::"r"(map(shared_of(&sum), before)), "r"((uint32_t)v), "r"(behind) : "memory");
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%0], %1, [%2];"
                     ::"r"(map(shared_of(&top), before)), "r"((uint32_t)v), "r"(behind) : "memory");
        if (t == 5)
            asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %2, %3, %4}, [%5];"
                         ::"r"(map(shared_of(quad), next)), "r"(rank), "r"(k), "r"((uint32_t)v), "r"(n), "r"(far)
                         : "memory");
        wait(bar, k & 1);
        v = row[k % 2][t] * 3 + quad[1];
        sync_cluster(); // the next row may come
    }
    if (t == 0) {
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(map(all, 0)) : "memory");
        if (rank == 0) wait(all, 0);
    }
    __syncthreads();
    out[blockIdx.x * THREADS + t] = v;
    if (t < 4) marks[blockIdx.x * 6 + t] = quad[t];
    if (t == 0) marks[blockIdx.x * 6 + 4] = sum, marks[blockIdx.x * 6 + 5] = top;
    sync_cluster();
}
