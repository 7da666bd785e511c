// Batches of BF16 products of a pair of CTAs on a B300, each with a commit to both, a wait of all, and a barrier of the
// cluster behind it, against the cycles that Antoniomv7/gb300-microbench (umma_2sm, commit 1f277673) publishes for such
// batches. What is multiplied are zeros; that values are right is what kernels/tmem_mma_pair is for.
#include "../../kernels/common/tcgen05.cuh"
#include <cstdio>
#include <cstdlib>

enum { ROWS = 128, MOST_COLUMNS = 128, STEP = 32 /* bytes of k */, ROUNDS = 12, WARM = 2 };

__device__ static u64 descriptor(const void *p)
{
  return (u64)(shared_address(p) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32 | 1ull << 46;
}

__device__ static void multiply(unsigned d, u64 a, u64 b, unsigned columns)
{
  const unsigned idesc = 1 << 4 | 1 << 7 | 1 << 10 | columns / 8 << 17 | 2 * ROWS / 16 << 24; // FP32 += BF16 * BF16
  asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
               "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(d),
               "l"(a), "l"(b), "r"(idesc)
               : "memory");
}

__device__ static void meet()
{
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

template <int COLUMNS, int DEPTH> __global__ void __cluster_dims__(2) batches(long long *cycles)
{
  __shared__ __align__(128) uint4 a[ROWS * STEP / 16], b[MOST_COLUMNS * STEP / 16];
  __shared__ unsigned where;
  __shared__ u64 done;
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < sizeof a / sizeof *a; i += blockDim.x) a[i] = b[i] = make_uint4(0, 0, 0, 0);
  if (t == 0) barrier_init(&done, 1);
  bool leader = false;
  if (t < 32) leader = elect_one();
  shared_written();
  meet();
  if (t < 32) tmem_allocate<2>(&where, COLUMNS);
  tmem_barrier();
  const unsigned d = where;
  meet();
  long long begin = 0;
  for (int round = 0; round < ROUNDS; round++) {
    if (round == WARM) begin = clock64();
    if (leader) {
      if (blockIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < DEPTH; i++) multiply(d, descriptor(a), descriptor(b), COLUMNS);
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
                         shared_address(&done)),
                     "h"((unsigned short)3)
                     : "memory");
      }
      barrier_wait(&done, round & 1);
    }
    __syncthreads();
    meet();
  }
  if (t == 0 && blockIdx.x == 0) *cycles = clock64() - begin;
  meet();
  if (t < 32) tmem_free<2>(d, COLUMNS);
}

static void check(void (*kernel)(long long *), int columns, int depth, double published)
{
  long long *cycles, all = 0;
  if (cudaMalloc(&cycles, sizeof all)) exit(1);
  kernel<<<2, 128>>>(cycles);
  if (cudaMemcpy(&all, cycles, sizeof all, cudaMemcpyDeviceToHost) || cudaFree(cycles)) exit(1);
  const double each = (double)all / (ROUNDS - WARM), off = published / each - 1;
  printf("%d columns, %d products: %.0f cycles, published %.0f, rate %+.1f %%\n", columns, depth, each, published, 100 * off);
  if (off > 0.06 || off < -0.06) exit(1); /* with the code of nvcc 13.0 it is 4.9 % at most, of 13.5 5.3 */
}

int main()
{
  check(batches<64, 16>, 64, 16, 1460);
  check(batches<64, 64>, 64, 64, 3584);
  check(batches<128, 16>, 128, 16, 1760);
  check(batches<128, 64>, 128, 64, 4858);
  check(batches<256, 16>, 256, 16, 2784);
  check(batches<256, 64>, 256, 64, 8939);
}
