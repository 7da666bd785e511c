/* What the kernels on the fronts of a sparse factor take (kernels/sparse_fronts.cu), seen by the host (C) and by the
 * kernels (CUDA C++).
 *
 * A factor R of sparse QR (A P = Q R), or of Cholesky (P^T A P = R^H R), is computed by the multifrontal method
 * (Duff and Reid, 1983): columns with nearly the same places are a front, a dense matrix, which takes what its
 * children in the elimination tree leave over, eliminates its own columns (pivots) and leaves the rest to its
 * parent. Fronts are numbered so that children come before their parents, a subtree without gaps.
 */
#ifndef WS_FRONT_ARGS_H
#define WS_FRONT_ARGS_H

#include <stdint.h>

/* An m x n matrix, column-major (QR), or n x n, of which row-major the upper half counts (Cholesky, m = n). */
struct ws_front {
  int64_t values;  /* its first element */
  int64_t y;       /* its first row in the right side, and its first reflector */
  int64_t columns; /* its n columns, in `lists`; the first ones are the pivots */
  int64_t stair;   /* QR: rows that columns up to each one have, in `lists` */
  int64_t rows;    /* QR: what each row is on the right side, in `lists`: a row of b, or ~ a row of y */
  int64_t entries, entry_count;
  int32_t children, child_count;
  int32_t m, n, pivots;
  int32_t wide; /* its factor is worth more than one CTA */
};

/* What a front takes from a child: where its columns behind the pivots lie, in `lists`, and, QR, so many rows. */
struct ws_front_child {
  int64_t columns, rows;
  int32_t front, row_count;
};

/* An element of A in a front, or what it is conjugated; `source` -1: the shift. Ordered by column, then by row;
 * those of one place are added. */
struct ws_front_entry {
  int32_t source, row, column, conjugated;
};

/* The fronts of a CTA, one after the other. */
struct ws_front_task {
  int32_t first, end;
};

/* y = Q^H b; R^H y = b; R x = y. */
enum { WS_FRONT_FACTOR, WS_FRONT_TURN, WS_FRONT_FORWARD, WS_FRONT_BACKWARD };
/* What of wide fronts the factors' kernels do: all; only bring together what they have; say what is on the diagonal of
 * R, which other kernels have made. */
enum { WS_FRONT_WHOLE, WS_FRONT_BRING, WS_FRONT_SAY };

struct ws_fronts_args {
  const struct ws_front *fronts;
  const struct ws_front_child *children;
  const struct ws_front_entry *entries;
  const int32_t *lists;
  const int32_t *order;              /* column j of the factor is column order[j] of A */
  const struct ws_front_task *tasks; /* of the CTAs in x; those in y are matrices of a batch, so many elements apart: */
  int64_t a_stride, values_stride, y_stride, diagonal_stride, b_stride, x_stride;
  const void *a, *b;
  void *values, *tau, *y, *x;
  double *diagonal;          /* of R, column by column: its size; Cholesky: a pivot that is not above 0 as it is */
  double shift_re, shift_im; /* is subtracted from the diagonal */
  int32_t by_rows;           /* how R lies in a front: as Cholesky leaves it */
  int32_t step;              /* of front_solve; 0 for the factors */
  int32_t part;              /* of the factors */
  int32_t *info;             /* WS_FRONT_SAY, Cholesky: the first pivot that is not above 0, from 1 on; 0: none */
};

#endif
