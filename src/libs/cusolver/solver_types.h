/* cuSOLVER's dense part as its reference documents it: the numbers that programs pass, and what a handle is here. Own
 * declarations; the programs of tests/libs are compiled with a toolkit's headers where these are installed.
 */
#ifndef WS_CUSOLVER_TYPES_H
#define WS_CUSOLVER_TYPES_H

#include <stdbool.h>

#include "libs/host/kernel_set.h"
#include "libs/kernels/solve_args.h"

#define PUBLIC __attribute__((visibility("default")))

typedef enum {
  SOLVER_SUCCESS = 0,
  SOLVER_NOT_INITIALIZED = 1,
  SOLVER_ALLOC_FAILED = 2,
  SOLVER_INVALID_VALUE = 3,
  SOLVER_ARCH_MISMATCH = 4,
  SOLVER_EXECUTION_FAILED = 6,
  SOLVER_NOT_SUPPORTED = 9,
} solver_status;

enum { SOLVER_LOWER, SOLVER_UPPER };
enum { SOLVER_LEFT, SOLVER_RIGHT };
enum { SOLVER_VERSION = 12000, SOLVER_MOST_SIDE = 65535 };
/* Types, in the order of their kernels, and cudaDataType. */
enum { SOLVER_S, SOLVER_D, SOLVER_C, SOLVER_Z };
/* Functions of the 64-bit interface are handed these. */
#define SOLVER_ROOM void *work, size_t bytes, void *on_host, size_t host_bytes
/* What pointers of a complex type point to. */
struct complex_f32 {
  float re, im;
};
struct complex_f64 {
  double re, im;
};

struct solver {
  uint64_t magic;
  struct kernel_set kernels;
  struct blas *blas; /* for products between blocks of large matrices */
  driver_stream stream;
  uint64_t pivots; /* of Xgetrs: on the device, for so many rows, last used in that stream */
  int64_t room_pivots;
  driver_stream pivots_stream;
};

solver_status cusolverDnCreate(struct solver **out);
solver_status cusolverDnDestroy(struct solver *h);
/* Whether this is a handle of ours. */
bool solver_handle_is(const struct solver *h);
/* SOLVER_S to SOLVER_Z of a cudaDataType; -1: there is none. */
int solver_type(int data);
/* Launches the kernel of type t, given that of type s and that of d, for `matrices` with `sides` right sides each;
 * `args` is its argument. */
solver_status solver_launch(struct solver *h, enum lib_kernel of_s, enum lib_kernel of_d, int t, const void *args,
                            int64_t matrices, int64_t sides);

/* Eigenvalues of a symmetric or Hermitian matrix (solver_eigen.c), and the elements of work space that they need. */
int64_t solver_eigen_elements(int64_t n);
solver_status solver_eigen(struct solver *h, int t, int vectors, int uplo, int64_t n, void *a, int64_t lda, void *w,
                           void *work, int *info);

/* Says on stderr that `function` is not there, for the reason given. */
solver_status solver_refuse(const char *function, const char *why);

#endif
