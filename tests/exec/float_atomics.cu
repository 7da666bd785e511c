// Atomics of floating point: addition of exact values in float and double, maximum through compare and swap.
#include "check.h"
#include "random.h"
#include <vector>

__device__ static void atomic_max(float *p, float v)
{
  int *bits = (int *)p, old = *bits, seen;
  while (__int_as_float(old) < v && (seen = atomicCAS(bits, old, __float_as_int(v))) != old) old = seen;
}

__global__ void collect(const float *x, int n, float *sum, double *wide, float *most)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&sum[i % 4], x[i]);
  atomicAdd(wide, double(x[i]) * x[i]);
  atomic_max(most, x[i]);
}

int main()
{
  const int n = 500;
  std::vector<float> h(n);
  float want[5] = {}, got[5], *p;
  double wide = 0, got_wide, *w;
  Random random(13);
  for (int i = 0; i < n; i++) {
    h[i] = (random.next() % 4096) / 16.0f; // sums of 500 need fewer than 24 bits, of squares fewer than 53
    want[i % 4] += h[i];
    wide += double(h[i]) * h[i];
    if (h[i] > want[4]) want[4] = h[i];
  }
  float *x;
  CUDA(cudaMalloc(&x, n * 4));
  CUDA(cudaMalloc(&p, sizeof got));
  CUDA(cudaMalloc(&w, 8));
  CUDA(cudaMemset(p, 0, sizeof got));
  CUDA(cudaMemset(w, 0, 8));
  CUDA(cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice));
  collect<<<(n + 127) / 128, 128>>>(x, n, p, w, p + 4);
  CUDA(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy(&got_wide, w, 8, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 5; i++) CHECK(got[i] == want[i]);
  CHECK(got_wide == wide);
}
