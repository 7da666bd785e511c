#include "time/gpu/instances.h"

#include "base/host_memory.h"
#include "time/gpu/netlist.h"

static void copy_partition(struct gpu_instances *to, const struct partition *p)
{
  for (unsigned k = 0; k < p->n_slices; k++) to->l2[to->n_slices++] = p->slice[k].stats;
  for (unsigned k = 0; k < p->n_channels; k++) to->dram[to->n_channels++] = p->channel[k].stats;
}

struct gpu_instances instances_now(const struct netlist *n)
{
  unsigned slices = 0, channels = 0;
  for (unsigned i = 0; i < n->n_partitions; i++) {
    slices += n->partition[i].n_slices;
    channels += n->partition[i].n_channels;
  }
  struct gpu_instances x = {.n_sms = n->n_cores, .sm = mem_zeroed(n->n_cores, sizeof *x.sm),
                            .l2 = mem_zeroed(slices, sizeof *x.l2), .dram = mem_zeroed(channels, sizeof *x.dram)};
  for (unsigned i = 0; i < n->n_cores; i++) n->core[i]->ops->count_into(n->core[i], &x.sm[i]);
  for (unsigned i = 0; i < n->n_partitions; i++) copy_partition(&x, &n->partition[i]);
  return x;
}

void instances_since(struct gpu_instances *after, const struct gpu_instances *before)
{
  for (unsigned i = 0; i < after->n_sms; i++) {
    struct stat_group a = sm_stats_group("sm", &after->sm[i]);
    stat_diff(a, a, sm_stats_group("sm", &before->sm[i]));
  }
  for (unsigned i = 0; i < after->n_slices; i++) {
    struct stat_group a = l2_stats_group("l2", &after->l2[i]);
    stat_diff(a, a, l2_stats_group("l2", &before->l2[i]));
  }
  for (unsigned i = 0; i < after->n_channels; i++) {
    struct stat_group a = dram_stats_group("dram", &after->dram[i]);
    stat_diff(a, a, dram_stats_group("dram", &before->dram[i]));
  }
}

void instances_free(struct gpu_instances *x)
{
  mem_free(x->sm);
  mem_free(x->l2);
  mem_free(x->dram);
  *x = (struct gpu_instances){0};
}
