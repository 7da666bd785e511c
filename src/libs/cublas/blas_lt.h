/* What the parts of libcublasLt share: attributes of its objects, which programs set and read by number and size. */
#ifndef WS_CUBLAS_LT_H
#define WS_CUBLAS_LT_H

#include "libs/cublas/blas_types.h"

/* A member and the bytes an attribute of it has; at NULL: there is no such attribute. */
struct lt_place {
  void *at;
  size_t bytes;
};
#define PLACE(m) ((struct lt_place){&(m), sizeof(m)})

blas_status lt_set(struct lt_place p, const void *value, size_t bytes);
/* `bytes` 0 asks for the size alone. */
blas_status lt_get(struct lt_place p, void *value, size_t bytes, size_t *written);

enum { ORDER_COL, ORDER_ROW };
enum { BATCH_STRIDED, BATCH_POINTERS };

struct lt_layout {
  uint64_t rows, cols;
  int64_t ld, stride;
  int32_t type, order, batch, mode;
};

/* Members beside `workspace` narrow the choice between kernels, of which there is none here: they are kept to be read.
 * `older` are masks of CUDA 11. */
struct lt_preference {
  uint64_t workspace, implementations;
  uint32_t search, reductions, align[4], older[4];
  float waves;
};

/* The one way to do a product. What programs choose of its tiles is kept to be read. */
struct lt_algo {
  int32_t id;
  uint32_t tile;
  int32_t split;
  uint32_t reduction, swizzle, custom, stages;
  uint16_t inner, cluster;
  uint64_t rest[4];
};

struct lt_algo lt_only_algo(void);

enum {
  EPI_DEFAULT = 1, EPI_RELU = 2, EPI_BIAS = 4, EPI_DRELU = 8, EPI_BGRAD = 16, EPI_GELU = 32, EPI_DGELU = 64,
  EPI_AUX = 128, EPI_BGRAD_A = 256, EPI_BGRAD_B = 512, EPI_ALL = 1023,
};

#endif
