// Functions of the program that streams call, in their order, while the thread that gave them waits or goes on.
#include <cstdio>

static int order[64], n;
static volatile int *flag;

__global__ void add(int *p, int x)
{
  *p += x;
}

__global__ void wait_for(volatile int *flag)
{
  while (*flag == 0) {
  }
}

static void CUDART_CB note(void *p)
{
  order[n++] = (int)(long)p;
}

static void CUDART_CB noted(cudaStream_t s, cudaError_t e, void *p)
{
  order[n++] = 100 + (int)(long)p + e + (s == nullptr ? 1000 : 0);
}

static void CUDART_CB double_it(void *p)
{
  *(int *)p *= 2;
}

static void CUDART_CB raise_it(void *)
{
  *flag = 1;
}

int main()
{
  int *value, failed = 0;
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaMallocHost((void **)&value, sizeof *value);
  cudaMallocHost((void **)&flag, sizeof *flag);
  *value = 1;
  *flag = 0;
  for (int i = 0; i < 3; i++) {
    add<<<1, 1, 0, a>>>(value, 10);
    cudaLaunchHostFunc(a, double_it, value);
  }
  const cudaError_t e = cudaStreamSynchronize(a);
  printf("kernels and functions in turn: %s, %d\n", cudaGetErrorName(e), *value);
  failed += *value != ((1 + 10) * 2 + 10) * 4 + 20;
  for (long i = 0; i < 5; i++) cudaLaunchHostFunc(a, note, (void *)i);
  cudaStreamAddCallback(a, noted, (void *)5, 0);
  cudaDeviceSynchronize();
  for (int i = 0; i < 5; i++) failed += order[i] != i;
  failed += n != 6 || order[5] != 105;
  printf("%d functions in order, the last %d\n", n, order[5]);
  wait_for<<<1, 1, 0, a>>>(flag); // ends by a function of another stream
  cudaLaunchHostFunc(b, raise_it, nullptr);
  const cudaError_t f = cudaDeviceSynchronize();
  printf("a kernel that waits for a function: %s\n", cudaGetErrorName(f));
  failed += f != cudaSuccess;
  cudaLaunchHostFunc(a, note, nullptr); // and the CPU that waits in its own code
  for (volatile int i = 0; i < 1000000 && *(volatile int *)&n == 6; i++) {
  }
  printf("%d functions\n", n);
  printf("%s\n", failed || n != 7 ? "FAIL" : "PASS");
  return failed || n != 7;
}
