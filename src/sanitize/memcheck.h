/* Private to sanitize/: are addresses inside allocations, of shared and local memory inside what the kernel has? */
#ifndef WS_SANITIZE_MEMCHECK_H
#define WS_SANITIZE_MEMCHECK_H

#include "sanitize/watched.h"

struct memcheck {
  uint64_t first, end; /* the allocation that was accessed last */
};

void memcheck_begin(struct memcheck *);
/* The lanes, of s->lanes, whose access is invalid. */
uint32_t memcheck_access(struct memcheck *, const struct watched_step *);
/* What ended the kernel. */
void memcheck_fault(const struct watched_launch *, const struct fault *);

#endif
