// Two kernels, a template and one in a namespace, in five launches: what the tables of tests/validate/tables measured.
#include <cstdio>
template <class T> __global__ void scale(T *x, T f, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= f; }
namespace ns { __global__ void add(float *x, const float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += y[i]; } }
int main() {
  float *x, *y; int n = 1 << 14;
  cudaMalloc(&x, 4 * n); cudaMalloc(&y, 4 * n); cudaMemset(x, 0, 4 * n); cudaMemset(y, 0, 4 * n);
  for (int i = 0; i < 3; i++) scale<float><<<64, 256>>>(x, 2.0f, n);
  ns::add<<<64, 256>>>(x, y, n);
  ns::add<<<32, 128>>>(x, y, 4096);
  printf("%d\n", cudaDeviceSynchronize());
}
