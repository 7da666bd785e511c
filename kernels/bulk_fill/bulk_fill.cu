// Parts of shared memory zeroed by st.bulk, and bulk copies of some bytes of each 16: what is left out stays in global memory.
#include <cstdint>

enum { THREADS = 64, WORDS = 1024, FILLS = 4 };

static __device__ uint32_t shared_of(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

// fills: a place and a size for each, in bytes, FILLS of each CTA; masks: of each CTA two.
extern "C" __global__ void bulk_fill(uint32_t *y, const uint32_t *fills, const uint32_t *masks)
{
    __shared__ alignas(128) uint32_t buf[WORDS];
    const uint32_t *mine = fills + blockIdx.x * FILLS * 2;
    uint32_t *to = y + blockIdx.x * WORDS;

    for (int i = threadIdx.x; i < WORDS; i += THREADS) buf[i] = 0x01010101u * (i % 255 + 1);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        const int k = threadIdx.x / 32 * 2; // each warp by a shared and a generic address
        asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"(shared_of(buf) + mine[2 * k]), "l"((uint64_t)mine[2 * k + 1]) : "memory");
        asm volatile("st.bulk.weak [%0], %1, 0;" ::"l"((char *)buf + mine[2 * k + 2]), "l"((uint64_t)mine[2 * k + 3]) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint16_t first = masks[2 * blockIdx.x], second = masks[2 * blockIdx.x + 1];
        uint64_t policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;"
                     ::"l"(to), "r"(shared_of(buf)), "r"(WORDS * 2), "h"(first) : "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%0], [%1], %2, %3, %4;"
                     ::"l"(to + WORDS / 2), "r"(shared_of(buf + WORDS / 2)), "r"(WORDS * 2), "l"(policy), "h"(second) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}
