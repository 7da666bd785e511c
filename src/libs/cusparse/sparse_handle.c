/* Handles and descriptors of libcusparse. */
#include <stdio.h>
#include <stdlib.h>

#include "libs/cusparse/sparse_types.h"

#define HANDLE UINT64_C(0x7761727073706168)
#define SPARSE UINT64_C(0x776172707370616d)
#define DENSE  UINT64_C(0x7761727064656e73)

bool sparse_handle_is(const struct sparse_handle *h) { return h && h->magic == HANDLE; }
bool sparse_matrix_is(const struct sparse_matrix *m) { return m && m->magic == SPARSE; }
bool dense_matrix_is(const struct dense_matrix *m) { return m && m->magic == DENSE; }
bool sparse_matrix_lists(const struct sparse_matrix *m)
{
  return m->format == FORMAT_CSR || m->format == FORMAT_CSC || m->format == FORMAT_COO;
}

int sparse_kind(int type)
{
  switch (type) {
  case VALUE_R_32F: return 0;
  case VALUE_R_64F: return 1;
  case VALUE_C_32F: return 2;
  case VALUE_C_64F: return 3;
  default: return -1;
  }
}

sparse_status sparse_refuse(const char *function, const char *why)
{
  fprintf(stderr, "warpstep: %s: warpstep's own cuSPARSE does not have %s (docs/libraries.md)\n", function, why);
  return SPARSE_NOT_SUPPORTED;
}

PUBLIC sparse_status cusparseCreate(struct sparse_handle **out)
{
  if (!out) return SPARSE_INVALID_VALUE;
  struct sparse_handle *h = calloc(1, sizeof *h);
  *out = NULL;
  if (!h) return SPARSE_ALLOC_FAILED;
  const bool open = kernel_set_open(&h->kernels);
  if (!open || h->kernels.capability < 75) {
    free(h);
    return open ? SPARSE_ARCH_MISMATCH : SPARSE_NOT_INITIALIZED;
  }
  h->magic = HANDLE;
  *out = h;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseDestroy(struct sparse_handle *h)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  cuStreamSynchronize(h->stream);
  kernel_set_close(&h->kernels);
  h->magic = 0;
  free(h);
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSetStream(struct sparse_handle *h, driver_stream stream)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  h->stream = stream;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseGetStream(const struct sparse_handle *h, driver_stream *stream)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!stream) return SPARSE_INVALID_VALUE;
  *stream = h->stream;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSetPointerMode(struct sparse_handle *h, int mode)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (mode != 0 && mode != 1) return SPARSE_INVALID_VALUE;
  h->pointer_mode = mode;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseGetPointerMode(const struct sparse_handle *h, int *mode)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!mode) return SPARSE_INVALID_VALUE;
  *mode = h->pointer_mode;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseGetVersion(const struct sparse_handle *h, int *version)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!version) return SPARSE_INVALID_VALUE;
  *version = SPARSE_VERSION;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseGetProperty(int what, int *value)
{
  if (!value || what < 0 || what > 2) return SPARSE_INVALID_VALUE;
  *value = what == 0 ? SPARSE_VERSION / 1000 : what == 1 ? SPARSE_VERSION / 100 % 10 : SPARSE_VERSION % 100;
  return SPARSE_SUCCESS;
}

