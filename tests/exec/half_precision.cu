// Half precision in pairs: results that fit are exact, others are rounded to nearest, even.
#include "check.h"
#include <cuda_fp16.h>

__global__ void axpy(const __half2 *x, __half2 *y, __half2 a, int n)
{
  int i = threadIdx.x;
  if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}

int main()
{
  const int n = 64;
  static __half x[2 * n], y[2 * n], got[2 * n];
  for (int i = 0; i < 2 * n; i++) x[i] = __float2half(i * 0.25f), y[i] = __float2half(1000.0f - 7 * i);
  __half2 *dx, *dy;
  CUDA(cudaMalloc(&dx, sizeof x));
  CUDA(cudaMalloc(&dy, sizeof y));
  CUDA(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(dy, y, sizeof y, cudaMemcpyHostToDevice));
  axpy<<<1, n>>>(dx, dy, __half2{__float2half(1.5f), __float2half(-33.0f)}, n);
  CUDA(cudaMemcpy(got, dy, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 2 * n; i++) {
    // products and sums of these are exact in float: one rounding at the end, as of the fused operation
    float want = (i % 2 ? -33.0f : 1.5f) * __half2float(x[i]) + __half2float(y[i]);
    CHECK(__half2float(got[i]) == __half2float(__float2half(want)));
  }
}
