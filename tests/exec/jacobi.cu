// Heat on a plate until it changes little: a loop of the host that looks at a value of the device each time.
#include "check.h"
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

const int n = 18;

__global__ void relax(const float *a, float *b, unsigned *change)
{
  int x = threadIdx.x + 1, y = blockIdx.x + 1, i = y * n + x;
  b[i] = 0.25f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
  // all are positive: their bits are in the order of the values
  atomicMax(change, __float_as_uint(fabsf(b[i] - a[i])));
}

int main()
{
  std::vector<float> h(n * n, 0.0f), ref, next;
  for (int x = 0; x < n; x++) h[x] = 1;
  float *a, *b;
  unsigned *change, bits;
  CUDA(cudaMalloc(&a, n * n * 4));
  CUDA(cudaMalloc(&b, n * n * 4));
  CUDA(cudaMalloc(&change, 4));
  CUDA(cudaMemcpy(a, h.data(), n * n * 4, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(b, a, n * n * 4, cudaMemcpyDeviceToDevice));
  int steps = 0;
  float most;
  do {
    CUDA(cudaMemset(change, 0, 4));
    relax<<<n - 2, n - 2>>>(a, b, change);
    std::swap(a, b);
    CUDA(cudaMemcpy(&bits, change, 4, cudaMemcpyDeviceToHost));
    memcpy(&most, &bits, 4);
    steps++;
  } while (most > 0.01f && steps < 100);
  ref = next = h;
  for (int s = 0; s < steps; s++) {
    float d = 0;
    for (int y = 1; y < n - 1; y++)
      for (int x = 1; x < n - 1; x++) {
        int i = y * n + x;
        next[i] = 0.25f * (ref[i - 1] + ref[i + 1] + ref[i - n] + ref[i + n]);
        d = std::fmax(d, std::fabs(next[i] - ref[i]));
      }
    std::swap(ref, next);
    CHECK(s == steps - 1 ? d <= 0.01f : d > 0.01f);
  }
  CUDA(cudaMemcpy(h.data(), a, n * n * 4, cudaMemcpyDeviceToHost));
  CHECK(h == ref && steps > 5);
}