static const struct {
  const char *name, *text;
} statuses[] = {
  {"CUSPARSE_STATUS_SUCCESS", "success"},
  {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
  {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
  {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
  {"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
  {"CUSPARSE_STATUS_MAPPING_ERROR", "texture mapping error"},
  {"CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
  {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
  {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
  {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
  {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
  {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};
enum { STATUSES = sizeof statuses / sizeof statuses[0] };
PUBLIC const char *cusparseGetErrorName(unsigned s) { return s < STATUSES ? statuses[s].name : "unknown error"; }
PUBLIC const char *cusparseGetErrorString(unsigned s) { return s < STATUSES ? statuses[s].text : "unknown error"; }

/* What a legacy descriptor says: type, fill mode, kind of diagonal, base. */
struct description {
  int said[4];
};
PUBLIC sparse_status cusparseCreateMatDescr(struct description **out)
{
  if (!out) return SPARSE_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  return *out ? SPARSE_SUCCESS : SPARSE_ALLOC_FAILED;
}
PUBLIC sparse_status cusparseDestroyMatDescr(struct description *d)
{
  free(d);
  return SPARSE_SUCCESS;
}
#define SAID(what, place, most)                                           \
  PUBLIC sparse_status cusparseSetMat##what(struct description *d, int v) \
  {                                                                       \
    if (!d || v < 0 || v > (most)) return SPARSE_INVALID_VALUE;           \
    d->said[place] = v;                                                   \
    return SPARSE_SUCCESS;                                                \
  }                                                                       \
  PUBLIC int cusparseGetMat##what(const struct description *d) { return d ? d->said[place] : 0; }
SAID(Type, 0, 3)
SAID(FillMode, 1, 1)
SAID(DiagType, 2, 1)
SAID(IndexBase, 3, 1)

static bool is_index(int type) { return type >= SPARSE_INDEX_16 && type <= SPARSE_INDEX_64; }

static sparse_status create(struct sparse_matrix **out, struct sparse_matrix m, const char *function)
{
  const bool narrow = m.offset_type == SPARSE_INDEX_16 || m.index_type == SPARSE_INDEX_16;
  if (!out || m.rows < 0 || m.cols < 0 || m.count < 0 || (m.base != 0 && m.base != 1)) return SPARSE_INVALID_VALUE;
  if (m.rows && m.cols && m.count / m.rows > m.cols) return SPARSE_INVALID_VALUE;
  if (!is_index(m.offset_type) || !is_index(m.index_type)) return SPARSE_INVALID_VALUE;
  if (narrow) return sparse_refuse(function, "indices of 16 bits");
  *out = malloc(sizeof **out);
  if (!*out) return SPARSE_ALLOC_FAILED;
  m.magic = SPARSE, m.batch = 1;
  **out = m;
  return SPARSE_SUCCESS;
}

#define CREATE(n, f, arguments, ot)                                                                                    \
  PUBLIC sparse_status cusparseCreate##n(struct sparse_matrix **out, int64_t rows, int64_t cols, int64_t nnz,          \
                                         void *offsets, void *indices, void *values, arguments, int base, int type)    \
  {                                                                                                                    \
    return create(out, (struct sparse_matrix){.format = f, .rows = rows, .cols = cols, .count = nnz, .base = base,     \
                                              .offsets = offsets, .indices = indices, .values = values,                \
                                              .offset_type = ot, .index_type = index_type, .value_type = type},        \
                  __func__);                                                                                           \
  }
#define TWO_TYPES int offset_type, int index_type
CREATE(Csr, FORMAT_CSR, TWO_TYPES, offset_type)
CREATE(ConstCsr, FORMAT_CSR, TWO_TYPES, offset_type)
CREATE(Csc, FORMAT_CSC, TWO_TYPES, offset_type)
CREATE(ConstCsc, FORMAT_CSC, TWO_TYPES, offset_type)
CREATE(Coo, FORMAT_COO, int index_type, index_type)
CREATE(ConstCoo, FORMAT_COO, int index_type, index_type)

enum { MOST_LINES = INT32_MAX }; /* of a matrix of blocks or slices */

PUBLIC sparse_status cusparseCreateBlockedEll(struct sparse_matrix **out, int64_t rows, int64_t cols, int64_t side,
                                              int64_t width, void *indices, void *values, int index_type, int base,
                                              int type)
{
  if (rows < 0 || cols < 0 || side <= 0 || width < 0) return SPARSE_INVALID_VALUE;
  if (rows % side || cols % side || width % side) return SPARSE_INVALID_VALUE;
  if (rows > MOST_LINES || cols > MOST_LINES || width > MOST_LINES)
    return sparse_refuse(__func__, "2^31 rows or columns");
  return create(out, (struct sparse_matrix){.format = FORMAT_BLOCKED_ELL, .rows = rows, .cols = cols, .base = base,
                                            .count = rows * width, .indices = indices, .values = values,
                                            .offset_type = index_type, .index_type = index_type, .value_type = type,
                                            .block_rows = side, .block_cols = side, .width = width},
                __func__);
}
PUBLIC sparse_status cusparseCreateConstBlockedEll(struct sparse_matrix **out, int64_t rows, int64_t cols,
                                                   int64_t side, int64_t width, void *indices, void *values,
                                                   int index_type, int base, int type)
{
  return cusparseCreateBlockedEll(out, rows, cols, side, width, indices, values, index_type, base, type);
}

PUBLIC sparse_status cusparseCreateSlicedEll(struct sparse_matrix **out, int64_t rows, int64_t cols, int64_t nnz,
                                             int64_t size, int64_t slice, void *offsets, void *indices, void *values,
                                             int offset_type, int index_type, int base, int type)
{
  if (rows < 0 || cols < 0 || slice <= 0 || nnz < 0 || size < nnz) return SPARSE_INVALID_VALUE;
  if (rows > MOST_LINES || cols > MOST_LINES || slice > MOST_LINES)
    return sparse_refuse(__func__, "2^31 rows or columns");
  return create(out, (struct sparse_matrix){.format = FORMAT_SLICED_ELL, .rows = rows, .cols = cols, .count = nnz,
                                            .base = base, .offsets = offsets, .indices = indices, .values = values,
                                            .offset_type = offset_type, .index_type = index_type, .value_type = type,
                                            .block_rows = slice, .block_cols = 1, .stored = size},
                __func__);
}
PUBLIC sparse_status cusparseCreateConstSlicedEll(struct sparse_matrix **out, int64_t rows, int64_t cols, int64_t nnz,
                                                  int64_t size, int64_t slice, void *offsets, void *indices,
                                                  void *values, int offset_type, int index_type, int base, int type)
{
  return cusparseCreateSlicedEll(out, rows, cols, nnz, size, slice, offsets, indices, values, offset_type, index_type,
                                 base, type);
}

PUBLIC sparse_status cusparseCreateBsr(struct sparse_matrix **out, int64_t rows, int64_t cols, int64_t blocks,
                                       int64_t block_rows, int64_t block_cols, void *offsets, void *indices,
                                       void *values, int offset_type, int index_type, int base, int type, int order)
{
  if (rows < 0 || cols < 0 || blocks < 0 || block_rows <= 0 || block_cols <= 0) return SPARSE_INVALID_VALUE;
  if (order != SPARSE_ORDER_COL && order != SPARSE_ORDER_ROW) return SPARSE_INVALID_VALUE;
  if (rows > MOST_LINES / block_rows || cols > MOST_LINES / block_cols)
    return sparse_refuse(__func__, "2^31 rows or columns");
  if (blocks > rows * cols) return SPARSE_INVALID_VALUE;
  return create(out, (struct sparse_matrix){.format = FORMAT_BSR, .rows = rows * block_rows, .cols = cols * block_cols,
                                            .count = blocks * block_rows * block_cols, .base = base,
                                            .offsets = offsets, .indices = indices, .values = values,
                                            .offset_type = offset_type, .index_type = index_type, .value_type = type,
                                            .block_rows = block_rows, .block_cols = block_cols, .order = order},
                __func__);
}
PUBLIC sparse_status cusparseCreateConstBsr(struct sparse_matrix **out, int64_t rows, int64_t cols, int64_t blocks,
                                            int64_t block_rows, int64_t block_cols, void *offsets, void *indices,
                                            void *values, int offset_type, int index_type, int base, int type,
                                            int order)
{
  return cusparseCreateBsr(out, rows, cols, blocks, block_rows, block_cols, offsets, indices, values, offset_type,
                           index_type, base, type, order);
}

PUBLIC sparse_status cusparseBlockedEllGet(const struct sparse_matrix *m, int64_t *rows, int64_t *cols, int64_t *side,
                                           int64_t *width, void **indices, void **values, int *index_type, int *base,
                                           int *type)
{
  const bool all = rows && cols && side && width && indices && values && index_type && base && type;
  if (!sparse_matrix_is(m) || m->format != FORMAT_BLOCKED_ELL || !all) return SPARSE_INVALID_VALUE;
  *rows = m->rows, *cols = m->cols, *side = m->block_rows, *width = m->width;
  *indices = m->indices, *values = m->values;
  *index_type = m->index_type, *base = m->base, *type = m->value_type;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseConstBlockedEllGet(const struct sparse_matrix *m, int64_t *rows, int64_t *cols,
                                                int64_t *side, int64_t *width, void **indices, void **values,
                                                int *index_type, int *base, int *type)
{
  return cusparseBlockedEllGet(m, rows, cols, side, width, indices, values, index_type, base, type);
}

PUBLIC sparse_status cusparseDestroySpMat(struct sparse_matrix *m)
{
  if (m && !sparse_matrix_is(m)) return SPARSE_INVALID_VALUE;
  if (m) m->magic = 0;
  free(m);
  return SPARSE_SUCCESS;
}

/* What a descriptor says. All but the matrix must be there. */
struct said {
  int64_t *rows, *cols, *count;
  void **offsets, **indices, **values; /* coordinates: offsets are the rows */
  int *offset_type, *index_type, *base, *value_type; /* coordinates: no offset_type */
};

static sparse_status say_matrix(const struct sparse_matrix *m, int format, const struct said *to)
{
  const bool all = to->rows && to->cols && to->count && to->offsets && to->indices && to->values && to->index_type &&
                   to->base && to->value_type && (to->offset_type || format == FORMAT_COO);
  if (!sparse_matrix_is(m) || m->format != format || !all) return SPARSE_INVALID_VALUE;
  *to->rows = m->rows, *to->cols = m->cols, *to->count = m->count;
  *to->offsets = m->offsets, *to->indices = m->indices, *to->values = m->values;
  if (to->offset_type) *to->offset_type = m->offset_type;
  *to->index_type = m->index_type, *to->base = m->base, *to->value_type = m->value_type;
  return SPARSE_SUCCESS;
}

#define COMPRESSED_GET(n, f)                                                                                          \
  PUBLIC sparse_status cusparse##n##Get(const struct sparse_matrix *m, int64_t *rows, int64_t *cols, int64_t *nnz,    \
                                        void **offsets, void **indices, void **values, int *offset_type,              \
                                        int *index_type, int *base, int *type)                                        \
  {                                                                                                                   \
    const struct said to = {rows, cols, nnz, offsets, indices, values, offset_type, index_type, base, type};          \
    return say_matrix(m, f, &to);                                                                                     \
  }
#define COORDINATES_GET(n)                                                                                            \
  PUBLIC sparse_status cusparse##n##Get(const struct sparse_matrix *m, int64_t *rows, int64_t *cols, int64_t *nnz,    \
                                        void **row, void **column, void **values, int *index_type, int *base,         \
                                        int *type)                                                                    \
  {                                                                                                                   \
    const struct said to = {rows, cols, nnz, row, column, values, NULL, index_type, base, type};                      \
    return say_matrix(m, FORMAT_COO, &to);                                                                            \
  }
COMPRESSED_GET(Csr, FORMAT_CSR)
COMPRESSED_GET(ConstCsr, FORMAT_CSR)
COMPRESSED_GET(Csc, FORMAT_CSC)
COMPRESSED_GET(ConstCsc, FORMAT_CSC)
COORDINATES_GET(Coo)
COORDINATES_GET(ConstCoo)

PUBLIC sparse_status cusparseSpMatGetSize(const struct sparse_matrix *m, int64_t *rows, int64_t *cols, int64_t *nnz)
{
  if (!sparse_matrix_is(m) || !rows || !cols || !nnz) return SPARSE_INVALID_VALUE;
  *rows = m->rows, *cols = m->cols, *nnz = m->count;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpMatGetFormat(const struct sparse_matrix *m, int *format)
{
  if (!sparse_matrix_is(m) || !format) return SPARSE_INVALID_VALUE;
  *format = m->format;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpMatGetIndexBase(const struct sparse_matrix *m, int *base)
{
  if (!sparse_matrix_is(m) || !base) return SPARSE_INVALID_VALUE;
  *base = m->base;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpMatGetValues(const struct sparse_matrix *m, void **values)
{
  if (!sparse_matrix_is(m) || !values) return SPARSE_INVALID_VALUE;
  *values = m->values;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpMatSetValues(struct sparse_matrix *m, void *values)
{
  if (!sparse_matrix_is(m)) return SPARSE_INVALID_VALUE;
  m->values = values;
  return SPARSE_SUCCESS;
}
#define SET_POINTERS(n, f)                                                                                           \
  PUBLIC sparse_status cusparse##n##SetPointers(struct sparse_matrix *m, void *offsets, void *indices, void *values) \
  {                                                                                                                  \
    if (!sparse_matrix_is(m) || m->format != f) return SPARSE_INVALID_VALUE;                                         \
    m->offsets = offsets, m->indices = indices, m->values = values;                                                  \
    return SPARSE_SUCCESS;                                                                                           \
  }
SET_POINTERS(Csr, FORMAT_CSR)
SET_POINTERS(Csc, FORMAT_CSC)
SET_POINTERS(Coo, FORMAT_COO)
PUBLIC sparse_status cusparseSpMatSetAttribute(struct sparse_matrix *m, unsigned what, const void *data, size_t bytes)
{
  if (!sparse_matrix_is(m) || what >= SPARSE_ATTRIBUTES || !data || bytes != sizeof(int)) return SPARSE_INVALID_VALUE;
  m->attribute[what] = *(const int *)data;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpMatGetAttribute(const struct sparse_matrix *m, unsigned what, void *data, size_t bytes)
{
  if (!sparse_matrix_is(m) || what >= SPARSE_ATTRIBUTES || !data || bytes != sizeof(int)) return SPARSE_INVALID_VALUE;
  *(int *)data = m->attribute[what];
  return SPARSE_SUCCESS;
}

static sparse_status create_dense(struct dense_matrix **out, struct dense_matrix m)
{
  const int64_t least = m.order == SPARSE_ORDER_COL ? m.rows : m.cols;
  if (!out || m.rows < 0 || m.cols < 0 || m.ld < least) return SPARSE_INVALID_VALUE;
  if (m.order != SPARSE_ORDER_COL && m.order != SPARSE_ORDER_ROW) return SPARSE_INVALID_VALUE;
  *out = malloc(sizeof **out);
  if (!*out) return SPARSE_ALLOC_FAILED;
  m.magic = DENSE;
  m.batch = 1;
  **out = m;
  return SPARSE_SUCCESS;
}
#define CREATE_VECTOR(n)                                                                              \
  PUBLIC sparse_status cusparseCreate##n(struct dense_matrix **out, int64_t size, void *values, int type)              \
  {                                                                                                                    \
    return create_dense(out, (struct dense_matrix){.vector = true, .rows = size, .cols = 1, .ld = size,                \
                                                   .values = values, .value_type = type, .order = SPARSE_ORDER_COL});  \
  }
CREATE_VECTOR(DnVec)
CREATE_VECTOR(ConstDnVec)
#define CREATE_MATRIX(n)                                                                                               \
  PUBLIC sparse_status cusparseCreate##n(struct dense_matrix **out, int64_t rows, int64_t cols, int64_t ld,            \
                                         void *values, int type, int order)                                            \
  {                                                                                                                    \
    return create_dense(out, (struct dense_matrix){.rows = rows, .cols = cols, .ld = ld, .values = values,             \
                                                   .value_type = type, .order = order});                               \
  }
CREATE_MATRIX(DnMat)
CREATE_MATRIX(ConstDnMat)

static sparse_status destroy_dense(struct dense_matrix *m)
{
  if (m && !dense_matrix_is(m)) return SPARSE_INVALID_VALUE;
  if (m) m->magic = 0;
  free(m);
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseDestroyDnVec(struct dense_matrix *m) { return destroy_dense(m); }
PUBLIC sparse_status cusparseDestroyDnMat(struct dense_matrix *m) { return destroy_dense(m); }

#define DENSE_GET(n)                                                                                                  \
  PUBLIC sparse_status cusparse##n##DnVecGet(const struct dense_matrix *m, int64_t *size, void **values, int *type)   \
  {                                                                                                                   \
    if (!dense_matrix_is(m) || !size || !values || !type) return SPARSE_INVALID_VALUE;                                \
    *size = m->rows, *values = m->values, *type = m->value_type;                                                      \
    return SPARSE_SUCCESS;                                                                                            \
  }                                                                                                                   \
  PUBLIC sparse_status cusparse##n##DnMatGet(const struct dense_matrix *m, int64_t *rows, int64_t *cols, int64_t *ld, \
                                             void **values, int *type, int *order)                                    \
  {                                                                                                                   \
    if (!dense_matrix_is(m) || !rows || !cols || !ld || !values || !type || !order) return SPARSE_INVALID_VALUE;      \
    *rows = m->rows, *cols = m->cols, *ld = m->ld, *values = m->values, *type = m->value_type, *order = m->order;     \
    return SPARSE_SUCCESS;                                                                                            \
  }
DENSE_GET()
DENSE_GET(Const)

static sparse_status values_of(const struct dense_matrix *m, void **values)
{
  if (!dense_matrix_is(m) || !values) return SPARSE_INVALID_VALUE;
  *values = m->values;
  return SPARSE_SUCCESS;
}
static sparse_status set_values(struct dense_matrix *m, void *values)
{
  if (!dense_matrix_is(m)) return SPARSE_INVALID_VALUE;
  m->values = values;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseDnVecGetValues(const struct dense_matrix *m, void **v) { return values_of(m, v); }
PUBLIC sparse_status cusparseDnMatGetValues(const struct dense_matrix *m, void **v) { return values_of(m, v); }
PUBLIC sparse_status cusparseDnVecSetValues(struct dense_matrix *m, void *v) { return set_values(m, v); }
PUBLIC sparse_status cusparseDnMatSetValues(struct dense_matrix *m, void *v) { return set_values(m, v); }
PUBLIC sparse_status cusparseDnMatSetStridedBatch(struct dense_matrix *m, int batch, int64_t stride)
{
  if (!dense_matrix_is(m) || batch < 1 || stride < 0) return SPARSE_INVALID_VALUE;
  m->batch = batch, m->stride = stride;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseCsrSetStridedBatch(struct sparse_matrix *m, int batch, int64_t offsets, int64_t values)
{
  const bool lines = sparse_matrix_is(m) && (m->format == FORMAT_CSR || m->format == FORMAT_CSC);
  if (!lines || batch < 1 || offsets < 0 || values < 0) return SPARSE_INVALID_VALUE;
  m->batch = batch, m->offsets_stride = offsets, m->stride = values;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseCooSetStridedBatch(struct sparse_matrix *m, int batch, int64_t stride)
{
  if (!sparse_matrix_is(m) || m->format != FORMAT_COO || batch < 1 || stride < 0) return SPARSE_INVALID_VALUE;
  m->batch = batch, m->stride = stride;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseBsrSetStridedBatch(struct sparse_matrix *m, int batch, int64_t offsets, int64_t columns,
                                                int64_t values)
{
  if (!sparse_matrix_is(m) || m->format != FORMAT_BSR || batch < 1 || offsets < 0 || columns < 0 || values < 0)
    return SPARSE_INVALID_VALUE;
  m->batch = batch, m->offsets_stride = offsets, m->indices_stride = columns, m->stride = values;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpMatGetStridedBatch(const struct sparse_matrix *m, int *batch)
{
  if (!sparse_matrix_is(m) || !batch) return SPARSE_INVALID_VALUE;
  *batch = m->batch;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseDnMatGetStridedBatch(const struct dense_matrix *m, int *batch, int64_t *stride)
{
  if (!dense_matrix_is(m) || !batch || !stride) return SPARSE_INVALID_VALUE;
  *batch = m->batch, *stride = m->stride;
  return SPARSE_SUCCESS;
}
