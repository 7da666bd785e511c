// A program with plain code for a GPU and code for it alone, in either order, runs the latter: of CUTLASS's kernels the plain code of
// sm_90 is a trap.
#include <cstdio>

__global__ void which(int *form)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  *form = 1;
#else
  *form = 0;
#endif
}

int main()
{
  int *form, got = -1;
  cudaMalloc(&form, sizeof *form);
  which<<<1, 1>>>(form);
  const cudaError_t error = cudaMemcpy(&got, form, sizeof got, cudaMemcpyDeviceToHost);
  printf("%s\n", error ? cudaGetErrorString(error) : got == 1 ? "its own code" : "plain code");
  return error || got != 1;
}
