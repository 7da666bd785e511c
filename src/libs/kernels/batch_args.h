/* Copies of a batch of small matrices, for kernels/blas_batch.cu: seen by the host (C) and the kernels (CUDA C++). */
#ifndef WS_BATCH_ARGS_H
#define WS_BATCH_ARGS_H

#include <stdint.h>

struct ws_batch_args {
  const void *from; /* pointers to n x n matrices, column-major */
  void *to;         /* the copies, each n * n elements */
  void *pointers;   /* gets where each is */
  int64_t ld;       /* elements, of those copied */
  int32_t n;
};

#endif
