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

solver_status solver_lu(struct solver *h, int t, const struct ws_solve_args *s);
solver_status solver_with_lu(struct solver *h, int t, const struct ws_solve_args *s, int64_t sides);
solver_status solver_cholesky(struct solver *h, int t, const struct ws_solve_args *s);
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
