/*
 * Tiles of several warps: barriers, sums, shuffles and votes through the shared memory that the system reserves
 * (from sm_80 on; before, through the kernel's own), beside a static and a dynamic array.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <unsigned Size> __device__ unsigned work(const cg::thread_block &block, unsigned v, unsigned *mine)
{
    auto tile = cg::tiled_partition<Size>(block);
    unsigned rank = tile.thread_rank(), sum = cg::reduce(tile, v, cg::plus<unsigned>());

    mine[block.thread_rank()] = v;
    tile.sync();
    unsigned next = mine[block.thread_rank() - rank + (rank + 1) % Size];
    unsigned before = cg::exclusive_scan(tile, v, cg::plus<unsigned>());
    unsigned third = tile.shfl(v, 3 + tile.meta_group_rank());
    unsigned most = cg::reduce(tile, v, cg::greater<unsigned>());
    unsigned vote = tile.any(v == 11u) + 2 * tile.all(v < 1000000u);
    tile.sync();
    return sum + 3 * next + 5 * before + 7 * third + 11 * most + 13 * vote;
}

extern "C" __global__ void wide_tiles(unsigned *out)
{
    __shared__ cg::block_tile_memory<512> memory;
    __shared__ unsigned fixed[512];
    extern __shared__ unsigned given[];
    auto block = cg::this_thread_block(memory);
    unsigned t = block.thread_rank(), v = (blockIdx.x * 512 + t) * 37 % 1009;

    given[t] = ~t;
    block.sync();
    out[4 * (blockIdx.x * 512 + t) + 0] = work<64>(block, v, fixed);
    out[4 * (blockIdx.x * 512 + t) + 1] = work<128>(block, v, fixed);
    out[4 * (blockIdx.x * 512 + t) + 2] = work<256>(block, v, fixed);
    out[4 * (blockIdx.x * 512 + t) + 3] = work<512>(block, v, fixed) + (given[511 - t] ^ ~(511 - t));
}
