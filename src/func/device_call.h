/* Calls of the device runtime (cuda_device_runtime_api.h) by threads of a running kernel. func/ reads the arguments;
 * what they ask for is done by whoever runs the launch, since it concerns other launches.
 */
#ifndef WS_FUNC_DEVICE_CALL_H
#define WS_FUNC_DEVICE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICE_CALL_ARGS = 12 };

struct func_heap;
struct guest;

/* The thread that calls, where it is in another process than who answers: its memory and its device's heap. */
struct device_thread {
  void *ctx;
  bool (*write)(void *ctx, uint64_t addr, const void *, size_t bytes);
  uint64_t (*take)(void *ctx, uint64_t bytes);
  bool (*give)(void *ctx, uint64_t addr);
};

struct device_call {
  unsigned number;                /* which function: enum sass_syscall (isa/sass/syscall.h) */
  uint64_t arg[DEVICE_CALL_ARGS]; /* in order of declaration; a dim3 takes three */
  uint64_t cta;                   /* the caller's, in the order of its grid */
  uint16_t *last_error;           /* of the thread (cudaError_t) */
  struct func_heap *heap;
  struct guest *guest;
  const struct device_thread *thread; /* NULL: it is here, and `heap` and `guest` are its own */
};

/* Of a launch: called by one host thread at a time, in an order that does not depend on the number of host
 * threads. Returns what the function does. */
struct device_runtime {
  void *ctx;
  uint64_t (*call)(void *ctx, const struct device_call *);
};

/* Writes to the thread's memory through a generic address. False: not all of it is mapped. */
bool device_call_write(const struct device_call *, uint64_t addr, const void *, size_t bytes);
/* Of the device's heap, as func_heap_take and func_heap_give (func/func.h). */
uint64_t device_call_take(const struct device_call *, uint64_t bytes);
bool device_call_give(const struct device_call *, uint64_t addr);
/* What it returns when the program that should answer is gone: no buffer, or an error. */
uint64_t device_call_unanswered(unsigned number);

#endif
