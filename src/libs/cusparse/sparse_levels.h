/* In which order the rows of a triangular system can be solved: rows of a level need only rows of levels before it
 * (M. Naumov, "Parallel Solution of Sparse Triangular Linear Systems in the Preconditioned Iterative Methods on the
 * GPU", NVIDIA technical report NVR-2011-001). Found on the host from the matrix's structure; values are not looked at.
 */
#ifndef WS_SPARSE_LEVELS_H
#define WS_SPARSE_LEVELS_H

#include "libs/cusparse/sparse_product.h"

/* A triangle as it is solved: the upper or the lower one of what is stored, or the transposed of that. */
struct sparse_triangle {
  struct ws_sparse a;
  bool upper, transposed;
  int64_t slice; /* rows of a slice of sliced ELL, whose padding counts among `a.count`; 0: not that */
};

struct sparse_levels {
  int levels, rows, elements;
  int *level;                     /* where each begins, and the end: the host's copy. NULL: there is none */
  struct ws_sparse_levels device; /* in the buffer */
};

/* Bytes of the buffer; 0: the matrix has 2^31 rows or elements, or more. */
size_t sparse_levels_bytes(const struct sparse_triangle *t);
/* Reads the structure, when all before it in the stream is done, and fills the buffer. */
sparse_status sparse_levels_find(struct sparse_levels *out, const struct sparse_handle *h,
                                 const struct sparse_triangle *t, void *buffer);
/* The launch for the levels from `from` on, `lanes` threads for each row: several levels, to *to, as one CTA (y: how
 * many) where that is enough for them. */
struct launch_shape sparse_levels_launch(const struct sparse_levels *l, int lanes, int from, int *to);
void sparse_levels_free(struct sparse_levels *l);

#endif
