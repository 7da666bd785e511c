// Histogram whose bins are spread over the shared memory of a cluster: CTA r has bins r * SHARE and on. The cluster
// size comes from the launch.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void cluster_histogram(const unsigned *x, int n, unsigned *bins, int n_bins)
{
    extern __shared__ unsigned share[];
    cg::cluster_group cluster = cg::this_cluster();
    int per_cta = n_bins / cluster.num_blocks(), first = cluster.block_rank() * per_cta;

    for (int i = threadIdx.x; i < per_cta; i += blockDim.x) share[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = x[i] % n_bins;
        atomicAdd(&cluster.map_shared_rank(share, bin / per_cta)[bin % per_cta], 1u);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < per_cta; i += blockDim.x) atomicAdd(&bins[first + i], share[i]);
}
