// Sums of segments, one for each cluster of 3 x 2 CTAs: partial sums go to CTA 0 by remote loads, counts of
// negative numbers by remote atomics, the largest by remote stores; where each CTA says that it is.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

enum { THREADS = 128, PER_CTA = 512 };

extern "C" __global__ void __cluster_dims__(3, 2, 1)
cluster_reduce(const int *x, long long *sums, int *counts, int *largest, unsigned *places)
{
    __shared__ long long part[THREADS];
    __shared__ int negative, most[8];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), n = cluster.num_blocks(), t = threadIdx.x;
    unsigned segment = blockIdx.x / 3 + gridDim.x / 3 * (blockIdx.y / 2);
    const int *mine = x + (segment * n + rank) * PER_CTA;
    long long sum = 0;
    int top = INT_MIN, below = 0;

    for (int i = t; i < PER_CTA; i += THREADS) {
        sum += mine[i];
        top = max(top, mine[i]);
        below += mine[i] < 0;
    }
    part[t] = sum;
    if (t == 0) negative = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&negative, 0), below);
    for (int d = 16; d; d /= 2) top = max(top, __shfl_xor_sync(~0u, top, d));
    if (t == 0) cluster.map_shared_rank(most, 0)[rank] = INT_MIN;
    __syncthreads();
    if (t % 32 == 0) atomicMax(&cluster.map_shared_rank(most, 0)[rank], top);
    cluster.sync();
    if (rank == 0) {
        long long all = 0;
        for (unsigned r = 0; r < n; r++) all += cluster.map_shared_rank(part, r)[t];
        part[t] = all; // read by nobody else any more, and only here by this thread
        __syncthreads();
        for (int d = THREADS / 2; d; d /= 2) {
            if (t < d) part[t] += part[t + d];
            __syncthreads();
        }
        if (t == 0) {
            int m = INT_MIN;
            for (unsigned r = 0; r < n; r++) m = max(m, most[r]);
            sums[segment] = part[0];
            counts[segment] = negative;
            largest[segment] = m;
        }
    }
    if (t == 0) {
        unsigned *p = places + 16 * (blockIdx.x + gridDim.x * blockIdx.y), v, i = 0;
#define PLACE(name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(v)); p[i++] = v
        PLACE("clusterid.x"); PLACE("clusterid.y"); PLACE("clusterid.z");
        PLACE("nclusterid.x"); PLACE("nclusterid.y"); PLACE("nclusterid.z");
        PLACE("cluster_ctaid.x"); PLACE("cluster_ctaid.y"); PLACE("cluster_ctaid.z");
        PLACE("cluster_nctaid.x"); PLACE("cluster_nctaid.y"); PLACE("cluster_nctaid.z");
        PLACE("cluster_ctarank"); PLACE("cluster_nctarank");
        asm volatile("{ .reg .pred q; mov.pred q, %%is_explicit_cluster; selp.u32 %0, 1, 0, q; }" : "=r"(v));
        p[i++] = v;
        p[i] = cluster.query_shared_rank(cluster.map_shared_rank(part, (rank + 1) % n));
    }
    cluster.sync(); // nobody leaves while others read its memory
}
