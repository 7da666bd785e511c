#include "time/gpu/netlist.h"

#include "base/arith.h"
#include "time/sm/sm_core.h"

/* --- a core and its side of the crossbar -------------------------------------------------------- */

struct core_node {
  struct core *core;
  struct xbar *xbar;
  struct probe_net *probes; /* NULL: the core takes none */
};

static picos node_run(void *self, picos from, picos to)
{
  struct core_node *n = self;
  struct core *c = n->core;
  xbar_deliver(n->xbar, c->id, c->in, to);
  if (c->out->n) c->ops->port_stood(c, xbar_stood(n->xbar, c->id, c->out, from));
  picos probe = n->probes ? probe_net_deliver(n->probes, c->id, c->probes, to) : TIME_NEVER;
  picos next = earlier(c->ops->part.run(c, from, to), probe), reply = xbar_sm_next(n->xbar, c->id);
  xbar_inject(n->xbar, c->id, c->out);
  if (n->probes) probe_net_answer(n->probes, c->id, c->probed);
  return reply < next && !c->fault->kind ? reply : next;
}

static uint64_t node_progress(const void *self)
{
  const struct core *c = ((const struct core_node *)self)->core;
  return c->ops->part.progress(c);
}

static bool node_busy(const void *self)
{
  const struct core *c = ((const struct core_node *)self)->core;
  return c->ops->part.busy(c);
}

static void node_dump(const void *self, FILE *out)
{
  const struct core *c = ((const struct core_node *)self)->core;
  c->ops->part.dump(c, out);
}

static const struct part_ops node_ops = {node_run, node_progress, node_busy, node_dump};
static const struct part_ops partition_ops = {partition_run, partition_progress, partition_busy,
                                              partition_dump};
static const struct part_ops commit_ops = {commit_run, commit_progress, commit_busy, commit_dump};
static const struct part_ops dispatcher_ops = {dispatcher_run, dispatcher_progress,
                                               dispatcher_busy, dispatcher_dump};

static const struct part_ops cluster_ops = {cluster_net_run, cluster_net_progress, cluster_net_busy, cluster_net_dump};

/* --- a requester and its side of the crossbar ----------------------------------------------------- */

struct requester_node {
  struct requester *r;
  struct xbar *xbar;
};

static picos requester_run(void *self, picos from, picos to)
{
  const struct requester_node *n = self;
  struct requester *r = n->r;
  xbar_deliver(n->xbar, r->id, &r->in, to);
  if (r->out.n) xbar_stood(n->xbar, r->id, &r->out, from);
  picos next = earlier(r->ops->part.run(r, from, to), xbar_sm_next(n->xbar, r->id));
  xbar_inject(n->xbar, r->id, &r->out);
  return next;
}

static uint64_t requester_progress(const void *self)
{
  const struct requester *r = ((const struct requester_node *)self)->r;
  return r->ops->part.progress(r);
}

static bool requester_busy(const void *self)
{
  const struct requester *r = ((const struct requester_node *)self)->r;
  return r->ops->part.busy(r);
}

static void requester_dump(const void *self, FILE *out)
{
  const struct requester *r = ((const struct requester_node *)self)->r;
  r->ops->part.dump(r, out);
}

static const struct part_ops requester_node_ops = {requester_run, requester_progress, requester_busy, requester_dump};

/* --- CTAs that are asked for ---------------------------------------------------------------------- */

/* The dispatcher runs behind whoever calls this, and may have another grid's CTAs to hand out now. */
static bool give_work(struct netlist *n, struct core *c, const struct mem_req *r, picos now)
{
  struct part *part = &n->serial[SERIAL_DISPATCHER];
  uint64_t cta = 0;
  const bool found = dispatcher_take(&n->dispatcher, r->grid, now, &cta);
  c->ops->give_work(c, r->txn, found, cta);
  part->next = earlier(part->next, dispatcher_next(&n->dispatcher));
  return true;
}

/* --- building --------------------------------------------------------------------------------- */

