// Kernels of all GPUs at once on managed memory: counters that all of them change, words that they hand to each other, and a
// system of equations that they solve together, as conjugateGradientMultiDeviceCG of NVIDIA's samples does. Values are
// those of a CPU.
//
//   together counters|turns|solve GPUS
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CUDA(call)                                                                                 \
  if ((call) != cudaSuccess) {                                                                     \
    printf("%s: %s\n", #call, cudaGetErrorString(cudaGetLastError()));                             \
    exit(1);                                                                                       \
  }

enum { CTAS = 2, THREADS = 64, ROWS = 2048, ROUNDS = 6, STEPS = 12 };

static unsigned *allocate(size_t bytes)
{
  void *p;
  CUDA(cudaMallocManaged(&p, bytes));
  memset(p, 0, bytes);
  return (unsigned *)p;
}

static void wait(int gpus)
{
  for (int g = 0; g < gpus; g++) {
    CUDA(cudaSetDevice(g));
    CUDA(cudaDeviceSynchronize());
  }
}

/* --- counters: atomics of all GPUs on the same words ---------------------------------------------- */

__global__ void count(unsigned *word, unsigned *old, int n)
{
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < n; i++) {
    old[t * n + i] = atomicAdd_system(word, 1u);
    atomicMax_system(word + 1 + t % 3, (unsigned)(t * n + i));
    __nanosleep(20000); // others get the page meanwhile
  }
}

static bool counters(int gpus)
{
  const int threads = CTAS * THREADS, n = 4, all = gpus * threads * n;
  unsigned *word = allocate(64), bad = 0;
  std::vector<unsigned *> old;
  for (int g = 0; g < gpus; g++) {
    CUDA(cudaSetDevice(g));
    old.push_back(allocate(threads * n * sizeof(unsigned)));
    count<<<CTAS, THREADS>>>(word, old[g], n);
  }
  wait(gpus);
  std::vector<int> seen(all);
  for (int g = 0; g < gpus; g++)
    for (int i = 0; i < threads * n; i++) {
      if (old[g][i] < (unsigned)all) seen[old[g][i]]++;
      bad += i && i % n && old[g][i] <= old[g][i - 1]; // a thread's own ones ascend
    }
  for (int i = 0; i < all; i++) bad += seen[i] != 1; // each value was there once
  for (int k = 0; k < 3; k++) {
    unsigned most = 0;
    for (int t = 0; t < threads; t++)
      if (t % 3 == k) most = (unsigned)(t * n + n - 1);
    bad += word[1 + k] != most;
  }
  return !bad && word[0] == (unsigned)all;
}

/* --- turns: a word that one writes and the next one waits for ------------------------------------------ */

__global__ void turn(volatile unsigned *word, unsigned *sum, int me, int gpus, int rounds)
{
  for (int i = 0; i < rounds; i++) {
    const unsigned mine = (unsigned)(i * gpus + me);
    while (*word != mine) __nanosleep(1000);
    __threadfence_system();
    *sum = *sum * 3 + (unsigned)me;
    __threadfence_system();
    *word = mine + 1;
  }
}

static bool turns(int gpus)
{
  unsigned *word = allocate(4), *sum = allocate(4), expect = 0;
  for (int i = 0; i < ROUNDS; i++)
    for (int g = 0; g < gpus; g++) expect = expect * 3 + (unsigned)g;
  for (int g = 0; g < gpus; g++) {
    CUDA(cudaSetDevice(g));
    turn<<<1, 1>>>(word, sum, g, gpus, ROUNDS);
  }
  wait(gpus);
  return *sum == expect && *word == (unsigned)(ROUNDS * gpus);
}

/* --- solve: conjugate gradients, each GPU its rows ------------------------------------------------------ */

struct system_of {
  double *x, *r, *p, *sum; // sum: a dot product for each of two places a step
  unsigned *arrived;
};

/* Until all CTAs of all GPUs are here. */
__device__ void meet(unsigned *arrived, unsigned all)
{
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    const unsigned before = atomicAdd_system(arrived, 1u), want = before / all * all + all;
    while (*(volatile unsigned *)arrived < want) __nanosleep(500);
    __threadfence_system();
  }
  __syncthreads();
}

/* Rows of -1, 4, -1. */
__device__ double product(const volatile double *p, int i)
{
  return 4 * p[i] - (i ? p[i - 1] : 0) - (i + 1 < ROWS ? p[i + 1] : 0);
}

