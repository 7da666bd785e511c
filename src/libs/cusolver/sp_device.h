/* Factors on the device: plans in its memory, launches of the kernels on fronts. */
#ifndef WS_CUSOLVER_SP_DEVICE_H
#define WS_CUSOLVER_SP_DEVICE_H

#include "libs/cusolver/sp_fronts.h"

struct sp_device {
  const struct sp_plan *plan;
  struct ws_fronts_args args;
  int t, batch;
  uint64_t tables, room; /* memory of its own: what the plan says; the factor */
  void *dense;           /* in it, room for QR of a wide front */
};

/* Bytes that a factor of `batch` matrices takes, and tables; what a 64-bit number cannot say becomes SIZE_MAX. */
size_t sp_device_bytes(const struct sp_plan *plan, int t, int batch);
/* Takes the memory. The plan is to stay. */
solver_status sp_device_open(struct sp_device *out, const struct sp_handle *h, const struct sp_plan *plan, int t,
                             int batch);
void sp_device_close(struct sp_device *);
/* Queues the factors of A - shift I; matrices of a batch lie `a_stride` elements apart. */
solver_status sp_device_factorise(struct sp_device *d, struct sp_handle *h, const void *a, int64_t a_stride,
                                  sp_number shift);
/* Queues x for b, m and n elements apart. */
solver_status sp_device_solve(struct sp_device *d, struct sp_handle *h, const void *b, void *x);
/* The diagonal (sp_host.h) of the first matrix, when all before is done: n numbers. */
bool sp_device_diagonal(const struct sp_device *d, const struct sp_handle *h, double *to);

#endif
