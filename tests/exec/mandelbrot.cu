// Escape times: loops of different lengths in one warp.
#include "check.h"

__host__ __device__ static int escape(int x, int y, int size)
{
  // fixed point, 12 fractional bits, so that host and device agree to the bit
  int cx = x * (3 << 12) / size - (2 << 12), cy = y * (2 << 12) / size - (1 << 12), a = 0, b = 0, n = 0;
  while (n < 100 && a * a + b * b < 4 << 24) {
    int t = (a * a - b * b >> 12) + cx;
    b = (2 * a * b >> 12) + cy;
    a = t;
    n++;
  }
  return n;
}

__global__ void draw(unsigned char *out, int size)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < size && y < size) out[y * size + x] = escape(x, y, size);
}

int main()
{
  const int size = 52;
  static unsigned char got[size * size];
  unsigned char *p;
  CUDA(cudaMalloc(&p, sizeof got));
  draw<<<dim3(4, 7), dim3(16, 8)>>>(p, size);
  CUDA(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
  for (int y = 0; y < size; y++)
    for (int x = 0; x < size; x++) CHECK(got[y * size + x] == escape(x, y, size));
}
