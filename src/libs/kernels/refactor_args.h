/* What the kernels of cusolverRf take (kernels/sparse_refactor.cu), seen by the host (C) and by the kernels (CUDA C++).
 *
 * L without its unit diagonal and U are one matrix M of compressed rows, each with its columns ascending. Rows of
 * a level depend on those of levels before alone.
 */
#ifndef WS_REFACTOR_ARGS_H
#define WS_REFACTOR_ARGS_H

#include <stdint.h>

/* t = P f; L t = t; U t = t; x = Q^T t. */
enum { WS_REFACTOR_GATHER, WS_REFACTOR_FORWARD, WS_REFACTOR_BACKWARD, WS_REFACTOR_SCATTER };

struct ws_refactor_args {
  const int32_t *offsets, *columns, *diagonal; /* of M; where each row's diagonal is */
  const int32_t *rows, *levels;                /* rows by level; where a level begins in them */
  int32_t first, end;                          /* these levels: one, or several for one CTA */
  int32_t n, count;
  double *values; /* of each matrix of the batch (CTAs in y), `count` elements apart */
  /* Reset: what of A each element is the sum of: sources[source_at[e]] to source_at[e + 1]. */
  const int32_t *source_at, *sources;
  const double *const *a_array; /* a matrix each, or NULL: */
  const double *a;
  double zero, boost; /* a pivot not above `zero` is replaced by `boost`, unless that is 0 */
  int32_t *zero_row,
      *boosted; /* of each matrix: the first row with such a pivot that was not replaced, else a large number */
  const int32_t *p, *q;
  double *t; /* n elements each */
  double *const *x_array;
  double *x;
  int64_t x_offset; /* of the right side in each of x_array */
  int32_t step;
};

#endif
