/* Convergence groups: who meets at a BSYNC.
 *
 * Each BSSY opens a group of the lanes that execute it. A lane's convergence barrier register refers to the group, it
 * does not hold a set of lanes: a lane that has left (released from the BSYNC, BREAK, exit) has left for everybody,
 * wherever the others keep their reference meanwhile: in a B register, in a vector register, in local memory.
 *
 * A group's number is never used again while somebody could hold it (2^31 groups per warp); a reference to a group that
 * all have left is a reference to nothing. What BMOV moves to a vector register is the number, spread so that the bit
 * of the lane that reads it is 0; a word in which it is 1 is a set of lanes that the program made itself.
 */
#ifndef WS_FUNC_SASS_GROUPS_H
#define WS_FUNC_SASS_GROUPS_H

#include "func/sass/func_warp.h"

enum {
  GROUP_NONE = 0,
  GROUP_MAX_ID = 0x7fffffff,
  GROUPS_MAX = 1 << 16, /* open at once, per warp: a recursion of more frames does not fit local memory */
};

/* Opens a group of `members`, which are not none. Returns its number; GROUP_NONE: GROUPS_MAX are open. */
uint32_t group_open(struct func_warp *w, uint32_t members);

/* The group that a lane set made by the program stands for in `lane`, one of its lanes: one that was opened for the
 * same set and that the lane has not left, or a new one. As group_open. */
uint32_t group_of_mask(struct func_warp *w, uint32_t mask, unsigned lane);

/* NULL: the group is over. */
static inline struct func_group *group_find(const struct func_warp *w, uint32_t id)
{
  struct func_group *g = &w->group[id & w->group_last];
  return g->id == id ? g : NULL;
}

/* Lanes of the group that have not left and not exited. */
static inline uint32_t group_lanes(const struct func_warp *w, uint32_t id)
{
  const struct func_group *g = &w->group[id & w->group_last];
  return g->id == id ? g->members & w->mactive : 0;
}

static inline void group_leave(struct func_warp *w, uint32_t id, uint32_t lanes)
{
  struct func_group *g = group_find(w, id);
  if (g) g->members &= ~lanes;
}

/* The word that stands for a group in the registers of `lane`, and back (of a word whose bit `lane` is 0). */
static inline uint32_t group_word(uint32_t id, unsigned lane)
{
  const uint32_t low = (1u << lane) - 1;
  return (id & ~low) << 1 | (id & low);
}

static inline uint32_t group_of_word(uint32_t word, unsigned lane)
{
  const uint32_t low = (1u << lane) - 1;
  return (word >> 1 & ~low) | (word & low);
}

/* No group is open; of a warp that begins. */
void groups_begin(struct func_warp *w);
/* Frees what the warps of a launch needed beyond their own tables. */
void groups_end(struct func_launch *);

#endif
