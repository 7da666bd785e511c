#include "time/gpu/netlist.h"

/* --- an SM and its side of the crossbar -------------------------------------------------------- */

struct sm_node {
  struct sm *sm;
  struct xbar *xbar;
};

static picos node_run(void *self, picos from, picos to)
{
  struct sm_node *n = self;
  struct mem_unit *m = &n->sm->mem;
  xbar_deliver(n->xbar, n->sm->id, &m->in, to);
  if (m->out.n) mem_unit_port_stood(m, xbar_stood(n->xbar, n->sm->id, &m->out, from));
  picos next = sm_run(n->sm, from, to), reply = xbar_sm_next(n->xbar, n->sm->id);
  xbar_inject(n->xbar, n->sm->id, &m->out);
  return reply < next && !n->sm->fault.kind ? reply : next;
}

static uint64_t node_progress(const void *self)
{
  return sm_progress(((const struct sm_node *)self)->sm);
}

static bool node_busy(const void *self)
{
  return sm_busy(((const struct sm_node *)self)->sm);
}

static void node_dump(const void *self, FILE *out)
{
  sm_dump(((const struct sm_node *)self)->sm, out);
}

static const struct part_ops node_ops = {node_run, node_progress, node_busy, node_dump};
static const struct part_ops partition_ops = {partition_run, partition_progress, partition_busy,
                                              partition_dump};
static const struct part_ops commit_ops = {commit_run, commit_progress, commit_busy, commit_dump};
static const struct part_ops dispatcher_ops = {dispatcher_run, dispatcher_progress,
                                               dispatcher_busy, dispatcher_dump};

static const struct part_ops cluster_ops = {cluster_net_run, cluster_net_progress, cluster_net_busy, cluster_net_dump};

/* --- building --------------------------------------------------------------------------------- */

static bool perform(void *ctx, const struct mem_req *r, picos now, struct gmem_view *direct,
                    struct fault *f)
{
  struct netlist *n = ctx;
  return sm_perform(&n->sm[r->sm], r, now, direct, f);
}

static bool perform_cluster(void *ctx, unsigned sm, unsigned txn, picos now, struct cluster_load *load, struct fault *f)
{
  struct netlist *n = ctx;
  (void)now;
  return sm_perform_cluster(&n->sm[sm], txn, load, f);
}

static void build_sm(struct netlist *n, const struct params *p, unsigned i)
{
  struct sm *m = &n->sm[i];
  struct part *part = &n->sm_part[i];
  sm_init(m, &n->arena, p, i);
  n->node[i] = (struct sm_node){m, &n->xbar};
  *part = (struct part){&node_ops, &n->node[i], TIME_NEVER};
  n->xbar.reply[i].wake = &part->next;
  n->commit.log[i] = &m->log;
  n->dispatcher.port[i].launches = &m->launches;
  n->dispatcher.port[i].done = &m->done;
  m->launches.wake = &part->next;
  m->mem.cluster_in.wake = m->releases.wake = &part->next;
  n->clusters.port[i].in = &m->mem.cluster_out;
  n->clusters.port[i].answers = &m->mem.cluster_in;
  n->clusters.port[i].releases = &m->releases;
}

static void build_memory(struct netlist *n, const struct params *p)
{
  n->n_partitions = partition_count(p);
  n->partition = ARENA_ARRAY(&n->arena, struct partition, n->n_partitions);
  n->partition_part = ARENA_ARRAY(&n->arena, struct part, n->n_partitions);
  for (unsigned i = 0; i < n->n_partitions; i++) {
    partition_init(&n->partition[i], &n->arena, p, i, &n->xbar, perform, n);
    n->partition_part[i] = (struct part){&partition_ops, &n->partition[i], TIME_NEVER};
  }
  for (unsigned s = 0; s < p->l2_slices; s++)
    n->xbar.request[s].wake = &n->partition_part[partition_of_slice(p, s)].next;
  n->xbar.request[p->l2_slices].wake = &n->serial[SERIAL_COMMIT].next;
}

