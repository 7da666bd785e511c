// Forms of tensor copies that tensor_copies.cu leaves out, against walks on the CPU by the rules of the PTX ISA (cp.async.bulk.tensor,
// cp.reduce.async.bulk.tensor, tensors): im2col of three and five dimensions whose corners, steps and offsets all differ, NaN for
// what lies outside, the 128-byte swizzle by atoms of 32 and 64 bytes and from addresses that are no multiple of its pattern, and
// every reduction of the types that have it.
#include "driver_check.h"
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

enum { SMEM = 24576, MOST = 5 };

struct At { int c[MOST]; };
struct Offsets { unsigned short o[3]; };

// The one shared variable, mbarriers behind the data: behind static ones only optimised code of a whole program aligns it to more than 16 bytes.
extern __shared__ __align__(1024) unsigned char smem[];

__device__ void wait(unsigned bar)
{
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(bar) : "memory");
}

#define COPY(dims, mode, coords, tail, ...)                                                                           \
  asm volatile("cp.async.bulk.tensor." dims "d.shared::cluster.global." mode ".mbarrier::complete_tx::bytes [%0], "    \
               "[%1, {" coords "}], [%2]" tail ";" ::"r"(at), "l"(&map), "r"(bar), __VA_ARGS__ : "memory")

__global__ void load(const __grid_constant__ CUtensorMap map, int dims, At x, Offsets f, unsigned at, unsigned bytes,
                     unsigned char *seen)
{
  uint64_t &barrier = *(uint64_t *)(smem + SMEM);
  unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier), from = at;
  at += (unsigned)__cvta_generic_to_shared(smem);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.proxy.async.shared::cta;" ::"r"(bar) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
    if (dims == 2) COPY("2", "tile", "%3, %4", "", "r"(x.c[0]), "r"(x.c[1]));
    if (dims == 3) COPY("3", "im2col", "%3, %4, %5", ", {%6}", "r"(x.c[0]), "r"(x.c[1]), "r"(x.c[2]), "h"(f.o[0]));
    if (dims == 5)
      COPY("5", "im2col", "%3, %4, %5, %6, %7", ", {%8, %9, %10}", "r"(x.c[0]), "r"(x.c[1]), "r"(x.c[2]), "r"(x.c[3]), "r"(x.c[4]),
           "h"(f.o[0]), "h"(f.o[1]), "h"(f.o[2]));
  }
  __syncthreads();
  wait(bar);
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) seen[i] = smem[from + i];
}

#define REDUCE(number, name)                                                                                          \
  if (op == number)                                                                                                   \
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." name ".tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), \
               "r"(x), "r"(y), "r"(at) : "memory")

__global__ void reduce(const __grid_constant__ CUtensorMap map, int op, int x, int y, unsigned bytes, const unsigned char *values)
{
  unsigned at = (unsigned)__cvta_generic_to_shared(smem);
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) smem[i] = values[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x) return;
  REDUCE(0, "add");
  REDUCE(1, "min");
  REDUCE(2, "max");
  REDUCE(3, "inc");
  REDUCE(4, "dec");
  REDUCE(5, "and");
  REDUCE(6, "or");
  REDUCE(7, "xor");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

static std::vector<unsigned char> noise(size_t n, unsigned seed)
{
  std::vector<unsigned char> v(n);
  for (auto &x : v) seed = seed * 1664525 + 1013904223, x = seed >> 24;
  return v;
}

static unsigned char *upload(const std::vector<unsigned char> &v)
{
  unsigned char *p;
  CUDA(cudaMalloc(&p, v.size()));
  CUDA(cudaMemcpy(p, v.data(), v.size(), cudaMemcpyHostToDevice));
  return p;
}

static std::vector<unsigned char> loaded(const CUtensorMap &map, int dims, At x, Offsets f, unsigned at, unsigned bytes)
{
  unsigned char *seen;
  std::vector<unsigned char> v(bytes);
  CUDA(cudaMalloc(&seen, bytes));
  load<<<1, 128, SMEM + sizeof(uint64_t)>>>(map, dims, x, f, at, bytes, seen);
  CUDA(cudaMemcpy(v.data(), seen, bytes, cudaMemcpyDeviceToHost));
  CUDA(cudaFree(seen));
  return v;
}

