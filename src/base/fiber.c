#include "base/fiber.h"

#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/bug.h"
#include "base/host_memory.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#else
static inline void __sanitizer_start_switch_fiber(void **fake, const void *stack, size_t bytes)
{
  (void)fake, (void)stack, (void)bytes;
}
static inline void __sanitizer_finish_switch_fiber(void *fake, const void **stack, size_t *bytes)
{
  (void)fake, (void)stack, (void)bytes;
}
#endif

enum { STACK_BYTES = 1 << 20, GUARD_BYTES = 1 << 16 };

struct fiber {
  void (*fn)(void *ctx);
  void *ctx;
  struct heap *heap;
  char *stack; /* its lowest bytes cannot be touched */
  size_t stack_bytes; /* those that can */
  ucontext_t own, caller;
  struct memory_attempt *attempt; /* while it is not running, its innermost; while it runs, the caller's */
  const void *caller_stack;       /* for the address sanitizer */
  size_t caller_bytes;
  bool ended, starved;
};

static void run(void *fiber)
{
  struct fiber *f = fiber;
  f->fn(f->ctx);
}

/* makecontext passes numbers of 32 bits. */
static void enter(unsigned high, unsigned low)
{
  struct fiber *f = (struct fiber *)((uintptr_t)high << 32 | low);
  __sanitizer_finish_switch_fiber(NULL, &f->caller_stack, &f->caller_bytes);
  f->starved = !memory_try(f->heap, run, f);
  f->ended = true;
  f->attempt = memory_switch(f->attempt);
  __sanitizer_start_switch_fiber(NULL, f->caller_stack, f->caller_bytes);
  setcontext(&f->caller);
}

static void release(void *fiber)
{
  struct fiber *f = fiber;
  munmap(f->stack, GUARD_BYTES + f->stack_bytes);
}

static void prepare(struct fiber *f)
{
  const uintptr_t at = (uintptr_t)f;
  BUG_ON(getcontext(&f->own) != 0);
  f->own.uc_stack.ss_sp = f->stack + GUARD_BYTES;
  f->own.uc_stack.ss_size = f->stack_bytes;
  makecontext(&f->own, (void (*)(void))enter, 2, (unsigned)(at >> 32), (unsigned)at);
}

void fiber_renew(struct fiber *f, void (*fn)(void *ctx), void *ctx)
{
  BUG_ON(!f->ended);
  f->fn = fn;
  f->ctx = ctx;
  f->attempt = NULL;
  f->ended = f->starved = false;
  prepare(f); /* contexts, which are most of it, are written here and when it is resumed */
}

struct fiber *fiber_new_sized(void (*fn)(void *ctx), void *ctx, size_t stack_bytes)
{
  struct fiber *f = mem_zeroed(1, sizeof *f);
  *f = (struct fiber){ .fn = fn, .ctx = ctx, .heap = heap_current(), .stack_bytes = stack_bytes };
  f->stack = mmap(NULL, GUARD_BYTES + stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1,
                  0);
  NO_MEMORY_IF(f->stack == MAP_FAILED || mprotect(f->stack, GUARD_BYTES, PROT_NONE) != 0);
  heap_keep(f, release);
  prepare(f);
  return f;
}

struct fiber *fiber_new(void (*fn)(void *ctx), void *ctx)
{
  return fiber_new_sized(fn, ctx, STACK_BYTES);
}

void fiber_free(struct fiber *f)
{
  if (!f) return;
  heap_forget(f);
  release(f);
  mem_free(f);
}

bool fiber_resume(struct fiber *f)
{
  void *fake = NULL;
  BUG_ON(f->ended);
  f->attempt = memory_switch(f->attempt);
  __sanitizer_start_switch_fiber(&fake, f->stack + GUARD_BYTES, f->stack_bytes);
  BUG_ON(swapcontext(&f->caller, &f->own) != 0);
  __sanitizer_finish_switch_fiber(fake, NULL, NULL);
  NO_MEMORY_IF(f->starved);
  return !f->ended;
}

void fiber_stop(struct fiber *f)
{
  void *fake = NULL;
  f->attempt = memory_switch(f->attempt);
  __sanitizer_start_switch_fiber(&fake, f->caller_stack, f->caller_bytes);
  BUG_ON(swapcontext(&f->own, &f->caller) != 0);
  __sanitizer_finish_switch_fiber(fake, &f->caller_stack, &f->caller_bytes);
}
