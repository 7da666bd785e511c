// What programs of the driver interface share.
#pragma once
#include "check.h"
#include <cuda.h>

#define CU(call)                                                                                   \
  do {                                                                                             \
    CUresult status_ = (call);                                                                     \
    if (status_ != CUDA_SUCCESS) {                                                                 \
      const char *name_ = "?";                                                                     \
      cuGetErrorName(status_, &name_);                                                             \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_);                                 \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)