__global__ void solve(system_of s, int first, int rows, unsigned all)
{
  const int from = first + blockIdx.x * blockDim.x + threadIdx.x, by = gridDim.x * blockDim.x;
  volatile double *sum = s.sum;
  for (int step = 0; step < STEPS; step++) {
    double mine = 0;
    for (int i = from; i < first + rows; i += by) mine += s.p[i] * product(s.p, i);
    atomicAdd_system(&s.sum[2 * step + 1], mine);
    meet(s.arrived, all);
    const double alpha = sum[2 * step] / sum[2 * step + 1];
    double after = 0;
    for (int i = from; i < first + rows; i += by) {
      s.x[i] += alpha * s.p[i];
      s.r[i] -= alpha * product(s.p, i);
      after += s.r[i] * s.r[i];
    }
    atomicAdd_system(&s.sum[2 * step + 2], after);
    meet(s.arrived, all);
    const double beta = sum[2 * step + 2] / sum[2 * step];
    for (int i = from; i < first + rows; i += by) s.p[i] = s.r[i] + beta * s.p[i];
    meet(s.arrived, all);
  }
}

static void place_rows(double *a, int g, int gpus)
{
  const int rows = ROWS / gpus;
  const cudaMemLocation at = {cudaMemLocationTypeDevice, g};
  CUDA(cudaMemAdvise(a + g * rows, rows * sizeof *a, cudaMemAdviseSetPreferredLocation, at));
  for (int i = 0; i < gpus; i++) {
    const cudaMemLocation by = {cudaMemLocationTypeDevice, i};
    CUDA(cudaMemAdvise(a + g * rows, rows * sizeof *a, cudaMemAdviseSetAccessedBy, by));
  }
  CUDA(cudaMemPrefetchAsync(a + g * rows, rows * sizeof *a, at, 0, 0));
}

static double on_cpu(int steps)
{
  std::vector<double> r(ROWS, 1), p(ROWS, 1), ap(ROWS);
  double rr = ROWS;
  for (int s = 0; s < steps; s++) {
    double pap = 0, after = 0;
    for (int i = 0; i < ROWS; i++) {
      ap[i] = 4 * p[i] - (i ? p[i - 1] : 0) - (i + 1 < ROWS ? p[i + 1] : 0);
      pap += p[i] * ap[i];
    }
    for (int i = 0; i < ROWS; i++) {
      r[i] -= rr / pap * ap[i];
      after += r[i] * r[i];
    }
    for (int i = 0; i < ROWS; i++) p[i] = r[i] + after / rr * p[i];
    rr = after;
  }
  return rr;
}

static bool solves(int gpus)
{
  system_of s = {(double *)allocate(ROWS * 8), (double *)allocate(ROWS * 8), (double *)allocate(ROWS * 8),
                 (double *)allocate((2 * STEPS + 2) * 8), allocate(4)};
  for (int i = 0; i < ROWS; i++) s.r[i] = s.p[i] = 1;
  s.sum[0] = ROWS;
  for (int g = 0; g < gpus; g++) {
    CUDA(cudaSetDevice(g));
    place_rows(s.x, g, gpus);
    place_rows(s.r, g, gpus);
    place_rows(s.p, g, gpus);
  }
  wait(gpus);
  for (int g = 0; g < gpus; g++) {
    CUDA(cudaSetDevice(g));
    solve<<<CTAS, THREADS>>>(s, g * (ROWS / gpus), ROWS / gpus, (unsigned)(gpus * CTAS));
  }
  wait(gpus);
  double worst = 0;
  for (int i = 0; i < ROWS; i++)
    worst = fmax(worst, fabs(4 * s.x[i] - (i ? s.x[i - 1] : 0) - (i + 1 < ROWS ? s.x[i + 1] : 0) - 1));
  const double rr = s.sum[2 * STEPS], want = on_cpu(STEPS);
  return worst < 1e-5 && fabs(rr - want) <= 1e-6 * want;
}

int main(int argc, char **argv)
{
  const int gpus = atoi(argv[2]);
  const bool ok = !strcmp(argv[1], "counters") ? counters(gpus) : !strcmp(argv[1], "turns") ? turns(gpus) : solves(gpus);
  (void)argc;
  printf("%s\n", ok ? "right" : "wrong");
  return !ok;
}
