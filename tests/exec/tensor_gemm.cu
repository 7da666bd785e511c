// Tensor copies and wgmma (sm_90a): a product of FP16 matrices, A row by row, B column by column. One warp copies boxes of
// 64 x 64 with the 128-byte swizzle into two stages, a warpgroup multiplies them, its result goes back as a box. Two
// mbarriers per stage say that it is full and that it is empty. The tensor maps are made by tensormap.replace. Edges of all
// three matrices lie inside tiles.
#include "check.h"
#include "../../kernels/common/wgmma.cuh"
#include <cuda_fp16.h>
#include <vector>

enum { M = 96, N = 160, K = 200, TILE = 64, STAGES = 2, BOX = TILE * TILE * 2 };
enum { F16 = 6, F32 = 7, PRODUCER = 128 };

typedef unsigned char u8;
typedef unsigned long long u64;

#define SET(field, index, value)                                                                       \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " index "%1;" ::"r"(map), \
                 "r"(value)                                                                            \
                 : "memory")
#define SET64(field, index, value)                                                                     \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b64 [%0], " index "%1;" ::"r"(map), \
                 "l"(value)                                                                            \
                 : "memory")
#define SET_CODE(field, value)                                                                         \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], %1;" ::"r"(map), "n"(value) : "memory")

/* A matrix of `rows` rows of `columns` numbers, copied in boxes of 64 x 64. By one warp; `own` is 128 bytes. */
template <int TYPE, int BYTES, int SWIZZLE> __device__ void make_map(unsigned *own, void *to, const void *p, int rows, int columns)
{
    unsigned map = (unsigned)__cvta_generic_to_shared(own);
    own[threadIdx.x % 32] = 0;
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        SET64("global_address", "", p);
        SET("rank", "", 1); /* two dimensions */
        SET("box_dim", "0, ", TILE);
        SET("box_dim", "1, ", TILE);
        SET("global_dim", "0, ", columns);
        SET("global_dim", "1, ", rows);
        SET64("global_stride", "0, ", (u64)columns * BYTES);
        SET("element_stride", "0, ", 1);
        SET("element_stride", "1, ", 1);
        SET_CODE("elemtype", TYPE);
        SET_CODE("interleave_layout", 0);
        SET_CODE("swizzle_mode", SWIZZLE);
        SET_CODE("fill_mode", 0);
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(to),
                 "r"(map)
                 : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(to) : "memory");
    __syncwarp();
}

__device__ void load(const void *map, unsigned to, unsigned barrier, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

__device__ void wait(unsigned barrier, unsigned phase)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(barrier),
                 "r"(phase)
                 : "memory");
}

__global__ void __launch_bounds__(160) tma_gemm(const void *a, const void *b, float *out, u8 *maps)
{
    __shared__ __align__(1024) u8 sa[STAGES][BOX], sb[STAGES][BOX];
    __shared__ __align__(128) float result[TILE * TILE];
    __shared__ __align__(128) unsigned own[32];
    __shared__ u64 full[STAGES], empty[STAGES];
    const int row = blockIdx.y * TILE, col = blockIdx.x * TILE, steps = (K + TILE - 1) / TILE;
    maps += (blockIdx.y * gridDim.x + blockIdx.x) * 3 * 128;
    unsigned is_full = (unsigned)__cvta_generic_to_shared(full), is_empty = (unsigned)__cvta_generic_to_shared(empty);
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(is_full + 8 * s) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(is_empty + 8 * s) : "memory");
        }
    if (threadIdx.x >= PRODUCER) {
        make_map<F16, 2, 3>(own, maps, a, M, K);
        make_map<F16, 2, 3>(own, maps + 128, b, N, K);
        make_map<F32, 4, 0>(own, maps + 256, out, M, N);
    }
    shared_written();
    if (threadIdx.x >= PRODUCER) {
        for (int k = 0; k < steps && threadIdx.x == PRODUCER; k++) {
            int s = k % STAGES;
            if (k >= STAGES)
                wait(is_empty + 8 * s, (k / STAGES - 1) % 2);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(is_full + 8 * s), "r"(2 * BOX) : "memory");
            load(maps, (unsigned)__cvta_generic_to_shared(sa[s]), is_full + 8 * s, k * TILE, row);
            load(maps + 128, (unsigned)__cvta_generic_to_shared(sb[s]), is_full + 8 * s, k * TILE, col);
        }
    } else {
        float d[32] = {};
        for (int k = 0; k < steps; k++) {
            int s = k % STAGES;
            wait(is_full + 8 * s, k / STAGES % 2);
            group_fence();
            for (int i = 0; i < TILE; i += 16) {
                u64 da = matrix(sa[s] + 2 * i, 16, 1024, SWIZZLE_128), db = matrix(sb[s] + 2 * i, 16, 1024, SWIZZLE_128);
                asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" LIST32 "}, %32, %33, 1, 1, 1, 0, 0;"
                             : REGS32("+f", d, 0)
                             : "l"(da), "l"(db));
            }
            group_commit();
            group_wait<0>();
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(is_empty + 8 * s) : "memory");
        }
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        for (int i = 0; i < 32; i++)
            result[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * TILE + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
    }
    shared_written();
    if (threadIdx.x == PRODUCER) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(maps + 256), "r"(col),
                     "r"(row), "r"((unsigned)__cvta_generic_to_shared(result))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main()
{
    std::vector<__half> a(M * K), b(N * K);
    std::vector<float> out(M * N);
    unsigned seed = 1;
    for (auto *v : {&a, &b})
        for (auto &x : *v)
            seed = seed * 1664525 + 1013904223, x = __half((float)((int)(seed >> 28) - 8)); /* sums are exact */
    void *da, *db, *dout;
    u8 *maps;
    CUDA(cudaMalloc(&da, a.size() * 2));
    CUDA(cudaMalloc(&db, b.size() * 2));
    CUDA(cudaMalloc(&dout, out.size() * 4));
    CUDA(cudaMalloc(&maps, 6 * 3 * 128));
    CUDA(cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
    tma_gemm<<<dim3(3, 2), 160>>>(da, db, (float *)dout, maps);
    CUDA(cudaMemcpy(out.data(), dout, out.size() * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M; i++)
        for (int n = 0; n < N; n++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += __half2float(a[i * K + k]) * __half2float(b[n * K + k]);
            CHECK(out[i * N + n] == sum);
        }
    printf("the product is right\n");
}
