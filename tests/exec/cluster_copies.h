// What kernels need whose copies reach other CTAs of a cluster: shared addresses, mbarriers that count bytes, meetings.
#pragma once
#include <cstdint>

static __device__ unsigned shared_of(const void *p)
{
  return (unsigned)__cvta_generic_to_shared(p);
}

// The same place in another CTA.
static __device__ unsigned in_cta(unsigned a, unsigned cta)
{
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(a), "r"(cta));
  return a;
}

static __device__ unsigned rank_of()
{
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

static __device__ void cluster_sync()
{
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

// bytes 0: nothing comes to this CTA.
static __device__ void expect(uint64_t *barrier, unsigned bytes)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_of(barrier)) : "memory");
  if (bytes) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_of(barrier)), "r"(bytes) : "memory");
}

static __device__ void wait(uint64_t *barrier)
{
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(shared_of(barrier))
               : "memory");
}

// What threads wrote to shared memory is there for copies, also those of other CTAs.
static __device__ void all_ready()
{
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
  __syncthreads();
  cluster_sync();
}
