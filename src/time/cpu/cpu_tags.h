/* Which lines or pages a small memory of a core holds: tags alone, least recently used of a set goes. L1 caches of a
 * CPU core (their bytes are in its coherent cache), TLBs, walk caches. */
#ifndef WS_TIME_CPU_CPU_TAGS_H
#define WS_TIME_CPU_CPU_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct cpu_tags {
  uint32_t sets, ways;
  uint64_t *tag; /* [sets][ways], used last first; 0: none, else number + 1 */
};

/* sets: any number but 0; ways: 0: nothing is ever there. */
void cpu_tags_init(struct cpu_tags *, uint32_t sets, uint32_t ways, struct arena *);
/* Whether it is there; it was used last then. */
bool cpu_tags_find(struct cpu_tags *, uint64_t number);
/* It was not there, and is now. */
void cpu_tags_fill(struct cpu_tags *, uint64_t number);
void cpu_tags_clear(struct cpu_tags *);

#endif
