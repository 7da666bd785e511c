/* Private to sanitize/: what happened before what, between the warps of a grid.
 *
 * A warp has a clock, which moves on when others may learn of what it has done: at barriers, fences and strong stores.
 * Of each warp of its own CTA it knows up to which clock all lies before what it does now; of others a set
 * (clock_set.h). Clocks of a CTA's warps are ticks of one counter. An access lies before another warp's when that one
 * knows its clock.
 *
 *   barrier          who waits learns what all knew who arrived
 *   strong store     leaves at its address what its warp has made visible by a fence of the GPU or wider; to its own
 *                    CTA all that it knows; in global memory, all that the CTA has done, which keeps places small
 *   strong load      learns what its address holds. It needs no fence behind it: NVIDIA's own examples have none there
 *                    (CUDA C++ Programming Guide, memory fence functions)
 *   atomic           both
 */
#ifndef WS_SANITIZE_RACE_ORDER_H
#define WS_SANITIZE_RACE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "sanitize/clock_set.h"
#include "sanitize/race_shadow.h"

enum { RACE_BARRIERS = 16, RACE_MAX_WARPS = 32, RACE_GROUPS = 32 };

/* What somebody who reads an address strongly learns. */
struct race_place {
  uint64_t key;          /* address + 1; 0: none */
  uint64_t cta;          /* 1 + the CTA that released last */
  uint32_t tick;         /* its counter then; of global memory */
  bool wide;             /* its second word is the same place: who waits for an mbarrier's phase may read one half */
  uint32_t last;         /* of shared memory: 1 + the warp that released last and knows all that is here; 0: none */
  uint32_t *known;       /* of shared memory: what those who released knew of each warp of the CTA */
  struct clock_set *set;
};

struct race_places {
  struct race_place *slot; /* a hash table, its size a power of two */
  uint64_t n, size;
  uint64_t filter; /* a bit for each word of places, by its number modulo 64: most of what is looked for is none */
  bool wide;       /* some place is */
};

static inline uint64_t race_filter_bit(uint64_t addr)
{
  return UINT64_C(1) << (addr >> 2 & 63);
}

void race_places_free(struct race_places *);
/* NULL: there is none. */
struct race_place *race_place_find(struct race_places *, uint64_t key);
struct race_place *race_place_make(struct race_places *, uint64_t key);

/* What was found last about entries of one layer: neighbours mostly hold the same, and so do the next
 * steps of a warp, which forgets it when it learns something. */
struct race_memo {
  uint32_t warp, clock;
  bool before;
  /* Where it is not: `where` of both parties but for lanes, and what was told of them; 0: look again. */
  uint32_t old_where, now_where, told;
};

struct race_warp {
  uint32_t clock;
  struct clock_set *others;  /* what it knows of other CTAs */
  struct clock_set *visible; /* what a strong store leaves; made when one comes */
  uint32_t met;              /* it knows all of its CTA up to this tick */
  bool stale;                /* it must be made again */
  bool fenced;               /* some fence since the last barrier */
  bool meets;                /* it waited for its cluster, and learns what that knows with its next step */
  /* Groups of asynchronous copies: how many were closed and waited for, and the clock at which each was. */
  uint32_t closed, waited, done[RACE_GROUPS];
  uint8_t counter;           /* dependence counter that waits name */
  struct race_memo memo[RACE_LAYERS];
};

struct race_barrier {
  bool busy;
  uint32_t waits;            /* a bit per warp */
  uint32_t known[RACE_MAX_WARPS], fenced[RACE_MAX_WARPS];
  struct clock_set *set;
};

struct race_cta {
  struct race_cta *next;
  uint64_t id;
  uint32_t first;            /* number of its first warp in the grid */
  unsigned n;                /* warps */
  uint32_t tick;
  uint32_t busy;             /* barriers in use */
  struct race_warp warp[RACE_MAX_WARPS];
  /* What warp u knows of warp w, and what of that fences have made visible to all. */
  uint32_t known[RACE_MAX_WARPS][RACE_MAX_WARPS], fenced[RACE_MAX_WARPS][RACE_MAX_WARPS];
  struct race_barrier barrier[RACE_BARRIERS];
  struct race_places places; /* in its shared memory */
  struct race_table shared;
};

struct race_cta *race_cta_new(uint64_t id, unsigned n_warps);
void race_cta_free(struct race_cta *);

/* Whether what the entry stands for lies before what warp u of the CTA does now; it is not u's own. */
bool race_is_before(const struct race_cta *, unsigned u, const struct race_entry *);
/* Of an asynchronous copy of a warp of this CTA. */
bool race_copy_is_before(const struct race_cta *, unsigned u, const struct race_entry *);

void race_arrive(struct race_cta *, unsigned u, unsigned barrier, bool waits);
void race_end_phase(struct race_cta *, unsigned barrier);
void race_fence(struct race_cta *, unsigned u);
void race_acquire(struct race_cta *, unsigned u, const struct race_place *);
/* `all`: also what no fence has made visible. race_release_own: in shared memory, where nobody else comes; `acquired`:
 * the warp knows what the place holds. */
void race_release_own(struct race_cta *, unsigned u, struct race_place *, bool acquired);
void race_release(struct race_cta *, unsigned u, struct race_place *, bool all);
/* The clock moves on: of threads of a warp that meet, too. */
void race_tick(struct race_cta *, unsigned u);

/* Asynchronous copies: the group is closed; all but the last `left` groups are done. */
void race_close_group(struct race_cta *, unsigned u, uint8_t counter);
void race_wait_groups(struct race_cta *, unsigned u, uint32_t left);

#endif
