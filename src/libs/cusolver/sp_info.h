/* What programs hold from step to step of the low-level functions of cusolverSp. */
#ifndef WS_CUSOLVER_SP_INFO_H
#define WS_CUSOLVER_SP_INFO_H

#include "libs/cusolver/sp_device.h"
#include "libs/cusolver/sp_host.h"
#include "libs/cusolver/sp_lu.h"

/* Kinds of what programs hold. */
#define SP_QR_PLAN       UINT64_C(0x7761727073717200)
#define SP_QR_HOST       UINT64_C(0x7761727073717201)
#define SP_CHOLESKY_PLAN UINT64_C(0x7761727073636800)
#define SP_CHOLESKY_HOST UINT64_C(0x7761727073636801)
#define SP_LU_HOST       UINT64_C(0x77617270736c7501)

struct sp_info {
  uint64_t kind;
  struct sp_pattern pattern; /* without columns: not analysed */
  int count, t;
  int *order;
  struct sp_plan plan;
  struct sp_device device;    /* without a plan: there is none yet */
  struct sp_host_factor host; /* the same */
  struct sp_lu lu;            /* n 0: the same */
  const void *values;         /* csrqrSetup: the matrix, which is to stay until it is factored, on the device, */
  sp_number *own_values;      /* or a copy of it on the host, */
  sp_number shift;            /* and what is subtracted from its diagonal */
  bool set, factored;
};

solver_status sp_info_create(struct sp_info **out, uint64_t kind);
solver_status sp_info_destroy(struct sp_info *, uint64_t kind);
/* Whether `info` is of this kind and analysed for such a matrix. */
solver_status sp_info_check(const struct sp_info *info, const struct sp_handle *h, uint64_t kind,
                            const struct sp_csr *a);
/* For a matrix of its pattern, m x n, checked, which `info` takes over; order: of the fewest neighbours. */
solver_status sp_info_analyse(struct sp_info *info, const struct sp_handle *h, uint64_t kind, const struct sp_csr *a,
                              const char *function);
/* Bytes that the library keeps itself, and that the program is to give. */
solver_status sp_info_bytes(const struct sp_info *info, const struct sp_handle *h, uint64_t kind,
                            const struct sp_csr *a, int t, int batches, size_t *internal, size_t *room);
/* Memory on the device for so many matrices of type t, once. */
solver_status sp_info_open(struct sp_info *info, const struct sp_handle *h, int t, int batches);

#endif
