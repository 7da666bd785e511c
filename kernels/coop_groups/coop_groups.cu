/*
 * Cooperative groups: tiles of 4, 8 and 32 threads, a tile of 64, coalesced groups of
 * divergent threads, labelled and binary partitions, reductions and scans.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void coop_groups(const int *in, int *out, int *odd_count)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> tile8 = cg::tiled_partition<8>(warp);
    cg::thread_block_tile<4> tile4 = cg::tiled_partition<4>(tile8);
    unsigned n = gridDim.x * block.size(), i = blockIdx.x * block.size() + block.thread_rank();
    int v = in[i];

    out[i] = tile8.shfl_xor(v, 3) + 10 * tile4.shfl_down(v, 1);
    out[n + i] = cg::reduce(tile4, v, cg::plus<int>());
    out[2 * n + i] = cg::reduce(warp, v, cg::greater<int>());
    out[3 * n + i] = cg::exclusive_scan(tile8, v, cg::plus<int>());
    out[4 * n + i] = (int)warp.match_any(v % 4) ^ (int)tile4.ballot(v > 0);
    if (v % 2 != 0) {
        cg::coalesced_group odd = cg::coalesced_threads();
        out[5 * n + i] = (int)(odd.size() * 100 + odd.thread_rank());
        out[6 * n + i] = odd.shfl(v, 0);
        if (odd.thread_rank() == 0)
            atomicAdd(odd_count, (int)odd.size());
    }
    cg::coalesced_group part = cg::labeled_partition(warp, v & 3);
    out[7 * n + i] = cg::reduce(part, v, cg::plus<int>());
    block.sync();
    out[8 * n + i] = out[(n + i) ^ 33]; /* of another warp of this block */
}
