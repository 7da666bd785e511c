/* Vectors and matrices between host and device: libcublas' helpers. */
#include "libs/cublas/blas_types.h"

static blas_status copy(int64_t rows, int64_t cols, int64_t size, const void *from, int64_t from_ld, void *to,
                        int64_t to_ld, bool wait, driver_stream stream)
{
  size_t from_pitch, to_pitch, width;
  if (rows < 0 || cols < 0 || size <= 0 || from_ld <= 0 || to_ld <= 0 || rows > from_ld || rows > to_ld)
    return BLAS_INVALID_VALUE;
  if (rows == 0 || cols == 0) return BLAS_SUCCESS;
  if (__builtin_mul_overflow((size_t)from_ld, (size_t)size, &from_pitch) ||
      __builtin_mul_overflow((size_t)to_ld, (size_t)size, &to_pitch))
    return BLAS_INVALID_VALUE;
  width = (size_t)rows * (size_t)size;
  const int kind = DRIVER_COPY_DEFAULT;
  const int e = wait ? cudaMemcpy2D(to, to_pitch, from, from_pitch, width, (size_t)cols, kind)
                     : cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, (size_t)cols, kind, stream);
  return e == DRIVER_OK ? BLAS_SUCCESS : BLAS_MAPPING_ERROR;
}

#define MATRIX(name, INT)                                                                                       \
  PUBLIC blas_status name(INT rows, INT cols, INT size, const void *a, INT lda, void *b, INT ldb)               \
  {                                                                                                             \
    return copy(rows, cols, size, a, lda, b, ldb, true, NULL);                                                  \
  }
#define MATRIX_ASYNC(name, INT)                                                                                 \
  PUBLIC blas_status name(INT rows, INT cols, INT size, const void *a, INT lda, void *b, INT ldb, driver_stream s) \
  {                                                                                                             \
    return copy(rows, cols, size, a, lda, b, ldb, false, s);                                                    \
  }
#define VECTOR(name, INT)                                                                                       \
  PUBLIC blas_status name(INT n, INT size, const void *x, INT incx, void *y, INT incy)                          \
  {                                                                                                             \
    return n < 0 ? BLAS_INVALID_VALUE : copy(1, n, size, x, incx, y, incy, true, NULL);                         \
  }
#define VECTOR_ASYNC(name, INT)                                                                                 \
  PUBLIC blas_status name(INT n, INT size, const void *x, INT incx, void *y, INT incy, driver_stream s)         \
  {                                                                                                             \
    return n < 0 ? BLAS_INVALID_VALUE : copy(1, n, size, x, incx, y, incy, false, s);                           \
  }
#define HELPERS(which, name) which(name, int) which(name##_64, int64_t)

HELPERS(MATRIX, cublasSetMatrix)
HELPERS(MATRIX, cublasGetMatrix)
HELPERS(MATRIX_ASYNC, cublasSetMatrixAsync)
HELPERS(MATRIX_ASYNC, cublasGetMatrixAsync)
HELPERS(VECTOR, cublasSetVector)
HELPERS(VECTOR, cublasGetVector)
HELPERS(VECTOR_ASYNC, cublasSetVectorAsync)
HELPERS(VECTOR_ASYNC, cublasGetVectorAsync)
