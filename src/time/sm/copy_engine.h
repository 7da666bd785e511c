/* Asynchronous copy engine of one SM (the tensor memory accelerator): bulk and tensor copies between global memory, L2
 * and shared memory of the CTAs of a cluster.
 *
 *   params  copy.*
 *   ports   in: copies that the memory unit's arbiter grants; answers of L2 and of the SM-to-SM network
 *           out: requests to L2, past L1; the data array of shared memory; copies that are done
 *   queue   copy.queue_entries wait for their turn; one more stays at the head of its sub-core's queue
 *   walk    in order, one copy at a time: from copy.start_cycles after the grant (copy.map_cycles more when a tensor
 *           map is read) a request every copy.request_cycles, for what a piece (a row of a box) has in one line of 128
 *           bytes. Copies overlap: the next one is walked while data of those before are on their way
 *   load    shared memory takes the data of each answer; with the last one they count at the mbarrier
 *   store   shared memory gives the data of each request; memory changes at the end of the walk, the copy is done when
 *           all is answered. A reduction is performed at its slices, line by line
 *   far     data for shared memory of other CTAs go on through the SM-to-SM network (cluster_net.h), which performs
 *           them
 *   not modelled: cache of tensor maps and their way from memory, the order of requests across banks of a box
 */
#ifndef WS_TIME_SM_COPY_ENGINE_H
#define WS_TIME_SM_COPY_ENGINE_H

#include <stdio.h>

#include "base/arena.h"
#include "config/params.h"
#include "isa/step.h"
#include "time/msg.h"
#include "time/sm/sm_stats.h"
#include "time/sm/txn.h"

enum { COPY_MAX_QUEUE = 64 };

/* What the engine does to the rest of the SM; the owner sets it. Copies are named by their transaction. */
struct copy_ports {
  void *ctx;
  /* Piece k of the copy's global memory; *bytes: of shared memory, of the whole copy, in each CTA. False: guest
   * fault. */
  bool (*piece)(void *ctx, uint16_t id, uint32_t k, struct copy_piece *, uint32_t *bytes);
  bool (*room)(void *ctx, uint64_t now); /* may a request leave? */
  void (*send)(void *ctx, uint16_t id, enum req_kind, struct txn_line, uint64_t now);
  void (*array)(void *ctx, unsigned bytes, uint64_t now); /* they pass the data array */
  void (*leave)(void *ctx, unsigned bytes, uint64_t now); /* they pass the port to the SM-to-SM network … */
  void (*deliver)(void *ctx, uint16_t id, uint64_t now);  /* … which is to perform the copy: copy_engine_delivered */
  bool (*perform)(void *ctx, uint16_t id);                /* False: guest fault */
  void (*done)(void *ctx, uint16_t id, uint64_t now);
};

struct copy_job {
  uint64_t ready_at; /* the walk begins */
  uint64_t pc;       /* for the report */
  uint64_t addr;     /* of the piece: what is left */
  uint32_t left;
  uint32_t piece;    /* number of the next one */
  uint32_t unanswered;
  uint8_t way;       /* enum mem_copy_way; COPY_NONE: not in use */
  bool far, last, walked;
};

struct copy_engine {
  unsigned entries, start_cycles, map_cycles, request_cycles; /* params */
  struct copy_job *job;               /* by transaction */
  unsigned n_jobs, max_jobs;          /* in use */
  uint16_t queue[COPY_MAX_QUEUE];     /* ring: not walked yet */
  unsigned head, n;
  uint64_t free_at;                   /* the next request */
  uint64_t next_at;                   /* nothing to do before this cycle */
  struct copy_ports ports;
  struct sm_stats *stats;
};

void copy_engine_init(struct copy_engine *, struct arena *, const struct params *, unsigned txns);

static inline bool copy_engine_has_room(const struct copy_engine *e)
{
  return e->n < e->entries;
}

/* Takes the copy of a transaction. It needs room. `far`: goes to shared memory of other CTAs. */
void copy_engine_take(struct copy_engine *, uint16_t id, const struct inst *, bool far, uint64_t now);

void copy_engine_cycle(struct copy_engine *, uint64_t now);

/* Sectors of a request came, or were written. */
void copy_engine_answer(struct copy_engine *, uint16_t id, unsigned sectors, uint64_t now);
/* The SM-to-SM network has performed it. */
void copy_engine_delivered(struct copy_engine *, uint16_t id, uint64_t now);

/* The copies that are not done, a line each. */
void copy_engine_dump(const struct copy_engine *, FILE *);

#endif
