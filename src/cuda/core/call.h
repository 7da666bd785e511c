/* A call of the program: every entry point is one line through DRIVER or RUNTIME: lock, check, do it,
 * remember the error, unlock. When the host's memory runs out on the way, the call fails with
 * CUDA_ERROR_OUT_OF_MEMORY, and so does every later one: the simulated GPU is half changed then.
 */
#ifndef WS_CUDA_CALL_H
#define WS_CUDA_CALL_H

#include "base/host_memory.h"
#include "cuda/core/arguments.h"
#include "cuda/core/shim.h"

/* What a call needs before it can do anything. */
enum call_need {
  NEED_NOTHING, /* may be called before cuInit */
  NEED_GPU,     /* the driver was initialised */
  NEED_CONTEXT, /* the thread has a current context */
};

struct call {
  struct memory_attempt memory;
  struct shim *volatile s; /* NULL: not locked yet */
  volatile bool clocked;   /* host_clock_leave follows */
  struct traced_call traced; /* tracer.h */
};

/* Locks, spends the host time of a call, checks. In any case call_leave must follow. */
CUresult call_enter(struct call *, enum call_need need);
/* As call_enter; brings up the GPU and makes its primary context current when the thread has none, as
 * the runtime does. */
CUresult call_enter_runtime(struct call *, enum call_need need);
/* Unlocks. The result of the call: r, or a kernel's fault that has become visible. */
CUresult call_leave(struct call *, CUresult r);
/* The same, and cudaGetLastError will say so. */
CUresult call_leave_runtime(struct call *, CUresult r);
/* In the place of call_leave when memory ran out. */
CUresult call_starved(struct call *) __attribute__((cold));
CUresult call_starved_runtime(struct call *) __attribute__((cold));

/* For the timeline: what it was, and when it began, ps. */
void call_tell(struct shim *, const char *name, uint64_t begin) __attribute__((cold));

/* After a longjmp an entry point reads nothing of its own but call_. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

/* Body of an entry point; `expr` sees `s`. args: ARGUMENTS(…), or NULL where nobody can ask for them. */
#define SHIM_CALL(of, args, need, expr)                                                            \
  do {                                                                                             \
    struct call call_ = {.traced = {.name = (need) != NEED_NOTHING ? __func__ : NULL, .arguments = args}}; \
    memory_begin(&call_.memory, NULL);                                                             \
    if (setjmp(call_.memory.at) != 0) return call_starved##of(&call_);                             \
    CUresult result_ = call_enter##of(&call_, need);                                               \
    struct shim *const s = call_.s;                                                                \
    const uint64_t began_ = s->time.call_begin;                                                    \
    if (result_ == CUDA_SUCCESS) result_ = (expr);                                                 \
    if ((need) != NEED_NOTHING && s->activity) call_tell(s, __func__, began_);                     \
    return call_leave##of(&call_, result_);                                                        \
  } while (0)
#define DRIVER(need, expr)           SHIM_CALL(, NULL, need, expr)
#define RUNTIME(need, expr)          SHIM_CALL(_runtime, NULL, need, expr)
#define DRIVER_OF(args, need, expr)  SHIM_CALL(, ARGUMENTS args, need, expr)
#define RUNTIME_OF(args, need, expr) SHIM_CALL(_runtime, ARGUMENTS args, need, expr)

/* Stores an answer where the program wants it. */
#define GIVE(to, value) ((to) ? (*(to) = (value), CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE)

#endif
