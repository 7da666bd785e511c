// Tensor copies in the modes im2col::w and im2col::w::128 against a walk on the CPU: pixels along W between the corners, then
// on in the next image, H and D as they are; wOffset moves first pixel and corners; out of the tensor are zeros. Halo pixels
// (wHalo) are refused.
#include "driver_check.h"
#include <cuda_runtime.h>
#include <cstdint>
#include <vector>

enum { CHANNELS = 64, MOST = 128, LINE = CHANNELS * 2 };

// The one shared variable, mbarriers behind the data: behind static ones only optimised code of a whole program aligns it to more than 16 bytes.
extern __shared__ __align__(1024) unsigned char smem[];

template <bool W128, int DIMS>
__global__ void columns(const __grid_constant__ CUtensorMap map, int w, int h, int d, int n, unsigned short halo,
                        unsigned short offset, unsigned bytes, unsigned char *seen)
{
  uint64_t &barrier = *(uint64_t *)(smem + MOST * LINE);
  unsigned at = (unsigned)__cvta_generic_to_shared(smem), bar = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.proxy.async.shared::cta;" ::"r"(bar) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
#define COPY(dims, mode, coords)                                                                                       \
  asm volatile("cp.async.bulk.tensor." dims ".shared::cluster.global." mode ".mbarrier::complete_tx::bytes [%0], [%1, " \
               coords "], [%2], {%8, %9};" ::"r"(at), "l"(&map), "r"(bar), "r"(0), "r"(w), "r"(h), "r"(d), "r"(n),      \
               "h"(halo), "h"(offset) : "memory")
    if (DIMS == 3 && W128) COPY("3d", "im2col::w::128", "{%3, %4, %7}");
    if (DIMS == 3 && !W128) COPY("3d", "im2col::w", "{%3, %4, %7}");
    if (DIMS == 4 && W128) COPY("4d", "im2col::w::128", "{%3, %4, %5, %7}");
    if (DIMS == 4 && !W128) COPY("4d", "im2col::w", "{%3, %4, %5, %7}");
    if (DIMS == 5 && W128) COPY("5d", "im2col::w::128", "{%3, %4, %5, %6, %7}");
    if (DIMS == 5 && !W128) COPY("5d", "im2col::w", "{%3, %4, %5, %6, %7}");
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(bar)
               : "memory");
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) seen[i] = smem[i];
}

struct shape {
  int dims, size[3]; // W, H, D; those above dims are 1
  int images, lower, upper, step, pixels;
};

template <bool W128, int DIMS> static void check(const shape &s, int w, int h, int d, int n, int offset)
{
  const int pixels = W128 ? 128 : s.pixels;
  const size_t all = (size_t)CHANNELS * s.size[0] * s.size[1] * s.size[2] * s.images;
  std::vector<uint16_t> tensor(all), seen(MOST * CHANNELS);
  uint16_t *in, *out;
  CUtensorMap map;
  for (size_t i = 0; i < all; i++) tensor[i] = (uint16_t)(i * 40503 + i / 97 + 1);
  CUDA(cudaMalloc(&in, all * 2));
  CUDA(cudaMalloc(&out, MOST * LINE));
  CUDA(cudaMemcpy(in, tensor.data(), all * 2, cudaMemcpyHostToDevice));
  cuuint64_t dims[5] = {CHANNELS}, strides[4] = {LINE};
  cuuint32_t steps[5] = {1, (cuuint32_t)s.step, 1, 1, 1};
  for (int i = 1; i < DIMS; i++) {
    dims[i] = i == DIMS - 1 ? s.images : s.size[i - 1];
    if (i < DIMS - 1) strides[i] = strides[i - 1] * dims[i];
  }
  CU(cuTensorMapEncodeIm2colWide(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, DIMS, in, dims, strides, s.lower, s.upper, CHANNELS,
                                 s.pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 W128 ? CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 : CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
                                 CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  columns<W128, DIMS><<<1, 64, MOST * LINE + sizeof(uint64_t)>>>(map, w, h, d, n, 0, offset, pixels * LINE, (unsigned char *)out);
  CUDA(cudaMemcpy(seen.data(), out, pixels * LINE, cudaMemcpyDeviceToHost));
  for (int p = 0, at = w, image = n; p < pixels; p++) {
    const int x = at + offset;
    const bool inside = x >= 0 && x < s.size[0] && h >= 0 && h < s.size[1] && d >= 0 && d < s.size[2] && image < s.images;
    const size_t pixel = ((size_t)(image * s.size[2] + d) * s.size[1] + h) * s.size[0] + x;
    for (int c = 0; c < CHANNELS; c++)
      CHECK(seen[p * CHANNELS + (c / 8 ^ p % 8) * 8 + c % 8] == (inside ? tensor[pixel * CHANNELS + c] : 0));
    at += s.step;
    if (at >= s.size[0] + s.upper) at = s.lower, image++;
  }
  CUDA(cudaFree(in));
  CUDA(cudaFree(out));
}

template <int DIMS> static void both(const shape &s, int w, int h, int d, int n, int offset)
{
  check<false, DIMS>(s, w, h, d, n, offset);
  check<true, DIMS>(s, w, h, d, n, offset);
}

static void refused_halo()
{
  uint16_t *in;
  CUtensorMap map;
  cuuint64_t dims[3] = {CHANNELS, 9, 4}, strides[2] = {LINE, 9 * LINE};
  cuuint32_t steps[3] = {1, 1, 1};
  CUDA(cudaMalloc(&in, 36 * LINE));
  CU(cuTensorMapEncodeIm2colWide(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, in, dims, strides, 0, 0, CHANNELS, 16, steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  columns<false, 3><<<1, 64, MOST * LINE + sizeof(uint64_t)>>>(map, 0, 0, 0, 0, 2, 0, 18 * LINE, (unsigned char *)in);
  CHECK(cudaDeviceSynchronize() != cudaSuccess);
}

int main()
{
  // The first two: the extents of the examples of PTX, im2col::w and w::128.
  both<4>({4, {9, 7, 1}, 64, 0, 0, 1, 128}, 7, 2, 0, 3, 0);
  both<4>({4, {9, 67, 1}, 8, -1, 0, 2, 128}, -1, 2, 0, 0, 1); // images end before the pixels do
  both<4>({4, {7, 7, 1}, 64, -1, -1, 3, 100}, -1, 2, 0, 0, 2);
  both<4>({4, {40, 3, 1}, 6, 2, -3, 1, 50}, -2, 1, 0, 1, 0); // begins left of its box
  both<4>({4, {40, 3, 1}, 6, 0, 0, 1, 1}, 39, 3, 0, 1, 31);  // H beyond the tensor
  both<3>({3, {11, 1, 1}, 20, -1, -1, 1, 77}, 3, 0, 0, 2, 1);
  both<5>({5, {6, 5, 4}, 30, 0, -2, 1, 90}, 2, 4, 3, 7, 2);
  refused_halo();
  printf("right\n");
}
