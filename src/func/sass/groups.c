/* Convergence groups (groups.h). The table is indexed by the low bits of the number, so that looking up is one load;
 * numbers whose place is taken by an open group are skipped. It starts inside the warp and doubles when places get
 * rare. */
#include "func/sass/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/host_memory.h"
#include "func/sass/func_launch.h"

enum { TRIES = 8 };

/* A table that did not fit its warp. */
struct group_block {
  struct group_block *next;
  struct func_group group[];
};

static struct func_group *table_new(struct func_launch *l, size_t n)
{
  struct group_block *b = mem_zeroed(1, sizeof *b + n * sizeof b->group[0]);
  pthread_mutex_lock(&l->group_lock);
  b->next = l->group_blocks;
  l->group_blocks = b;
  pthread_mutex_unlock(&l->group_lock);
  return b->group;
}

/* Numbers that differ in the low bits go on to do so: every group finds its place free. */
static bool grow(struct func_warp *w)
{
  const size_t n = (size_t)w->group_last + 1;
  if (n >= GROUPS_MAX) return false;
  struct func_group *more = table_new((struct func_launch *)w->cta->step.source, 2 * n);
  for (size_t i = 0; i < n; i++)
    if (w->group[i].members) more[w->group[i].id & (2 * n - 1)] = w->group[i];
  w->group = more;
  w->group_last = (uint32_t)(2 * n - 1);
  return true;
}

static uint32_t take(struct func_warp *w, uint32_t members, uint32_t tries)
{
  for (; tries; tries--) {
    w->group_id = w->group_id == GROUP_MAX_ID ? 1 : w->group_id + 1;
    struct func_group *g = &w->group[w->group_id & w->group_last];
    if (g->members & w->mactive) continue;
    *g = (struct func_group){.id = w->group_id, .members = members, .depth = w->depth[bits_first(members)]};
    return w->group_id;
  }
  return GROUP_NONE;
}

uint32_t group_open(struct func_warp *w, uint32_t members)
{
  uint32_t id = take(w, members, TRIES);
  while (!id && grow(w)) id = take(w, members, TRIES);
  return id ? id : take(w, members, GROUPS_MAX);
}

uint32_t group_of_mask(struct func_warp *w, uint32_t mask, unsigned lane)
{
  for (size_t i = 0; i <= w->group_last; i++)
    if (w->group[i].mask == mask && w->group[i].members >> lane & 1) return w->group[i].id;
  uint32_t id = group_open(w, mask);
  if (id) group_find(w, id)->mask = mask;
  return id;
}

void groups_begin(struct func_warp *w)
{
  if (!w->group) {
    w->group = w->own_groups;
    w->group_last = OWN_GROUPS - 1;
  }
  if (w->group_id) memset(w->group, 0, ((size_t)w->group_last + 1) * sizeof *w->group);
  w->group_id = GROUP_NONE;
}

void groups_end(struct func_launch *l)
{
  for (struct group_block *b = l->group_blocks, *next; b; b = next) {
    next = b->next;
    mem_free(b);
  }
  pthread_mutex_destroy(&l->group_lock);
}
