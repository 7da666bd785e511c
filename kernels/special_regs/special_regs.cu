/*
 * Special registers of PTX and builtins, held against each other and against the launch: 16 answers per thread, 1 where
 * all is well. The launch has 48 threads in x, 2 in y, 3 blocks in x and y, 1000 bytes of dynamic shared memory.
 */

using u32 = unsigned;
using u64 = unsigned long long;


#define U32(name) ({ u32 v_; asm volatile("mov.u32 %0, %%" name ";" : "=r"(v_)); v_; })
#define U64(name) ({ u64 v_; asm volatile("mov.u64 %0, %%" name ";" : "=l"(v_)); v_; })

__constant__ u32 constant[4] = {1, 2, 3, 4};

__device__ __noinline__ u32 spaces(const void *global, const u32 *param, const void *shared, const void *local)
{
    return __isGlobal(global) && !__isShared(global) && !__isLocal(global) && !__isConstant(global) &&
           !__isGridConstant(global) && __isShared(shared) && !__isLocal(shared) && __isLocal(local) &&
           !__isShared(local) && __isConstant(constant) && !__isConstant(shared) && __isGridConstant(param) &&
           !__isGridConstant(shared) && *param == 77;
}

struct block_of {
    u32 v[40];
};

extern "C" __global__ void special_regs(u32 *out, const __grid_constant__ block_of p)
{
    __shared__ u32 fixed[50];
    extern __shared__ u32 given[];
    u32 x = threadIdx.x, y = threadIdx.y, t = y * 48 + x, lane = U32("laneid"), warp = t / 32;
    u32 at = ((blockIdx.y * 3 + blockIdx.x) * 96 + t) * 16, local[4];

    local[t & 3] = t;
    out[at + 0] = U32("tid.x") == x && U32("tid.y") == y && U32("tid.z") == 0 && lane == t % 32;
    out[at + 1] = U32("ntid.x") == 48 && U32("ntid.y") == 2 && U32("ntid.z") == 1 && U32("nctaid.x") == 3 &&
                  U32("nctaid.y") == 3 && U32("nctaid.z") == 1;
    out[at + 2] = U32("ctaid.x") == blockIdx.x && U32("ctaid.y") == blockIdx.y && U32("ctaid.z") == 0;
    out[at + 3] = U32("warpid") < U32("nwarpid") && U32("smid") < U32("nsmid") && U32("nwarpid") >= 32 &&
                  __shfl_sync(~0u, U32("warpid"), 0) == U32("warpid") && warp < 3;
    out[at + 4] = U32("lanemask_eq") == 1u << lane && U32("lanemask_lt") == (1u << lane) - 1 &&
                  U32("lanemask_le") == (2u << lane) - 1 && U32("lanemask_gt") == ~((2u << lane) - 1) &&
                  U32("lanemask_ge") == ~((1u << lane) - 1);
    u64 clock = U64("clock64"), time = U64("globaltimer");
    out[at + 5] = U32("clock") - (u32)clock < 1000000 && U64("clock64") >= clock && U64("globaltimer") >= time &&
                  U32("globaltimer_hi") - (u32)(time >> 32) <= 1 && U32("clock_hi") - (u32)(clock >> 32) <= 1;
    out[at + 6] = U64("gridid") != 0 && U64("current_graph_exec") == 0 && U32("dynamic_smem_size") == 1000;
    out[at + 7] = U32("total_smem_size") % 128 == 0 && U32("total_smem_size") >= 1200 && U32("total_smem_size") < 1200 + 256;
    /* The reserved part, written whole, touches nothing of the kernel's. */
    u32 good = 1;
    for (u32 i = t; i < 50; i += 96) fixed[i] = i;
    for (u32 i = t; i < 250; i += 96) given[i] = ~i;
    __syncthreads();
    out[at + 8] = 1;
#if __CUDA_ARCH__ >= 800
    u32 begin = U32("reserved_smem_offset_begin"), end = U32("reserved_smem_offset_end");
    u32 cap = U32("reserved_smem_offset_cap"), first = U32("reserved_smem_offset_0"), second = U32("reserved_smem_offset_1");
    out[at + 8] = begin <= first && first < second && second % 16 == 0 && second + 288 <= end && end <= cap &&
                  cap - begin == 1024;
    for (u32 i = 4 * t; i < 288; i += 4 * 96) asm volatile("st.shared.u32 [%0], %1;" ::"r"(second + i), "r"(i * 3) : "memory");
    __syncthreads();
    for (u32 i = 0; i < 288; i += 4) {
        u32 v;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(second + i) : "memory");
        good &= v == i * 3;
    }
#endif
    for (u32 i = 0; i < 50; i++) good &= fixed[i] == i;
    for (u32 i = 0; i < 250; i++) good &= given[i] == ~i;
    out[at + 9] = good;
    out[at + 10] = spaces(out, &p.v[1], fixed, local);
    out[at + 11] = __isGridConstant(p.v) && !__isGridConstant(constant) && !__isGridConstant(out);
    out[at + 12] = out[at + 13] = out[at + 14] = 1;
#if __CUDA_ARCH__ >= 900
    u32 is_explicit;
    asm("{ .reg .pred q; mov.pred q, %%is_explicit_cluster; selp.u32 %0, 1, 0, q; }" : "=r"(is_explicit));
    out[at + 12] = U32("clusterid.x") == blockIdx.x && U32("clusterid.y") == blockIdx.y && U32("clusterid.z") == 0 &&
                   U32("nclusterid.x") == 3 && U32("nclusterid.y") == 3 && U32("nclusterid.z") == 1 && !is_explicit;
    out[at + 13] = U32("cluster_ctaid.x") == 0 && U32("cluster_ctaid.y") == 0 && U32("cluster_ctaid.z") == 0 &&
                   U32("cluster_nctaid.x") == 1 && U32("cluster_nctaid.y") == 1 && U32("cluster_nctaid.z") == 1 &&
                   U32("cluster_ctarank") == 0 && U32("cluster_nctarank") == 1;
    out[at + 14] = U32("aggr_smem_size") == U32("total_smem_size") + 1024;
#endif
    out[at + 15] = local[t & 3] == t && U32("envreg0") == 0 && U32("envreg31") == 0;
}
