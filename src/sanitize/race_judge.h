/* Private to sanitize/: whether two accesses to one cell are a race, and what is said about it. */
#ifndef WS_SANITIZE_RACE_JUDGE_H
#define WS_SANITIZE_RACE_JUDGE_H

#include "sanitize/race_order.h"
#include "sanitize/watched.h"

#define RACE_TOLD_NOTHING UINT32_MAX /* race_memo.told beside 1 + index (finding_again): it is of no interest */
#define RACE_LANES (UINT32_C(31) << RACE_LANE_AT)

/* Findings of a launch that were told already, by their instructions: a loop that races does it again and again. */
struct race_told {
  struct {
    uint64_t key;  /* 0: none */
    uint32_t told; /* race_memo.told */
  } slot[256];
};

/* An access of a warp, while its lanes are looked at. */
struct race_step {
  struct race_told *told;
  const struct watched_step *s;
  struct race_cta *cta;
  unsigned u;              /* the warp */
  struct race_entry entry; /* without its lane */
  bool writes, plain;      /* plain: a store that is neither strong nor part of a copy */
  bool own;                /* two lanes of one warp are of interest, too */
  struct race_memo *memo;  /* the warp's, of each layer */
  /* Of global memory, what the last lane touched: its page of shadow cells, and of the device's memory. */
  uint64_t page, host_page;
  struct race_table *table;
  const uint8_t *host;
};

/* The access and an earlier one of the same cell. */
struct race_pair {
  const struct race_entry *old;
  struct race_entry now;
  unsigned layer; /* of the old one */
  unsigned space, lane;
  uint64_t addr; /* of the cell */
  uint32_t bytes;
};

static inline unsigned race_lane_of(const struct race_entry *e)
{
  return e->where >> RACE_LANE_AT & 31;
}

/* Whether what the entry stands for lies before this access; it is somebody's. */
bool race_step_behind(struct race_step *, const struct race_entry *, unsigned layer);

/* What of the step tells the order of most entries: a copy of it lies in the host's registers. */
struct race_known {
  uint32_t own; /* the warp */
  uint32_t first, n; /* warps of its CTA */
  struct race_memo memo[RACE_LAYERS];
};

static inline struct race_known race_known_of(const struct race_step *x)
{
  return (struct race_known){.own = x->entry.warp, .first = x->cta->first, .n = x->cta->n,
                             .memo = {x->memo[0], x->memo[1], x->memo[2]}};
}

/* Whether the entry is nobody's, the own warp's, or as the last that was looked at; *before: it lies before. */
static inline bool race_knows(const struct race_known *n, const struct race_entry *e, unsigned layer, bool *before)
{
  const struct race_memo *m = &n->memo[layer];
  *before = true;
  if (!e->warp) return true;
  if (e->where & RACE_COPY) return false;
  if (e->warp == n->own) return true;
  *before = m->before;
  return e->warp == m->warp && e->clock == m->clock;
}

/* Two strong accesses that reach each other race in no order: one of a CTA's scope reaches only its own. */
static inline bool race_are_strong(const struct race_known *k, const struct race_entry *old,
                                   const struct race_entry *now)
{
  const uint32_t both = old->where & now->where, either = old->where | now->where;
  return both & RACE_STRONG && !(either & RACE_COPY) && (!(either & RACE_OWN_CTA) || old->warp - 1 - k->first < k->n);
}

/* Whether all is told of the pair of an entry that race_knows found not to lie before, but for the number of bytes. */
static inline bool race_was_told(const struct race_known *n, const struct race_entry *old, unsigned layer,
                                 const struct race_entry *now)
{
  const struct race_memo *m = &n->memo[layer];
  return m->told && !(((old->where ^ m->old_where) | (now->where ^ m->now_where)) & ~RACE_LANES);
}

static inline void race_tell_again(const struct race_known *n, struct findings *fs, unsigned layer, uint32_t bytes)
{
  const uint32_t told = n->memo[layer].told;
  if (told != RACE_TOLD_NOTHING) finding_again(fs, told - 1, bytes);
}

/* Tells of the pair where it is a race, or a doubt. */
void race_check_pair(struct race_step *, const struct race_pair *);

#endif
