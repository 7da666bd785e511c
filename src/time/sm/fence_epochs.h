/* What fences of an SM wait for. PTX's causality order is cumulative: a fence covers what other threads did before they
 * met the one that executes it, at a barrier or by flags in shared memory. So it waits for all accesses that the SM
 * issued before it, whoever did, and for none of those issued behind it, or warps that store on and on would hold it
 * up for ever. Accesses are counted by epochs: a fence ends the present one and waits until all up to it are over. Of
 * fences with no access between them the later ones share the epoch of the first. A fence holds its warp, and an epoch
 * that is closed and not over has a fence that waits for it: so no more are closed than an SM has warps.
 *
 * So have it patents of NVIDIA: fences of an SM are brought together and follow its earlier transactions to the memory
 * side, which answers when these are committed (US 9,223,578 and US 8,997,103). */
#ifndef WS_TIME_SM_FENCE_EPOCHS_H
#define WS_TIME_SM_FENCE_EPOCHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bug.h"

enum { FENCE_EPOCHS = 128 }; /* more than sm.max_warps, which params.def ends at 64 */

struct fence_epochs {
  uint16_t out[FENCE_EPOCHS]; /* accesses under way, by the epoch in which they issued */
  uint32_t oldest, present;   /* numbers: before `oldest` all is over; they wrap */
  bool wrote_far; /* the SM has written to the other partition of L2, and no fence has ended since */
};

/* An access issues. The result says fences_leave when it did. */
static inline uint8_t fences_enter(struct fence_epochs *f)
{
  f->out[f->present % FENCE_EPOCHS]++;
  return (uint8_t)(f->present % FENCE_EPOCHS);
}

/* It is done. True: so is an epoch, and fences may end. */
static inline bool fences_leave(struct fence_epochs *f, uint8_t epoch)
{
  const uint32_t before = f->oldest;
  f->out[epoch]--;
  while (f->oldest != f->present && !f->out[f->oldest % FENCE_EPOCHS]) f->oldest++;
  return f->oldest != before;
}

/* A fence issues: what it waits for. */
static inline uint32_t fences_begin(struct fence_epochs *f)
{
  if (!f->out[f->present % FENCE_EPOCHS]) return f->present; /* all before this epoch */
  BUG_ON(f->present - f->oldest == FENCE_EPOCHS - 1);
  return ++f->present;
}

static inline bool fences_over(const struct fence_epochs *f, uint32_t epoch)
{
  return (int32_t)(f->oldest - epoch) >= 0;
}

#endif
