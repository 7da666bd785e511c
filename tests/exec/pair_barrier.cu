// Copies whose mbarrier is named by the address of the pair's even CTA, without .cta_group::2: PTX wants it in the CTA to which the data go, so the
// offset alone counts. The odd CTA waited for ever, and the even one's barrier was told twice.
#include "check.h"
#include <cooperative_groups.h>
#include <cuda_runtime.h>

enum { WORDS = 512, BYTES = WORDS * 4, ROUNDS = 3 };

__global__ void __cluster_dims__(2) copies(const unsigned *in, unsigned *out)
{
  __shared__ alignas(128) unsigned data[WORDS];
  __shared__ alignas(8) unsigned long long full;
  const unsigned own = (unsigned)__cvta_generic_to_shared(&full), to = (unsigned)__cvta_generic_to_shared(data);
  unsigned rank, here, leader;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(here) : "r"(to), "r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(leader) : "r"(own), "r"(0));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(own) : "memory");
  cooperative_groups::this_cluster().sync();
  for (unsigned r = 0; r < ROUNDS; r++) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(own), "r"(BYTES) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(here),
                   "l"(in + (blockIdx.x * ROUNDS + r) * WORDS), "r"(BYTES), "r"(leader)
                   : "memory");
    }
    unsigned done = 0;
    while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(own), "r"(r & 1)
                   : "memory");
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) out[(blockIdx.x * ROUNDS + r) * WORDS + i] = data[i] + 1;
    __syncthreads();
  }
  cooperative_groups::this_cluster().sync();
}

int main()
{
  enum { CTAS = 4, ALL = CTAS * ROUNDS * WORDS };
  static unsigned in[ALL], out[ALL];
  unsigned *from, *to;
  for (unsigned i = 0; i < ALL; i++) in[i] = i * 2654435761u;
  CUDA(cudaMalloc(&from, sizeof in));
  CUDA(cudaMalloc(&to, sizeof out));
  CUDA(cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice));
  copies<<<CTAS, 64>>>(from, to);
  CUDA(cudaMemcpy(out, to, sizeof out, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < ALL; i++) CHECK(out[i] == in[i] + 1);
}
