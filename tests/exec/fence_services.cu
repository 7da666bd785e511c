// Calls of the device runtime (malloc, free) among fences of all warps: a call goes out behind what its SM issued before it,
// and must not wait for what stands behind it in its queue, however many fences are under way.
#include <cstdio>

enum { WARPS = 32, ROUNDS = 20, WORDS = 64, STORES = 8 };

__global__ void call(volatile int *x, int *failed)
{
  const int warp = threadIdx.x / 32;
  x += threadIdx.x * WORDS;
  for (int i = 0; i < ROUNDS; i++) {
    x[i] = i;
    if (warp % 8 == 4) { // stores, and no fence
      for (int k = 0; k < STORES; k++) x[ROUNDS + k] = k;
      continue;
    }
    __threadfence();
    if ((warp + i) % 5 || threadIdx.x % 32) continue;
    volatile int *p = (volatile int *)malloc(sizeof *p);
    if (p) *p = i;
    if (!p || *p != i) atomicAdd(failed, 1);
    free((void *)p);
  }
}

int main()
{
  int *x, failed;
  const size_t bytes = 32 * WARPS * WORDS * sizeof *x + sizeof *x;
  if (cudaMalloc(&x, bytes) || cudaMemset(x, 0, bytes)) return 1;
  int *counter = x + 32 * WARPS * WORDS;
  call<<<1, 32 * WARPS>>>(x, counter);
  if (cudaMemcpy(&failed, counter, sizeof failed, cudaMemcpyDeviceToHost)) return 1;
  printf("failed: %d\n", failed);
  return failed != 0;
}
