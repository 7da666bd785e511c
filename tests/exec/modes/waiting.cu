// A stream that waits for a value that nobody writes.
#include <cstdio>
#include <cuda.h>

__global__ void never() {}

int main()
{
  unsigned *p;
  cudaStream_t s;
  cudaMalloc(&p, 4);
  cudaStreamCreate(&s);
  cuStreamWaitValue32(s, (CUdeviceptr)p, 5, CU_STREAM_WAIT_VALUE_EQ);
  never<<<1, 1, 0, s>>>();
  puts("running");
  fflush(stdout);
  cudaStreamSynchronize(s);
  puts("this is not reached");
}
