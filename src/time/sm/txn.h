/* A memory transaction: one memory instruction in flight, from issue until its last answer
 * (an entry of the pending request table, Huerta et al., MICRO 2025, plus its place in the queue
 * before it).
 */
#ifndef WS_TIME_SM_TXN_H
#define WS_TIME_SM_TXN_H

#include <stdint.h>

#include "base/arena.h"
#include "isa/step.h"
#include "time/msg.h"
#include "time/sm/grid.h"
#include "time/sm/mem_stages.h"

enum {
  TXN_MAX_LINES = LANES_MAX * MEM_MAX_TEXELS /* local memory: x 4 words */,
  TXN_NONE = 0xffff,
  TXN_NO_GROUP = 0xff
};

enum txn_kind {
  TXN_GLOBAL,  /* loads and stores through L1; lines listed */
  TXN_STRONG,  /* performed on the memory side; effect kept until the answer */
  TXN_ELSEWHERE, /* loads, through L1, of memory of other nodes: performed with the bytes that L1 has or gets; effect
                    kept until the last of them */
  TXN_CLUSTER, /* performed in shared memory of other SMs; effect kept until the answer */
  TXN_SHARED,  /* shared memory; passes counted */
  TXN_CONST,   /* LDC */
  TXN_COPY,    /* of the copy engine; effect kept until it is done */
  TXN_OTHER,   /* SHFL, S2R …: through the queue, no memory */
  TXN_SERVICE, /* runtime service: the warp is stepped on the memory side */
};

struct txn_line {
  uint64_t line;
  uint8_t sectors;
  uint8_t wide, repeats; /* updates of 64 bits, most updates of one word (coalesce_atomics) */
  uint8_t home;    /* where a strong access, or a load of memory elsewhere, was sent (base/place.h); PLACE_FAULTS: to
                      whoever has its page brought */
  uint32_t words;  /* 4-byte words: of a store those it writes whole, of a load those it touches (mem_req.words) */
};

/* What a step leaves for the memory side, or needs when its answer comes. */
struct txn_access {
  struct effect effect; /* effect.mem = &mem */
  struct mem_effect mem;
};

/* Small, for there are many at once and each is looked at in every stage. What is big is borrowed while somebody
 * needs it: the access until it is performed and finished, lines until they are sent or, when they are performed on the
 * memory side, answered. */
struct txn {
  uint16_t next; /* queue, image results or free list */
  uint16_t id;   /* its place in the pool */
  uint8_t kind;  /* enum txn_kind */
  uint8_t op, mem_class; /* enum mem_op, mem_class of an access to memory */
  uint8_t sub_core, warp;
  uint8_t write_sb, read_sb;
  bool fenced;          /* fences behind it wait for it … */
  uint8_t epoch;        /* … which it has issued in (fence_epochs.h) */
  bool far;             /* its access also goes to shared memory of other CTAs (mem_effect.far) */
  bool idle;            /* no lane executes it */
  bool gathered;        /* performed at issue: ideal.coalescing moved its lines */
  bool left;            /* a weak store that has gone to L2: its CTA may end before the answer */
  uint8_t async_group;   /* TXN_NO_GROUP: not a copy of async_group.h in flight */
  uint16_t after_copies; /* such copies in flight before which it cannot perform … */
  uint16_t next_arrival; /* … and the next of its warp that waits so */
  uint16_t n_lines;
  uint16_t busy;     /* cycles the shared unit is occupied */
  uint16_t extra;    /* cycles beyond the unloaded latency (bank conflicts, many lines) */
  struct mem_stages stages;
  uint16_t waiting;  /* lines not answered yet */
  const struct inst *inst;
  uint32_t seq;      /* for observers and hazard emulation: observed.seq */
  bool tries;        /* a try_wait that waits: performed again until the phase is over, or for long enough */
  bool unread;       /* hazard emulation: its sources are still to be read */
  uint64_t issued;   /* cycle */
  struct sm_grid *grid;
  lane_mask lanes_away; /* LDC: whose line is on its way from L2; 0 unless TXN_CONST */
  uint64_t filtered; /* textures, surfaces: cycle of the result; CYCLE_NEVER: not known yet */
  struct txn_line *line;     /* NULL: none */
  struct txn_access *access; /* NULL: given back */
};

/* Indices of a pool's entries that are free; those used last, which are in the caches of the host, go first. */
struct txn_spares {
  uint16_t *index;
  uint16_t n, fresh; /* from `fresh` on never used: host memory that nobody needed is not touched */
};

struct txn_pool {
  struct txn *t;
  uint16_t free, n_free, size;
  uint16_t fresh; /* from this one on never used */
  struct txn_access *access;
  struct txn_lines {
    struct txn_line line[TXN_MAX_LINES];
    uint64_t unused; /* else the first lines of all would compete for a few sets of the host's caches */
  } *lines;
  struct txn_spares free_access, free_lines;
};

static inline void txn_pool_init(struct txn_pool *p, struct arena *a, unsigned size)
{
  p->t = ARENA_ARRAY(a, struct txn, size);
  p->access = ARENA_ARRAY(a, struct txn_access, size);
  p->lines = ARENA_ARRAY(a, struct txn_lines, size);
  p->free_access = (struct txn_spares){.index = ARENA_ARRAY(a, uint16_t, size)};
  p->free_lines = (struct txn_spares){.index = ARENA_ARRAY(a, uint16_t, size)};
  p->size = p->n_free = (uint16_t)size;
  p->free = TXN_NONE;
  p->fresh = 0;
}

static inline uint16_t txn_spare(struct txn_spares *s)
{
  return s->n ? s->index[--s->n] : s->fresh++;
}

static inline void txn_borrow_lines(struct txn_pool *p, struct txn *t)
{
  if (!t->line) t->line = p->lines[txn_spare(&p->free_lines)].line;
}

static inline void txn_return_lines(struct txn_pool *p, struct txn *t)
{
  if (!t->line) return;
  struct txn_spares *s = &p->free_lines;
  s->index[s->n++] = (uint16_t)((struct txn_lines *)t->line - p->lines);
  t->line = NULL;
}

static inline void txn_borrow_access(struct txn_pool *p, struct txn *t)
{
  t->access = &p->access[txn_spare(&p->free_access)];
  t->access->effect.mem = &t->access->mem;
}

static inline void txn_return_access(struct txn_pool *p, struct txn *t)
{
  if (!t->access) return;
  struct txn_spares *s = &p->free_access;
  s->index[s->n++] = (uint16_t)(t->access - p->access);
  t->access = NULL;
}

/* A new transaction, with an access. */
static inline uint16_t txn_take(struct txn_pool *p)
{
  uint16_t id = p->free;
  BUG_ON(p->n_free == 0);
  if (id != TXN_NONE) {
    p->free = p->t[id].next;
  } else {
    id = p->fresh++;
    p->t[id].id = id;
  }
  txn_borrow_access(p, &p->t[id]);
  p->n_free--;
  return id;
}

static inline void txn_give(struct txn_pool *p, uint16_t id)
{
  txn_return_access(p, &p->t[id]);
  txn_return_lines(p, &p->t[id]);
  p->t[id].next = p->free;
  p->free = id;
  p->n_free++;
}

#endif
