// Clusters of two CTAs that take over whole clusters: one of them asks, both are told.
#include "../common/launch_control.cuh"

static __device__ void ask_for_both(launch_answer *a)
{
    asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".multicast::cluster::all.b128 [%0], [%1];"
                 :: "r"(shared_address(&a->bits)), "r"(shared_address(&a->bar)) : "memory");
}

static __device__ void meet()
{
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) work_steal_pair(const uint32_t *x, uint32_t *out, uint32_t *total)
{
    __shared__ launch_answer answer;
    uint32_t done = 0, rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    launch_place at = {blockIdx.x - rank, blockIdx.y, blockIdx.z, true};
    if (threadIdx.x == 0)
        launch_init(&answer);
    for (uint32_t phase = 0; at.taken; phase ^= 1) {
        if (threadIdx.x == 0)
            launch_expect(&answer);
        meet();
        if (threadIdx.x == 0 && rank == 0)
            ask_for_both(&answer);
        uint32_t tile = at.x + rank + gridDim.x * (at.y + gridDim.y * at.z), i = tile * blockDim.x + threadIdx.x;
        atomicAdd(&out[i], x[i] * 3 + ((at.x + rank) << 16 ^ at.y << 8 ^ at.z));
        done++;
        launch_wait(&answer, phase);
        at = launch_read(&answer);
    }
    meet();
    if (threadIdx.x == 0) {
        atomicAdd(&total[0], done);
        atomicOr(&total[1], done > 1);
    }
}
