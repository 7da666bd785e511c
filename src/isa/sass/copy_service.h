/* Asynchronous copies that compiler output for sm_120 and sm_121 leaves to functions of the driver: those into several
 * CTAs of a cluster, and those into another CTA than the own (ptxas, CUDA 13.0: __cuda_syscall_cp_async_bulk_...).
 *
 * Each is three words of code: a service that moves the caller's arguments into uniform registers, the copy, a return.
 */
#ifndef WS_ISA_SASS_COPY_SERVICE_H
#define WS_ISA_SASS_COPY_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"

enum {
  COPY_DIMS = 5,
  COPY_IM2COL_FIRST = 3, /* dimensions of the smallest tensor that im2col is for */
  COPY_KINDS = 2 * (1 + COPY_DIMS + COPY_DIMS - COPY_IM2COL_FIRST + 1),
  COPY_ARGUMENTS = 0, COPY_ITSELF, COPY_RETURN, COPY_WORDS,
};

/* Uniform registers of the copy: the source or the tensor map; bytes / 16 or offsets, and CTAs in the high half; the
 * destination, the mbarrier, coordinates. They are registers that a callee need not keep. */
enum { COPY_UR_FROM = 4, COPY_UR_EXTRA = 6, COPY_UR_TO = 8, COPY_UR_BARRIER, COPY_UR_COORD };

struct copy_service {
  unsigned dims; /* 0: no tensor */
  bool im2col, multicast;
};

struct copy_service copy_service(unsigned kind);
/* The kind of the function called `name`, without "__cuda_syscall_"; COPY_KINDS: none. */
unsigned copy_service_named(const char *name);
struct word128 copy_service_word(unsigned kind);

#endif
