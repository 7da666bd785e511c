/* What products, triangular systems and conversions of libcusparse share: descriptors as kernels see them. */
#ifndef WS_SPARSE_PRODUCT_H
#define WS_SPARSE_PRODUCT_H

#include "libs/cusparse/sparse_types.h"

struct description;

/* What programs hold from one step of an operation to the next begins with this. */
struct sparse_plan {
  uint64_t magic; /* of the kind of plan */
};

/* A plan of `bytes` bytes, of zeros but for its magic. */
sparse_status sparse_plan_create(struct sparse_plan **out, size_t bytes, uint64_t magic);
sparse_status sparse_plan_destroy(struct sparse_plan *, uint64_t magic);

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
/* Bytes of the device, when all before them in the stream is done. */
bool sparse_fetch(const struct sparse_handle *h, void *to, const void *from, size_t bytes);
/* A number for the program, where the handle says that scalars are. */
bool sparse_say_number(const struct sparse_handle *h, int number, int *to);
/* A product that is asked for. C = alpha op(A) op(B) + beta C; of a sampled one C is sparse and A dense: `left`. */
struct sparse_asked {
  int op_a, op_b, compute;
  const void *alpha, *beta;
  const struct sparse_matrix *a;
  const struct dense_matrix *b, *c;
};
/* Products with matrices of blocks and slices, whose sizes and types have been checked. */
sparse_status sparse_ell_multiply(struct sparse_handle *h, const struct sparse_asked *p, const char *function);
/* Of a dense product the elements that the matrix of blocks c has. */
sparse_status sparse_ell_sample(struct sparse_handle *h, const struct sparse_asked *p, const struct dense_matrix *left,
                                const struct dense_matrix *right, const struct sparse_matrix *c);
/* From such a matrix to a dense one, or back. */
sparse_status sparse_ell_copy(struct sparse_handle *h, const struct sparse_matrix *a, const struct dense_matrix *dense,
                              bool to_sparse, const char *function);
/* Values of dense matrix i of a batch, or of one for all. */
void *sparse_dense_of_batch(const struct dense_matrix *m, int64_t i);
/* enum ws_type of a result that may have 16 bits. */
int sparse_result_type(int value_type);

/* Queues the sums of a list. */
bool sparse_scan(struct sparse_handle *h, const struct ws_sparse_scan *s);
/* y = beta y, of a dense vector. */
bool sparse_scale(struct sparse_handle *h, const struct dense_matrix *y, const void *beta);
/* cudaDataType of what may be moved, which is all that is done with it; 0: there is none. */
int sparse_value_bytes(int type);
/* Of a legacy descriptor: base, 0 or 1; type, 0 for a general matrix. */
int cusparseGetMatIndexBase(const struct description *d);
int cusparseGetMatType(const struct description *d);

#endif
