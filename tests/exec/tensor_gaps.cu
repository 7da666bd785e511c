// Tensor copies of packed numbers of 4 and 6 bits with gaps (.b4x16_p64, .b6x16_p32) against a reference on the CPU: 16 of
// them begin every 16 bytes of shared memory; gaps are not counted by the mbarrier; rows outside the tensor are zero.
#include "driver_check.h"
#include <cuda_runtime.h>
#include <cstdint>
#include <cstring>
#include <vector>

enum { ROWS = 24, COLUMNS = 256, BOX = 128, BOX_ROWS = 16, LINE = BOX * BOX_ROWS, GAP = 0xa5 };

extern __shared__ __align__(1024) unsigned char smem[];

__global__ void load(const __grid_constant__ CUtensorMap map, int x, int y, unsigned bytes, unsigned char *seen)
{
  __shared__ uint64_t barrier;
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
  load<<<1, 64, LINE>>>(map, x, y, BOX_ROWS * BOX * bits / 8, out);
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

int main()
{
  for (unsigned bits = 4; bits <= 6; bits += 2)
    for (int swizzled = 0; swizzled < 2; swizzled++) {
      check(bits, swizzled, 0, 0);
      check(bits, swizzled, 128, 5);
      check(bits, swizzled, 128, 16);
      check(bits, swizzled, 256, 0);
    }
  return 0;
}
