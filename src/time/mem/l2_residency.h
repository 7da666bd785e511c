/* Residency: which lines of a slice leave L2 last, and which first (CUDA C++ Programming Guide, "Device Memory L2
 * Access Management").
 *
 *   policy    of a GPU: how many ways of each set are set aside for lines that persist, and the window of each grid.
 *             Changed between windows of time alone
 *   property  of each line here: normal, streaming, persisting; what the last access said that said something. An
 *             access outside of its grid's window says nothing and leaves the property as it is
 *   ratio     which lines of a window are hits follows from a hash of their number: the same ones at every access
 *   victim    normal and streaming lines take the place of the oldest streaming line, else of the oldest one that does
 *             not persist. A line that persists takes such a place, too, while its set has fewer of its kind than ways
 *             are set aside, and else that of the oldest that persists. What persists beyond that (ways are no longer
 *             set aside, a line here became persistent) is as a normal line
 *   params    none: the set-aside is the program's, l2.ways and the bytes of L2 give the ways, rounded up (guess)
 *   host      nothing is looked at before the first window comes
 *   not modelled: lines that persist and are not used become normal by themselves after some time, which the guide
 *             advises against relying upon; properties of single instructions (createpolicy, ld.L2::evict_last)
 */
#ifndef WS_TIME_MEM_L2_RESIDENCY_H
#define WS_TIME_MEM_L2_RESIDENCY_H

#include <stdbool.h>

#include "base/access_window.h"
#include "base/arena.h"
#include "time/mem/tags.h"
#include "time/msg.h"

struct l2_policy {
  bool active;    /* some grid had a window */
  uint16_t aside; /* ways of each set */
  struct l2_window {
    uint64_t first, lines; /* names of lines (msg.h); 0 lines: none */
    uint32_t hits;
    uint8_t hit, miss;
  } window[GRID_SLOTS + 1];
};

/* The grid that has the slot now says this of its address space. */
void l2_policy_set(struct l2_policy *, unsigned slot, const struct access_window *, unsigned space);
/* What an access of that grid to this line says. */
enum access_property l2_policy_of(const struct l2_policy *, unsigned grid, uint64_t line);

struct l2_residency {
  const struct l2_policy *policy;
  uint8_t *property; /* [set][way] */
};

void l2_residency_init(struct l2_residency *, struct arena *, const struct l2_policy *, const struct tags *);
/* The place that a line which is not here takes. */
struct tag_at l2_residency_victim(const struct l2_residency *, const struct tags *, unsigned set, enum access_property);
/* The line there is new. */
void l2_residency_place(struct l2_residency *, const struct tags *, struct tag_at, enum access_property);
/* An access has found the line there. */
void l2_residency_use(struct l2_residency *, const struct tags *, struct tag_at, enum access_property);
/* All lines that persist are normal from now on. */
void l2_residency_reset(struct l2_residency *, const struct tags *);

#endif
