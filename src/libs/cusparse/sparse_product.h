/* What products, triangular systems and conversions of libcusparse share: descriptors as kernels see them. */
#ifndef WS_SPARSE_PRODUCT_H
#define WS_SPARSE_PRODUCT_H

#include "libs/cusparse/sparse_types.h"

/* 256 threads a CTA, at most some thousand CTAs: kernels go on from there. */
struct launch_shape sparse_shape(int64_t threads);
/* alpha or beta, of a type's place (sparse_kind), read now unless the handle says that it is on the device. */
struct ws_scalar sparse_scalar(const struct sparse_handle *h, const void *p, int kind);
/* A matrix as kernels see it; `turned`: they see the transposed one. */
struct ws_sparse sparse_seen(const struct sparse_matrix *m, bool *turned);
/* How far apart neighbours of a dense matrix are. */
void sparse_strides(const struct dense_matrix *m, bool transposed, int64_t *row, int64_t *column);
/* For kernels without a buffer; programs allocate what they are told, and want a pointer for it. */
sparse_status sparse_no_buffer(const struct sparse_handle *h, size_t *bytes);

#endif
