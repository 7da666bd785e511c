// All shortest paths: n launches in one stream, the matrix in pinned memory that the kernel reaches itself.
#include "check.h"
#include "random.h"
#include <algorithm>
#include <vector>

__global__ void relax(int *d, int n, int k)
{
  int i = blockIdx.x, j = threadIdx.x;
  d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

int main()
{
  const int n = 24;
  int *d, *on_device;
  CUDA(cudaHostAlloc(&d, n * n * 4, cudaHostAllocMapped));
  CUDA(cudaHostGetDevicePointer((void **)&on_device, d, 0));
  Random random(9);
  for (int i = 0; i < n * n; i++) d[i] = random.next() % 5 == 0 ? 1 + random.next() % 9 : 1000;
  for (int i = 0; i < n; i++) d[i * n + i] = 0;
  std::vector<int> want(d, d + n * n);
  for (int k = 0; k < n; k++) relax<<<n, n>>>(on_device, n, k);
  CUDA(cudaDeviceSynchronize());
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        want[i * n + j] = std::min(want[i * n + j], want[i * n + k] + want[k * n + j]);
  CHECK(std::equal(want.begin(), want.end(), d));
  CUDA(cudaFreeHost(d));
}
