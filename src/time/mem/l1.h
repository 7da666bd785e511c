/* L1 data cache of one SM: tags, sector bits, misses in flight. Data are held of lines alone that are elsewhere (caches
 * hold tags and state).
 *
 *   params  l1.bytes (unified with shared memory; what the kernel's shared memory leaves is cache),
 *           l1.data_max, l1.sets, l1.set_hash, l1.mshr_entries, l1.mshr_merges, l1.perfect,
 *           l1.remote
 *   lines   128 bytes, 4 sectors of 32 bytes; LRU; allocated when a sector arrives or words are stored
 *   stores  write-through, and kept without a fetch: the words stored are known, a load of others fetches
 *           their sector (core model: allocate on miss, lazy fetch on read. Evidence: Nsight Compute's hit rate of
 *           c = a + b on a cold RTX 3080 Ti is 33.3 %: it counts every store as a hit. Our counters do not: theirs
 *           are of loads alone, docs/counters.md)
 *   misses  one entry per line and its waiting transactions; a sector on its way is not requested
 *           twice
 *   elsewhere  lines of memory of other nodes (LINE_ELSEWHERE) are kept with their bytes, as they were when they were
 *           read: what others write there is not seen until the line goes. It goes with the next fence that acquires
 *           (l1_acquire), and with what this SM writes there (l1_forget), which also take from misses in flight what
 *           may be old: those who wait for it get it, nobody after them
 *   callers the memory unit: when a transaction is granted (l1_load, l1_store), when an answer comes (l1_fill); the
 *           hub, when bytes come from another node (l1_land)
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
  bool old;         /* elsewhere: they are not kept, and nobody else waits for them */
};

struct l1 {
  struct tags tags;
  uint32_t *words; /* [set][way]: words stored since the line came; all of valid sectors are known besides */
  uint8_t (*bytes)[LINE_BYTES];  /* [set][way]: of lines elsewhere */
  uint8_t (*landed)[LINE_BYTES]; /* of each miss: what has come for a line elsewhere and is not answered yet */
  bool perfect, mixed; /* l1.perfect; l1.set_hash */
  bool elsewhere;      /* lines elsewhere may be here or on their way: some were since it was last emptied */
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

/* A fence that acquires (CCTL.IVALL): nothing of global memory is held any more. Local memory is. */
void l1_acquire(struct l1 *);

/* Room for n more missing lines? */
static inline bool l1_can_miss(const struct l1 *c, unsigned n)
{
  return c->n_free_miss >= n && c->n_free_waiter >= n;
}

struct l1_access {
  uint8_t hit, merged, missed; /* sector masks */
  uint8_t passed; /* elsewhere: what has to go past L1, all that is asked for or nothing */
  uint16_t miss;  /* the miss that waits for `missed` */
};

/* Loads `words` in `sectors` of `line` for a transaction. When hit is not all, the transaction is put on the
 * waiting list of the line; `missed` must be requested. Needs l1_can_miss(1). */
struct l1_access l1_load(struct l1 *, uint64_t line, unsigned sectors, uint32_t words, uint32_t txn);

/* Stores these words of `line`. */
void l1_store(struct l1 *, uint64_t line, uint32_t words);

/* What the line holds whose sectors l1_load has just hit, elsewhere. */
const uint8_t *l1_bytes(const struct l1 *, uint64_t line);

/* Bytes of sectors have come from another node, for this miss; their answer is on its way. */
void l1_land(struct l1 *, unsigned miss, unsigned sectors, const uint8_t line[LINE_BYTES]);

/* This SM writes to the line, which may have been elsewhere. */
void l1_forget_line(struct l1 *, uint64_t line);
static inline void l1_forget(struct l1 *c, uint64_t line)
{
  if (c->elsewhere) l1_forget_line(c, line | LINE_ELSEWHERE);
}

/* A sector answer: makes the sectors valid, then calls done(ctx, txn) for every waiting transaction
 * whose line is complete. */
void l1_fill(struct l1 *, uint64_t line, unsigned sectors, void (*done)(void *ctx, uint32_t txn),
             void *ctx);

/* The same of a line elsewhere: every transaction gets its sectors as they come. whole: its line is complete. */
typedef void l1_filled(void *ctx, uint32_t txn, unsigned sectors, const uint8_t line[LINE_BYTES], bool whole);
void l1_fill_elsewhere(struct l1 *, uint64_t line, unsigned sectors, l1_filled *, void *ctx);

#endif
