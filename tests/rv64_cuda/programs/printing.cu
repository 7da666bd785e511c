// What kernels print is seen at the next synchronisation, in the middle of what the host prints; pinned memory is the host's.
#include <cstdio>

__global__ void talk(volatile int *some)
{
  for (int i = 0; i < 12; i++) {
    if (threadIdx.x == 0) printf("kernel: %d of CTA %d\n", i, blockIdx.x);
    for (int k = 0; k < 300; k++) some[k] = k;
  }
}

int main()
{
  int *some, *pinned;
  long sum = 0;
  if (cudaMalloc(&some, 4096) || cudaMallocHost(&pinned, 4096)) return 1;
  for (int i = 0; i < 1024; i++) pinned[i] = i * 7;
  for (int i = 0; i < 3; i++) {
    talk<<<2, 32>>>(some);
    printf("host: launched %d\n", i);
    fflush(stdout);
    if (cudaDeviceSynchronize()) return 1;
  }
  for (int i = 0; i < 1024; i++) sum += pinned[i];
  printf(sum == 7L * 1024 * 1023 / 2 ? "PASS\n" : "FAIL: %ld\n", sum);
  return 0;
}