static bool perform_at(struct netlist *n, const struct mem_req *r, picos now, struct gmem_view *direct,
                       struct fault *f)
{
  if (r->from >= n->n_cores) {
    struct requester *x = n->requester[r->from - n->n_cores];
    return x->ops->perform(x, r, now, direct, f);
  }
  struct core *c = n->core[r->from];
  if (r->kind == REQ_WORK) return give_work(n, c, r, now);
  return c->ops->perform(c, r, now, direct, f);
}

static bool perform(void *ctx, const struct mem_req *r, picos now, struct gmem_view *direct, struct fault *f)
{
  struct netlist *n = ctx;
  const bool ok = perform_at(n, r, now, direct, f);
  if (n->written && r->kind == REQ_STRONG && mem_req_op(r->kind, r->op) != L2_OP_READ)
    span_list_add(n->written, line_number(r->line) * LINE_BYTES, LINE_BYTES);
  return ok;
}

static bool perform_cluster(void *ctx, unsigned core, unsigned txn, picos now, struct cluster_load *load,
                            struct fault *f)
{
  struct core *c = ((struct netlist *)ctx)->core[core];
  (void)now;
  return c->ops->perform_cluster(c, txn, load, f);
}

static void connect_core(struct netlist *n, unsigned i)
{
  struct core *c = n->core[i];
  struct part *part = &n->core_part[i];
  n->node[i] = (struct core_node){.core = c, .xbar = &n->xbar};
  *part = (struct part){&node_ops, &n->node[i], TIME_NEVER};
  n->xbar.reply[i].wake = &part->next;
  n->commit.log[i] = c->log;
  n->dispatcher.port[i].launches = c->launches;
  n->dispatcher.port[i].done = c->done;
  c->launches->wake = &part->next;
  c->cluster_in->wake = c->releases->wake = &part->next;
  n->clusters.port[i].in = c->cluster_out;
  n->clusters.port[i].answers = c->cluster_in;
  n->clusters.port[i].releases = c->releases;
}

/* The third channel, to the cores that have it. */
static void connect_probes(struct netlist *n, const struct params *p)
{
  for (unsigned i = 0; i < n->n_cores; i++) {
    if (!n->core[i]->probes) continue;
    if (!n->probes) probe_net_init(n->probes = ARENA_NEW(&n->arena, struct probe_net), &n->arena, p);
    n->probes->takes[i] = true;
    n->probes->core[i].wake = &n->core_part[i].next;
    n->node[i].probes = n->probes;
  }
  for (unsigned i = 0; n->probes && i < p->l2_slices; i++)
    n->probes->slice[i].wake = &n->partition_part[partition_of_slice(p, i)].next;
}

void netlist_cohere(struct netlist *n, struct coherence *c)
{
  BUG_ON(!n->probes);
  for (unsigned i = 0; i < n->n_partitions; i++) partition_cohere(&n->partition[i], c, n->probes);
}

/* Their ports pass what a copy engine does. */
static void connect_requesters(struct netlist *n, const struct params *p)
{
  for (unsigned i = 0; i < n->n_requesters; i++) {
    struct requester *r = n->requester[i];
    struct part *part = &n->core_part[n->n_cores + i];
    BUG_ON(r->id != n->n_cores + i);
    n->asker[i] = (struct requester_node){r, &n->xbar};
    *part = (struct part){&requester_node_ops, &n->asker[i], TIME_NEVER};
    n->xbar.reply[r->id].wake = r->wake = &part->next;
    xbar_port(&n->xbar, r->id, p->dma_bytes_per_cycle, p->dma_lines);
  }
}

static size_t core_bytes(const struct core_kind *k)
{
  enum { HOST_LINES = 128 };
  return round_up(k->bytes, HOST_LINES);
}

