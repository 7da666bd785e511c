/* cuBLAS as its reference documents it: the numbers that programs pass, and what a handle is here. Own declarations;
 * the programs of tests/libs are compiled with a toolkit's headers where these are installed, and pass its numbers.
 */
#ifndef WS_CUBLAS_TYPES_H
#define WS_CUBLAS_TYPES_H

#include <stdbool.h>

#include "libs/host/kernel_set.h"

#define PUBLIC __attribute__((visibility("default")))

typedef enum {
  BLAS_SUCCESS = 0,
  BLAS_NOT_INITIALIZED = 1,
  BLAS_ALLOC_FAILED = 3,
  BLAS_INVALID_VALUE = 7,
  BLAS_ARCH_MISMATCH = 8,
  BLAS_MAPPING_ERROR = 11,
  BLAS_EXECUTION_FAILED = 13,
  BLAS_INTERNAL_ERROR = 14,
  BLAS_NOT_SUPPORTED = 15,
  BLAS_LICENSE_ERROR = 16,
} blas_status;

enum { BLAS_OP_N, BLAS_OP_T, BLAS_OP_C, BLAS_OPS };
enum { BLAS_LOWER, BLAS_UPPER };
enum { BLAS_NON_UNIT, BLAS_UNIT };
enum { BLAS_LEFT, BLAS_RIGHT };
enum { BLAS_HOST, BLAS_DEVICE };
enum { BLAS_TENSOR_OP_MATH = 1, BLAS_PEDANTIC_MATH = 2, BLAS_TF32_MATH = 3, BLAS_MATH_KINDS = 5, BLAS_MATH_FLAG = 16 };

/* cublasComputeType_t */
enum {
  COMPUTE_16F = 64, COMPUTE_16F_PEDANTIC = 65, COMPUTE_32F = 68, COMPUTE_32F_PEDANTIC = 69, COMPUTE_64F = 70,
  COMPUTE_64F_PEDANTIC = 71, COMPUTE_32I = 72, COMPUTE_32I_PEDANTIC = 73, COMPUTE_32F_FAST_16F = 74,
  COMPUTE_32F_FAST_16BF = 75, COMPUTE_32F_FAST_TF32 = 77,
};

/* cudaDataType */
enum {
  DATA_R_32F = 0, DATA_R_64F = 1, DATA_R_16F = 2, DATA_R_8I = 3, DATA_C_32F = 4, DATA_C_64F = 5, DATA_C_8I = 7,
  DATA_R_32I = 10, DATA_R_16BF = 14, DATA_R_E4M3 = 28, DATA_R_E5M2 = 29, DATA_R_E2M1 = 33,
};

/* BLAS_WORKSPACE: bytes for each of so many streams of a handle, where its user gave it none or not enough. */
enum { BLAS_VERSION = 130000, BLAS_WORKSPACE = 64 << 20, BLAS_STREAMS = 8 };

struct blas_room {
  driver_stream stream;
  uint64_t at; /* 0: not yet there */
};

struct blas {
  uint64_t magic;
  struct kernel_set kernels;
  driver_stream stream;
  int pointer_mode, atomics_mode, math_mode, sm_target;
  struct blas_room own[BLAS_STREAMS]; /* products in different streams may run at the same time */
  int next_room;       /* that is given to another stream when all are taken */
  uint64_t workspace;  /* the user's */
  size_t workspace_bytes;
};

/* What a number of half precision is. */
double blas_half(uint16_t h);
/* Whether this is a handle of ours. */
bool blas_handle_is(const struct blas *h);
/* Makes a handle for the calling thread's device; `*out` is NULL when that fails. */
blas_status blas_open(struct blas **out);
blas_status blas_close(struct blas *h);

/* Room on the device for work in a stream, at least `least` bytes, how much in `*bytes`; 0: there is none. */
uint64_t blas_room(struct blas *h, driver_stream stream, size_t least, size_t *bytes);

/* Says once per call on stderr that `function` is not there, for the reason given. Returns BLAS_NOT_SUPPORTED. */
blas_status blas_refuse(const char *function, const char *why);

#endif
