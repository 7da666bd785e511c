// Tiled matrix product with edges that do not fill a tile, as a template of the element type.
#include "check.h"
#include "random.h"
#include <cmath>
#include <vector>

template <typename T, int tile> __global__ void product(const T *a, const T *b, T *c, int n)
{
  __shared__ T ta[tile][tile], tb[tile][tile + 1];
  int row = blockIdx.y * tile + threadIdx.y, col = blockIdx.x * tile + threadIdx.x;
  T sum = 0;
  for (int k = 0; k < n; k += tile) {
    ta[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : T(0);
    tb[threadIdx.y][threadIdx.x] = col < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + col] : T(0);
    __syncthreads();
    for (int i = 0; i < tile; i++) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

template <typename T> static void run(double eps)
{
  const int n = 21, tile = 8, blocks = (n + tile - 1) / tile;
  std::vector<T> a(n * n), b(n * n), c(n * n);
  Random random(3);
  for (int i = 0; i < n * n; i++) a[i] = random.real(), b[i] = random.real() - 0.5f;
  T *d;
  CUDA(cudaMalloc(&d, 3 * n * n * sizeof(T)));
  CUDA(cudaMemcpy(d, a.data(), n * n * sizeof(T), cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(d + n * n, b.data(), n * n * sizeof(T), cudaMemcpyHostToDevice));
  product<T, tile><<<dim3(blocks, blocks), dim3(tile, tile)>>>(d, d + n * n, d + 2 * n * n, n);
  CUDA(cudaMemcpy(c.data(), d + 2 * n * n, n * n * sizeof(T), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double want = 0, size = 0;
      for (int k = 0; k < n; k++) {
        double p = double(a[i * n + k]) * b[k * n + j];
        want += p, size += std::fabs(p);
      }
      CHECK(std::fabs(c[i * n + j] - want) <= n * eps * size); // rounding of n additions
    }
  CUDA(cudaFree(d));
}

int main()
{
  run<float>(std::ldexp(1.0, -24));
  run<double>(std::ldexp(1.0, -53));
}