/* All in one array, for they are used again and again. */
static void build_cores(struct netlist *n, const struct params *p, const struct core_kind *const *kind)
{
  size_t bytes = 0;
  for (unsigned i = 0; i < n->n_cores; i++) bytes += core_bytes(kind ? kind[i] : &sm_kind);
  char *at = arena_alloc(&n->arena, bytes, 128);
  arena_dense(at, bytes);
  for (unsigned i = 0; i < n->n_cores; i++) {
    const struct core_kind *k = kind ? kind[i] : &sm_kind;
    n->core[i] = (struct core *)(void *)at;
    k->ops->init(n->core[i], &n->arena, p, i);
    connect_core(n, i);
    at += core_bytes(k);
  }
}

/* Runs beside the partitions: it receives from cores and answers them. */
static void connect_outward(struct netlist *n, const struct params *p)
{
  struct hub_out *h = n->outward;
  if (!h) return;
  struct part *part = &n->partition_part[n->n_partitions];
  *part = (struct part){&hub_out_ops, h, TIME_NEVER};
  h->xbar = &n->xbar;
  h->core = n->core;
  h->port.wake = n->xbar.request[p->l2_slices + 1].wake = &part->next;
  xbar_outward(&n->xbar, p->dma_bytes_per_cycle);
}

void netlist_walk(struct netlist *n, const struct params *p, struct page_tables *t)
{
  n->mmu = ARENA_NEW(&n->arena, struct mmu);
  t->driver_bits = p->vm_page_bits;
  mmu_init(n->mmu, &n->arena, t, n->n_cores, params_request_ps(p));
  for (unsigned i = 0; i < n->n_cores; i++) {
    struct core *c = n->core[i];
    if (!c->ops->walk) continue;
    c->ops->walk(c, &n->arena, t);
    c->page_answers->wake = &n->core_part[i].next;
    n->mmu->port[i] = (struct mmu_port){c->page_asks, c->page_answers};
  }
  n->serial[SERIAL_MORE] = (struct part){&mmu_ops, n->mmu, TIME_NEVER};
}

unsigned netlist_memory_parts(const struct netlist *n)
{
  return n->n_partitions + (n->outward != NULL);
}

unsigned netlist_serial_parts(const struct netlist *n)
{
  return n->mmu || n->outer ? SERIAL__N : SERIAL_MORE;
}

static bool ctas_done(void *ctx)
{
  const struct netlist *n = ctx;
  return n->dispatcher.done == n->dispatcher.ctas;
}

void netlist_replace_memory(struct netlist *n, const struct params *p, const struct outer_port *port)
{
  n->outer = ARENA_NEW(&n->arena, struct outer_memory);
  outer_memory_init(n->outer, &n->arena, p, port, n->partition, n->n_partitions);
  n->outer->done = ctas_done;
  n->outer->ctx = n;
  const unsigned channels = p->dram_channels / n->n_partitions;
  for (unsigned i = 0; i < p->dram_channels; i++) n->outer->channel[i].wake = &n->partition_part[i / channels].next;
  n->serial[SERIAL_MORE] = (struct part){&outer_memory_ops, n->outer, TIME_NEVER};
}

static void build_memory(struct netlist *n, const struct params *p, struct l2_rights *rights)
{
  n->n_partitions = partition_count(p);
  if (rights) l2_rights_open(rights, p->l2_slices);
  n->partition = ARENA_ARRAY(&n->arena, struct partition, n->n_partitions);
  n->partition_part = ARENA_ARRAY(&n->arena, struct part, n->n_partitions + 1);
  for (unsigned i = 0; i < n->n_partitions; i++) {
    partition_init(&n->partition[i], &n->arena, p, i, &n->xbar, perform, n, rights, &n->policy);
    n->partition_part[i] = (struct part){&partition_ops, &n->partition[i], TIME_NEVER};
  }
  for (unsigned s = 0; s < p->l2_slices; s++)
    n->xbar.request[s].wake = &n->partition_part[partition_of_slice(p, s)].next;
  n->xbar.request[p->l2_slices].wake = &n->serial[SERIAL_COMMIT].next;
  connect_outward(n, p);
}

