// Tensor copies of packed numbers of 4 and 6 bits with gaps (.b4x16_p64, .b6x16_p32) against a reference on the CPU: 16 of
// them begin every 16 bytes of shared memory; gaps are not counted by the mbarrier; rows outside the tensor are zero. Stores
// of numbers of six bits, a byte each (.b6p2x16).
#include "driver_check.h"
#include <cuda_runtime.h>
#include <cstdint>
#include <cstring>
#include <vector>

enum { ROWS = 24, COLUMNS = 256, BOX = 128, BOX_ROWS = 16, LINE = BOX * BOX_ROWS, GAP = 0xa5 };

// The one shared variable, mbarriers behind the data: behind static ones only optimised code of a whole program aligns it to more than 16 bytes.
extern __shared__ __align__(1024) unsigned char smem[];

__global__ void load(const __grid_constant__ CUtensorMap map, int x, int y, unsigned bytes, unsigned char *seen)
{
  uint64_t &barrier = *(uint64_t *)(smem + LINE);
  unsigned at = (unsigned)__cvta_generic_to_shared(smem), bar = (unsigned)__cvta_generic_to_shared(&barrier);
  for (unsigned i = threadIdx.x; i < LINE; i += blockDim.x) smem[i] = GAP;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.proxy.async.shared::cta;" ::"r"(bar) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(at),
                 "l"(&map), "r"(bar), "r"(x), "r"(y) : "memory");
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(bar)
                 : "memory");
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < LINE; i += blockDim.x) seen[i] = smem[i];
}

static void check(unsigned bits, bool swizzled, int x, int y)
{
  const unsigned row = COLUMNS * bits / 8, packed = 16 * bits / 8;
  std::vector<unsigned char> tensor(ROWS * row), seen(LINE);
  unsigned char *in, *out;
  CUtensorMap map;
  for (unsigned i = 0; i < tensor.size(); i++) tensor[i] = (unsigned char)(i * 37 + i / 61);
  CUDA(cudaMalloc(&in, tensor.size()));
  CUDA(cudaMalloc(&out, LINE));
  CUDA(cudaMemcpy(in, tensor.data(), tensor.size(), cudaMemcpyHostToDevice));
  cuuint64_t dims[] = {COLUMNS, ROWS}, strides[] = {row};
  cuuint32_t box[] = {BOX, BOX_ROWS}, steps[] = {1, 1};
  CU(cuTensorMapEncodeTiled(&map, bits == 4 ? CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B : CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 2,
                            in, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                            swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  load<<<1, 64, LINE + sizeof(uint64_t)>>>(map, x, y, BOX_ROWS * BOX * bits / 8, out);
  CUDA(cudaMemcpy(seen.data(), out, LINE, cudaMemcpyDeviceToHost));
  for (unsigned r = 0; r < BOX_ROWS; r++)
    for (unsigned chunk = 0; chunk < BOX / 16; chunk++)
      for (unsigned i = 0; i < packed; i++) {
        const bool inside = y + (int)r < ROWS && x < COLUMNS;
        const unsigned char want = inside ? tensor[(y + r) * row + x * bits / 8 + chunk * packed + i] : 0;
        CHECK(seen[r * BOX + (swizzled ? chunk ^ r % 8 : chunk) * 16 + i] == want);
      }
  CUDA(cudaFree(in));
  CUDA(cudaFree(out));
}

// Stores have another layout in shared memory (.b6p2x16): a number in the low six bits of each byte, whose others do not
// count.
__global__ void store(const __grid_constant__ CUtensorMap map, int x, int y, const unsigned char *from)
{
  unsigned at = (unsigned)__cvta_generic_to_shared(smem);
  for (unsigned i = threadIdx.x; i < LINE; i += blockDim.x) smem[i] = from[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(at), "r"(x),
                 "r"(y) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

static CUtensorMap map_of(CUtensorMapDataType type, void *tensor, unsigned row, bool swizzled)
{
  CUtensorMap map;
  cuuint64_t dims[] = {COLUMNS, ROWS}, strides[] = {row};
  cuuint32_t box[] = {BOX, BOX_ROWS}, steps[] = {1, 1};
  CU(cuTensorMapEncodeTiled(&map, type, 2, tensor, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                            swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

static void check_store(bool swizzled, int x, int y)
{
  const unsigned row = COLUMNS * 6 / 8;
  std::vector<unsigned char> tensor(ROWS * row, GAP), want(tensor), from(LINE), seen(tensor.size());
  unsigned char *out, *in;
  for (unsigned i = 0; i < LINE; i++) from[i] = (unsigned char)(i * 151 + i / 13);
  CUDA(cudaMalloc(&out, tensor.size()));
  CUDA(cudaMalloc(&in, LINE));
  CUDA(cudaMemcpy(out, tensor.data(), tensor.size(), cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(in, from.data(), LINE, cudaMemcpyHostToDevice));
  store<<<1, 64, LINE>>>(map_of(CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, out, row, swizzled), x, y, in);
  CUDA(cudaMemcpy(seen.data(), out, seen.size(), cudaMemcpyDeviceToHost));
  for (int r = 0; r < BOX_ROWS && y + r < ROWS; r++)
    for (int i = 0; i < BOX && x < COLUMNS; i++) { // bit by bit
      const unsigned chunk = swizzled ? i / 16 ^ r % 8 : i / 16, number = from[r * BOX + chunk * 16 + i % 16];
      for (unsigned b = 0; b < 6; b++) {
        const unsigned bit = (x + i) * 6 + b;
        unsigned char &byte = want[(y + r) * row + bit / 8];
        byte = (unsigned char)((byte & ~(1u << bit % 8)) | (number >> b & 1) << bit % 8);
      }
    }
  CHECK(seen == want);
  CUDA(cudaFree(out));
  CUDA(cudaFree(in));
}

// Numbers of four bits with gaps are loaded alone.
static void refused_store()
{
  unsigned char *out;
  CUDA(cudaMalloc(&out, ROWS * COLUMNS));
  store<<<1, 64, LINE>>>(map_of(CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, out, COLUMNS / 2, false), 0, 0, out);
  CHECK(cudaDeviceSynchronize() != cudaSuccess);
}

int main()
{
  for (unsigned bits = 4; bits <= 6; bits += 2)
    for (int swizzled = 0; swizzled < 2; swizzled++) {
      check(bits, swizzled, 0, 0);
      check(bits, swizzled, 128, 5);
      check(bits, swizzled, 128, 16);
      check(bits, swizzled, 256, 0);
    }
  for (int swizzled = 0; swizzled < 2; swizzled++) {
    check_store(swizzled, 0, 0);
    check_store(swizzled, 128, 11);
    check_store(swizzled, 256, 0);
  }
  refused_store();
  return 0;
}
