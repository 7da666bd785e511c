/* A call of the program: every entry point is one line through DRIVER or RUNTIME: lock, check, do it,
 * remember the error, unlock.
 */
#ifndef WS_CUDA_CALL_H
#define WS_CUDA_CALL_H

#include "cuda/core/shim.h"

/* What a call needs before it can do anything. */
enum call_need {
  NEED_NOTHING, /* may be called before cuInit */
  NEED_GPU,     /* the driver was initialised */
  NEED_CONTEXT, /* the thread has a current context */
  NEED_LAUNCH,  /* the same, of a launch: those that wait (together.h) may go on waiting */
};

/* Locks, spends the host time of a call, checks. In any case *s must be given to call_leave. */
CUresult call_enter(struct shim **s, enum call_need need);
/* As call_enter; brings up the GPU and makes its primary context current when the thread has none, as
 * the runtime does. */
CUresult call_enter_runtime(struct shim **s, enum call_need need);
/* Unlocks. The result of the call: r, or a kernel's fault that has become visible. */
CUresult call_leave(struct shim *s, CUresult r);
/* The same, and cudaGetLastError will say so. */
CUresult call_leave_runtime(struct shim *s, CUresult r);

/* For the timeline: what it was, and when it began, ps. */
void call_tell(struct shim *, const char *name, uint64_t begin) __attribute__((cold));

/* Body of an entry point; `expr` sees `s`. */
#define SHIM_CALL(enter, leave, need, expr)                                                        \
  do {                                                                                             \
    struct shim *s;                                                                                \
    CUresult result_ = enter(&s, need);                                                            \
    const uint64_t began_ = s->time.call_begin;                                                    \
    if (result_ == CUDA_SUCCESS) result_ = (expr);                                                 \
    if ((need) != NEED_NOTHING && s->activity) call_tell(s, __func__, began_);                     \
    return leave(s, result_);                                                                      \
  } while (0)
#define DRIVER(need, expr)  SHIM_CALL(call_enter, call_leave, need, expr)
#define RUNTIME(need, expr) SHIM_CALL(call_enter_runtime, call_leave_runtime, need, expr)

/* Stores an answer where the program wants it. */
#define GIVE(to, value) ((to) ? (*(to) = (value), CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE)

#endif
