// Transposition through shared memory, in place for squares and out of place for rectangles.
#include "check.h"
#include <vector>

__global__ void transpose(const short *in, short *out, int rows, int cols)
{
  __shared__ short t[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < cols && y < rows) t[threadIdx.y][threadIdx.x] = in[y * cols + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < rows && y < cols) out[y * rows + x] = t[threadIdx.x][threadIdx.y];
}

static void run(int rows, int cols)
{
  const int n = rows * cols;
  std::vector<short> h(n), got(n);
  for (int i = 0; i < n; i++) h[i] = short(i * 7);
  short *a, *b;
  CUDA(cudaMalloc(&a, n * 2));
  CUDA(cudaMalloc(&b, n * 2));
  CUDA(cudaMemcpy(a, h.data(), n * 2, cudaMemcpyHostToDevice));
  transpose<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(a, b, rows, cols);
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(got.data(), b, n * 2, cudaMemcpyDeviceToHost));
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < cols; x++) CHECK(got[x * rows + y] == h[y * cols + x]);
  CUDA(cudaFree(a));
  CUDA(cudaFree(b));
}

int main()
{
  run(32, 32);
  run(19, 45);
}
