/* cuSPARSE as its reference documents it: the numbers that programs pass, and what handles and descriptors are here.
 * Own declarations; the programs of tests/libs are compiled with a toolkit's headers where these are installed.
 */
#ifndef WS_CUSPARSE_TYPES_H
#define WS_CUSPARSE_TYPES_H

#include <stdbool.h>

#include "libs/host/kernel_set.h"
#include "libs/kernels/sparse_args.h"

#define PUBLIC __attribute__((visibility("default")))

typedef enum {
  SPARSE_SUCCESS = 0,
  SPARSE_NOT_INITIALIZED = 1,
  SPARSE_ALLOC_FAILED = 2,
  SPARSE_INVALID_VALUE = 3,
  SPARSE_ARCH_MISMATCH = 4,
  SPARSE_EXECUTION_FAILED = 6,
  SPARSE_TYPE_NOT_SUPPORTED = 8,
  SPARSE_ZERO_PIVOT = 9,
  SPARSE_NOT_SUPPORTED = 10,
} sparse_status;

enum { FORMAT_CSR = 1, FORMAT_CSC = 2, FORMAT_COO = 3, FORMAT_BLOCKED_ELL = 5, FORMAT_BSR = 6, FORMAT_SLICED_ELL = 7 };
enum { SPARSE_ORDER_COL = 1, SPARSE_ORDER_ROW = 2 };
enum { SPARSE_INDEX_16 = 1, SPARSE_INDEX_32 = 2, SPARSE_INDEX_64 = 3 };
enum { SPARSE_OP_N, SPARSE_OP_T, SPARSE_OP_C, SPARSE_OPS };
enum { SPARSE_ATTRIBUTES = 2 /* fill mode, kind of diagonal */, SPARSE_VERSION = 12600 };
/* cudaDataType */
enum { VALUE_R_32F = 0, VALUE_R_64F = 1, VALUE_R_16F = 2, VALUE_C_32F = 4, VALUE_C_64F = 5, VALUE_R_16BF = 14 };

struct sparse_handle {
  uint64_t magic;
  struct kernel_set kernels;
  driver_stream stream;
  int pointer_mode; /* 1: scalars are on the device */
};

struct sparse_matrix {
  uint64_t magic;
  int format, base;
  int64_t rows, cols, count;
  void *offsets, *indices, *values; /* coordinates: offsets are the rows */
  int offset_type, index_type, value_type;
  int attribute[SPARSE_ATTRIBUTES];
  int batch; /* matrices: offsets, and indices and values, so many elements apart */
  int64_t offsets_stride, stride, indices_stride; /* indices_stride: blocks alone, others have `stride` */
  /* Blocks, of how many rows and columns, their values by rows or by columns; slices of block_rows rows. */
  int64_t block_rows, block_cols, width; /* width: elements of each row in blocked ELL */
  int64_t stored;                        /* values of sliced ELL, with its padding */
  int order;
};

/* A dense matrix, or a vector: one column. */
struct dense_matrix {
  uint64_t magic;
  bool vector;
  int64_t rows, cols, ld;
  void *values;
  int value_type, order, batch;
  int64_t stride;
};

bool sparse_handle_is(const struct sparse_handle *h);
bool sparse_matrix_is(const struct sparse_matrix *m);
/* Of its elements each one has a row and a column: not blocks or slices. */
bool sparse_matrix_lists(const struct sparse_matrix *m);
bool dense_matrix_is(const struct dense_matrix *m);
/* 0 to 3, the place of a type's kernels; -1: there are none. */
int sparse_kind(int value_type);
/* Says on stderr that `function` is not there, for the reason given. */
sparse_status sparse_refuse(const char *function, const char *why);

#endif
