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
#include "time/sm/mem_stages.h"

enum { TXN_MAX_LINES = 256 /* 32 lanes x 8 texels; local memory: x 4 words */, TXN_NONE = 0xffff, TXN_NO_GROUP = 0xff };

enum txn_kind {
  TXN_GLOBAL,  /* loads and stores through L1; lines listed */
  TXN_STRONG,  /* performed on the memory side; effect kept until the answer */
  TXN_SHARED,  /* shared memory; passes counted */
  TXN_CONST,   /* LDC */
  TXN_OTHER,   /* SHFL, S2R …: through the queue, no memory */
  TXN_SERVICE, /* runtime service: the warp is stepped on the memory side */
};

/* Local memory of a warp slot: a region of line numbers of its own, above all global lines. */
#define TXN_LOCAL_LINE ((uint64_t)1 << 56)

struct txn_line {
  uint64_t line;
  uint8_t sectors;
  uint8_t atomics; /* lanes that update it (coalesce_atomics) */
  uint32_t words;  /* stores: 4-byte words of which every byte is written */
};

struct txn {
  uint16_t next; /* queue, image results or free list */
  uint16_t id;   /* its place in the pool */
  uint8_t kind;  /* enum txn_kind */
  uint8_t sub_core, warp;
  uint8_t write_sb, read_sb;
  bool store;           /* no register result: MEMBAR waits for it */
  bool left;            /* a weak store that has gone to L2: its CTA may end before the answer */
  uint8_t ldgsts_group; /* TXN_NO_GROUP: not an LDGSTS in flight */
  uint16_t after_ldgsts; /* LDGSTS in flight before which it cannot perform … */
  uint16_t next_arrival; /* … and the next of its warp that waits so */
  uint16_t n_lines;
  uint16_t busy;     /* cycles the shared unit is occupied */
  uint16_t extra;    /* cycles beyond the unloaded latency (bank conflicts, many lines) */
  struct mem_stages stages;
  uint16_t waiting;  /* lines not answered yet */
  const struct inst *inst; uint32_t hazard_seq; /* for the hazard checker */
  uint32_t emulate_tag; /* hazard emulation: its results … */
  bool unread;          /* … and whether its sources are still to be read */
  uint64_t issued;   /* cycle */
  uint64_t filtered; /* textures, surfaces: cycle of the result; CYCLE_NEVER: not known yet */
  struct txn_line line[TXN_MAX_LINES];
  struct effect effect; /* effect.mem = &mem */
  struct mem_effect mem;
};

struct txn_pool {
  struct txn *t;
  uint16_t free, n_free, size;
  uint16_t fresh; /* from this one on never used: host memory that nobody needed is not touched */
};

static inline void txn_pool_init(struct txn_pool *p, struct arena *a, unsigned size)
{
  p->t = ARENA_ARRAY(a, struct txn, size);
  p->size = p->n_free = (uint16_t)size;
  p->free = TXN_NONE;
  p->fresh = 0;
}

static inline uint16_t txn_take(struct txn_pool *p)
{
  uint16_t id = p->free;
  BUG_ON(p->n_free == 0);
  if (id != TXN_NONE) {
    p->free = p->t[id].next;
  } else {
    id = p->fresh++;
    p->t[id].id = id;
    p->t[id].effect.mem = &p->t[id].mem;
  }
  p->n_free--;
  return id;
}

static inline void txn_give(struct txn_pool *p, uint16_t id)
{
  p->t[id].next = p->free;
  p->free = id;
  p->n_free++;
}

#endif
