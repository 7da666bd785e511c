/* GPUs beside a Linux process of RISC-V, as the process sees them: calls of its CUDA library, memory that is not its
 * own, and a clock that goes on with its own. Who serves them is behind these functions (cuda/guest/cuda_guest.h).
 *
 * A call is an ECALL with LINUX_GPU_CALL in a7: the address of the name of the function in t1, its arguments where the
 * calling convention has them, but for the eighth, which is in t0. Its result goes to a0.
 *
 * CPU and GPU are interlocked: while GPUs have work, a core executes at most `slice` ns, then GPUs follow to the
 * process's clock. So either sees what the other has written at most a slice late, always at the same place.
 *
 * Cores in time (linux_cores.h) have caches: they give memory what they have stored before GPUs follow, and ask behind
 * it what has changed. A call does not wait there: its thread is to make it again when `waits` says so.
 */
#ifndef WS_HOST_LINUX_LINUX_GPU_H
#define WS_HOST_LINUX_LINUX_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "func/rv64/rv64_core.h"

struct l2_rights;
struct linux_process;
struct page_tables;

#define LINUX_GPU_CALL 0x57530000ull

struct linux_gpu {
  void *ctx;
  struct l2_rights *rights; /* of its L2 beside caches of cores in time (time/mem/l2_rights.h); NULL: it has none */
  struct page_tables *tables; /* of the process, which it walks (time/mem/page_tables.h); NULL: it does not */
  /* Serves the call of the running thread; its result. LINUX_WAITS: the thread is to make it again. LINUX_FAULTS: it
   * named memory that the program may not touch: trap_value of the core is the address, *access what it would have
   * been. What the call takes of the process's time is added to its clock. */
  int64_t (*call)(void *ctx, struct linux_process *, enum rv64_access *access);
  /* Host address of the page of 4 KiB that holds addr, which is not below LINUX_TASK_SIZE; NULL: not for the CPU. */
  uint8_t *(*page)(void *ctx, uint64_t addr, enum rv64_access access);
  /* How far a core may go on before GPUs must follow, ns; 0: they have nothing to do. */
  uint64_t (*slice)(void *ctx);
  void (*follow)(void *ctx, uint64_t now_ns);
  /* From now on cores are in time: no call lets time pass. */
  void (*in_time)(void *ctx);
  /* For cores in time. Whether what this thread's call waits for has yet to come. */
  bool (*waits)(void *ctx, uint32_t tid);
  /* … `see` gets all that GPUs have changed since the last time. True: and anything else may have changed. */
  bool (*changes)(void *ctx, void (*see)(void *ctx, uint64_t addr, uint64_t bytes), void *to);
  /* What a message says of an address that `page` refused; false: nothing. */
  bool (*describe)(void *ctx, uint64_t addr, char *text, size_t size);
};

#endif
