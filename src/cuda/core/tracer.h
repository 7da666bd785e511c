/* Who follows the program's calls and what they give to the GPU (cupti/). Every call has a number while somebody does,
 * and kernels, copies and fills keep that of the call that gave them.
 */
#ifndef WS_CUDA_TRACER_H
#define WS_CUDA_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/core/api.h"

struct launch_request;
struct task;

/* Of a call: what its work keeps. */
struct call_mark {
  uint32_t number; /* from 1; 0: nobody follows it */
  uint64_t clock;  /* the follower's own when the call began, if it has one, else 0 */
  uint64_t begin;  /* ps, simulated: the same moment; 0: without such a clock */
};

struct traced_call {
  const char *name; /* of the entry point; NULL: it is not followed */
  const void *arguments; /* arguments.h; NULL: it does not say them */
  struct call_mark mark;
  int kind;            /* the follower's */
  bool clocked;        /* the follower has set mark.clock */
  uint64_t begin, end; /* ps, simulated */
  uint64_t data;       /* the follower's */
};

struct tracer {
  /* A call begins: gives it its number. It has ended, with r. Without the lock. */
  void (*enter)(struct tracer *, struct traced_call *);
  void (*leave)(struct tracer *, struct traced_call *, CUresult r);
  /* A kernel, a copy or a fill has ended; times in ps. With the lock. */
  void (*kernel)(struct tracer *, const struct launch_request *, uint64_t begin, uint64_t end);
  void (*moved)(struct tracer *, const struct task *);
};

#endif
