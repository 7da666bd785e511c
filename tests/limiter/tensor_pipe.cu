/* Nothing but products of tensor cores, on all SMs: into tensor memory (sm_100a, 128 x 256, A there, too, 128 cycles of
 * the pipe each), in batches with a commit and a wait, or of warpgroups (sm_90a, 64 x 64 of matrices in shared memory,
 * 32 cycles of the four units), in a row. What is multiplied are zeros. */
#include <cstdio>

enum { SHARED = 16384 };

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include "../../kernels/common/wgmma.cuh"

enum { PRODUCTS = 512, UNROLL = 32 };

__device__ float multiply(unsigned char *shared)
{
    float d[32] = {};
    const unsigned long long a = matrix(shared, 16, 1024, SWIZZLE_128);
    const unsigned long long b = matrix(shared + SHARED / 2, 16, 1024, SWIZZLE_128);
    shared_written();
    group_fence();
    for (int i = 0; i < PRODUCTS / UNROLL; i++)
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                         "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" LIST32 "}, %32, %33, p, 1, 1, 0, 0;}"
                         : REGS32("+f", d, 0)
                         : "l"(a), "l"(b));
    group_commit();
    group_wait<0>();
    return d[threadIdx.x % 32];
}
#else
#include "../../kernels/common/tcgen05.cuh"

enum { BATCHES = 64, BATCH = 5, COLUMNS = 512, A_AT = 256 };
enum { IDESC = 1 << 4 | 256 / 8 << 17 | 128 / 16 << 24 }; /* F16 x F16 = F32, 128 x 256 */

__device__ float multiply(unsigned char *shared)
{
    __shared__ unsigned where;
    __shared__ u64 done;
    unsigned zeros[32] = {};
    const u64 b = (u64)(shared_address(shared) >> 4 & 0x3fff) | 256ull << 16 | 8ull << 32 | 1ull << 46;
    if (threadIdx.x < 32 && elect_one()) barrier_init(&done, 1);
    if (threadIdx.x < 32) tmem_allocate(&where, COLUMNS);
    shared_written();
    tmem_barrier();
    tmem_store32(own_lanes(where) + A_AT, zeros);
    tmem_barrier();
    for (int i = 0; threadIdx.x < 32 && i < BATCHES; i++) {
        if (elect_one()) {
#pragma unroll
            for (int k = 0; k < BATCH; k++)
                asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                             "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;}" ::"r"(where),
                             "r"(where + A_AT), "l"(b), "r"((unsigned)IDESC)
                             : "memory");
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%0];" ::"l"(
                             (u64)__cvta_generic_to_shared(&done))
                         : "memory");
        }
        barrier_wait(&done, i & 1);
    }
    __syncthreads();
    if (threadIdx.x < 32) tmem_free(where, COLUMNS);
    return 0;
}
#endif

__global__ void products(float *out)
{
    __shared__ __align__(1024) unsigned char shared[SHARED];
    for (unsigned i = threadIdx.x; i < SHARED / 16; i += blockDim.x)
        ((uint4 *)shared)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    const float x = multiply(shared);
    if (x != 0) *out = x;
}

int main()
{
    float *out, is = 0;
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    cudaMalloc(&out, sizeof *out);
    cudaMemset(out, 0, sizeof *out);
    products<<<p.multiProcessorCount, 128>>>(out);
    cudaMemcpy(&is, out, sizeof is, cudaMemcpyDeviceToHost);
    const cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess || is != 0) printf("%s, %g\n", cudaGetErrorString(e), is);
    return e != cudaSuccess || is != 0;
}
