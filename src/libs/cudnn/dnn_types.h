/* cuDNN as its reference documents it: the numbers that programs pass, and what a handle and the tensor descriptors are
 * here. Own declarations; tests/libs/networks.cu is compiled with NVIDIA's headers where these are installed, and
 * passes their numbers.
 */
#ifndef WS_CUDNN_TYPES_H
#define WS_CUDNN_TYPES_H

#include <stdbool.h>

#include "libs/cublas/blas_product.h"

typedef enum {
  DNN_SUCCESS = 0,
  DNN_NOT_INITIALIZED = 1001,
  DNN_BAD_PARAM = 2000,
  DNN_BAD_PARAM_NULL = 2002,
  DNN_BAD_PARAM_NOT_FINAL = 2004,
  DNN_BAD_PARAM_TOO_SMALL = 2006,
  DNN_BAD_PARAM_SHAPE = 2008,
  DNN_BAD_PARAM_TYPE = 2010,
  DNN_NOT_SUPPORTED = 3000,
  DNN_NOT_SUPPORTED_PATTERN = 3001,
  DNN_NOT_SUPPORTED_ARCH = 3007,
  DNN_INTERNAL_ERROR = 4000,
  DNN_ALLOC_FAILED = 4003,
  DNN_EXECUTION_FAILED = 5000,
} dnn_status;

/* cudnnDataType_t */
enum { DNN_FLOAT = 0, DNN_DOUBLE = 1, DNN_HALF = 2, DNN_INT8 = 3, DNN_INT32 = 4, DNN_BFLOAT16 = 9, DNN_INT64 = 10 };
/* cudnnTensorFormat_t */
enum { DNN_NCHW = 0, DNN_NHWC = 1 };

enum { DNN_DIMS = 8, DNN_VERSION = 92600 /* of the interface: 9.26 */ };

struct dnn {
  uint64_t magic;
  struct blas *blas; /* its kernels and products are ours, too */
  driver_stream stream;
};

/* Sizes and strides in elements: batch, channels, space. */
struct dnn_tensor {
  int type; /* cudnnDataType_t */
  int dims;
  int64_t size[DNN_DIMS], stride[DNN_DIMS];
};

/* Whether this is a handle of ours. */
bool dnn_handle_is(const struct dnn *h);
/* Says on stderr that `function` is not there, for the reason given. Returns DNN_NOT_SUPPORTED. */
dnn_status dnn_refuse(const char *function, const char *why);

/* enum ws_type of a cudnnDataType_t; -1: there is none. */
int dnn_element(int type);
size_t dnn_bytes(int type);
/* Elements from the first to the last one, inclusive; -1: more than an index of 31 bits reaches, a stride below 0. */
int64_t dnn_reach(const struct dnn_tensor *t);
/* Elements of it. */
int64_t dnn_elements(const struct dnn_tensor *t);
/* Whether both have the same sizes and strides (those of sizes of 1 do not count). */
bool dnn_alike(const struct dnn_tensor *a, const struct dnn_tensor *b);
/* A scale factor, which programs give as double for tensors of double, else as float. */
double dnn_scale(const void *p, int type);
/* The cudaDataType of products of such elements; -1: there is none. */
int dnn_blas_type(int type);

#endif
