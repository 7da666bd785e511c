/* What the functions of several types of libcublas know of a type. */
#ifndef WS_BLAS_ELEMENTS_H
#define WS_BLAS_ELEMENTS_H

#include "libs/cublas/blas_product.h"

enum { S, D, C, Z };

static const struct blas_elements {
  int data, element, real; /* cudaDataType, enum ws_type, cudaDataType of its real part */
  unsigned bytes;
} types[] = {{DATA_R_32F, WS_F32, DATA_R_32F, 4}, {DATA_R_64F, WS_F64, DATA_R_64F, 8},
             {DATA_C_32F, WS_C32, DATA_R_32F, 8}, {DATA_C_64F, WS_C64, DATA_R_64F, 16}};

/* Element 0 of a vector of n elements whose increment may be negative: then it lies last. Any increment of the guest's
 * is reckoned with, modulo 2^64. */
static inline void *first(const void *x, int64_t n, int64_t inc, unsigned bytes)
{
  const uint64_t step = 0 - (uint64_t)inc;
  return (void *)((uintptr_t)x + (inc < 0 ? (uint64_t)(n - 1) * step * bytes : 0));
}

/* CTAs of 256 threads that go over n elements, each in steps. */
static inline struct launch_shape blas_lines(int64_t n)
{
  enum { MOST_CTAS = 1024 };
  const int64_t ctas = (n + 255) / 256;
  return (struct launch_shape){(unsigned)(ctas < MOST_CTAS ? ctas : MOST_CTAS), 1, 1, 256};
}

/* The functions of a file: EVERY_TYPE(letter, w), REAL_TYPE and COMPLEX_TYPE make those of a type; w ends names. */
#define EVERY_WIDTH(w) \
  EVERY_TYPE(S, w)     \
  EVERY_TYPE(D, w)     \
  EVERY_TYPE(C, w)     \
  EVERY_TYPE(Z, w)     \
  REAL_TYPE(S, w)      \
  REAL_TYPE(D, w)      \
  COMPLEX_TYPE(C, w)   \
  COMPLEX_TYPE(Z, w)

#endif
