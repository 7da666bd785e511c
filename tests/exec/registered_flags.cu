// Registered memory of the program while kernels run: what the host writes there reaches a kernel that waits for it, and what the
// kernel writes reaches a host that asks between its looks. (As nvbench holds a stream back until it has queued all.)
#include "check.h"

__global__ void echo(const volatile int *question, volatile int *answer)
{
  for (int i = 1; i <= 3; i++) {
    while (*question != i) continue;
    *answer = 10 * i;
    __threadfence_system();
  }
}
__global__ void block(const volatile int *flag)
{
  while (!*flag) continue;
}
__global__ void work(int *p) { p[threadIdx.x] = threadIdx.x; }

static volatile int question, answer; // beside each other, and beside other things of the program

int main()
{
  volatile int flag = 0; // and on the stack
  int *seen_question, *seen_answer, *seen_flag, *p, got[64];
  cudaEvent_t from, to;
  CUDA(cudaMalloc(&p, sizeof got));
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  for (volatile int *h : {&question, &answer, &flag}) CUDA(cudaHostRegister((void *)h, sizeof *h, cudaHostRegisterMapped));
  CUDA(cudaHostGetDevicePointer(&seen_question, (void *)&question, 0));
  CUDA(cudaHostGetDevicePointer(&seen_answer, (void *)&answer, 0));
  CUDA(cudaHostGetDevicePointer(&seen_flag, (void *)&flag, 0));

  echo<<<1, 1>>>(seen_question, seen_answer);
  for (int i = 1; i <= 3; i++) {
    CHECK(cudaStreamQuery(0) == cudaErrorNotReady);
    question = i;
    while (answer != 10 * i) {
      const cudaError_t r = cudaStreamQuery(0);
      CHECK(r == cudaErrorNotReady || (i == 3 && r == cudaSuccess));
    }
  }
  CUDA(cudaDeviceSynchronize());

  block<<<1, 1>>>(seen_flag);
  CUDA(cudaEventRecord(from));
  work<<<1, 64>>>(p);
  CUDA(cudaEventRecord(to));
  CHECK(cudaEventQuery(from) == cudaErrorNotReady);
  flag = 1;
  CUDA(cudaEventSynchronize(to));
  float ms;
  CUDA(cudaEventElapsedTime(&ms, from, to));
  CHECK(ms > 0 && ms < 1);
  CUDA(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) CHECK(got[i] == i);
  for (volatile int *h : {&question, &answer, &flag}) CUDA(cudaHostUnregister((void *)h));
  return 0;
}
