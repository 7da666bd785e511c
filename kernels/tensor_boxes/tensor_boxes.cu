// Tensor copies: tiles of a matrix, which hang over its edges, come by a box with the 128-byte swizzle, leave increased as a box,
// and all are added up in one. Every CTA makes its tensor maps itself, by tensormap.replace.
#include <cstdint>

enum { TILE = 32, BOX = TILE * TILE * 4, MAP = 128, U32 = 2, SWIZZLE_128 = 3 };

typedef unsigned char u8;
typedef unsigned long long u64;

static __device__ uint32_t shared_of(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

#define SET(field, index, value)                                                                                          \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " index "%1;" ::"r"(map), "r"(value) : "memory")
#define SET64(field, index, value)                                                                                        \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b64 [%0], " index "%1;" ::"r"(map), "l"(value) : "memory")
#define SET_CODE(field, value)                                                                                            \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], %1;" ::"r"(map), "n"(value) : "memory")

// A map of `rows` rows of `columns` numbers, `pitch` bytes apart; by one warp. `own` is 128 bytes.
template <int TYPE, int SWIZZLE> static __device__ void make_map(uint32_t *own, u8 *to, const void *p, int rows, int columns, int pitch)
{
    uint32_t map = shared_of(own);
    own[threadIdx.x] = 0;
    __syncwarp();
    if (threadIdx.x == 0) {
        SET64("global_address", "", p);
        SET("rank", "", 1); // two dimensions
        SET("box_dim", "0, ", TILE);
        SET("box_dim", "1, ", TILE);
        SET("global_dim", "0, ", columns);
        SET("global_dim", "1, ", rows);
        SET64("global_stride", "0, ", (u64)pitch);
        SET("element_stride", "0, ", 1);
        SET("element_stride", "1, ", 1);
        SET_CODE("elemtype", TYPE);
        SET_CODE("interleave_layout", 0);
        SET_CODE("swizzle_mode", SWIZZLE);
        SET_CODE("fill_mode", 0);
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
                 ::"l"(to), "r"(map) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(to) : "memory");
    __syncwarp();
}

extern "C" __global__ void tensor_boxes(const uint32_t *in, uint32_t *out, uint32_t *sum, u8 *maps, int rows, int columns)
{
    __shared__ alignas(1024) uint32_t tile[TILE][TILE], copy[TILE][TILE];
    __shared__ alignas(128) uint32_t own[MAP / 4];
    __shared__ alignas(8) uint64_t full;
    const int x = blockIdx.x * TILE, y = blockIdx.y * TILE, t = threadIdx.x, pitch = (columns * 4 + 15) / 16 * 16;

    maps += (blockIdx.y * gridDim.x + blockIdx.x) * 3 * MAP;
    if (t < 32) {
        make_map<U32, SWIZZLE_128>(own, maps, in, rows, columns, pitch);
        make_map<U32, 0>(own, maps + MAP, out, rows, columns, pitch);
        make_map<U32, 0>(own, maps + 2 * MAP, sum, TILE, TILE, TILE * 4);
    }
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_of(&full)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(maps), "r"(x), "r"(y));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_of(&full)), "r"(BOX));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(shared_of(tile)), "l"(maps), "r"(x), "r"(y), "r"(shared_of(&full)) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra W; }"
                 ::"r"(shared_of(&full)) : "memory");
    // Chunks of 16 bytes have changed places by the number of their row, modulo 8.
    for (int i = t; i < TILE * TILE; i += blockDim.x) {
        int r = i / TILE, c = i % TILE;
        copy[r][c] = tile[r][(c / 4 ^ r % 8) * 4 + c % 4] + (uint32_t)(r + c);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t != 0) return;
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(maps + MAP), "r"(x), "r"(y), "r"(shared_of(copy)) : "memory");
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(maps + 2 * MAP), "r"(0), "r"(0), "r"(shared_of(copy)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
