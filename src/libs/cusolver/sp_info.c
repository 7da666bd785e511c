#include "libs/cusolver/sp_info.h"

#include <stdlib.h>
#include <string.h>

solver_status sp_info_create(struct sp_info **out, uint64_t kind)
{
  if (!out) return SOLVER_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (!*out) return SOLVER_ALLOC_FAILED;
  (*out)->kind = kind;
  return SOLVER_SUCCESS;
}

solver_status sp_info_destroy(struct sp_info *i, uint64_t kind)
{
  if (!i) return SOLVER_SUCCESS;
  if (i->kind != kind) return SOLVER_INVALID_VALUE;
  if (i->device.plan) cuCtxSynchronize(); /* kernels may still work on it */
  sp_device_close(&i->device);
  if (i->host.plan) sp_host_free(&i->host);
  sp_lu_free(&i->lu);
  sp_plan_free(&i->plan);
  sp_pattern_free(&i->pattern);
  free(i->order);
  free(i->own_values);
  memset(i, 0, sizeof *i);
  free(i);
  return SOLVER_SUCCESS;
}

solver_status sp_info_check(const struct sp_info *i, const struct sp_handle *h, uint64_t kind, const struct sp_csr *a)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!i || i->kind != kind || !i->pattern.columns) return SOLVER_INVALID_VALUE;
  const bool same = i->pattern.m == a->m && i->pattern.n == a->n && i->count == a->count;
  return same ? SOLVER_SUCCESS : SOLVER_INVALID_VALUE;
}

static bool on_host(uint64_t kind)
{
  return kind == SP_QR_HOST || kind == SP_CHOLESKY_HOST || kind == SP_LU_HOST;
}
static bool is_qr(uint64_t kind)
{
  return kind == SP_QR_PLAN || kind == SP_QR_HOST;
}

/* LU keeps the columns' order; programs that want another one permute the matrix. QR of few columns does, too: there
 * is nothing to win, and it rounds like other libraries'. */
static bool find_order(struct sp_info *i)
{
  enum { FEW = 32 };
  const struct sp_pattern *p = &i->pattern;
  i->order = sp_room(p->n, sizeof *i->order);
  if (!i->order) return false;
  if (i->kind == SP_LU_HOST || (is_qr(i->kind) && p->n <= FEW)) return sp_order_columns(SP_ORDER_NONE, p, i->order);
  if (is_qr(i->kind)) return sp_order_columns(SP_ORDER_AMD, p, i->order);
  return sp_order_symmetric(SP_ORDER_AMD, p, i->order);
}

solver_status sp_info_analyse(struct sp_info *i, const struct sp_handle *h, uint64_t kind, const struct sp_csr *a,
                              const char *function)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!i || i->kind != kind || i->pattern.columns) return SOLVER_INVALID_VALUE;
  if (is_qr(kind) ? a->m < a->n : a->m != a->n) return SOLVER_INVALID_VALUE;
  struct sp_pattern p;
  solver_status status = on_host(kind) ? sp_pattern_read(&p, a, function) : sp_pattern_fetch(&p, h, a, function);
  if (status) return status;
  i->pattern = p, i->count = a->count;
  status = find_order(i) ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
  const bool shift = is_qr(kind) && a->m == a->n;
  if (!status && kind != SP_LU_HOST)
    status = sp_plan_make(&i->plan, is_qr(kind) ? SP_QR : SP_CHOLESKY, &i->pattern, i->order, shift);
  if (!status) return status;
  sp_plan_free(&i->plan);
  sp_pattern_free(&i->pattern);
  free(i->order);
  i->order = NULL;
  return status;
}

solver_status sp_info_bytes(const struct sp_info *i, const struct sp_handle *h, uint64_t kind, const struct sp_csr *a,
                            int t, int batches, size_t *internal, size_t *room)
{
  enum { ROOM = 256 }; /* none is needed, but programs allocate what they are told */
  const solver_status status = sp_info_check(i, h, kind, a);
  if (status) return status;
  if (!internal || !room || batches <= 0) return SOLVER_INVALID_VALUE;
  *internal = on_host(kind) ? (size_t)(i->plan.values + i->plan.rows) * sizeof(sp_number)
                            : sp_device_bytes(&i->plan, t, batches);
  *room = ROOM;
  return SOLVER_SUCCESS;
}

solver_status sp_info_open(struct sp_info *i, const struct sp_handle *h, int t, int batches)
{
  if (batches <= 0) return SOLVER_INVALID_VALUE;
  if (i->device.plan && i->device.t == t && i->device.batch == batches) return SOLVER_SUCCESS;
  if (i->device.plan) cuStreamSynchronize(h->stream);
  sp_device_close(&i->device);
  i->factored = false;
  return sp_device_open(&i->device, h, &i->plan, t, batches);
}
