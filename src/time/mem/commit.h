/* What must happen alone, after SMs and partitions of a window: runtime service calls, and the weak
 * stores of the window reaching the image; messages between L2 partitions change hands.
 *
 *   in     service requests of the crossbar (its receiver number l2.slices); each SM's store log
 *   order  calls in (arrival, SM, sequence) order; stores in (cycle, SM, sequence) order
 *   time   a call is answered at once; l2 and interconnect latencies as for an L2 hit
 * Calls touch state that all SMs share (output, heap, the page table).
 */
#ifndef WS_TIME_MEM_COMMIT_H
#define WS_TIME_MEM_COMMIT_H

#include "base/arena.h"
#include "base/gmem_view.h"
#include "base/span_list.h"
#include "config/params.h"
#include "time/mem/l2_slice.h"
#include "time/noc/xbar.h"

struct commit {
  struct xbar *xbar;
  unsigned port, n_sms;
  struct gmem_log **log;  /* one per SM */
  struct gmem_log **used; /* scratch of the merge: logs with entries, */
  uint32_t *next;         /* and the next entry of each */
  perform_fn *perform;
  void *ctx;
  struct gmem_view direct;
  struct span_list *written; /* gets what stores change; NULL: nobody looks */
  struct l2_stats stats; /* requests, replies, service_calls */
  struct fault fault;
};

/* The caller sets log[] of every SM. */
void commit_init(struct commit *, struct arena *, const struct params *, struct xbar *,
                 perform_fn *, void *ctx);
void commit_start(struct commit *, struct gmem *image);

picos commit_run(void *self, picos from, picos to);
uint64_t commit_progress(const void *self);
bool commit_busy(const void *self);
void commit_dump(const void *self, FILE *);

#endif
