/* Factors on the host, by the same fronts as on the device, in the widest type: binary64, of real matrices real. */
#ifndef WS_CUSOLVER_SP_HOST_H
#define WS_CUSOLVER_SP_HOST_H

#include "libs/cusolver/sp_fronts.h"

struct sp_host_front {
  int m, n, live;       /* QR: live pivots; the others are too small */
  void *a, *tau;        /* double, or sp_number, as on the device (kernels/front_args.h) */
  int *stair;           /* QR: of reflector g, the rows it has an end with, */
  int *reflector;       /* of a column, its reflector and row of R; -1: none */
  int *from, *from_row; /* of a row, the front it comes from and its number there; -1: of A */
};

struct sp_host_factor {
  const struct sp_plan *plan;
  struct sp_host_front *fronts;
  double *diagonal; /* of R, column by column: its size; Cholesky: a pivot that is not above 0 as it is */
  int rank;
  bool real; /* so are the fronts' numbers */
};

/* Of A - shift I. QR: a column of which no more than `least` is left is left out (least < 0: none). The plan is to
 * stay. */
solver_status sp_host_factorise(struct sp_host_factor *out, const struct sp_plan *plan, const sp_number *values,
                                sp_number shift, double least);
/* x (n elements) for b (m elements), which may be the same; where QR left a column out, x is 0. False: no memory. */
bool sp_host_solve(const struct sp_host_factor *f, const sp_number *b, sp_number *x);
void sp_host_free(struct sp_host_factor *);

/* The first column of the order (struct sp_plan's `number`) whose element of the diagonal is below the tolerance, 0 or
 * not a number; -1: none. */
int sp_first_small(const struct sp_plan *plan, const double *diagonal, double tolerance);

#endif
