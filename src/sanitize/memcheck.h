/* Private to sanitize/: are addresses inside allocations, of shared and local memory inside what the kernel has? */
#ifndef WS_SANITIZE_MEMCHECK_H
#define WS_SANITIZE_MEMCHECK_H

#include "sanitize/watched.h"

enum { MEMCHECK_SEEN = 64 };

struct memcheck {
  /* The allocation that an instruction accessed last, by its address: neighbours mostly touch different ones. */
  struct memcheck_range {
    uint64_t first, end;
  } seen[MEMCHECK_SEEN];
};

void memcheck_begin(struct memcheck *);
/* The lanes, of s->lanes, whose access is invalid. */
uint32_t memcheck_access(struct memcheck *, const struct watched_step *);
/* What ended the kernel. */
void memcheck_fault(const struct watched_launch *, const struct fault *);

#endif
