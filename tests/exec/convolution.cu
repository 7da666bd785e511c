// A filter of weights in constant memory, tiles with a border in dynamic shared memory.
#include "check.h"
#include "random.h"
#include <vector>

const int radius = 3, width = 70, height = 9;
__constant__ short weight[2 * radius + 1];

__global__ void filter(const short *in, int *out)
{
  extern __shared__ short tile[];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  for (int i = threadIdx.x; i < blockDim.x + 2 * radius; i += blockDim.x) {
    int at = blockIdx.x * blockDim.x + i - radius;
    tile[i] = at >= 0 && at < width ? in[y * width + at] : 0;
  }
  __syncthreads();
  int sum = 0;
#pragma unroll
  for (int k = 0; k <= 2 * radius; k++) sum += weight[k] * tile[threadIdx.x + k];
  if (x < width) out[y * width + x] = sum;
}

int main()
{
  const short w[] = {1, -2, 3, 7, 3, -2, 1};
  std::vector<short> h(width * height);
  std::vector<int> got(width * height);
  Random random(11);
  for (short &v : h) v = random.next() % 500;
  short *in;
  int *out;
  CUDA(cudaMalloc(&in, h.size() * 2));
  CUDA(cudaMalloc(&out, h.size() * 4));
  CUDA(cudaMemcpyToSymbol(weight, w, sizeof w));
  CUDA(cudaMemcpy(in, h.data(), h.size() * 2, cudaMemcpyHostToDevice));
  filter<<<dim3((width + 31) / 32, height), 32, (32 + 2 * radius) * sizeof(short)>>>(in, out);
  CUDA(cudaMemcpy(got.data(), out, h.size() * 4, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int sum = 0;
      for (int k = -radius; k <= radius; k++)
        if (x + k >= 0 && x + k < width) sum += w[k + radius] * h[y * width + x + k];
      CHECK(got[y * width + x] == sum);
    }
}
