// Pitched memory, 2D and 3D copies, fills.
#include "check.h"
#include <cstring>
#include <vector>

__global__ void scale(char *p, size_t pitch, int width, int height)
{
  int x = threadIdx.x, y = blockIdx.x;
  if (x < width && y < height) reinterpret_cast<int *>(p + y * pitch)[x] *= 3;
}

int main()
{
  const int w = 37, h = 11, d = 5;
  size_t pitch;
  char *p;
  std::vector<int> in(w * h), out(w * h, -1);
  for (int i = 0; i < w * h; i++) in[i] = i;
  CUDA(cudaMallocPitch(&p, &pitch, w * 4, h));
  CHECK(pitch >= w * 4 && pitch % 32 == 0);
  CUDA(cudaMemcpy2D(p, pitch, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  scale<<<h, 64>>>(p, pitch, w, h);
  CUDA(cudaMemcpy2D(out.data(), w * 4, p, pitch, w * 4, h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < w * h; i++) CHECK(out[i] == 3 * i);

  // a window of it, filled
  CUDA(cudaMemset2D(p + 8, pitch, 0x11, 12, 4));
  CUDA(cudaMemcpy2D(out.data(), w * 4, p, pitch, w * 4, h, cudaMemcpyDeviceToHost));
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      CHECK(out[y * w + x] == (y < 4 && x >= 2 && x < 5 ? 0x11111111 : 3 * (y * w + x)));
  CHECK(cudaMemcpy2D(p, 4, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidPitchValue);

  // 3D: in, and a box out
  cudaPitchedPtr v;
  CUDA(cudaMalloc3D(&v, make_cudaExtent(w, h, d)));
  std::vector<unsigned char> a(w * h * d), b(3 * 4 * 2, 0);
  for (size_t i = 0; i < a.size(); i++) a[i] = (unsigned char)(i * 7);
  cudaMemcpy3DParms m = {};
  m.srcPtr = make_cudaPitchedPtr(a.data(), w, w, h);
  m.dstPtr = v;
  m.extent = make_cudaExtent(w, h, d);
  m.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&m));
  m = {};
  m.srcPtr = v;
  m.srcPos = make_cudaPos(5, 6, 2);
  m.dstPtr = make_cudaPitchedPtr(b.data(), 3, 3, 4);
  m.extent = make_cudaExtent(3, 4, 2);
  m.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&m));
  for (int z = 0; z < 2; z++)
    for (int y = 0; y < 4; y++)
      for (int x = 0; x < 3; x++)
        CHECK(b[(z * 4 + y) * 3 + x] == a[((z + 2) * h + y + 6) * w + x + 5]);

  // a copy that leaves its allocation does nothing
  int *q, one = 1;
  CUDA(cudaMalloc(&q, 64));
  CUDA(cudaMemset(q, 0, 64));
  std::vector<char> big(128, 1);
  CHECK(cudaMemcpy(q, big.data(), 65, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CUDA(cudaMemcpy(&one, q, 4, cudaMemcpyDefault));
  CHECK(one == 0);
  size_t before, total, after;
  CUDA(cudaMemGetInfo(&before, &total));
  CUDA(cudaMalloc(&p, 1 << 20));
  CUDA(cudaMemGetInfo(&after, &total));
  CHECK(before - after == 1 << 20);
  void *none;
  CHECK(cudaMalloc(&none, total) == cudaErrorMemoryAllocation);
}
