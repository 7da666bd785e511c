// A product of 16 x 16 matrices on tensor cores; small integers, so that every sum is exact.
#include "check.h"
#include "random.h"
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void product(const __half *a, const __half *b, float *c)
{
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 1.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

int main()
{
  static __half a[256], b[256];
  static float got[256];
  Random random(12);
  for (int i = 0; i < 256; i++) {
    a[i] = __float2half(float(int(random.next() % 17) - 8));
    b[i] = __float2half(float(int(random.next() % 17) - 8));
  }
  __half *d;
  float *c;
  CUDA(cudaMalloc(&d, sizeof a + sizeof b));
  CUDA(cudaMalloc(&c, sizeof got));
  CUDA(cudaMemcpy(d, a, sizeof a, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(d + 256, b, sizeof b, cudaMemcpyHostToDevice));
  product<<<1, 32>>>(d, d + 256, c);
  CUDA(cudaMemcpy(got, c, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      float want = 1;
      for (int k = 0; k < 16; k++) want += __half2float(a[i * 16 + k]) * __half2float(b[j * 16 + k]);
      CHECK(got[i * 16 + j] == want);
    }
}
