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

struct solver {
  uint64_t magic;
  struct kernel_set kernels;
  driver_stream stream;
};

/* Says on stderr that `function` is not there, for the reason given. */
solver_status solver_refuse(const char *function, const char *why);

#endif
