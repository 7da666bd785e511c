/* Compare and swap of sixteen bytes, beside other threads and processes. */
#ifndef WS_BASE_SWAP_QUAD_H
#define WS_BASE_SWAP_QUAD_H

#include <stdbool.h>

typedef unsigned __int128 __attribute__((may_alias)) quad;

/* `new` in the place of *old; false: it is not there, but what *old says now. p: a multiple of 16. All x86-64 that can
 * run this have the instruction. It is written out, since compilers emit it only for files that they compile for it
 * (gcc also for a function, clang then calls a helper that nothing defines). */
#ifdef __x86_64__
static inline bool swap_quad(quad *p, quad *old, quad new)
{
  unsigned long long low = (unsigned long long)*old, high = (unsigned long long)(*old >> 64);
  bool done;
  __asm__ __volatile__("lock cmpxchg16b %1"
                       : "=@ccz"(done), "+m"(*p), "+a"(low), "+d"(high)
                       : "b"((unsigned long long)new), "c"((unsigned long long)(new >> 64))
                       : "memory");
  *old = (quad)high << 64 | low;
  return done;
}
#else
static inline bool swap_quad(quad *p, quad *old, quad new)
{
  return __atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
#endif

#endif
