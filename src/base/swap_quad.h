/* Compare and swap of sixteen bytes, beside other threads and processes. */
#ifndef WS_BASE_SWAP_QUAD_H
#define WS_BASE_SWAP_QUAD_H

#include <stdbool.h>

typedef unsigned __int128 __attribute__((may_alias)) quad;

/* `new` in the place of *old; false: it is not there, but what *old says now. p: a multiple of 16. All x86-64 that can
 * run this have the instruction, which compilers emit only when they are told so; elsewhere they know a way. */
#ifdef __x86_64__
__attribute__((target("cx16"))) static inline bool swap_quad(quad *p, quad *old, quad new)
{
  const quad found = __sync_val_compare_and_swap(p, *old, new);
  const bool done = found == *old;
  *old = found;
  return done;
}
#else
static inline bool swap_quad(quad *p, quad *old, quad new)
{
  return __atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
#endif

#endif
