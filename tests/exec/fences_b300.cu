// Cycles of fences and of the barrier of a cluster of two CTAs on a B300, as ademeure/QuickRunCUDA measured them:
// __threadfence 277 to 292, __threadfence_system 1,750, barrier.cluster with relaxed arrivals 102, with the fence of a
// usual one 373 to 380. (The preset's values are from the first three; the fourth is what comes of them.) A chain of
// atomics takes 285 to 360 cycles a step where the line is at home in the near half of L2, else 670 to 745 (its median
// is the preset's l2.home_latency); with releases 1,455 to 1,463: a fence behind a write to the far half asks there, long
// as that is answered.
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

#define ATOM(order) "atom." order ".gpu.global.add.u32 %0, [%1], %2;"

#define CHAIN(order)                                                                                                   \
  unsigned v = 0;                                                                                                      \
  MEASURE(asm volatile(ATOM(order) : "=r"(v) : "l"(line), "r"(v & 1) : "memory"))                                      \
  if (v > 1u << 30) *line = v;

__global__ void relaxed(long long *cycles, unsigned *line) { CHAIN("relaxed") }

__global__ void release(long long *cycles, unsigned *line) { CHAIN("release") }

__global__ void red_and_load(long long *cycles, unsigned *line)
{
  unsigned v = 0;
  MEASURE(asm volatile("red.relaxed.gpu.global.add.u32 [%1], 1; ld.relaxed.gpu.global.u32 %0, [%1];"
                       : "=r"(v) : "l"(line + (v >> 30)) : "memory"))
  if (v > 1u << 30) *line = v;
}

static double chain(void (*kernel)(long long *, unsigned *), unsigned *line)
{
  static long long *cycles;
  long long all = 0;
  if (!cycles && cudaMalloc(&cycles, sizeof all)) exit(1);
  kernel<<<1, 1>>>(cycles, line);
  if (cudaMemcpy(&all, cycles, sizeof all, cudaMemcpyDeviceToHost)) exit(1);
  return (double)all / TIMES;
}

// The first lines of the near and of the far half of L2, as seen from the SM of the first CTA.
static void check_halves()
{
  enum { WORDS = 1 << 16, LINE = 32 };
  unsigned *words, *line[2] = {NULL, NULL};
  if (cudaMalloc(&words, WORDS * sizeof *words) || cudaMemset(words, 0, WORDS * sizeof *words)) exit(1);
  for (unsigned i = 0; i < WORDS && !(line[0] && line[1]); i += LINE) {
    const bool far = chain(relaxed, words + i) > 500;
    if (!line[far]) line[far] = words + i;
  }
  if (!line[0] || !line[1]) exit(1);
  const double got[] = {chain(relaxed, line[0]), chain(relaxed, line[1]), chain(release, line[1]),
                        chain(red_and_load, line[0])};
  printf("atomics, near %.1f, far %.1f cycles, released there %.1f; near, then a load %.1f\n", got[0], got[1], got[2],
         got[3]);
  if (got[0] < 285 || got[0] > 360 || got[1] < 670 || got[1] > 745) exit(1);
  if (got[3] < 1.7 * got[0] || got[3] > 2 * got[0]) exit(1); // the load goes when the atomic is answered
  if (got[2] < 0.98 * 1455 || got[2] > 1.02 * 1463) exit(1);
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
  check_halves();
}
