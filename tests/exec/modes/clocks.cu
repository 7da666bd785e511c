// Clocks of the device and times of events, which must agree: a program that measures itself. Prints "agree" when they do.
#include "../check.h"

__global__ void measure(unsigned long long *t, int rounds, int *sink)
{
  unsigned long long c, n;
  asm volatile("mov.u64 %0, %%clock64;\n mov.u64 %1, %%globaltimer;" : "=l"(c), "=l"(n));
  t[0] = c, t[1] = n;
  for (int i = 0; i < rounds; i++) *(volatile int *)sink = i;
  asm volatile("mov.u64 %0, %%clock64;\n mov.u64 %1, %%globaltimer;" : "=l"(c), "=l"(n));
  t[2] = c, t[3] = n;
}

int main()
{
  const int launches = 3;
  int rate; // kHz
  unsigned long long *t, last = 0;
  int *sink;
  cudaEvent_t from, to;
  CUDA(cudaDeviceGetAttribute(&rate, cudaDevAttrClockRate, 0));
  CUDA(cudaMallocHost(&t, 4 * sizeof *t)); // a page that moved would count, too
  CUDA(cudaMalloc(&sink, 4));
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  float ms[launches];
  for (int i = 0; i < launches; i++) {
    CUDA(cudaEventRecord(from));
    measure<<<1, 1>>>(t, 1000 << i, sink);
    CUDA(cudaEventRecord(to));
    CUDA(cudaEventSynchronize(to));
    CUDA(cudaEventElapsedTime(&ms[i], from, to));
    double clocks = (t[2] - t[0]) * 1e6 / rate, timer = double(t[3] - t[1]), event = ms[i] * 1e6; // ns
    CHECK(t[1] > last); // it goes on from launch to launch
    last = t[3];
    CHECK(clocks > timer - 200 && clocks < timer + 200); // some instructions lie between the two
    CHECK(event >= timer - 200 && event < timer * 1.1 + 20000); // the start, some instructions around
  }
  CHECK(ms[2] > 1.5 * ms[1]);
  puts("agree");
}