void netlist_build(struct netlist *n, const struct params *p)
{
  *n = (struct netlist){.n_sms = p->gpu_sms, .n_ports = (p->gpu_sms + p->noc_port_sms - 1) / p->noc_port_sms};
  n->sm = ARENA_ARRAY(&n->arena, struct sm, n->n_sms);
  arena_dense(n->sm, n->n_sms * sizeof *n->sm);
  n->node = ARENA_ARRAY(&n->arena, struct sm_node, n->n_sms);
  n->sm_part = ARENA_ARRAY(&n->arena, struct part, n->n_sms);
  xbar_init(&n->xbar, &n->arena, p);
  commit_init(&n->commit, &n->arena, p, &n->xbar, perform, n);
  dispatcher_init(&n->dispatcher, &n->arena, p, n->n_sms);
  cluster_net_init(&n->clusters, &n->arena, p, perform_cluster, n);
  build_memory(n, p);
  for (unsigned i = 0; i < n->n_sms; i++) build_sm(n, p, i);
  n->serial[SERIAL_COMMIT] = (struct part){&commit_ops, &n->commit, TIME_NEVER};
  n->serial[SERIAL_CLUSTERS] = (struct part){&cluster_ops, &n->clusters, TIME_NEVER};
  n->serial[SERIAL_DISPATCHER] = (struct part){&dispatcher_ops, &n->dispatcher, TIME_NEVER};
}

void netlist_check_hazards(struct netlist *n, const struct params *p)
{
  for (unsigned i = 0; i < n->n_sms; i++)
    for (unsigned c = 0; c < p->sm_sub_cores; c++) {
      struct hazard *h = hazard_new(&n->arena, p);
      n->sm[i].sub_core[c].hazard = h;
      n->sm[i].mem.client[c].hazard = h;
      n->sm[i].gmma.client[c].hazard = h;
    }
}

void netlist_emulate_hazards(struct netlist *n, const struct params *p)
{
  for (unsigned i = 0; i < n->n_sms; i++)
    for (unsigned c = 0; c < p->sm_sub_cores; c++) {
      struct emulate *m = emulate_new(&n->arena, p);
      n->sm[i].sub_core[c].emulate = m;
      n->sm[i].mem.client[c].emulate = m;
    }
}

void netlist_free(struct netlist *n)
{
  for (unsigned i = 0; i < n->n_sms; i++) {
    gmem_log_free(&n->sm[i].log);
    l1i_free(&n->sm[i].l1i);
  }
  for (unsigned i = 0; i < n->n_partitions; i++) partition_free(&n->partition[i]);
  xbar_free(&n->xbar);
  arena_free(&n->arena);
}

void netlist_start(struct netlist *n, struct gmem *image, bool control_bits, picos now)
{
  for (unsigned i = 0; i < n->n_sms; i++) {
    sm_start(&n->sm[i], image, control_bits);
    n->sm_part[i].next = TIME_NEVER;
  }
  commit_start(&n->commit, image);
  for (unsigned i = 0; i < n->n_partitions; i++) {
    partition_start(&n->partition[i], image);
    n->partition_part[i].next = TIME_NEVER;
  }
  cluster_net_start(&n->clusters);
  dispatcher_start(&n->dispatcher, now);
  n->serial[SERIAL_DISPATCHER].next = now;
}

/* --- grids -------------------------------------------------------------------------------------- */

void netlist_open_grid(struct netlist *n, unsigned slot, struct step_source *source, const struct dispatch_grid *grid,
                       unsigned const_space, struct arena *a)
{
  struct part *part = &n->serial[SERIAL_DISPATCHER];
  for (unsigned i = 0; i < n->n_sms; i++) sm_open_grid(&n->sm[i], slot, source, const_space, a);
  cluster_net_open(&n->clusters, slot, source);
  dispatcher_add(&n->dispatcher, slot, grid);
  if (dispatcher_next(&n->dispatcher) < part->next) part->next = dispatcher_next(&n->dispatcher);
}

void netlist_close_grid(struct netlist *n, unsigned slot)
{
  for (unsigned i = 0; i < n->n_sms; i++) sm_close_grid(&n->sm[i], slot);
  cluster_net_close(&n->clusters, slot);
  dispatcher_remove(&n->dispatcher, slot);
}

bool netlist_grid_ended(const struct netlist *n, unsigned slot)
{
  const struct dispatch_grid *g = &n->dispatcher.grid[slot];
  if (g->done < g->n_ctas) return false;
  for (unsigned i = 0; i < n->n_sms; i++)
    if (sm_holds_grid(&n->sm[i], slot)) return false;
  return true;
}

/* --- looking at all of it ----------------------------------------------------------------------- */

