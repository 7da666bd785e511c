/* One product, or a batch of them, of column-major matrices: D = epilogue(alpha * op(A) op(B) + beta * C). Everything
 * that multiplies matrices in libcublas and libcublasLt ends here.
 */
#ifndef WS_BLAS_PRODUCT_H
#define WS_BLAS_PRODUCT_H

#include "libs/cublas/blas_types.h"
#include "libs/kernels/gemm8_args.h"

struct blas_operand {
  const void *at;  /* on the device; with `pointers` an array of such, on the device, too */
  int64_t ld, stride; /* elements */
  int type;        /* cudaDataType */
};

struct blas_product {
  int op_a, op_b;
  int64_t m, n, k, batch;
  struct blas_operand a, b, c, d;
  bool pointers;
  bool bias_is_c; /* c is a vector, the same for each column */
  const void *alpha, *beta;
  bool on_device; /* alpha and beta */
  int scale;      /* cudaDataType of alpha and beta */
  int compute;    /* cublasComputeType_t */
  struct ws_gemm_args extra; /* epilogue, bias, aux, scale factors; the rest is filled in */
  struct ws_gemm8_args narrow; /* factors of FP8 and FP4 (blocks_a: of A here); the rest is filled in */
  bool f32_blocks; /* its factors of blocks are FP32, of 128 k */
  uint64_t room;  /* on the device, for partial sums; 0: the handle's */
  size_t room_bytes;
  bool room_alone; /* partial sums lie in `room` or nowhere: the handle's holds something else */
};

/* Whether there is a kernel for its types. */
bool blas_product_known(const struct blas_product *p);
/* Launches it. BLAS_INVALID_VALUE for sizes that cannot be, BLAS_NOT_SUPPORTED, with a line, for types without a
 * kernel; `function` is the caller's name. */
blas_status blas_multiply(struct blas *h, const struct blas_product *p, driver_stream stream, const char *function);

/* The scalar at `p` of the given cudaDataType, read now unless it is on the device. */
struct ws_scalar blas_scalar(const void *p, int type, bool on_device);
/* Whether it is known to be 0; one on the device is not known. */
static inline bool blas_is_zero(const struct ws_scalar *s) { return !s->device && s->re == 0 && s->im == 0; }
/* enum ws_type of a cudaDataType, or WS_E4M3, WS_E5M2, WS_E2M1; -1: there is none. */
int blas_element(int data);
bool blas_is_fp8(int data);
bool blas_is_narrow(int data); /* FP8 or FP4 */

#endif
