/*
 * wmma with signed and unsigned bytes in all three shapes: 16x16x16, 32x8x16 and
 * 8x32x16, B column-major.
 */
#include <mma.h>

using namespace nvcuda;

template <int M, int N, class T>
static __device__ void product(const T *a, const T *b, int *d, int k)
{
    wmma::fragment<wmma::matrix_a, M, N, 16, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, int> acc;

    wmma::fill_fragment(acc, 7);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + i, k);
        wmma::load_matrix_sync(fb, b + i, k);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(d, acc, N, wmma::mem_row_major);
}

extern "C" __global__ void wmma_int8(const signed char *a, const signed char *b, int *d16, int *d32,
                                     int *d8, int k)
{
    product<16, 16>(a, b, d16, k);
    product<32, 8>((const unsigned char *)a, (const unsigned char *)b, d32, k);
    product<8, 32>(a, b, d8, k);
}
