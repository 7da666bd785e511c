// What the programs of this folder share.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                       \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

#define CUDA(call)                                                                                 \
  do {                                                                                             \
    cudaError_t status_ = (call);                                                                  \
    if (status_ != cudaSuccess) {                                                                  \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_));           \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)
