/* What the dropout kernels of our open libraries take, seen by the host (C) and by the kernels (CUDA C++). */
#ifndef WS_DROPOUT_ARGS_H
#define WS_DROPOUT_ARGS_H

#include <stdint.h>

#include "libs/kernels/gemm_args.h"

struct ws_dropout_args {
  const void *from;
  void *to;
  unsigned char *mask;   /* 1: stays */
  uint64_t *states;      /* seed, calls so far */
  uint64_t seed;         /* dropout_seed: for the states */
  int64_t n;
  double rate;
  int32_t type, draw;
};

#endif
