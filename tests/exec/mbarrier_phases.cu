// One mbarrier, two phases a round, watched by all warps of the CTA: the first says that a bulk copy is there, the
// second that one thread has used it. A warp that looks at neither while two phases pass waits for ever, as odd and even
// are all it can tell; on a GPU no warp is so late. Matrix products for tensor cores are written like this.
#include "check.h"
#include <cstdint>

enum { WORDS = 256, THREADS = 128, ROUNDS = 64 };

static __device__ void wait(uint32_t bar, uint32_t parity)
{
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W; }" ::"r"(bar),
               "r"(parity) : "memory");
}

__global__ void rounds(const uint32_t *x, uint32_t *y)
{
  __shared__ alignas(128) uint32_t row[WORDS], sum;
  __shared__ alignas(8) uint64_t phase;
  const uint32_t t = threadIdx.x, bar = (uint32_t)__cvta_generic_to_shared(&phase);
  uint32_t parity = 0, seen = 0;
  if (t == 0) {
    sum = 0;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(bar) : "memory");
  }
  __syncthreads();
  for (unsigned round = 0; round < ROUNDS; round++) {
    if (t == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(WORDS * 4) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       (uint32_t)__cvta_generic_to_shared(row)), "l"(x + round * WORDS), "r"(WORDS * 4), "r"(bar)
                   : "memory");
    }
    wait(bar, parity);
    parity ^= 1;
    if (t == 0) {
      for (unsigned i = 0; i < WORDS; i++) sum = sum * 31 + row[i];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
    }
    wait(bar, parity);
    parity ^= 1;
    seen = seen * 7 + 1;
  }
  __syncthreads();
  y[blockIdx.x * THREADS + t] = sum ^ seen;
}

int main()
{
  enum { CTAS = 3 };
  static uint32_t x[ROUNDS * WORDS], y[CTAS * THREADS];
  uint32_t *dx, *dy, sum = 0, seen = 0;
  for (unsigned i = 0; i < ROUNDS * WORDS; i++) sum = sum * 31 + (x[i] = i * 2654435761u);
  for (unsigned i = 0; i < ROUNDS; i++) seen = seen * 7 + 1;
  CHECK(!cudaMalloc(&dx, sizeof x));
  CHECK(!cudaMalloc(&dy, sizeof y));
  CHECK(!cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
  rounds<<<CTAS, THREADS>>>(dx, dy);
  CHECK(!cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < CTAS * THREADS; i++)
    if (y[i] != (sum ^ seen)) return printf("thread %u: %x, expected %x\n", i, y[i], sum ^ seen), 1;
  return 0;
}
