/*
 * cooperative_groups::this_grid().sync(): inclusive prefix sums over the whole grid by doubling
 * distances, two grid barriers per step; barriers of several kinds in one kernel.
 */
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void grid_sync(unsigned *x, unsigned *parts)
{
    cg::grid_group grid = cg::this_grid();
    unsigned i = grid.thread_rank(), n = grid.size();

    for (unsigned step = 1; step < n; step *= 2) {
        unsigned add = i >= step ? x[i - step] : 0;
        grid.sync();
        x[i] += add;
        grid.sync();
    }
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1)
        parts[grid.block_rank()] = x[i] - (blockIdx.x ? x[i - blockDim.x] : 0);
}