// Pixels of N(D)(H)WC: dimension 0 are the channels, the last one the images, those between are walked from the first pixel on
// between the corners, the first one (W) fastest. 16-bit elements; `fill` is what stands for those outside.
static void columns(int rank, At dim, At lower, At upper, At step, At first, Offsets f, int channels, int pixels, unsigned short fill)
{
  cuuint64_t d[MOST], pitch[MOST];
  cuuint32_t steps[MOST];
  size_t bytes = 2;
  for (int i = 0; i < rank; i++) {
    d[i] = dim.c[i], steps[i] = i && i < rank - 1 ? step.c[i - 1] : 1;
    bytes *= dim.c[i], pitch[i] = bytes;
  }
  auto data = noise(bytes, 7 + rank);
  unsigned char *device = upload(data);
  CUtensorMap map;
  CU(cuTensorMapEncodeIm2col(&map, fill ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_UINT16, rank, device, d, pitch,
                             lower.c, upper.c, channels, pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE,
                             fill ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  auto have = loaded(map, rank, first, f, 128, pixels * channels * 2);
  At p = first;
  for (int k = 0; k < pixels; k++) {
    for (int c = 0; c < channels; c++) {
      size_t at = (first.c[0] + c) * 2;
      bool inside = first.c[0] + c < dim.c[0] && p.c[rank - 1] < dim.c[rank - 1];
      for (int i = 1; i < rank; i++) {
        int x = p.c[i] + (i < rank - 1 ? f.o[i - 1] : 0);
        inside &= x >= 0 && x < dim.c[i];
        at += x * pitch[i - 1];
      }
      unsigned short want = fill, got;
      if (inside) memcpy(&want, &data[at], 2);
      memcpy(&got, &have[(k * channels + c) * 2], 2);
      CHECK(got == want);
    }
    for (int i = 1; i < rank; i++) {
      if (i == rank - 1) p.c[i]++;
      else if ((p.c[i] += step.c[i - 1]) < dim.c[i] + upper.c[i - 1]) break;
      else p.c[i] = lower.c[i - 1];
    }
  }
  CUDA(cudaFree(device));
}

static CUtensorMap matrix(void *device, CUtensorMapDataType type, int size, int width, int height, int box_width, int box_height,
                          CUtensorMapSwizzle swizzle, bool nan)
{
  CUtensorMap map;
  cuuint64_t d[2] = {(cuuint64_t)width, (cuuint64_t)height}, pitch[1] = {(cuuint64_t)(width * size + 15 & ~15)};
  cuuint32_t box[2] = {(cuuint32_t)box_width, (cuuint32_t)box_height}, steps[2] = {1, 1};
  CU(cuTensorMapEncodeTiled(&map, type, 2, device, d, pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                            CU_TENSOR_MAP_L2_PROMOTION_NONE,
                            nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

// NVIDIA CUTLASS, cute/atom/mma_traits_sm100.hpp: Swizzle<2, 5, 2> for atoms of 32 bytes: bits 5 and 6 of the address, combined
// with bits 7 and 8; cuda.h: a flip of 8 bytes in odd lines; atoms of 64 bytes: bit 6 with bit 7.
static unsigned shuffled(CUtensorMapSwizzle s, unsigned a)
{
  switch (s) {
  case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B: return a ^ (a >> 7 & 3) << 5;
  case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B: return a ^ (a >> 7 & 3) << 5 ^ (a >> 7 & 1) << 3;
  case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B: return a ^ (a >> 7 & 1) << 6;
  case CU_TENSOR_MAP_SWIZZLE_128B: return a ^ (a >> 7 & 7) << 4;
  case CU_TENSOR_MAP_SWIZZLE_64B: return a ^ (a >> 7 & 3) << 4;
  case CU_TENSOR_MAP_SWIZZLE_32B: return a ^ (a >> 7 & 1) << 4;
  default: return a;
  }
}

static void tiles(CUtensorMapDataType type, int size, int inner, CUtensorMapSwizzle swizzle, uint64_t nan, unsigned at, int x, int y)
{
  enum { WIDTH = 72, HEIGHT = 21, ROWS = 16 };
  unsigned pitch = (WIDTH * size + 15) & ~15, n = inner * size * ROWS, span = 1024;
  auto data = noise(pitch * HEIGHT, 3);
  unsigned char *device = upload(data);
  CUtensorMap map = matrix(device, type, size, WIDTH, HEIGHT, inner, ROWS, swizzle, nan);
  auto have = loaded(map, 2, {{x, y}}, {}, at, n);
  for (int k = 0; k < inner * ROWS; k++) {
    int cx = x + k % inner, cy = y + k / inner;
    uint64_t want = nan, got = 0;
    if (cx >= 0 && cx < WIDTH && cy >= 0 && cy < HEIGHT) want = 0, memcpy(&want, &data[cy * pitch + cx * size], size);
    unsigned place = shuffled(swizzle, at % span + k * size) - at % span;
    if (place >= n) continue; // moved behind the box
    memcpy(&got, &have[place], size);
    CHECK(got == want);
  }
  CUDA(cudaFree(device));
}

// What an operation does to elements, by their bits.
template <typename T> static T combine(int op, T a, T b)
{
  switch (op) {
  case 0: return a + b;
  case 1: return a < b ? a : b;
  case 2: return a > b ? a : b;
  case 3: return a >= b ? 0 : a + 1;
  case 4: return a == 0 || a > b ? b : a - 1;
  case 5: return a & b;
  case 6: return a | b;
  default: return a ^ b;
  }
}

template <typename T> static void reductions(CUtensorMapDataType type, std::vector<int> ops)
{
  enum { WIDTH = 40, HEIGHT = 11, W = 16, H = 5 };
  for (int op : ops)
    for (int x : {4, -7, 30}) {
      auto data = noise(WIDTH * HEIGHT * sizeof(T), 11 + op), values = noise(W * H * sizeof(T), 5);
      T *a = (T *)data.data(), *b = (T *)values.data();
      for (int i = 0; i < W * H; i += 3) b[i] = b[i] % 5; // ends of inc and dec; equal ones
      for (int i = 0; i < WIDTH * HEIGHT; i += 2) a[i] = a[i] % 5;
      unsigned char *device = upload(data), *source = upload(values);
      CUtensorMap map = matrix(device, type, sizeof(T), WIDTH, HEIGHT, W, H, CU_TENSOR_MAP_SWIZZLE_NONE, false);
      reduce<<<1, 128, SMEM>>>(map, op, x, 8, values.size(), source);
      for (int k = 0; k < W * H; k++) {
        int cx = x + k % W, cy = 8 + k / W;
        if (cx >= 0 && cx < WIDTH && cy < HEIGHT) a[cy * WIDTH + cx] = combine(op, a[cy * WIDTH + cx], b[k]);
      }
      std::vector<unsigned char> after(data.size());
      CUDA(cudaMemcpy(after.data(), device, after.size(), cudaMemcpyDeviceToHost));
      CHECK(after == data);
      CUDA(cudaFree(device));
      CUDA(cudaFree(source));
    }
}

int main()
{
  CUDA(cudaFree(0));
  columns(3, {{24, 19, 3}}, {{-2}}, {{-1}}, {{3}}, {{8, 1, 0}}, {{4}}, 16, 17, 0);
  columns(3, {{24, 19, 3}}, {{1}}, {{2}}, {{1}}, {{16, 5, 1}}, {{0}}, 16, 40, 0x7fff);
  columns(5, {{16, 7, 6, 5, 2}}, {{-1, -2, 0}}, {{-2, 1, -1}}, {{1, 2, 3}}, {{8, 0, 2, 3, 0}}, {{3, 1, 2}}, 8, 50, 0);
  columns(5, {{16, 7, 6, 5, 2}}, {{-3, -1, -2}}, {{0, -1, 2}}, {{2, 1, 1}}, {{0, -1, 3, -2, 1}}, {{1, 4, 0}}, 16, 33, 0x7fff);
  tiles(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 16, CU_TENSOR_MAP_SWIZZLE_NONE, 0x7fff, 0, 60, -3);
  tiles(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 16, CU_TENSOR_MAP_SWIZZLE_32B, 0x7fff, 256, -5, 12);
  tiles(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 16, CU_TENSOR_MAP_SWIZZLE_64B, 0x7fffffff, 384, 66, 18);
  tiles(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, 16, CU_TENSOR_MAP_SWIZZLE_128B, 0x7fffffffffffffff, 640, -1, -1);
  for (auto s : {CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B})
    for (unsigned at : {0, 128, 896}) tiles(CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 32, s, 0, at, 50, 10);
  reductions<uint32_t>(CU_TENSOR_MAP_DATA_TYPE_UINT32, {0, 1, 2, 3, 4, 5, 6, 7});
  reductions<int32_t>(CU_TENSOR_MAP_DATA_TYPE_INT32, {0, 1, 2});
  reductions<uint64_t>(CU_TENSOR_MAP_DATA_TYPE_UINT64, {0, 1, 2, 5, 6, 7});
  reductions<int64_t>(CU_TENSOR_MAP_DATA_TYPE_INT64, {1, 2});
  CUDA(cudaDeviceSynchronize());
  puts("all forms of tensor copies right");
  return 0;
}