void netlist_build(struct netlist *n, const struct params *p, const struct core_kind *const *kind,
                   struct requester *const *requester, unsigned n_requesters, struct hub_out *outward,
                   struct l2_rights *rights)
{
  *n = (struct netlist){.n_cores = p->gpu_sms, .n_ports = (unsigned)div_up(p->gpu_sms, p->noc_port_sms),
                        .requester = requester, .n_requesters = n_requesters, .outward = outward};
  n->core = ARENA_ARRAY(&n->arena, struct core *, n->n_cores);
  n->node = ARENA_ARRAY(&n->arena, struct core_node, n->n_cores);
  n->core_part = ARENA_ARRAY(&n->arena, struct part, n->n_cores + n_requesters);
  n->asker = ARENA_ARRAY(&n->arena, struct requester_node, n_requesters);
  xbar_init(&n->xbar, &n->arena, p, n_requesters);
  commit_init(&n->commit, &n->arena, p, &n->xbar, perform, n);
  dispatcher_init(&n->dispatcher, &n->arena, p, n->n_cores);
  cluster_net_init(&n->clusters, &n->arena, p, perform_cluster, n);
  build_memory(n, p, rights);
  build_cores(n, p, kind);
  connect_requesters(n, p);
  connect_probes(n, p);
  n->serial[SERIAL_COMMIT] = (struct part){&commit_ops, &n->commit, TIME_NEVER};
  n->serial[SERIAL_CLUSTERS] = (struct part){&cluster_ops, &n->clusters, TIME_NEVER};
  n->serial[SERIAL_DISPATCHER] = (struct part){&dispatcher_ops, &n->dispatcher, TIME_NEVER};
}

void netlist_free(struct netlist *n)
{
  for (unsigned i = 0; i < n->n_cores; i++) n->core[i]->ops->free(n->core[i]);
  for (unsigned i = 0; i < n->n_partitions; i++) partition_free(&n->partition[i]);
  if (n->outer) outer_memory_free(n->outer);
  xbar_free(&n->xbar);
  if (n->probes) probe_net_free(n->probes);
  arena_free(&n->arena);
}

void netlist_start_cores(struct netlist *n, struct gmem *image, bool control_bits)
{
  for (unsigned i = 0; i < n->n_cores; i++) {
    n->core[i]->ops->start(n->core[i], image, control_bits);
    n->core_part[i].next = TIME_NEVER;
  }
}

