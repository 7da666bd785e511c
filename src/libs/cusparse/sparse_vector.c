/* Sparse vectors of libcusparse: descriptors, gathering and scattering, sums and products with dense ones. */
#include <stdlib.h>

#include "libs/cusparse/sparse_product.h"

#define VECTOR UINT64_C(0x7761727073707665)

struct sparse_vector {
  uint64_t magic;
  int64_t size, count;
  void *indices, *values;
  int index_type, base, value_type;
};

static bool vector_is(const struct sparse_vector *v) { return v && v->magic == VECTOR; }

/* ---- descriptors ---- */

static sparse_status create(struct sparse_vector **out, struct sparse_vector v)
{
  const bool fits = v.size >= 0 && v.count >= 0 && v.count <= v.size;
  if (!out || !fits || (v.base != 0 && v.base != 1)) return SPARSE_INVALID_VALUE;
  if (v.index_type != SPARSE_INDEX_32 && v.index_type != SPARSE_INDEX_64)
    return sparse_refuse("cusparseCreateSpVec", "indices of 16 bits");
  *out = malloc(sizeof **out);
  if (!*out) return SPARSE_ALLOC_FAILED;
  v.magic = VECTOR;
  **out = v;
  return SPARSE_SUCCESS;
}

#define CREATE(name)                                                                                                   \
  PUBLIC sparse_status cusparseCreate##name(struct sparse_vector **out, int64_t size, int64_t count, void *indices,    \
                                            void *values, int index_type, int base, int value_type)                    \
  {                                                                                                                    \
    return create(out, (struct sparse_vector){.size = size, .count = count, .indices = indices, .values = values,      \
                                              .index_type = index_type, .base = base, .value_type = value_type});      \
  }
CREATE(SpVec)
CREATE(ConstSpVec)

PUBLIC sparse_status cusparseDestroySpVec(struct sparse_vector *v)
{
  if (v && !vector_is(v)) return SPARSE_INVALID_VALUE;
  if (v) v->magic = 0;
  free(v);
  return SPARSE_SUCCESS;
}

#define GET(name)                                                                                                      \
  PUBLIC sparse_status cusparse##name(const struct sparse_vector *v, int64_t *size, int64_t *count, void **indices,    \
                                      void **values, int *index_type, int *base, int *value_type)                      \
  {                                                                                                                    \
    if (!vector_is(v) || !size || !count || !indices || !values || !index_type || !base || !value_type)                \
      return SPARSE_INVALID_VALUE;                                                                                     \
    *size = v->size, *count = v->count, *indices = v->indices, *values = v->values;                                    \
    *index_type = v->index_type, *base = v->base, *value_type = v->value_type;                                         \
    return SPARSE_SUCCESS;                                                                                             \
  }
GET(SpVecGet)
GET(ConstSpVecGet)

PUBLIC sparse_status cusparseSpVecGetIndexBase(const struct sparse_vector *v, int *base)
{
  if (!vector_is(v) || !base) return SPARSE_INVALID_VALUE;
  *base = v->base;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpVecGetValues(const struct sparse_vector *v, void **values)
{
  if (!vector_is(v) || !values) return SPARSE_INVALID_VALUE;
  *values = v->values;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseConstSpVecGetValues(const struct sparse_vector *v, void **values)
{
  return cusparseSpVecGetValues(v, values);
}
PUBLIC sparse_status cusparseSpVecSetValues(struct sparse_vector *v, void *values)
{
  if (!vector_is(v)) return SPARSE_INVALID_VALUE;
  v->values = values;
  return SPARSE_SUCCESS;
}

/* ---- with a dense vector ---- */

static sparse_status check(const struct sparse_handle *h, const struct sparse_vector *x, const struct dense_matrix *y,
                           const char *function)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!vector_is(x) || !dense_matrix_is(y) || !y->vector || x->size != y->rows || x->value_type != y->value_type)
    return SPARSE_INVALID_VALUE;
  if (x->count && (!x->indices || !x->values || !y->values)) return SPARSE_INVALID_VALUE;
  return sparse_value_bytes(x->value_type) ? SPARSE_SUCCESS : sparse_refuse(function, "values of this type");
}

static struct ws_sparse_vector seen(const struct sparse_vector *x, const struct dense_matrix *y)
{
  return (struct ws_sparse_vector){.count = x->count, .indices = x->indices, .x = x->values, .y = y->values,
                                   .wide = x->index_type == SPARSE_INDEX_64, .base = x->base,
                                   .bytes = sparse_value_bytes(x->value_type)};
}

