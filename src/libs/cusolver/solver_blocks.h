/* Large dense systems, block by block: kernels/solve.cu has the columns of a block, libcublas' products and triangular
 * systems the rest. Small ones are the kernels' alone. Matrices are as in struct ws_solve_args, one of them.
 */
#ifndef WS_SOLVER_BLOCKS_H
#define WS_SOLVER_BLOCKS_H

#include "libs/cublas/blas_solve.h"
#include "libs/cusolver/solver_types.h"

/* Launches a kernel of solve.cu of type t, given that of type s. */
solver_status solver_run(struct solver *h, enum lib_kernel of_s, int t, const struct ws_solve_args *a, int64_t matrices,
                         int64_t sides);

/* LU or QR of a block: a kernel of one matrix, with as many threads as a block has use for. */
solver_status solver_panel(struct solver *h, enum lib_kernel of_s, int t, const struct ws_solve_args *a);

/* Element (i, j) of a matrix of type t. */
static inline void *solver_at(const void *a, int t, int64_t ld, int64_t i, int64_t j)
{
  static const int bytes[] = {4, 8, 8, 16};
  return (char *)(uintptr_t)a + (j * ld + i) * bytes[t];
}

/* solver_factors.c */
solver_status solver_lu(struct solver *h, int t, const struct ws_solve_args *s);
solver_status solver_cholesky(struct solver *h, int t, const struct ws_solve_args *s);
/* Of the first `columns` columns, and what they leave of the others. */
solver_status solver_cholesky_columns(struct kernel_set *kernels, driver_stream stream, int t,
                                      const struct ws_solve_args *s, int64_t columns);

solver_status solver_with_lu(struct solver *h, int t, const struct ws_solve_args *s, int64_t sides);
solver_status solver_with_cholesky(struct solver *h, int t, const struct ws_solve_args *s, int64_t sides);

/* Room for what comes with reflectors of `rows` rows that turn `lines` rows or columns. */
struct solver_room {
  void *at;
  int64_t elements; /* too few: the matrix is one block */
};

int64_t solver_qr_elements(int64_t rows, int64_t lines);
solver_status solver_qr(struct solver *h, int t, const struct ws_solve_args *s, struct solver_room room);
solver_status solver_form_q(struct solver *h, int t, const struct ws_solve_args *s, struct solver_room room);
solver_status solver_apply_q(struct solver *h, int t, const struct ws_solve_args *s, struct solver_room room);

#endif
