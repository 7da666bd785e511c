// A cooperative launch: grid-wide barriers, and a grid that is too large for it.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each round every thread adds its right neighbour's value of the round before.
__global__ void rounds(int *a, int *b, int n, int count)
{
  cg::grid_group grid = cg::this_grid();
  for (int r = 0; r < count; r++) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) b[i] = a[i] + a[(i + 1) % n];
    grid.sync();
    int *t = a;
    a = b;
    b = t;
  }
}

int main()
{
  int n = 512, count = 4, h[512], *a, *b;
  for (int i = 0; i < n; i++) h[i] = i == 0;
  CUDA(cudaMalloc(&a, sizeof h));
  CUDA(cudaMalloc(&b, sizeof h));
  CUDA(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
  void *args[] = {&a, &b, &n, &count};
  CUDA(cudaLaunchCooperativeKernel(rounds, 8, 64, args));
  CUDA(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost));
  // binomial coefficients, to the left
  static const int want[5] = {1, 4, 6, 4, 1};
  for (int i = 0; i < n; i++) CHECK(h[i] == (i == 0 ? 1 : i > n - 5 ? want[n - i] : 0));
  CHECK(cudaLaunchCooperativeKernel(rounds, 10000, 64, args) == cudaErrorCooperativeLaunchTooLarge);
}
