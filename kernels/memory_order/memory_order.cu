/*
 * PTX memory-model operations: ld.acquire and st.release in CTA, GPU and system
 * scope, relaxed accesses, volatile, red.release, atom.acq_rel, fences; a chain of
 * four CTAs passes a message that each changes.
 */
extern "C" __global__ void memory_order(unsigned *flag, unsigned *message, unsigned *total,
                                        unsigned *seen)
{
    unsigned b = blockIdx.x, t = threadIdx.x, v;

    if (t == 0) {
        do {
            if (b % 2 == 0)
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                             : "=r"(v)
                             : "l"(flag)
                             : "memory");
            else
                asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                             : "=r"(v)
                             : "l"(flag)
                             : "memory");
        } while (v != b);
    }
    __syncthreads();
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(message + t) : "memory");
    seen[b * blockDim.x + t] = v;
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(message + t), "r"(v * 3 + b)
                 : "memory");
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(total), "r"(v & 0xff) : "memory");
    unsigned old;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                 : "=r"(old)
                 : "l"(total + 1)
                 : "memory");
    if (old >= gridDim.x * blockDim.x) /* more increments than threads */
        v = 0;
    asm volatile("atom.relaxed.cta.global.max.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(total + 2), "r"(v)
                 : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("fence.sc.cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("fence.sc.gpu;" ::: "memory");
        if (b == 1)
            asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(b + 1) : "memory");
        else
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(b + 1) : "memory");
    }
}
