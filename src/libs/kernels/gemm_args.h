/* What the product kernels of our open libraries take, seen by the host (C) and by the kernels (CUDA C++).
 * All matrices are row-major here: D[m][n] = epilogue(alpha * A[m][k] * B[k][n] + beta * C[m][n]). A host library for
 * column-major matrices gives the operands the other way round: D^T = B^T A^T.
 */
#ifndef WS_GEMM_ARGS_H
#define WS_GEMM_ARGS_H

#include <stdint.h>

/* Element types. */
enum ws_type {
  WS_F32, WS_F64, WS_F16, WS_BF16, WS_I8, WS_I32, WS_C32, WS_C64,
  WS_TYPES,
};

/* What happens to a value before it is stored; ORed. */
enum ws_epilogue {
  WS_BIAS = 1,  /* + bias[column] */
  WS_AUX = 2,   /* with WS_RELU: bits "was above 0" to aux, with WS_GELU: the value before it */
  WS_RELU = 4,
  WS_GELU = 8,  /* by its approximation with tanh */
  WS_DRELU = 16, /* times the bit in aux */
  WS_DGELU = 32, /* times the derivative at the value in aux */
};

/* Cells of a tile split in k that one CTA adds the parts of. */
enum { WS_PART_CELLS = 4096 };

struct ws_scalar {
  double re, im;
  const void *device; /* not 0: read from there, of the type `scale` */
};

struct ws_gemm_args {
  const void *a, *b, *c;
  void *d;
  int64_t lda, ldb, ldc, ldd;                             /* elements */
  int64_t stride_a, stride_b, stride_c, stride_d;         /* elements from one product of a batch to the next */
  int32_t m, n, k;
  int32_t pointers;                                       /* a, b, c, d point to arrays of pointers, one per product */
  int32_t batch0;                                         /* the product that blockIdx.z 0 has */
  int32_t a_along_k, b_along_k;                           /* neighbours in memory differ in k, not in m (n) */
  int32_t conj_a, conj_b;
  int32_t a_vector, b_vector;                             /* vectors of 16 bytes of a, b lie on their borders */
  int32_t d_vector;                                       /* groups of four of c and d do */
  int32_t c_type, d_type, scale;                          /* enum ws_type */
  int32_t epilogue, bias_type, aux_type;
  const void *bias;
  void *aux;
  int64_t ldaux, stride_aux, stride_bias;
  /* On tensor cores the last tiles of a product are split in k, blockIdx.x has the whole ones before them
   * (kernels/gemm_parts.cuh); elsewhere all are, over blockIdx.y. */
  int32_t splits, k_per_split;
  void *partial; /* [product][split tile][split][row][column of a tile], or [product][split][m][n], of the sums' type */
  struct ws_scalar alpha, beta;
  const float *scale_a, *scale_b, *scale_d;               /* or 0: factors on the device */
};

#endif
