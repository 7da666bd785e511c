// What host, copies and kernels of several streams do to each other while all run: byte-identical on every run, for any number of
// host threads, since the program's one thread orders its calls.
#include "../check.h"

__global__ void wait_for(volatile int *flag, int value, volatile int *answer)
{
  while (*flag != value) __nanosleep(40);
  *answer = value;
}

__global__ void fill(float *x, int n)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = 2 * x[i] + 1;
}

int main()
{
  enum { N = 1 << 18 };
  int *pinned, *word;
  float *x;
  cudaStream_t a, b, urgent;
  cudaEvent_t e;
  CUDA(cudaMallocHost(&pinned, 64));
  CUDA(cudaMalloc(&word, 64));
  CUDA(cudaMemset(word, 0, 64));
  CUDA(cudaMalloc(&x, 2 * N * sizeof *x));
  CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, -5));
  CUDA(cudaEventCreate(&e));
  CUDA(cudaDeviceSynchronize());
  for (int round = 1; round < 6; round++) {
    wait_for<<<1, 32, 0, a>>>(pinned, round, word); // the host lets it go
    fill<<<200, 256, 0, b>>>(x, N);
    for (int i = 0; i < 3 * round; i++) CHECK(cudaStreamQuery(a) == cudaErrorNotReady);
    fill<<<20, 256, 0, urgent>>>(x + N, N);
    wait_for<<<1, 32, 0, b>>>(word, round, word + 1); // a kernel does
    *(volatile int *)pinned = round;
    int asked = 0;
    while (cudaStreamQuery(a) == cudaErrorNotReady) asked++;
    printf("round %d: asked %d times\n", round, asked);
    CUDA(cudaMemcpyAsync(word + 8, pinned, 4, cudaMemcpyHostToDevice, urgent)); // … and a copy
    CUDA(cudaEventRecord(e, urgent));
    wait_for<<<1, 32, 0, a>>>(word + 8, round, word + 2);
    CUDA(cudaEventSynchronize(e));
    CUDA(cudaDeviceSynchronize());
  }
  int got[3];
  CUDA(cudaMemcpy(got, word, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got[0] == 5 && got[1] == 5 && got[2] == 5);
  return 0;
}
