// Threads of the program and the GPU: one thread waits for a kernel that waits for a flag of another thread; several
// threads with streams, errors and events of their own.
#include <cstdio>
#include <pthread.h>
#include <unistd.h>

__global__ void wait_for(volatile int *flag, int *out)
{
  while (*flag == 0) {
  }
  *out = *flag * 10;
}

__global__ void sum_up(unsigned *sum, unsigned n)
{
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(sum, i);
}

static volatile int *flag;

static void *raise(void *how)
{
  if (how) usleep(50);
  for (volatile int i = 0; i < 20000; i++) {
  }
  *flag = 7;
  return nullptr;
}

static int one_waits(bool sleeps)
{
  int *out, got = 0;
  pthread_t t;
  cudaMalloc((void **)&out, sizeof *out);
  *flag = 0;
  wait_for<<<1, 1>>>(flag, out);
  pthread_create(&t, nullptr, raise, sleeps ? out : nullptr);
  const cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
  pthread_join(t, nullptr);
  printf("a flag of another thread%s: %s, %d\n", sleeps ? ", which sleeps first" : "", cudaGetErrorName(e), got);
  cudaFree(out);
  return e != cudaSuccess || got != 70;
}

static void *work(void *p)
{
  const unsigned n = 1000 * (1 + *(unsigned *)p);
  unsigned *sum, got = 0;
  cudaStream_t s;
  cudaEvent_t e;
  cudaStreamCreate(&s);
  cudaEventCreate(&e);
  cudaMalloc((void **)&sum, sizeof *sum);
  cudaMemsetAsync(sum, 0, sizeof *sum, s);
  sum_up<<<4, 64, 0, s>>>(sum, n);
  cudaMemcpyAsync(&got, sum, sizeof got, cudaMemcpyDeviceToHost, s);
  cudaEventRecord(e, s);
  if (n == 2000) cudaSetDevice(1000); // an error of this thread alone
  if (n == 3000) cudaEventSynchronize(e);
  else cudaStreamSynchronize(s);
  const cudaError_t last = cudaGetLastError();
  *(unsigned *)p = got == n * (n - 1) / 2 && (last == cudaErrorInvalidDevice) == (n == 2000) ? 0 : n;
  cudaFree(sum);
  cudaEventDestroy(e);
  cudaStreamDestroy(s);
  return nullptr;
}

int main()
{
  enum { THREADS = 4 };
  pthread_t t[THREADS];
  unsigned n[THREADS];
  cudaMallocHost((void **)&flag, sizeof(int));
  int failed = one_waits(false) + one_waits(true);
  for (unsigned i = 0; i < THREADS; i++) {
    n[i] = i;
    pthread_create(&t[i], nullptr, work, &n[i]);
  }
  for (unsigned i = 0; i < THREADS; i++) {
    pthread_join(t[i], nullptr);
    printf("thread %u: %s\n", i, n[i] ? "wrong" : "right");
    failed += n[i] != 0;
  }
  printf("%s\n", failed ? "FAIL" : "PASS");
  return failed != 0;
}
