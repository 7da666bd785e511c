/* Times of products into tensor memory by shape (tcgen05.mma, sm_100a): from the issue of a lone one to the end of the
 * wait behind its commit, and of two batches with one commit each, as cycles of the SM's clock. Each CTA, or pair of
 * CTAs, has its SM for itself, measures one shape and prints a line. What is multiplied are zeros. */
#include "../../kernels/common/tcgen05.cuh"
#include <cstdio>

enum { F16, F8F6F4, I8, MXF8F6F4 };
enum { LONE = 7, SAMPLES = 3, SHORT = 4, LONG = 20, A_AT = 256, SCALES_AT = 288, ALL = 512, B_AT = 4096, SHARED = 12288, MOST = 264 };

struct shape {
    unsigned number, kind, a_in_tmem, idesc, rows, columns; /* rows and columns that lie in a CTA */
};

/* All operands come from here, or are constants: so they are in uniform registers before the clock is read, as in the
 * measured programs. */
__constant__ shape shapes[MOST];

struct operands {
    u64 a, b;
    unsigned d, a_at, scales, idesc;
};

__device__ inline u64 descriptor(unsigned address, unsigned rows)
{
    return (u64)(address >> 4 & 0x3fff) | (u64)rows << 16 | 8ull << 32 | 1ull << 46;
}

#define PRODUCT(KIND, A, ACODE, SCALES, ...)                                                                        \
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"                                                             \
                 "tcgen05.mma.cta_group::%4.kind::" KIND " [%0], " ACODE ", %2, %3" SCALES ", p;}" ::"r"(o.d), A,       \
                 "l"(o.b), "r"(o.idesc), "n"(CTAS)__VA_ARGS__                                                        \
                 : "memory")

template <int CTAS, int KIND, bool TMEM> __device__ __forceinline__ void multiply(const operands &o)
{
    if (!TMEM) {
        if (KIND == F16) PRODUCT("f16", "l"(o.a), "%1", "");
        if (KIND == F8F6F4) PRODUCT("f8f6f4", "l"(o.a), "%1", "");
        if (KIND == I8) PRODUCT("i8", "l"(o.a), "%1", "");
        if (KIND == MXF8F6F4)
            PRODUCT("mxf8f6f4.block_scale", "l"(o.a), "%1", ", [%5], [%6]", , "r"(o.scales), "r"(o.scales + 4));
    } else {
        if (KIND == F16) PRODUCT("f16", "r"(o.a_at), "[%1]", "");
        if (KIND == F8F6F4) PRODUCT("f8f6f4", "r"(o.a_at), "[%1]", "");
        if (KIND == I8) PRODUCT("i8", "r"(o.a_at), "[%1]", "");
        if (KIND == MXF8F6F4)
            PRODUCT("mxf8f6f4.block_scale", "r"(o.a_at), "[%1]", ", [%5], [%6]", , "r"(o.scales), "r"(o.scales + 4));
    }
}

template <int CTAS> __device__ __forceinline__ void commit(unsigned bar)
{
    asm volatile("tcgen05.commit.cta_group::%2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::
                     "r"(bar),
                 "h"((unsigned short)((1 << CTAS) - 1)), "n"(CTAS)
                 : "memory");
}

template <int CTAS> __device__ __forceinline__ void everybody()
{
    if (CTAS == 1)
        __syncthreads();
    else
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ long long clock_now()
{
    long long t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

__device__ __forceinline__ void wait(unsigned bar, unsigned parity)
{
    asm volatile("{.reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra.uni over;\n"
                 "bra.uni again;\n"
                 "over:}" ::"r"(bar),
                 "r"(parity)
                 : "memory");
}

/* Cycles of N products and their commit, the median of some samples. As in the measured programs, those of one product are in a
 * row, batches in a loop. */
template <int CTAS, int KIND, bool TMEM, int N>
__device__ __forceinline__ unsigned batch(const operands &o, unsigned bar, unsigned &phase, bool issues)
{
    constexpr int n = N == 1 ? LONE : SAMPLES;
    long long cycles[n];
#pragma unroll(N == 1 ? n : 1)
    for (int s = 0; s < n; s++) {
        if (CTAS == 2) everybody<CTAS>(); /* or the odd CTA might miss a phase */
        long long begin = clock_now();
        if (issues && elect_one()) {
#pragma unroll
            for (int i = 0; i < N; i++)
                multiply<CTAS, KIND, TMEM>(o);
            commit<CTAS>(bar);
        }
        wait(bar, phase);
        phase ^= 1;
        cycles[s] = clock_now() - begin;
    }
    for (int i = 0; i <= n / 2; i++) /* the smallest, the next one … */
        for (int k = i + 1; k < n; k++) {
            const long long larger = max(cycles[i], cycles[k]);
            cycles[i] = min(cycles[i], cycles[k]), cycles[k] = larger;
        }
    return (unsigned)cycles[n / 2];
}

template <int CTAS, int KIND, bool TMEM>
__device__ __forceinline__ void measure(unsigned number, const operands &o, unsigned bar, unsigned &phase, bool issues)
{
    unsigned lone = batch<CTAS, KIND, TMEM, 1>(o, bar, phase, issues);
    unsigned few = batch<CTAS, KIND, TMEM, SHORT>(o, bar, phase, issues);
    unsigned many = batch<CTAS, KIND, TMEM, LONG>(o, bar, phase, issues);
    if (issues && threadIdx.x == 0) printf("shape %u %u %u %u\n", number, lone, few, many);
}

template <int CTAS> __device__ __forceinline__ void run()
{
    __shared__ __align__(1024) unsigned char shared[SHARED];
    __shared__ unsigned where;
    __shared__ u64 done;
    unsigned t = threadIdx.x, phase = 0, zeros[32];
    for (unsigned i = t; i < SHARED / 16; i += blockDim.x)
        ((uint4 *)shared)[i] = make_uint4(0, 0, 0, 0);
    for (int i = 0; i < 32; i++)
        zeros[i] = 0;
    if (t < 32 && elect_one()) barrier_init(&done, 1);
    if (t < 32) tmem_allocate<CTAS>(&where, ALL);
    shared_written();
    tmem_barrier();
    tmem_store32(own_lanes(where) + A_AT, zeros);
    tmem_store32(own_lanes(where) + SCALES_AT, zeros);
    tmem_barrier();
    bool issues = t < 32 && blockIdx.x % CTAS == 0;
    const unsigned bar = shared_address(&done);
    const shape &x = shapes[blockIdx.x / CTAS];
    const operands o = {descriptor(shared_address(shared), x.rows), descriptor(shared_address(shared) + B_AT, x.columns),
                        where, where + A_AT, where + SCALES_AT, x.idesc};
    everybody<CTAS>();
#define CASE(KIND, TMEM)                                                                                            \
    case 2 * KIND + TMEM: measure<CTAS, KIND, TMEM>(x.number, o, bar, phase, issues); break
    switch (x.kind * 2 + x.a_in_tmem) {

        CASE(F16, false);
        CASE(F16, true);
        CASE(F8F6F4, false);
        CASE(F8F6F4, true);
        CASE(I8, false);
        CASE(I8, true);
        CASE(MXF8F6F4, false);
        CASE(MXF8F6F4, true);
    }
    everybody<CTAS>();
    if (t < 32) tmem_free<CTAS>(where, ALL);
}

extern "C" __global__ void shapes_one() { run<1>(); }
extern "C" __global__ void __cluster_dims__(2) shapes_pair() { run<2>(); }
