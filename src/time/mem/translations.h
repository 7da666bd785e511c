/* Translations that a TLB or a walk cache holds: sets of ways, the one that was used longest ago goes. */
#ifndef WS_TIME_MEM_TRANSLATIONS_H
#define WS_TIME_MEM_TRANSLATIONS_H

#include "base/arena.h"

struct translations {
  uint64_t *page;  /* page number + 1; 0: free */
  uint64_t *ready; /* from when on the entry can be used, in the owner's unit */
  uint32_t *used;  /* LRU stamp */
  uint32_t stamp;
  unsigned n_sets, n_ways;
};

enum { TRANSLATIONS_NONE = UINT32_MAX };

/* entries: rounded down to whole sets; 0: nothing is ever there. */
void translations_init(struct translations *, struct arena *, unsigned entries, unsigned ways);
/* Its entry, which was used last then; TRANSLATIONS_NONE: it has none. */
uint32_t translations_find(struct translations *, uint64_t page);
/* It had none, and has this one now; `ready` is the caller's to write. */
uint32_t translations_fill(struct translations *, uint64_t page);
void translations_clear(struct translations *);

#endif
