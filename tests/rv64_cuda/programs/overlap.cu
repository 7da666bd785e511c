// A loop of the CPU and a kernel at once take as long as the longer of the two, plus what the calls take.
#include <cstdint>
#include <cstdio>
#include <ctime>

static uint64_t now(void) // ns
{
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

__global__ void spin(unsigned *out, int turns)
{
  unsigned x = threadIdx.x;
  for (int i = 0; i < turns; i++) x = x * 1664525u + 1013904223u;
  out[threadIdx.x] = x;
}

static volatile unsigned sink;

static void work(int turns)
{
  for (int i = 0; i < turns; i++) sink = sink * 3 + 1;
}

static uint64_t measure(unsigned *out, int cpu, int gpu)
{
  const uint64_t start = now();
  if (gpu) spin<<<1, 32>>>(out, gpu);
  work(cpu);
  cudaDeviceSynchronize();
  return now() - start;
}

static bool check(const char *what, unsigned *out, int cpu, int gpu)
{
  const uint64_t nothing = measure(out, 0, 0), a = measure(out, cpu, 0), b = measure(out, 0, gpu), both = measure(out, cpu, gpu);
  const uint64_t longer = a > b ? a : b;
  const bool ok = both >= longer - longer / 50 && both <= longer + longer / 50 + 10000;
  printf("%s: %llu ns of the CPU, %llu of the GPU, %llu together, %llu of nothing: %s\n", what, (unsigned long long)a,
         (unsigned long long)b, (unsigned long long)both, (unsigned long long)nothing, ok ? "ok" : "wrong");
  return ok;
}

int main()
{
  unsigned *out;
  cudaMalloc((void **)&out, 128);
  measure(out, 10, 10);
  bool ok = check("CPU longer", out, 60000, 5000);
  ok = check("GPU longer", out, 2000, 30000) && ok;
  ok = check("alike", out, 30000, 15000) && ok;
  printf("%s\n", ok ? "PASS" : "FAIL");
  return !ok;
}
