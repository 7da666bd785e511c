/* Memory behind L2 that somebody outside of the GPU simulates, in place of its DRAM channels: a part of the serial
 * phase, which hands over what the slices of the window asked for.
 *
 *   in       reads and writes of the slices (dram.h), as they leave them; answers from outside (outer_memory_answer)
 *   out      requests, behind each window, ascending by time, at one time by channel and order; answers to the slices
 *   reads    wait for an answer, as many as the slices have misses. An answer for a time that has passed arrives at the
 *            end of the window
 *   writes   are not answered; sectors of which L2 has only some bytes say so, and nothing is read to complete them
 *   horizon  while reads wait, the next window begins there at the latest, so that a run which is stopped there does
 *            not count as stuck; TIME_NEVER: who is outside answers while it takes the request
 *   end      reads that are out when all CTAs are done are answered at once: nobody waits for them
 *   not its  values: bytes are the GPU's own; only time passes here
 */
#ifndef WS_TIME_MEM_OUTER_MEMORY_H
#define WS_TIME_MEM_OUTER_MEMORY_H

#include "base/arena.h"
#include "config/params.h"
#include "time/mem/dram.h"

struct outer_request {
  uint64_t id;      /* of a read, for its answer; 0: a write */
  picos at;         /* when it leaves L2 */
  uint64_t line;    /* of LINE_BYTES, in the GPU's memory */
  unsigned sectors; /* bit i: SECTOR_BYTES from the line's start + SECTOR_BYTES i on */
  unsigned partial; /* of them: written in part */
};

/* Who is outside. */
struct outer_port {
  void (*request)(void *ctx, const struct outer_request *);
  void *ctx;
};

/* A read or write on its way from a channel. */
struct outer_item {
  picos at;
  uint64_t local; /* line number in the channel */
  uint64_t line;  /* the slice's, comes back */
  uint8_t sectors, partial, slice;
  bool write;
};

/* What is in a channel's place. */
struct outer_channel {
  struct outer_item *item; /* of this window, ascending by time */
  uint32_t n, room, handed;
  picos *wake; /* of its partition */
};

/* A read that waits for its answer. */
struct outer_read {
  uint64_t id; /* 0: free */
  uint64_t line;
  uint32_t channel, next; /* next: of the free ones */
  uint8_t sectors, slice;
};

struct outer_memory {
  const struct params *params;
  struct outer_port port;
  struct dram **dram; /* by channel of the GPU */
  struct outer_channel *channel;
  uint32_t n_channels, n_reads, free, waiting;
  struct outer_read *read;
  uint64_t serial; /* of ids */
  picos horizon, now;
  uint64_t handed; /* requests, for the deadlock watch */
  bool (*done)(void *ctx); /* all CTAs are done */
  void *ctx;
};

/* Channels of all partitions are connected with it from now on; the caller fills in `done` and what to wake. */
struct partition;
void outer_memory_init(struct outer_memory *, struct arena *, const struct params *, const struct outer_port *,
                       struct partition *, unsigned n_partitions);
void outer_memory_free(struct outer_memory *);

/* The read's bytes arrive at L2 at `at`. False: no such read waits. Between windows, or while a request is handed
 * over. */
bool outer_memory_answer(struct outer_memory *, uint64_t id, picos at);

/* By a channel. */
void outer_channel_put(struct outer_channel *, const struct outer_item *);

extern const struct part_ops outer_memory_ops;

#endif
