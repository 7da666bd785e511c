/* Entry points for programs compiled with a per-thread default stream: the same under names with _ptsz (those that
 * take a stream) and _ptds (those that use the default stream), where stream 0 is the thread's own (CUDA Driver API
 * and CUDA Runtime API, "Stream synchronization behavior"). What both interfaces have alike is in twins.def.
 *
 * Rows: name(params) for the program; arguments: for the entry point that it stands for.
 */
#ifndef WS_CUDA_PER_THREAD_H
#define WS_CUDA_PER_THREAD_H

#include "cuda/core/api.h"

static inline CUstream own(CUstream stream)
{
  return stream ? stream : STREAM_PER_THREAD;
}

#define PTSZ(name, params, arguments)                                                              \
  CUresult name params;                                                                            \
  CUresult name##_ptsz params                                                                      \
  {                                                                                                \
    return name arguments;                                                                         \
  }
/* A blocking copy: the asynchronous one, which has a row above, and the wait. */
#define PTDS_COPY(name, async, wait, params, arguments)                                            \
  CUresult name##_ptds params                                                                      \
  {                                                                                                \
    CUresult r = async arguments;                                                                  \
    return r == CUDA_SUCCESS ? wait(STREAM_PER_THREAD) : r;                                        \
  }
/* Fills do not block. */
#define PTDS_FILL(name, async, params, arguments)                                                  \
  CUresult name##_ptds params                                                                      \
  {                                                                                                \
    return async arguments;                                                                        \
  }

#endif
