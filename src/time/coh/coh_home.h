/* Home of lines: where memory stands behind the caches, one for each memory partition. What it does is in the tables of
 * the protocol (coh_protocol.h).
 *
 *   in       requests of caches; what ends their transactions
 *   out      forwards and answers to caches
 *   cycle    one message that ends something, one that is sent to several, one request
 *   order    one transaction for a line at a time; a request for a line of which one is under way waits, and keeps
 *            those behind it
 *   memory   is read and written as rows say it, at a rate; bytes come `latency` later
 *   room     lines that are somewhere else than in memory need a place (sets x ways). For want of one the home takes a
 *            line back from the caches that have it
 *   not modelled: the memory's banks; several requests for different lines that overtake each other
 */
#ifndef WS_TIME_COH_COH_HOME_H
#define WS_TIME_COH_COH_HOME_H

#include "time/coh/coh_protocol.h"
#include "time/server.h"

struct coh_home_config {
  uint32_t sets, ways;    /* sets: a power of two; a line's set: its number / n_homes */
  uint16_t n_caches;      /* nodes 0 … n_caches - 1 */
  uint16_t n_homes;
  picos period, latency;  /* of a cycle; from a message to what it causes, ps */
  picos memory_latency;   /* more of what brings bytes of memory, ps */
  uint64_t femtos_per_byte; /* of memory */
  /* Caches that read and write memory by channels of their own (coh_cache.h), a bit each: what they do counts for the
   * rate, and they are told that they may as soon as that is known. */
  uint64_t beside;
  /* Bytes of a line, for reading and writing. */
  uint8_t *(*memory)(void *ctx, uint64_t line);
  void *ctx;
};

struct coh_home_entry {
  uint64_t line, sharers; /* bit i: node i */
  uint32_t used;
  uint16_t owner, requestor; /* nodes; COH_NO_NODE */
  int16_t acks;              /* that the home itself waits for */
  bool counted;
  uint8_t state;
};

struct coh_home_stats {
  uint64_t requests, forwards, memory_reads, memory_writes, recalls;
};

struct coh_home {
  const struct coh_protocol *protocol;
  struct coh_home_config cfg;
  struct coh_port *port;
  struct coh_home_entry *entry; /* [sets][ways] */
  struct server rate;
  struct coh_msg cast;   /* to be sent to those of cast_to */
  uint64_t cast_to;
  uint64_t *row_hits;
  uint32_t clock, n_transient;
  struct coh_home_stats stats;
};

void coh_home_init(struct coh_home *, const struct coh_protocol *, const struct coh_home_config *, struct coh_port *,
                   struct arena *);
/* A cycle. True: something was done. */
bool coh_home_cycle(struct coh_home *, picos now);
bool coh_home_busy(const struct coh_home *);
/* Between windows. */
void coh_home_dump(const struct coh_home *, FILE *);

#endif
