// A tensor map that the program makes itself, without the driver, as libraries for attention do (layout: NVIDIA TensorRT-LLM,
// contextFusedMultiHeadAttention/tmaDescriptor.h): 64 bytes, a parameter of the kernel.
#include "check.h"
#include <cuda_runtime.h>

enum { WIDTH = 64, HEIGHT = 48, BOX_W = 32, BOX_H = 8 };

struct alignas(64) Map {
  unsigned long long address;
  unsigned common, stride[4], stride_high, size[5], steps_and_box0, box, rest;
};

__global__ void take(const __grid_constant__ Map map, int x, int y, unsigned short *out)
{
  __shared__ alignas(128) unsigned short box[BOX_W * BOX_H];
  __shared__ alignas(8) unsigned long long full;
  const unsigned bar = (unsigned)__cvta_generic_to_shared(&full), to = (unsigned)__cvta_generic_to_shared(box);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.proxy.async.shared::cta;" ::"r"(bar) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"((unsigned)sizeof box) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(&map),
                 "r"(x), "r"(y), "r"(bar)
                 : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
  for (unsigned i = threadIdx.x; i < BOX_W * BOX_H; i += blockDim.x) out[i] = box[i];
}

int main()
{
  enum { TILED = 0, VERSION = 1, U16 = 1, PROMOTE_256 = 3 };
  static unsigned short in[HEIGHT][WIDTH], got[BOX_H][BOX_W];
  unsigned short *from, *to;
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) in[y][x] = (unsigned short)(y * 1000 + x + 1);
  CUDA(cudaMalloc(&from, sizeof in));
  CUDA(cudaMalloc(&to, sizeof got));
  CUDA(cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice));
  Map m = {};
  m.address = (unsigned long long)from;
  m.common = TILED | VERSION << 1 | (2 - 1) << 4 | U16 << 7 | PROMOTE_256 << 17;
  m.stride[0] = sizeof in[0] >> 4;
  m.size[0] = WIDTH - 1, m.size[1] = HEIGHT - 1;
  m.steps_and_box0 = (unsigned)(BOX_W - 1) << 24;
  m.box = BOX_H - 1;
  const int places[][2] = {{0, 0}, {16, 5}, {48, 44}, {-8, -3}};
  for (const auto &at : places) {
    take<<<1, 64>>>(m, at[0], at[1], to);
    CUDA(cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost));
    for (int y = 0; y < BOX_H; y++)
      for (int x = 0; x < BOX_W; x++) {
        const int gx = at[0] + x, gy = at[1] + y;
        const bool inside = gx >= 0 && gx < WIDTH && gy >= 0 && gy < HEIGHT;
        CHECK(got[y][x] == (inside ? in[gy][gx] : 0));
      }
  }
}
