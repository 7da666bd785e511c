/* Sparse LU on the host: rows change places, column by column (Gilbert and Peierls, 1988). */
#ifndef WS_CUSOLVER_SP_LU_H
#define WS_CUSOLVER_SP_LU_H

#include "libs/cusolver/sp_types.h"

/* Compressed columns that grow. */
struct sp_columns {
  int64_t *at;
  int *rows;
  sp_number *values;
  int64_t n, room;
};

/* A(p, q) = L U. L has a unit diagonal, which is not stored; U's is apart, column by column. */
struct sp_lu {
  int n;
  int *p, *q, *place;     /* place[p[i]] = i */
  struct sp_columns l, u; /* rows of both are those of the factors */
  sp_number *diagonal;
};

/* q: the order of the columns. A row on the diagonal that is at least `threshold` (0 to 1) of the largest is
 * taken. A column without any row left has a diagonal of 0. False: no memory. */
bool sp_lu_factorise(struct sp_lu *out, const struct sp_pattern *a, const sp_number *values, const int *q,
                     double threshold);
void sp_lu_free(struct sp_lu *);
/* x for b, of which rows are those of A; they may be the same. False: no memory. */
bool sp_lu_solve(const struct sp_lu *f, const sp_number *b, sp_number *x);
/* The first column of the order whose diagonal is below the tolerance, 0 or not a number; -1: none. */
int sp_lu_first_small(const struct sp_lu *f, double tolerance);

#endif
