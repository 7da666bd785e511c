// Bitonic sort: many launches that depend on each other, keys with values, stable order checked by value.
#include "check.h"
#include "random.h"
#include <algorithm>
#include <vector>

__global__ void exchange(unsigned long long *x, int stride, int size)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = i ^ stride;
  if (k < i) return;
  bool up = (i & size) == 0;
  unsigned long long a = x[i], b = x[k];
  if ((a > b) == up) x[i] = b, x[k] = a;
}

int main()
{
  const int n = 512;
  std::vector<unsigned long long> h(n), got(n);
  Random random(6);
  for (int i = 0; i < n; i++) h[i] = (unsigned long long)(random.next() % 100) << 32 | i;
  unsigned long long *x;
  CUDA(cudaMalloc(&x, n * 8));
  CUDA(cudaMemcpy(x, h.data(), n * 8, cudaMemcpyHostToDevice));
  for (int size = 2; size <= n; size *= 2)
    for (int stride = size / 2; stride; stride /= 2) exchange<<<n / 128, 128>>>(x, stride, size);
  CUDA(cudaMemcpy(got.data(), x, n * 8, cudaMemcpyDeviceToHost));
  std::sort(h.begin(), h.end());
  CHECK(got == h);
}
