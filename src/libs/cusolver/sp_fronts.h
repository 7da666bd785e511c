/* The analysis of a sparse factor: which columns are a front, and where everything lies (kernels/front_args.h). */
#ifndef WS_CUSOLVER_SP_FRONTS_H
#define WS_CUSOLVER_SP_FRONTS_H

#include "libs/cusolver/sp_order.h"
#include "libs/kernels/front_args.h"

enum sp_kind { SP_QR, SP_CHOLESKY };

/* A list that grows. */
struct sp_list {
  int32_t *at;
  int64_t n, room;
};

struct sp_plan {
  enum sp_kind kind;
  int m, n, n_fronts, n_wide, n_tasks, n_launches;
  int *order;  /* column j of the factor is column order[j] of A */
  int *number; /* ... and comes as number[j] in the order that was asked for, of which this one is another form */
  int *parent; /* of a front; -1: none */
  int *row_front, *row_place; /* QR: where a row of A begins; a row without elements: -1 */
  struct ws_front *fronts;
  struct ws_front_child *children;
  struct ws_front_entry *entries;
  struct sp_list lists;
  struct ws_front_task *tasks;  /* one more: all of them */
  int *launches;                /* n_launches + 1: where the tasks of one begin */
  int64_t values, rows, factor; /* elements of all fronts, rows of y, elements of R */
  int widest;                   /* rows or columns that a front has at most */
};

/* Of A's rows (QR), or of its lower triangle, both halves of a Hermitian matrix (Cholesky), in the columns' order
 * given. With `shift`, the diagonal has places, too. ALLOC_FAILED: no memory; NOT_SUPPORTED: more than 2^31 rows
 * of fronts. */
solver_status sp_plan_make(struct sp_plan *out, enum sp_kind kind, const struct sp_pattern *a, const int *order,
                           bool shift);
void sp_plan_free(struct sp_plan *);

#endif
