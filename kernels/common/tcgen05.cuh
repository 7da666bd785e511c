/* Tensor memory: its management, waits, and the words that describe matrices and products (PTX ISA, tcgen05). */
#ifndef TCGEN05_CUH
#define TCGEN05_CUH

typedef unsigned long long u64;

__device__ inline unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* By one whole warp; the address comes to *where. */
template <int CTAS = 1> __device__ inline void tmem_allocate(unsigned *where, unsigned columns)
{
    if (CTAS == 1)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(where)),
                     "r"(columns)
                     : "memory");
    else
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(where)),
                     "r"(columns)
                     : "memory");
}

template <int CTAS = 1> __device__ inline void tmem_free(unsigned address, unsigned columns)
{
    if (CTAS == 1) {
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns));
    } else {
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
        asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns));
    }
}

__device__ inline void wait_loads() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
__device__ inline void wait_stores() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
__device__ inline void fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ inline void fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

/* All threads of the CTA, and what they did to tensor memory. */
__device__ inline void tmem_barrier()
{
    fence_before();
    __syncthreads();
    fence_after();
}

__device__ inline bool elect_one()
{
    unsigned one;
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p;}" : "=r"(one));
    return one;
}

__device__ inline void barrier_init(u64 *bar, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void barrier_wait(u64 *bar, unsigned parity)
{
    asm volatile("{.reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;}" ::"r"(shared_address(bar)),
                 "r"(parity)
                 : "memory");
}

/* 32 columns of the warp's 32 lanes, a lane for each thread. */
#define TMEM_LIST32                                                                                                \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
    "%24, %25, %26, %27, %28, %29, %30, %31}"
#define TMEM_FOUR(c, r, i) c(r[i]), c(r[i + 1]), c(r[i + 2]), c(r[i + 3])
#define TMEM_REGS32(c, r)                                                                                          \
    TMEM_FOUR(c, r, 0), TMEM_FOUR(c, r, 4), TMEM_FOUR(c, r, 8), TMEM_FOUR(c, r, 12), TMEM_FOUR(c, r, 16),            \
        TMEM_FOUR(c, r, 20), TMEM_FOUR(c, r, 24), TMEM_FOUR(c, r, 28)

__device__ inline void tmem_load32(unsigned address, unsigned r[32])
{
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 " TMEM_LIST32 ", [%32];"
                 : TMEM_REGS32("=r", r)
                 : "r"(address));
    wait_loads();
}

__device__ inline void tmem_store32(unsigned address, const unsigned r[32])
{
    asm volatile("tcgen05.st.sync.aligned.32x32b.x32.b32 [%32], " TMEM_LIST32 ";" ::TMEM_REGS32("r", r), "r"(address)
                 : "memory");
    wait_stores();
}

/* The warp's quarter of the lanes. */
__device__ inline unsigned own_lanes(unsigned address)
{
    return address + (threadIdx.x / 32 % 4 << 21);
}

/* What threads wrote to shared memory is there for copies and products. */
__device__ inline void shared_written()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

#endif
