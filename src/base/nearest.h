/* "Did you mean": of the names there are, the one nearest to a misspelt one.
 *
 *   struct nearest n;
 *   nearest_start(&n, asked);
 *   for (…) nearest_offer(&n, name);
 *   err_set(e, "no preset '%s'%s", asked, nearest_hint(&n, hint));   … "; did you mean 'a100'?" or nothing
 *
 * The distance is that of edits (a character inserted, deleted, replaced, or swapped with its neighbour; Damerau 1964),
 * without regard to case and with '-', '_' and '.' for the same. Only what is near is named: an edit for every three
 * characters of what was asked, one at least. Nearest of all is a name of several parts whose last ones are what was
 * asked ("max_warps" means sm.max_warps, "3070" rtx-3070), or those before a '-' ("v100" means v100-pcie).
 */
#ifndef WS_BASE_NEAREST_H
#define WS_BASE_NEAREST_H

#include <stdbool.h>

enum { NEAREST_LONGEST = 64, NEAREST_HINT = NEAREST_LONGEST + 24 };

struct nearest {
  const char *asked;
  unsigned distance;             /* of the best one, in edits */
  char best[NEAREST_LONGEST + 1]; /* "": none is near */
};

/* asked must outlive the search. */
void nearest_start(struct nearest *, const char *asked);
/* Names longer than NEAREST_LONGEST are never near. Of equally near ones the first counts. */
void nearest_offer(struct nearest *, const char *name);
/* The suggestion, or "". Returns buf. */
const char *nearest_hint(const struct nearest *, char buf[NEAREST_HINT]);

/* Edits between two names of at most NEAREST_LONGEST characters. */
unsigned nearest_distance(const char *a, const char *b);

#endif
