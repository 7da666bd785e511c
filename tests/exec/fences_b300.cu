// Cycles of fences and of the barrier of a cluster of two CTAs on a B300, as ademeure/QuickRunCUDA measured them:
// __threadfence 277 to 292, __threadfence_system 1,750, barrier.cluster with relaxed arrivals 102, with the fence of a
// usual one 373 to 380. (The preset's values are from the first three; the fourth is what comes of them.)
#include <cstdio>
#include <cstdlib>

enum { TIMES = 100, ROUNDS = 2 }; // the first round is cold

#define MEASURE(what)                                                                                                  \
  for (int r = 0; r < ROUNDS; r++) {                                                                                   \
    const long long begin = clock64();                                                                                 \
    _Pragma("unroll 1") for (int i = 0; i < TIMES; i++) what;                                                          \
    if (threadIdx.x == 0 && blockIdx.x == 0) *cycles = clock64() - begin;                                              \
  }

__global__ void fence(long long *cycles) { MEASURE(__threadfence()) }

__global__ void fence_system(long long *cycles) { MEASURE(__threadfence_system()) }

__global__ void __cluster_dims__(2) meet_relaxed(long long *cycles)
{
  MEASURE(asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory"))
}

__global__ void __cluster_dims__(2) meet(long long *cycles)
{
  MEASURE(asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"))
}

static void check(const char *what, void (*kernel)(long long *), int ctas, double least, double most)
{
  static long long *cycles;
  long long all = 0;
  if (!cycles && cudaMalloc(&cycles, sizeof all)) exit(1);
  kernel<<<ctas, 32>>>(cycles);
  if (cudaMemcpy(&all, cycles, sizeof all, cudaMemcpyDeviceToHost)) exit(1);
  const double each = (double)all / TIMES;
  printf("%s: %.1f cycles, measured %.0f to %.0f\n", what, each, least, most);
  if (each < 0.98 * least || each > 1.02 * most) exit(1);
}

int main()
{
  check("__threadfence", fence, 1, 277, 292);
  check("__threadfence_system", fence_system, 1, 1750, 1750);
  check("cluster, relaxed", meet_relaxed, 2, 102, 102);
  check("cluster", meet, 2, 373, 380);
}
