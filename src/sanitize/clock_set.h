/* Private to sanitize/: what is known of other CTAs' warps: of each the clock up to which all that it did lies before.
 * A set never changes once it is made, so that warps and places in memory share it.
 */
#ifndef WS_SANITIZE_CLOCK_SET_H
#define WS_SANITIZE_CLOCK_SET_H

#include <stdint.h>

struct clock_entry {
  uint32_t warp; /* number in the grid */
  uint32_t clock;
};

struct clock_set {
  uint32_t users, n;
  struct clock_entry entry[]; /* ascending warps */
};

/* n entries, to be filled in ascending order; one user. Ends the process when the host has no memory. */
struct clock_set *clock_set_new(uint32_t n);
/* NULL is the empty set everywhere. */
void clock_set_drop(struct clock_set *);

uint32_t clock_set_get(const struct clock_set *, uint32_t warp);

/* What either knows; a new user of a or of b, or a new set. */
struct clock_set *clock_set_join(struct clock_set *a, struct clock_set *b);

#endif
