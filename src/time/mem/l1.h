/* L1 data cache of one SM: tags, sector bits, misses in flight. Data are not held (caches hold
 * tags and state).
 *
 *   params  l1.bytes (unified with shared memory; what the kernel's shared memory leaves is cache),
 *           l1.data_max, l1.sets, l1.set_hash, l1.mshr_entries, l1.mshr_merges, l1.perfect
 *   lines   128 bytes, 4 sectors of 32 bytes; LRU; allocated when a sector arrives or words are stored
 *   stores  write-through, and kept without a fetch: the words stored are known, a load of others fetches
 *           their sector (core model: allocate on miss, lazy fetch on read. Evidence: Nsight Compute's hit rate of
 *           c = a + b on a cold RTX 3080 Ti is 33.3 %: it counts every store as a hit. Our counters do not: theirs
 *           are of loads alone, docs/counters.md)
 *   misses  one entry per line and its waiting transactions; a sector on its way is not requested
 *           twice
 *   callers the memory unit: when a transaction is granted (l1_load, l1_store), when an answer comes (l1_fill)
 */
#ifndef WS_TIME_MEM_L1_H
#define WS_TIME_MEM_L1_H

#include <stdint.h>

#include "base/arena.h"
#include "config/params.h"
#include "time/mem/tags.h"
#include "time/msg.h"

struct l1_waiter {
  uint32_t txn;
  uint16_t next;
  uint8_t sectors; /* still missing */
};

struct l1_miss {
  uint64_t line;
  uint16_t next;    /* hash chain or free list */
  uint16_t waiters; /* list */
  uint8_t pending;  /* sectors requested */
};

struct l1 {
  struct tags tags;
  uint32_t *words; /* [set][way]: words stored since the line came; all of valid sectors are known besides */
  bool perfect, mixed; /* l1.perfect; l1.set_hash */
  struct l1_miss *miss;
  struct l1_waiter *waiter;
  uint16_t *bucket;
  uint16_t free_miss, n_free_miss, free_waiter, n_free_waiter;
  uint16_t fresh_miss, fresh_waiter; /* from these on never used */
  unsigned n_miss, n_waiters, n_buckets;
};

enum { L1_NIL = 0xffff };

void l1_init(struct l1 *, struct arena *, const struct params *);

/* Kernel start: sets the capacity in bytes that the shared-memory carve-out leaves, and
 * invalidates. */
void l1_start(struct l1 *, uint64_t bytes);

/* A grid starts beside others: what is held is stale. Misses in flight go on. */
void l1_invalidate(struct l1 *);

/* Room for n more missing lines? */
static inline bool l1_can_miss(const struct l1 *c, unsigned n)
{
  return c->n_free_miss >= n && c->n_free_waiter >= n;
}

struct l1_access {
  uint8_t hit, merged, missed; /* sector masks */
};

/* Loads `words` in `sectors` of `line` for a transaction. When hit is not all, the transaction is put on the
 * waiting list of the line; `missed` must be requested. Needs l1_can_miss(1). */
struct l1_access l1_load(struct l1 *, uint64_t line, unsigned sectors, uint32_t words, uint32_t txn);

/* Stores these words of `line`. */
void l1_store(struct l1 *, uint64_t line, uint32_t words);

/* A sector answer: makes the sectors valid, then calls done(ctx, txn) for every waiting transaction
 * whose line is complete. */
void l1_fill(struct l1 *, uint64_t line, unsigned sectors, void (*done)(void *ctx, uint32_t txn),
             void *ctx);

#endif
