// Computes for a while between two records of an event, and says how much processor time that took (line "busy NS"),
// and how much simulated time the events saw ("seen NS"). With two threads both compute at the same time.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "../exec/check.h"

static long long now()
{
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__global__ void nothing() {}

static void compute(long long ns)
{
  const long long end = now() + ns;
  while (now() < end) {}
}

int main(int argc, char **argv)
{
  const long long ns = argc > 1 ? atoll(argv[1]) : 20000000;
  const bool two = argc > 2;
  cudaEvent_t e[2];
  float ms;
  CUDA(cudaEventCreate(&e[0]));
  CUDA(cudaEventCreate(&e[1]));
  nothing<<<1, 1>>>();
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventRecord(e[0]));
  const long long begin = now();
  std::thread other;
  if (two) // its calls come while the first thread computes
    other = std::thread([=] {
      CUDA(cudaSetDevice(0));
      compute(ns);
      CUDA(cudaSetDevice(0));
    });
  compute(ns);
  const long long busy = now() - begin;
  if (two) other.join();
  CUDA(cudaEventRecord(e[1]));
  nothing<<<1, 1>>>();
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventElapsedTime(&ms, e[0], e[1]));
  printf("busy %lld\nseen %.0f\n", busy, ms * 1e6);
  return 0;
}
