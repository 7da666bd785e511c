// Formatted surface stores (sust.p, which only PTX has) against a reference on the CPU: components of 32 bits become those of
// the surface, whatever its format; coordinates count texels; outside they are dropped or clamped.
#include "check.h"
#include <cstdint>
#include <cstring>
#include <cuda_fp16.h>
#include <vector>

enum { WIDTH = 32, HEIGHT = 4 };

template <int COMPONENTS, bool CLAMP> __global__ void store(cudaSurfaceObject_t s, const uint4 *values, int dx, int dy)
{
  const int x = threadIdx.x + dx, y = blockIdx.x + dy;
  const uint4 v = values[blockIdx.x * WIDTH + threadIdx.x];
  if (COMPONENTS == 1)
    asm volatile("sust.p.2d.b32.zero [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(y), "r"(v.x));
  else if (COMPONENTS == 2)
    asm volatile("sust.p.2d.v2.b32.zero [%0, {%1, %2}], {%3, %4};" ::"l"(s), "r"(x), "r"(y), "r"(v.x), "r"(v.y));
  else if (CLAMP)
    asm volatile("sust.p.2d.v4.b32.clamp [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(s), "r"(x), "r"(y), "r"(v.x), "r"(v.y),
                 "r"(v.z), "r"(v.w));
  else
    asm volatile("sust.p.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(s), "r"(x), "r"(y), "r"(v.x), "r"(v.y),
                 "r"(v.z), "r"(v.w));
}

static uint32_t converted(cudaChannelFormatKind kind, int bits, uint32_t v)
{
  if (kind == cudaChannelFormatKindFloat) {
    float f;
    memcpy(&f, &v, 4);
    const __half h = __float2half(f);
    uint16_t half;
    memcpy(&half, &h, 2);
    return bits == 16 ? half : v;
  }
  if (kind == cudaChannelFormatKindUnsigned) {
    const uint64_t most = (1ull << bits) - 1;
    return v < most ? v : (uint32_t)most;
  }
  const int64_t high = (1ll << (bits - 1)) - 1, s = (int32_t)v;
  const int64_t near = s > high ? high : s < -high - 1 ? -high - 1 : s;
  return (uint32_t)near & (uint32_t)((1ull << bits) - 1);
}

template <int COMPONENTS, bool CLAMP> static void check(cudaChannelFormatKind kind, int bits, int channels, int dx, int dy)
{
  const size_t texel = channels * bits / 8;
  std::vector<uint32_t> values(WIDTH * HEIGHT * 4);
  std::vector<unsigned char> want(WIDTH * HEIGHT * texel, 0x11), got(want.size());
  for (size_t i = 0; i < values.size(); i++) {
    const float f = (float)((int)(i * 37 % 401) - 200) / 8;
    if (kind == cudaChannelFormatKindFloat) memcpy(&values[i], &f, 4);
    else values[i] = (uint32_t)(i * 2654435761u) >> i % 32 ^ (i % 3 ? 0 : 0xffffffff);
  }
  cudaChannelFormatDesc d = cudaCreateChannelDesc(bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                                  channels > 2 ? bits : 0, kind);
  cudaArray_t a;
  CUDA(cudaMallocArray(&a, &d, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
  CUDA(cudaMemcpy2DToArray(a, 0, 0, want.data(), WIDTH * texel, WIDTH * texel, HEIGHT, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaSurfaceObject_t s;
  CUDA(cudaCreateSurfaceObject(&s, &r));
  uint4 *in;
  CUDA(cudaMalloc(&in, values.size() * 4));
  CUDA(cudaMemcpy(in, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
  store<COMPONENTS, CLAMP><<<HEIGHT, WIDTH>>>(s, in, dx, dy);
  CUDA(cudaMemcpy2DFromArray(got.data(), WIDTH * texel, a, 0, 0, WIDTH * texel, HEIGHT, cudaMemcpyDeviceToHost));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      const int tx = x + dx, ty = y + dy;
      if (tx < 0 || tx >= WIDTH || ty < 0 || ty >= HEIGHT) continue; // dropped; clamped: the edge is not compared
      for (int k = 0; k < channels && k < COMPONENTS; k++) {
        const uint32_t v = converted(kind, bits, values[(y * WIDTH + x) * 4 + k]);
        memcpy(&want[(ty * WIDTH + tx) * texel + k * bits / 8], &v, bits / 8);
      }
    }
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      const bool edge = CLAMP && (x == 0 || x == WIDTH - 1 || y == 0 || y == HEIGHT - 1);
      for (size_t b = 0; b < texel && b < (size_t)COMPONENTS * bits / 8 && !edge; b++)
        CHECK(got[(y * WIDTH + x) * texel + b] == want[(y * WIDTH + x) * texel + b]);
    }
  if (CLAMP) { // several threads store to a corner: one of them is there
    bool found = false;
    for (int y = 0; y <= dy; y++)
      for (int x = WIDTH - 1 - dx; x < WIDTH; x++) {
        const uint32_t v = converted(kind, bits, values[((HEIGHT - 1 - y) * WIDTH + x) * 4]);
        found |= !memcmp(&got[(HEIGHT * WIDTH - 1) * texel], &v, bits / 8);
      }
    CHECK(found);
  }
  CUDA(cudaDestroySurfaceObject(s));
  CUDA(cudaFreeArray(a));
  CUDA(cudaFree(in));
}

int main()
{
  const cudaChannelFormatKind kinds[] = {cudaChannelFormatKindUnsigned, cudaChannelFormatKindSigned};
  for (int k = 0; k < 2; k++)
    for (int bits = 8; bits <= 32; bits *= 2) {
      check<4, false>(kinds[k], bits, 4, 0, 0);
      check<4, false>(kinds[k], bits, 2, 0, 0); // what the surface lacks is dropped
      check<1, false>(kinds[k], bits, 1, 3, -1);
      check<4, true>(kinds[k], bits, 4, 5, 1);
    }
  for (int bits = 16; bits <= 32; bits *= 2) {
    check<4, false>(cudaChannelFormatKindFloat, bits, 4, -7, 1);
    check<2, false>(cudaChannelFormatKindFloat, bits, 2, 0, 0);
    check<1, false>(cudaChannelFormatKindFloat, bits, 1, 0, 0);
  }
  return 0;
}