void netlist_start(struct netlist *n, struct gmem *image, picos now)
{
  for (unsigned i = 0; i < n->n_requesters; i++) n->requester[i]->ops->start(n->requester[i], image);
  if (n->outward) hub_out_start(n->outward, image);
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

void netlist_set_l2(struct netlist *n, const struct params *p, uint64_t aside_bytes, unsigned fetch_bytes)
{
  const uint64_t way = p->l2_bytes / p->l2_ways, ways = div_up(aside_bytes, way);
  n->policy.aside = (uint16_t)(ways < p->l2_ways ? ways : p->l2_ways);
  for (unsigned i = 0; i < n->n_partitions; i++) partition_set_fetch(&n->partition[i], fetch_bytes);
}

void netlist_reset_residency(struct netlist *n)
{
  for (unsigned i = 0; i < n->n_partitions; i++) partition_reset_residency(&n->partition[i]);
}

void netlist_open_grid(struct netlist *n, unsigned slot, struct step_source *source, const struct dispatch_grid *grid,
                       unsigned const_space, struct arena *a)
{
  struct part *part = &n->serial[SERIAL_DISPATCHER];
  for (unsigned i = 0; i < n->n_cores; i++) n->core[i]->ops->open_grid(n->core[i], slot, source, const_space, a);
  cluster_net_open(&n->clusters, slot, source);
  l2_policy_set(&n->policy, slot, &source->window, source->space);
  dispatcher_add(&n->dispatcher, slot, grid);
  if (dispatcher_next(&n->dispatcher) < part->next) part->next = dispatcher_next(&n->dispatcher);
}

void netlist_close_grid(struct netlist *n, unsigned slot)
{
  for (unsigned i = 0; i < n->n_cores; i++) n->core[i]->ops->close_grid(n->core[i], slot);
  cluster_net_close(&n->clusters, slot);
  dispatcher_remove(&n->dispatcher, slot);
}

bool netlist_cores_idle(const struct netlist *n)
{
  for (unsigned i = 0; i < n->n_cores; i++)
    if (n->core_part[i].ops->busy(n->core_part[i].self)) return false;
  return true;
}

bool netlist_grid_ended(const struct netlist *n, unsigned slot)
{
  const struct dispatch_grid *g = &n->dispatcher.grid[slot];
  if (g->done < g->n_ctas) return false;
  for (unsigned i = 0; i < n->n_cores; i++)
    if (n->core[i]->ops->holds_grid(n->core[i], slot)) return false;
  return true;
}

/* --- looking at all of it ----------------------------------------------------------------------- */

/* The dispatcher goes through SMs by number, and CTAs go to other ports first: neighbours have different ones. */
void netlist_share_ports(struct netlist *n, picos now, struct netlist_ran ran)
{
  if (!ran.cores && !n->ports_busy) return;
  n->ports_busy = false;
  for (unsigned port = 0; port < n->n_ports; port++) {
    unsigned busy = 0;
    for (unsigned i = port; i < n->n_cores; i += n->n_ports) busy += n->core[i]->ops->port_busy(n->core[i], now);
    for (unsigned i = port; i < n->n_cores; i += n->n_ports) *n->core[i]->port_users = busy > 1 ? busy : 1;
    n->ports_busy |= busy > 0;
  }
}

const struct fault *netlist_fault(const struct netlist *n, struct netlist_ran ran)
{
  for (unsigned i = 0; ran.cores && i < n->n_cores; i++)
    if (n->core[i]->fault->kind) return n->core[i]->fault;
  for (unsigned i = 0; ran.memory && i < n->n_partitions; i++)
    if (n->partition[i].fault.kind) return &n->partition[i].fault;
  if (n->clusters.fault.kind) return &n->clusters.fault;
  if (n->outward && n->outward->fault.kind) return &n->outward->fault;
  return n->commit.fault.kind ? &n->commit.fault : NULL;
}

picos netlist_last_answer(const struct netlist *n, unsigned slot)
{
  picos last = 0;
  for (unsigned i = 0; i < n->n_cores; i++) {
    picos at = n->core[i]->ops->last_answer(n->core[i], slot);
    if (at > last) last = at;
  }
  return last;
}

void netlist_sum(const struct netlist *n, struct netlist_stats *s)
{
  *s = (struct netlist_stats){.l2 = n->commit.stats};
  struct stat_group l2 = l2_stats_group("l2", &s->l2);
  struct stat_group dram = dram_stats_group("dram", &s->dram);
  for (unsigned i = 0; i < n->n_cores; i++) n->core[i]->ops->count_into(n->core[i], &s->sm);
  for (unsigned i = 0; i < n->n_requesters; i++)
    for (unsigned k = 0; k < L2_OP__N; k++) s->requester_sectors[k] += n->requester[i]->sent_sectors[k];
  if (n->outward) s->outward = n->outward->stats;
  for (unsigned i = 0; i < n->n_partitions; i++) {
    const struct partition *p = &n->partition[i];
    for (unsigned k = 0; k < p->n_slices; k++)
      stat_add(l2, l2_stats_group("l2", &p->slice[k].stats));
    for (unsigned k = 0; k < p->n_channels; k++)
      stat_add(dram, dram_stats_group("dram", &p->channel[k].stats));
  }
  xbar_sum(&n->xbar, &s->noc);
}

static void flow_of_partition(const struct partition *p, struct netlist_flow *f)
{
  for (unsigned k = 0; k < p->n_slices; k++) f->l2_sectors += stat_sum(p->slice[k].stats.op_sectors, L2_OP__N);
  for (unsigned k = 0; k < p->n_channels; k++)
    f->dram_bytes += p->channel[k].stats.dram_read_bytes + p->channel[k].stats.dram_write_bytes;
}

void netlist_flow(const struct netlist *n, struct netlist_flow *f)
{
  *f = (struct netlist_flow){0};
  for (unsigned i = 0; i < n->n_cores; i++) {
    f->insts += *n->core[i]->insts;
    if (n->core[i]->mem_busy) f->mem_busy += *n->core[i]->mem_busy;
    f->warps += n->dispatcher.port[i].used.warps;
  }
  for (unsigned i = 0; i < n->n_partitions; i++) flow_of_partition(&n->partition[i], f);
}

void netlist_since(struct netlist_stats *after, const struct netlist_stats *before)
{
  struct netlist_stats from = *before;
  stat_diff(sm_stats_group("sm", &after->sm), sm_stats_group("sm", &after->sm), sm_stats_group("sm", &from.sm));
  stat_diff(noc_stats_group("noc", &after->noc), noc_stats_group("noc", &after->noc),
            noc_stats_group("noc", &from.noc));
  stat_diff(l2_stats_group("l2", &after->l2), l2_stats_group("l2", &after->l2), l2_stats_group("l2", &from.l2));
  stat_diff(dram_stats_group("dram", &after->dram), dram_stats_group("dram", &after->dram),
            dram_stats_group("dram", &from.dram));
  for (unsigned k = 0; k < L2_OP__N; k++) {
    after->requester_sectors[k] -= from.requester_sectors[k];
    after->outward.sectors[k] -= from.outward.sectors[k];
  }
  after->outward.requests -= from.outward.requests;
  after->outward.replies -= from.outward.replies;
  after->outward.copied -= from.outward.copied;
  after->outward.reads -= from.outward.reads;
  after->outward.read_wait -= from.outward.read_wait;
}

void netlist_traffic(const struct netlist *n, unsigned slot, struct traffic *t)
{
  *t = (struct traffic){0};
  for (unsigned i = 0; i < n->n_partitions; i++)
    for (unsigned k = 0; k < n->partition[i].n_slices; k++) traffic_add(t, &n->partition[i].slice[k].by_grid[slot]);
}

static bool law(const char *what, uint64_t a, uint64_t b, struct err *e)
{
  if (a == b) return true;
  return err_set(e, "law broken: %s: %llu and %llu", what, (unsigned long long)a,
                 (unsigned long long)b);
}

bool netlist_check_laws(const struct netlist *n, const struct netlist_stats *s, struct err *e)
{
  const uint64_t read = s->l2.l2_read_sectors + s->outward.sectors[L2_OP_READ];
  if (s->sm.l1_miss_sectors > read)
    return err_set(e, "law broken: L1 misses %llu > reads of L2 and links %llu (sectors)",
                   (unsigned long long)s->sm.l1_miss_sectors, (unsigned long long)read);
  for (unsigned i = 0; i < L2_OP__N; i++)
    if (!law("sectors sent by SMs and other requesters, received by L2 and links, by operation",
             s->sm.sent_sectors[i] + s->requester_sectors[i], s->l2.op_sectors[i] + s->outward.sectors[i], e))
      return false;
  return law("sectors written by SMs, received by L2 and links", s->sm.l1_write_sectors + s->sm.copy_written_sectors,
             s->l2.l2_write_sectors + s->outward.copied, e) &&
         law("requests sent by SMs, taken by slices", s->noc.noc_requests, s->l2.requests + s->outward.requests, e) &&
         law("replies of slices, received by SMs", s->l2.replies + s->outward.replies, s->noc.noc_replies, e) &&
         law("bytes missed in L2 or written in part, read from DRAM",
             SECTOR_BYTES * (s->l2.l2_miss_sectors + s->l2.l2_companion_sectors + s->l2.l2_merged_sectors),
             s->dram.dram_read_bytes, e) &&
         law("bytes written back by L2, written to DRAM",
             SECTOR_BYTES * s->l2.l2_written_back_sectors, s->dram.dram_write_bytes, e) &&
         law("CTAs launched or taken over, of the grids", s->sm.ctas + n->dispatcher.taken, n->dispatcher.ctas, e);
}
