/* Gaps between the parts of a block of host memory that the address sanitizer watches: a write past the end of one part
 * is found, although it hits memory of the same block. In other builds they have no bytes and the calls do nothing. */
#ifndef WS_BASE_REDZONE_H
#define WS_BASE_REDZONE_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define WS_REDZONES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WS_REDZONES 1
#endif
#endif

#ifdef WS_REDZONES
#include <sanitizer/asan_interface.h>
enum { REDZONE_BYTES = 128 }; /* parts stay aligned to rows */
#else
enum { REDZONE_BYTES = 0 };
#endif

/* [p, p + REDZONE_BYTES) must not be touched from now on. */
static inline void redzone_put(const void *p)
{
#ifdef WS_REDZONES
  __asan_poison_memory_region(p, REDZONE_BYTES);
#else
  (void)p;
#endif
}

/* There are none in [p, p + bytes) any more: before the memory goes back to the host. */
static inline void redzone_lift(const void *p, size_t bytes)
{
#ifdef WS_REDZONES
  __asan_unpoison_memory_region(p, bytes);
#else
  (void)p, (void)bytes;
#endif
}

#endif
