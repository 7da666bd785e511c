/* What the files of level 1 of libcublas share: sums, and the functions of one type that those of mixed types (…Ex) are
 * where types do not differ. */
#ifndef WS_BLAS_VECTOR_H
#define WS_BLAS_VECTOR_H

#include "libs/cublas/blas_types.h"
#include "libs/kernels/vector_args.h"

/* A number out of vectors. */
struct blas_sum {
  enum lib_kernel kernel; /* its second one follows */
  enum ws_sum what;
  int bytes;              /* of an element, and of the result below */
  int result_bytes, result_type;
  bool wide_index;        /* the place of an extreme has 64 bits */
};

/* Writes it to the host or, as the handle's pointer mode has it, the device; `y` is not looked at but by products. */
blas_status blas_reduce(struct blas *h, const struct blas_sum *s, int64_t n, const void *x, int64_t incx, const void *y,
                        int64_t incy, void *result);

/* Of n elements; c and s, alpha, param and results are on the side that the pointer mode says. */
typedef blas_status blas_axpy(struct blas *h, int64_t n, const void *alpha, const void *x, int64_t incx, void *y,
                              int64_t incy);
typedef blas_status blas_copy(struct blas *h, int64_t n, const void *x, int64_t incx, void *y, int64_t incy);
typedef blas_status blas_swap(struct blas *h, int64_t n, void *x, int64_t incx, void *y, int64_t incy);
typedef blas_status blas_scal(struct blas *h, int64_t n, const void *alpha, void *x, int64_t incx);
typedef blas_status blas_dot(struct blas *h, int64_t n, const void *x, int64_t incx, const void *y, int64_t incy,
                             void *result);
typedef blas_status blas_norm(struct blas *h, int64_t n, const void *x, int64_t incx, void *result);
typedef blas_status blas_index(struct blas *h, int n, const void *x, int incx, void *result);
typedef blas_status blas_index_64(struct blas *h, int64_t n, const void *x, int64_t incx, int64_t *result);
typedef blas_status blas_rot(struct blas *h, int64_t n, void *x, int64_t incx, void *y, int64_t incy, const void *c,
                             const void *s);
typedef blas_status blas_rotm(struct blas *h, int64_t n, void *x, int64_t incx, void *y, int64_t incy,
                              const void *param);
typedef blas_status blas_rotg(struct blas *h, void *a, void *b, void *c, void *s);
typedef blas_status blas_rotmg(struct blas *h, void *d1, void *d2, void *x1, const void *y1, void *param);

/* The interface's own functions of those kinds. */
PUBLIC blas_axpy cublasSaxpy_v2_64, cublasDaxpy_v2_64, cublasCaxpy_v2_64, cublasZaxpy_v2_64;
PUBLIC blas_copy cublasScopy_v2_64, cublasDcopy_v2_64, cublasCcopy_v2_64, cublasZcopy_v2_64;
PUBLIC blas_swap cublasSswap_v2_64, cublasDswap_v2_64, cublasCswap_v2_64, cublasZswap_v2_64;
PUBLIC blas_scal cublasSscal_v2_64, cublasDscal_v2_64, cublasCscal_v2_64, cublasZscal_v2_64;
PUBLIC blas_dot cublasSdot_v2_64, cublasDdot_v2_64, cublasCdotu_v2_64, cublasZdotu_v2_64;
PUBLIC blas_dot cublasCdotc_v2_64, cublasZdotc_v2_64;
PUBLIC blas_norm cublasSnrm2_v2_64, cublasDnrm2_v2_64, cublasScnrm2_v2_64, cublasDznrm2_v2_64;
PUBLIC blas_norm cublasSasum_v2_64, cublasDasum_v2_64, cublasScasum_v2_64, cublasDzasum_v2_64;
PUBLIC blas_index cublasIsamax_v2, cublasIdamax_v2, cublasIcamax_v2, cublasIzamax_v2;
PUBLIC blas_index cublasIsamin_v2, cublasIdamin_v2, cublasIcamin_v2, cublasIzamin_v2;
PUBLIC blas_index_64 cublasIsamax_v2_64, cublasIdamax_v2_64, cublasIcamax_v2_64, cublasIzamax_v2_64;
PUBLIC blas_index_64 cublasIsamin_v2_64, cublasIdamin_v2_64, cublasIcamin_v2_64, cublasIzamin_v2_64;
PUBLIC blas_rot cublasSrot_v2_64, cublasDrot_v2_64, cublasCrot_v2_64, cublasCsrot_v2_64, cublasZrot_v2_64;
PUBLIC blas_rot cublasZdrot_v2_64;
PUBLIC blas_rotm cublasSrotm_v2_64, cublasDrotm_v2_64;
PUBLIC blas_rotg cublasSrotg_v2, cublasDrotg_v2, cublasCrotg_v2, cublasZrotg_v2;
PUBLIC blas_rotmg cublasSrotmg_v2, cublasDrotmg_v2;

#endif