/* The dispatcher goes through SMs by number, and CTAs go to other ports first: neighbours have different ones. */
void netlist_share_ports(struct netlist *n, picos now)
{
  for (unsigned port = 0; port < n->n_ports; port++) {
    unsigned busy = 0;
    for (unsigned i = port; i < n->n_sms; i += n->n_ports) busy += mem_unit_port_busy(&n->sm[i].mem, now);
    for (unsigned i = port; i < n->n_sms; i += n->n_ports) n->sm[i].mem.port_users = busy > 1 ? busy : 1;
  }
}

const struct fault *netlist_fault(const struct netlist *n)
{
  for (unsigned i = 0; i < n->n_sms; i++)
    if (n->sm[i].fault.kind) return &n->sm[i].fault;
  for (unsigned i = 0; i < n->n_partitions; i++)
    if (n->partition[i].fault.kind) return &n->partition[i].fault;
  if (n->clusters.fault.kind) return &n->clusters.fault;
  return n->commit.fault.kind ? &n->commit.fault : NULL;
}

picos netlist_last_answer(const struct netlist *n, unsigned slot)
{
  picos last = 0;
  for (unsigned i = 0; i < n->n_sms; i++)
    if (n->sm[i].grid[slot].last_answer > last) last = n->sm[i].grid[slot].last_answer;
  return last;
}

void netlist_sum(const struct netlist *n, struct netlist_stats *s)
{
  *s = (struct netlist_stats){.l2 = n->commit.stats};
  struct stat_group sm = sm_stats_group("sm", &s->sm), l2 = l2_stats_group("l2", &s->l2);
  struct stat_group dram = dram_stats_group("dram", &s->dram);
  for (unsigned i = 0; i < n->n_sms; i++) stat_add(sm, sm_stats_group("sm", &n->sm[i].stats));
  for (unsigned i = 0; i < n->n_partitions; i++) {
    const struct partition *p = &n->partition[i];
    for (unsigned k = 0; k < p->n_slices; k++)
      stat_add(l2, l2_stats_group("l2", &p->slice[k].stats));
    for (unsigned k = 0; k < p->n_channels; k++)
      stat_add(dram, dram_stats_group("dram", &p->channel[k].stats));
  }
  xbar_sum(&n->xbar, &s->noc);
}

void netlist_since(struct netlist_stats *after, const struct netlist_stats *before)
{
  struct netlist_stats from = *before;
  stat_diff(sm_stats_group("sm", &after->sm), sm_stats_group("sm", &after->sm), sm_stats_group("sm", &from.sm));
  stat_diff(noc_stats_group("noc", &after->noc), noc_stats_group("noc", &after->noc), noc_stats_group("noc", &from.noc));
  stat_diff(l2_stats_group("l2", &after->l2), l2_stats_group("l2", &after->l2), l2_stats_group("l2", &from.l2));
  stat_diff(dram_stats_group("dram", &after->dram), dram_stats_group("dram", &after->dram),
            dram_stats_group("dram", &from.dram));
}

static bool law(const char *what, uint64_t a, uint64_t b, struct err *e)
{
  if (a == b) return true;
  return err_set(e, "law broken: %s: %llu and %llu", what, (unsigned long long)a,
                 (unsigned long long)b);
}

bool netlist_check_laws(const struct netlist *n, const struct netlist_stats *s, struct err *e)
{
  if (s->sm.l1_miss_sectors > s->l2.l2_read_sectors)
    return err_set(e, "law broken: L1 misses %llu > L2 reads %llu (sectors)",
                   (unsigned long long)s->sm.l1_miss_sectors,
                   (unsigned long long)s->l2.l2_read_sectors);
  for (unsigned i = 0; i < L2_OP__N; i++)
    if (!law("sectors sent by SMs, received by L2, by operation", s->sm.sent_sectors[i], s->l2.op_sectors[i], e))
      return false;
  return law("sectors written by SMs, received by L2", s->sm.l1_write_sectors + s->sm.copy_written_sectors,
             s->l2.l2_write_sectors, e) &&
         law("requests sent by SMs, taken by slices", s->noc.noc_requests, s->l2.requests, e) &&
         law("replies of slices, received by SMs", s->l2.replies, s->noc.noc_replies, e) &&
         law("bytes missed in L2 or written in part, read from DRAM",
             SECTOR_BYTES * (s->l2.l2_miss_sectors + s->l2.l2_merged_sectors), s->dram.dram_read_bytes, e) &&
         law("bytes written back by L2, written to DRAM",
             SECTOR_BYTES * s->l2.l2_written_back_sectors, s->dram.dram_write_bytes, e) &&
         law("CTAs launched, of the grids", s->sm.ctas, n->dispatcher.ctas, e);
}
