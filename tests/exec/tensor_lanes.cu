// Tensor memory by addresses whose lane is the warp's own and by those of the first quarter, which stand for it (the code of
// JAX's Mosaic GPU names no other): what is stored by one is loaded by the other, whole quarters and the upper 16 lanes.
#include <vector>

#include "../../kernels/common/tcgen05.cuh"
#include "check.h"

enum { COLUMNS = 32, LANES = 128, WORDS = LANES * COLUMNS };

__global__ void by_both(unsigned *out)
{
  __shared__ unsigned where;
  if (threadIdx.x < 32) tmem_allocate(&where, COLUMNS);
  tmem_barrier();
  const unsigned first = where, own = own_lanes(where);
  unsigned r[COLUMNS], v;
  for (int c = 0; c < COLUMNS; c++) r[c] = threadIdx.x * COLUMNS + c;
  tmem_store32(own, r);
  tmem_load32(first, r);
  for (int c = 0; c < COLUMNS; c++) out[threadIdx.x * COLUMNS + c] = r[c];
  for (int c = 0; c < COLUMNS; c++) r[c] ^= 0xffff;
  tmem_store32(first, r);
  tmem_load32(own, r);
  for (int c = 0; c < COLUMNS; c++) out[WORDS + threadIdx.x * COLUMNS + c] = r[c];
  asm volatile("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%0}, [%1];" : "=r"(v) : "r"(first + (16u << 16)));
  wait_loads();
  out[2 * WORDS + threadIdx.x] = v;
  tmem_barrier();
  if (threadIdx.x < 32) tmem_free(where, COLUMNS);
}

int main()
{
  std::vector<unsigned> got(2 * WORDS + LANES);
  unsigned *out;
  CUDA(cudaMalloc(&out, got.size() * sizeof got[0]));
  by_both<<<1, LANES>>>(out);
  CUDA(cudaMemcpy(got.data(), out, got.size() * sizeof got[0], cudaMemcpyDeviceToHost));
  bool first = true, own = true, upper = true;
  for (unsigned i = 0; i < WORDS; i++) {
    first = first && got[i] == i;
    own = own && got[WORDS + i] == (i ^ 0xffff);
  }
  // 16x64b: thread 4 r + c has column c / 2 of row r and, by turns, of row r + 8 (PTX ISA).
  for (unsigned t = 0; t < LANES; t++) {
    const unsigned lane = t % 32, row = t / 32 * 32 + 16 + lane / 4 + lane % 2 * 8, column = lane % 4 / 2;
    upper = upper && got[2 * WORDS + t] == ((row * COLUMNS + column) ^ 0xffff);
  }
  CHECK(first);
  CHECK(own);
  CHECK(upper);
  printf("ok\n");
}
