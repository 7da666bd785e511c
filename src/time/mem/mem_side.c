#include "time/mem/mem_side.h"

#include "base/bits.h"

static uint64_t femtos(double bytes_per_second)
{
  return (uint64_t)(1e15 / bytes_per_second + 0.5);
}

void mem_side_init(struct mem_side *m, struct arena *a, const struct params *p, unsigned n_ports)
{
  *m = (struct mem_side){.params = p, .n_ports = n_ports};
  m->port = ARENA_ARRAY(a, struct mem_port, n_ports);
  m->heap = ARENA_ARRAY(a, uint16_t, n_ports);
  m->log_next = ARENA_ARRAY(a, uint32_t, n_ports);
  l2_init(&m->l2, a, p);
  picos clock = params_clock_ps(p);
  double hz = (double)p->gpu_clock_khz * 1e3;
  m->l2_rate.femtos_per_byte = femtos(p->l2_bytes_per_cycle * hz);
  m->dram_rate.femtos_per_byte =
      femtos((double)params_dram_bytes_per_second(p) * p->dram_efficiency_permille / 1000.0);
  for (unsigned i = 0; i < n_ports; i++)
    m->port[i].reply.femtos_per_byte = femtos(p->noc_sm_reply_bytes * hz);
  /* Load-to-use latencies are whole round trips; an L1 hit (mlat.raw) and both ways of the
   * interconnect are spent elsewhere. */
  uint32_t elsewhere =
      p->mlat_raw[MLAT_LDG_REGULAR] + p->noc_request_latency + p->noc_reply_latency;
  BUG_ON(p->l2_latency < elsewhere); /* params_check */
  m->l2_extra = (p->l2_latency - elsewhere) * clock;
  m->dram_extra = (p->dram_latency - p->l2_latency) * clock;
  m->reply_latency = p->noc_reply_latency * clock;
  m->atomic_extra = p->l2_atomic_cycles * clock;
}

void mem_side_start(struct mem_side *m, struct gmem *image)
{
  m->direct = (struct gmem_view){.image = image};
  m->stats = (struct mem_stats){0};
  m->faulted = false;
}

/* --- requests in order of arrival: a heap of the ports' fronts ---------------------------------
 * */

static bool before(const struct mem_side *m, unsigned a, unsigned b)
{
  picos ta = req_queue_front(m->port[a].in)->arrive, tb = req_queue_front(m->port[b].in)->arrive;
  return ta != tb ? ta < tb : a < b;
}

static void sift_down(struct mem_side *m, unsigned i)
{
  for (;;) {
    unsigned least = i, l = 2 * i + 1, r = l + 1;
    if (l < m->n_heap && before(m, m->heap[l], m->heap[least])) least = l;
    if (r < m->n_heap && before(m, m->heap[r], m->heap[least])) least = r;
    if (least == i) return;
    uint16_t t = m->heap[i];
    m->heap[i] = m->heap[least];
    m->heap[least] = t;
    i = least;
  }
}

static void heap_build(struct mem_side *m)
{
  m->n_heap = 0;
  for (unsigned i = 0; i < m->n_ports; i++)
    if (m->port[i].in->n) m->heap[m->n_heap++] = (uint16_t)i;
  for (unsigned i = m->n_heap / 2; i-- > 0;) sift_down(m, i);
}

/* --- service ---------------------------------------------------------------------------------- */

static void reply(struct mem_side *m, const struct mem_req *r, picos ready, unsigned bytes)
{
  struct mem_port *p = &m->port[r->sm];
  picos at = server_take(&p->reply, ready, bytes) + m->reply_latency;
  if (at < p->last_reply) at = p->last_reply;
  p->last_reply = at;
  reply_queue_push(p->out, (struct mem_reply){at, r->line, r->txn, r->kind, r->sectors});
  m->stats.replies++;
}

/* Time at which the sectors are readable in L2, having gone to DRAM for those that miss. */
static picos fetch_sectors(struct mem_side *m, const struct mem_req *r, picos at)
{
  struct mem_stats *s = &m->stats;
  struct l2_access x = l2_read(&m->l2, r->line, r->sectors);
  unsigned all = bits_count(r->sectors), hit = bits_count(x.hit), missed = all - hit;
  s->l2_read_sectors += all;
  s->l2_hit_sectors += hit;
  s->l2_miss_sectors += missed;
  s->dram_read_bytes += missed * SECTOR_BYTES;
  s->dram_write_bytes += (uint64_t)x.written_back * SECTOR_BYTES;
  if (x.written_back) server_take(&m->dram_rate, at, (uint64_t)x.written_back * SECTOR_BYTES);
  if (!missed) return at;
  return server_take(&m->dram_rate, at, (uint64_t)missed * SECTOR_BYTES) + m->dram_extra;
}

