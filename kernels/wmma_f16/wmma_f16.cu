/*
 * The wmma API with FP16 accumulators (HMMA.16816.F16), operands straight from
 * global memory and B in column-major order.
 */
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_f16(const __half *a, const __half *b, __half *d, int n, int k)
{
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> acc;

    wmma::fill_fragment(acc, __float2half(1.0f));
    for (int k0 = 0; k0 < k; k0 += 16) {
        wmma::load_matrix_sync(fa, a + row * k + k0, k);
        wmma::load_matrix_sync(fb, b + col * k + k0, k);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(d + row * n + col, acc, n, wmma::mem_row_major);
}
