/* Memory partition: one or more L2 slices with the DRAM channels behind them. One part of the
 * domain; partitions run beside each other, after the SMs of the window. partition_run() is its
 * block diagram.
 *
 * With as many or more slices than channels a partition is a channel and its slices; with more
 * channels than slices it is a slice and its channels (lines go round them).
 */
#ifndef WS_TIME_MEM_PARTITION_H
#define WS_TIME_MEM_PARTITION_H

#include "time/mem/dram.h"
#include "time/mem/l2_slice.h"

struct partition {
  unsigned id, n_slices, n_channels;
  struct l2_slice *slice;
  struct dram *channel;
  struct coherence *coherence; /* NULL: none */
  struct probe_net *probes;
  struct l2_rights *rights; /* CPUs on the same memory; NULL: none */
  unsigned turn; /* whose turn it is when a queue has room again */
  struct fault fault;
};

/* Partitions of the GPU. */
static inline unsigned partition_count(const struct params *p)
{
  return p->l2_slices < p->dram_channels ? p->l2_slices : p->dram_channels;
}

/* Partition that holds a slice. */
static inline unsigned partition_of_slice(const struct params *p, unsigned slice)
{
  return slice / (p->l2_slices / partition_count(p));
}

void partition_init(struct partition *, struct arena *, const struct params *, unsigned id,
                    struct xbar *, perform_fn *, void *ctx, struct l2_rights *, const struct l2_policy *);
/* Between windows, for its slices (time/mem/l2_slice.h). */
void partition_set_fetch(struct partition *, unsigned bytes);
/* Between windows: none of its lines persists. */
void partition_reset_residency(struct partition *);
void partition_free(struct partition *);
/* From now on, for its slices; it is idle. */
void partition_cohere(struct partition *, struct coherence *, struct probe_net *);
void partition_start(struct partition *, struct gmem *image);

picos partition_run(void *self, picos from, picos to);
uint64_t partition_progress(const void *self);
bool partition_busy(const void *self);
void partition_dump(const void *self, FILE *);

#endif
