// Cluster launch control (PTX ISA, clusterlaunchcontrol): CTAs that run take over CTAs that have not been launched.
#ifndef KERNELS_COMMON_LAUNCH_CONTROL_CUH
#define KERNELS_COMMON_LAUNCH_CONTROL_CUH

#include <cstdint>

struct launch_answer {
    alignas(16) uint4 bits;
    uint64_t bar;
};

struct launch_place {
    uint32_t x, y, z;
    bool taken;
};

static __device__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ void launch_init(launch_answer *a)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&a->bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ void launch_expect(launch_answer *a)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" :: "r"(shared_address(&a->bar)) : "memory");
}

static __device__ void launch_ask(launch_answer *a)
{
    asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];"
                 :: "r"(shared_address(&a->bits)), "r"(shared_address(&a->bar)) : "memory");
}

static __device__ void launch_wait(launch_answer *a, uint32_t phase)
{
    asm volatile("{ .reg .pred p;\n"
                 "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra WAIT; }" :: "r"(shared_address(&a->bar)), "r"(phase) : "memory");
}

static __device__ launch_place launch_read(launch_answer *a)
{
    launch_place p;
    uint32_t taken;
    asm volatile("{ .reg .b128 r; .reg .pred p;\n"
                 "ld.shared.b128 r, [%4];\n"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "mov.u32 %1, 0; mov.u32 %2, 0; mov.u32 %3, 0;\n"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, r;\n"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %2, r;\n"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %3, r; }"
                 : "=r"(taken), "=r"(p.x), "=r"(p.y), "=r"(p.z) : "r"(shared_address(&a->bits)) : "memory");
    asm volatile("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::: "memory");
    p.taken = taken;
    return p;
}

#endif
