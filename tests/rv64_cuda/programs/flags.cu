// A flag written by the GPU ends a loop of the CPU, and the reverse. The times are those of the simulated clock: the same
// on every run.
#include <cstdint>
#include <cstdio>

static uint64_t cycles(void)
{
  uint64_t n;
  asm volatile("rdcycle %0" : "=r"(n));
  return n;
}

__global__ void raise_flag(volatile int *flag, int turns)
{
  unsigned x = 1;
  for (int i = 0; i < turns; i++) x = x * 1664525u + 1013904223u + *flag;
  __threadfence_system();
  *flag = x ? 1 : 2;
}

__global__ void wait_for_flag(volatile int *flag, volatile int *seen)
{
  while (*flag == 0) {
  }
  *seen = *flag + 1;
}

__global__ void ping_pong(volatile int *ball, int turns)
{
  for (int i = 0; i < turns; i++) {
    while (*ball != 2 * i + 1) {
    }
    *ball = 2 * i + 2;
  }
}

int main()
{
  enum { TURNS = 20 };
  volatile int *flag;
  cudaMallocHost((void **)&flag, 4 * sizeof(int));
  flag[0] = flag[1] = flag[2] = flag[3] = 0;
  raise_flag<<<1, 1>>>(flag, 200);
  uint64_t start = cycles(), loops = 0;
  while (flag[0] == 0) loops++;
  printf("GPU to CPU: %d after %llu cycles, %llu loops\n", flag[0], (unsigned long long)(cycles() - start),
         (unsigned long long)loops);
  cudaDeviceSynchronize();

  wait_for_flag<<<1, 1>>>(flag + 1, flag + 2);
  for (volatile int i = 0; i < 5000; i++) {
  }
  const int before = flag[2];
  flag[1] = 41;
  start = cycles();
  while (flag[2] == 0) {
  }
  printf("CPU to GPU: %d, then %d after %llu cycles\n", before, flag[2], (unsigned long long)(cycles() - start));

  ping_pong<<<1, 1>>>(flag + 3, TURNS);
  start = cycles();
  for (int i = 0; i < TURNS; i++) {
    flag[3] = 2 * i + 1;
    while (flag[3] != 2 * i + 2) {
    }
  }
  const uint64_t took = cycles() - start; // a turn: at most three polls of the GPU, 0.9 us each over a link, at 3.1 GHz
  printf("ping-pong: %d turns, %llu cycles\n", TURNS, (unsigned long long)took);
  const cudaError_t e = cudaDeviceSynchronize();
  const bool ok = e == cudaSuccess && flag[0] == 1 && before == 0 && flag[2] == 42 && flag[3] == 2 * TURNS && loops > 10 &&
                  took < 8000 * TURNS;
  printf("%s\n", ok ? "PASS" : "FAIL");
  return !ok;
}