static bool serve(struct mem_side *m, const struct mem_req *r)
{
  unsigned bytes = bits_count(r->sectors) * SECTOR_BYTES;
  picos at = server_take(&m->l2_rate, r->arrive, bytes) + m->l2_extra;
  m->stats.requests++;
  switch ((enum req_kind)r->kind) {
  case REQ_READ: reply(m, r, fetch_sectors(m, r, at), bytes); break;
  case REQ_WRITE: {
    struct l2_access x = l2_write(&m->l2, r->line, r->sectors);
    m->stats.l2_write_sectors += bits_count(r->sectors);
    m->stats.dram_write_bytes += (uint64_t)x.written_back * SECTOR_BYTES;
    if (x.written_back) server_take(&m->dram_rate, at, (uint64_t)x.written_back * SECTOR_BYTES);
    reply(m, r, at, 0);
    break;
  }
  case REQ_STRONG:
    m->stats.strong_requests++;
    if (!m->perform(m->ctx, r->sm, r->txn, REQ_STRONG, r->arrive, &m->direct)) return false;
    reply(m, r, fetch_sectors(m, r, at) + m->atomic_extra, bytes);
    l2_write(&m->l2, r->line, r->sectors);
    break;
  case REQ_SERVICE:
    m->stats.service_calls++;
    if (!m->perform(m->ctx, r->sm, r->txn, REQ_SERVICE, r->arrive, &m->direct)) return false;
    reply(m, r, at, 0);
    break;
  }
  return true;
}

/* --- weak stores of the window ---------------------------------------------------------------- */

/* Merges the logs: the k-th entries of all ports are in cycle order already, so each pass applies
 * the earliest cycle's entries, port by port. */
static void apply_logs(struct mem_side *m)
{
  unsigned n = 0;
  for (unsigned i = 0; i < m->n_ports; i++)
    if (m->port[i].log->n) m->heap[n++] = (uint16_t)i;
  uint32_t *next = m->log_next;
  for (unsigned k = 0; k < n; k++) next[k] = 0;
  for (unsigned left = n; left;) {
    uint64_t first = UINT64_MAX;
    for (unsigned k = 0; k < n; k++) {
      const struct gmem_log *l = m->port[m->heap[k]].log;
      if (next[k] < l->n && l->entry[next[k]].when < first) first = l->entry[next[k]].when;
    }
    for (unsigned k = 0; k < n; k++) {
      const struct gmem_log *l = m->port[m->heap[k]].log;
      bool had = next[k] < l->n;
      while (next[k] < l->n && l->entry[next[k]].when == first)
        gmem_log_apply(l, next[k]++, m->direct.image);
      if (had && next[k] == l->n) left--;
    }
  }
  for (unsigned k = 0; k < n; k++) gmem_log_clear(m->port[m->heap[k]].log);
}

/* --- part ------------------------------------------------------------------------------------- */

picos mem_side_run(void *self, picos from, picos to)
{
  struct mem_side *m = self;
  (void)from;
  heap_build(m);
  while (m->n_heap && !m->faulted) {
    struct req_queue *q = m->port[m->heap[0]].in;
    if (req_queue_front(q)->arrive >= to) break;
    m->faulted = !serve(m, req_queue_front(q));
    req_queue_pop(q);
    if (!q->n) m->heap[0] = m->heap[--m->n_heap];
    sift_down(m, 0);
  }
  picos next =
      m->n_heap && !m->faulted ? req_queue_front(m->port[m->heap[0]].in)->arrive : TIME_NEVER;
  apply_logs(m);
  return next;
}

uint64_t mem_side_progress(const void *self)
{
  const struct mem_side *m = self;
  return m->stats.requests;
}

bool mem_side_busy(const void *self)
{
  const struct mem_side *m = self;
  for (unsigned i = 0; i < m->n_ports; i++)
    if (m->port[i].in->n) return true;
  return false;
}

void mem_side_dump(const void *self, FILE *out)
{
  const struct mem_side *m = self;
  fprintf(out, "  memory side: %llu requests served, %llu answered\n",
          (unsigned long long)m->stats.requests, (unsigned long long)m->stats.replies);
}
