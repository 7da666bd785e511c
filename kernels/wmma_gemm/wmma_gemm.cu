/*
 * D = A * B + C with the wmma API, FP16 inputs and FP32 accumulators, operands
 * through padded shared memory: LDSM, HMMA.16816.F32.  One warp per 16x16 tile.
 */
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#define LD 24 /* row length in shared memory, padded against bank conflicts */

extern "C" __global__ void wmma_gemm(const __half *a, const __half *b, const float *c, float *d,
                                     int n, int k)
{
    __shared__ __align__(32) __half sa[16 * LD], sb[16 * LD];
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    int r = threadIdx.x / 2, h = threadIdx.x % 2 * 8; /* 8 halves per lane */
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;

    wmma::load_matrix_sync(acc, c + row * n + col, n, wmma::mem_row_major);
    for (int k0 = 0; k0 < k; k0 += 16) {
        *(uint4 *)&sa[r * LD + h] = *(const uint4 *)&a[(row + r) * k + k0 + h];
        *(uint4 *)&sb[r * LD + h] = *(const uint4 *)&b[(k0 + r) * n + col + h];
        __syncwarp();
        wmma::load_matrix_sync(fa, sa, LD);
        wmma::load_matrix_sync(fb, sb, LD);
        wmma::mma_sync(acc, fa, fb, acc);
        __syncwarp();
    }
    wmma::store_matrix_sync(d + row * n + col, acc, n, wmma::mem_row_major);
}
