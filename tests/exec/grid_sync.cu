// Threads of a grid that wait for each other through functions of the device runtime, as compilers other than nvcc
// call them (Numba); and the workspace that nvcc's grid.sync() uses beside it.
#include "check.h"
#include <cooperative_groups.h>
#include <vector>


// Each round reads what another CTA wrote in the last one.
template <bool Library> __global__ void rotate(int *a, int *b, int rounds, int *bad)
{
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long grid = Library ? cudaCGGetIntrinsicHandle(cudaCGScopeGrid) : 0;
  if (Library) {
    unsigned size = 0, rank = 0;
    if (cudaCGGetSize(&size, nullptr, grid) || cudaCGGetRank(&rank, nullptr, grid)) *bad = 1;
    if (size != n || rank != i) *bad = 2;
  }
  for (int r = 0; r < rounds; r++) {
    b[i] = a[(i + 7 * blockDim.x + 1) % n] + 1;
    if (blockIdx.x % 3 == r % 3) __nanosleep(100); /* CTAs arrive apart from each other */
    if (!Library) cooperative_groups::this_grid().sync();
    else if (cudaCGSynchronize(grid, 0)) *bad = 3;
    int *t = a;
    a = b, b = t;
  }
}

__global__ void check_alone(unsigned long long *handle)
{
  *handle = cudaCGGetIntrinsicHandle(cudaCGScopeInvalid);
}

template <bool Library> static void run(int ctas, int threads, int rounds)
{
  int n = ctas * threads, *a, *b, *bad, hbad;
  std::vector<int> h(n);
  CUDA(cudaMalloc(&a, n * sizeof *a));
  CUDA(cudaMalloc(&b, n * sizeof *b));
  CUDA(cudaMalloc(&bad, sizeof *bad));
  CUDA(cudaMemset(bad, 0, sizeof *bad));
  for (int i = 0; i < n; i++) h[i] = 1000 * i;
  CUDA(cudaMemcpy(a, h.data(), n * sizeof *a, cudaMemcpyHostToDevice));
  void *arguments[] = { &a, &b, &rounds, &bad };
  CUDA(cudaLaunchCooperativeKernel((void *)rotate<Library>, dim3(ctas), dim3(threads), arguments));
  CUDA(cudaMemcpy(&hbad, bad, sizeof hbad, cudaMemcpyDeviceToHost));
  CHECK(hbad == 0);
  CUDA(cudaMemcpy(h.data(), rounds % 2 ? b : a, n * sizeof *a, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++)
    CHECK(h[i] == 1000 * (int)((i + (long long)rounds * (7 * threads + 1)) % n) + rounds);
}

int main()
{
  unsigned long long *p, h;
  run<true>(10, 96, 5);
  run<true>(46, 33, 2);
  run<false>(10, 96, 5);
  CUDA(cudaMalloc(&p, sizeof *p));
  check_alone<<<1, 1>>>(p);
  CUDA(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h == 0); /* not the grid's */
}