static sparse_status run(struct sparse_handle *h, enum lib_kernel k, const struct ws_sparse_vector *v)
{
  const bool ok = v->count == 0 || kernel_set_launch(&h->kernels, k, sparse_shape(v->count), h->stream, v);
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

PUBLIC sparse_status cusparseGather(struct sparse_handle *h, const struct dense_matrix *y, struct sparse_vector *x)
{
  const sparse_status s = check(h, x, y, __func__);
  if (s) return s;
  const struct ws_sparse_vector v = seen(x, y);
  return run(h, KERNEL_sparse_gather, &v);
}

PUBLIC sparse_status cusparseScatter(struct sparse_handle *h, const struct sparse_vector *x, struct dense_matrix *y)
{
  const sparse_status s = check(h, x, y, __func__);
  if (s) return s;
  const struct ws_sparse_vector v = seen(x, y);
  return run(h, KERNEL_sparse_put, &v);
}

static enum lib_kernel of_kind(enum lib_kernel of_s, int kind)
{
  return (enum lib_kernel)((int)of_s + kind * (KERNEL_dsparse_add - KERNEL_ssparse_add));
}

/* y = beta y, then alpha x is added. */
PUBLIC sparse_status cusparseAxpby(struct sparse_handle *h, const void *alpha, const struct sparse_vector *x,
                                   const void *beta, struct dense_matrix *y)
{
  const sparse_status s = check(h, x, y, __func__);
  if (s) return s;
  const int kind = sparse_kind(x->value_type);
  if (!alpha || !beta) return SPARSE_INVALID_VALUE;
  if (kind < 0) return sparse_refuse(__func__, "values of this type");
  if (!sparse_scale(h, y, beta)) return SPARSE_EXECUTION_FAILED;
  struct ws_sparse_vector v = seen(x, y);
  v.alpha = sparse_scalar(h, alpha, kind);
  return run(h, of_kind(KERNEL_ssparse_add, kind), &v);
}

PUBLIC sparse_status cusparseRot(struct sparse_handle *h, const void *cosine, const void *sine, struct sparse_vector *x,
                                 struct dense_matrix *y)
{
  const sparse_status s = check(h, x, y, __func__);
  if (s) return s;
  const int kind = sparse_kind(x->value_type);
  if (!cosine || !sine) return SPARSE_INVALID_VALUE;
  if (kind < 0) return sparse_refuse(__func__, "values of this type");
  struct ws_sparse_vector v = seen(x, y);
  v.alpha = sparse_scalar(h, cosine, kind);
  v.beta = sparse_scalar(h, sine, kind);
  return run(h, of_kind(KERNEL_ssparse_rotate, kind), &v);
}

PUBLIC sparse_status cusparseSpVV_bufferSize(const struct sparse_handle *h, int op, const struct sparse_vector *x,
                                             const struct dense_matrix *y, const void *result, int compute,
                                             size_t *bytes)
{
  (void)op, (void)result, (void)compute;
  const sparse_status s = check(h, x, y, "cusparseSpVV");
  if (s) return s;
  if (!bytes) return SPARSE_INVALID_VALUE;
  *bytes = 16; /* one value of any type */
  return SPARSE_SUCCESS;
}

/* A result for the host. While the stream is being recorded the copy is only recorded, too, and nobody waits. */
static bool give_back(struct sparse_handle *h, void *result, const void *room, size_t bytes)
{
  int recording;
  if (cuStreamIsCapturing(h->stream, &recording) != DRIVER_OK || !recording)
    return sparse_fetch(h, result, room, bytes);
  return cuMemcpyDtoHAsync_v2(result, (uint64_t)(uintptr_t)room, bytes, h->stream) == DRIVER_OK;
}

PUBLIC sparse_status cusparseSpVV(struct sparse_handle *h, int op, const struct sparse_vector *x,
                                  const struct dense_matrix *y, void *result, int compute, void *room)
{
  const sparse_status s = check(h, x, y, __func__);
  if (s) return s;
  const int kind = sparse_kind(x->value_type);
  const bool here = h->pointer_mode == 0;
  if (!result || (here && !room) || (unsigned)op >= SPARSE_OPS) return SPARSE_INVALID_VALUE;
  if (kind < 0 || compute != x->value_type) return sparse_refuse(__func__, "values of these types");
  struct ws_sparse_vector v = seen(x, y);
  v.conj = op == SPARSE_OP_C;
  v.result = here ? room : result;
  const struct launch_shape one = {1, 1, 1, 256};
  bool ok = kernel_set_launch(&h->kernels, of_kind(KERNEL_ssparse_dot, kind), one, h->stream, &v);
  ok = ok && (!here || give_back(h, result, room, (size_t)v.bytes));
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}
