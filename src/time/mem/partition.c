#include "time/mem/partition.h"

#include "base/arith.h"

void partition_init(struct partition *m, struct arena *a, const struct params *p, unsigned id,
                    struct xbar *x, perform_fn *perform, void *ctx, struct l2_rights *rights,
                    const struct l2_policy *policy)
{
  unsigned n = partition_count(p);
  *m = (struct partition){
      .id = id, .rights = rights, .n_slices = p->l2_slices / n, .n_channels = p->dram_channels / n};
  m->slice = ARENA_ARRAY(a, struct l2_slice, m->n_slices);
  m->channel = ARENA_ARRAY(a, struct dram, m->n_channels);
  unsigned reads = l2_slice_max_reads(p) * m->n_slices;
  unsigned merges = p->l2_mshr_entries * m->n_slices; /* lines on their way, as misses are */
  for (unsigned i = 0; i < m->n_channels; i++) dram_init(&m->channel[i], a, p, reads, reads, merges);
  for (unsigned i = 0; i < m->n_slices; i++)
    l2_slice_init(&m->slice[i], a, p, id * m->n_slices + i, i,
                  (struct l2_ports){.xbar = x, .channel = m->channel, .n_channels = m->n_channels,
                                    .slices = m->n_slices, .perform = perform, .ctx = ctx, .rights = rights,
                                    .policy = policy});
}

void partition_set_fetch(struct partition *m, unsigned bytes)
{
  for (unsigned i = 0; i < m->n_slices; i++) l2_slice_set_fetch(&m->slice[i], bytes);
}

void partition_reset_residency(struct partition *m)
{
  for (unsigned i = 0; i < m->n_slices; i++) l2_residency_reset(&m->slice[i].residency, &m->slice[i].tags);
}

void partition_free(struct partition *m)
{
  for (unsigned i = 0; i < m->n_slices; i++) l2_slice_free(&m->slice[i]);
}

void partition_cohere(struct partition *m, struct coherence *c, struct probe_net *probes)
{
  m->coherence = c;
  m->probes = probes;
  for (unsigned i = 0; i < m->n_slices; i++) l2_slice_cohere(&m->slice[i], c, probes);
}

void partition_start(struct partition *m, struct gmem *image)
{
  m->fault = (struct fault){0};
  for (unsigned i = 0; i < m->n_slices; i++) l2_slice_start(&m->slice[i], image);
}

/* A queue has room again: one slice that waited for it goes on, the slices in turn. If it does not
 * take the place after all, the next one gets it after its step. */
static void unblock(struct partition *m, picos now)
{
  for (unsigned k = 0, i = m->turn; k < m->n_slices; k++) {
    struct l2_slice *s = &m->slice[i];
    if (++i == m->n_slices) i = 0;
    if (!l2_slice_can_go_on(s)) continue;
    l2_slice_unblock(s, now);
    m->turn = i;
    return;
  }
}

static void dram_event(struct partition *m, struct dram *c, picos now)
{
  struct dram_answer a;
  if (dram_step(c, now, &a)) l2_slice_fill(&m->slice[a.slice], a.line, a.sectors, now);
}

/* Requests wait for rights: this is looked at behind each window. */
static picos end_gates(struct partition *m, picos next, picos to)
{
  for (unsigned i = 0; m->rights && i < m->n_slices; i++) {
    struct l2_slice *s = &m->slice[i];
    if (!l2_gate_waits(&s->gate)) continue;
    l2_slice_end_window(s, to);
    next = earlier(next, to);
  }
  return next;
}

/* Nothing is due before `next`. Queues fill up to the window's end. */
static picos end_window(struct partition *m, picos next, picos to)
{
  next = end_gates(m, next, to);
  for (unsigned i = 0; i < m->n_slices; i++) l2_slice_accept(&m->slice[i], to - 1);
  return next;
}

/* The first answer to a probe that is due, and its slice; TIME_NEVER: none. */
static picos first_answer(const struct partition *m, const struct l2_slice **of)
{
  picos first = TIME_NEVER;
  for (unsigned i = 0; i < m->n_slices; i++) {
    picos at = probe_net_next(m->probes, m->slice[i].id);
    if (at < first) first = at, *of = &m->slice[i];
  }
  return first;
}

/* Answers that come by the next event of slices and channels, `next`, or without one in this window. Returns when there
 * is something to do next. */
static picos take_answers(struct partition *m, picos next, picos to)
{
  const struct l2_slice *s = NULL;
  picos at;
  while ((at = first_answer(m, &s)) <= next && at < to) {
    const struct probe p = probe_net_pop(m->probes, s->id);
    m->coherence->answered(m->coherence, m->probes, s->id, &p, at);
  }
  return earlier(at, next);
}

/* Takes the first right that comes by the next event, `next`, in this window; those that came while the GPU stood come
 * at the window's beginning. Those that nobody waits for are looked at when somebody does. Only with m->rights. */
static bool take_grant(struct partition *m, picos next, picos from, picos to)
{
  const struct l2_grant *first = NULL;
  struct l2_slice *of = NULL;
  for (unsigned i = 0; i < m->n_slices; i++) {
    const struct l2_grant *g = l2_rights_granted(m->rights, m->slice[i].id);
    if (g && (!first || g->at < first->at)) first = g, of = &m->slice[i];
  }
  const picos at = first ? later(first->at, from) : TIME_NEVER;
  if (at > next || at >= to) return false;
  const struct l2_grant g = *first;
  l2_rights_pop(m->rights, of->id);
  l2_slice_grant(of, &g, at);
  return true;
}

/* Events in order of time; at the same time channels before slices, in order of their number. */
picos partition_run(void *self, picos from, picos to)
{
  struct partition *m = self;
  if (m->fault.kind) return TIME_NEVER;
  for (unsigned i = 0; i < m->n_slices; i++) l2_slice_look(&m->slice[i]);
  for (unsigned i = 0; m->coherence && i < m->n_slices; i++) probe_net_look(m->probes, m->slice[i].id);
  for (;;) {
    picos next = TIME_NEVER;
    struct dram *channel = NULL;
    struct l2_slice *slice = NULL;
    for (unsigned i = 0; i < m->n_channels; i++) {
      picos at = dram_next(&m->channel[i]);
      if (at < next) next = at, channel = &m->channel[i];
    }
    for (unsigned i = 0; i < m->n_slices; i++)
      if (m->slice[i].next < next) next = m->slice[i].next, slice = &m->slice[i];
    if (m->coherence) next = take_answers(m, next, to);
    if (m->rights && take_grant(m, next, from, to)) continue;
    if (next >= to) return end_window(m, next, to);
    if (!slice)
      dram_event(m, channel, next);
    else if (!l2_slice_step(slice, next, &m->fault))
      return TIME_NEVER;
    unblock(m, next);
  }
}

uint64_t partition_progress(const void *self)
{
  const struct partition *m = self;
  uint64_t n = 0;
  for (unsigned i = 0; i < m->n_slices; i++)
    n += m->slice[i].stats.requests + m->slice[i].stats.replies;
  return n;
}

bool partition_busy(const void *self)
{
  const struct partition *m = self;
  for (unsigned i = 0; i < m->n_slices; i++)
    if (l2_slice_busy(&m->slice[i]) || (m->coherence && probe_net_busy(m->probes, m->slice[i].id))) return true;
  for (unsigned i = 0; i < m->n_channels; i++)
    if (dram_busy(&m->channel[i])) return true;
  return false;
}

void partition_dump(const void *self, FILE *out)
{
  const struct partition *m = self;
  for (unsigned i = 0; i < m->n_slices; i++) {
    const struct l2_slice *s = &m->slice[i];
    fprintf(out, "  L2 slice %u: %u requests queued%s, %u in the crossbar, %u lines on their way, %u atomics\n",
            s->id, s->in.n, s->blocked ? " (blocked)" : "", xbar_requests_waiting(s->ports.xbar, s->id),
            s->misses.n, s->atomics.n);
  }
  for (unsigned i = 0; i < m->n_channels; i++) {
    const struct dram *c = &m->channel[i];
    fprintf(out, "  DRAM channel %u: %u reads, %u writes queued, %u answers on their way\n",
            m->id * m->n_channels + i, c->n[DRAM_READ], c->n[DRAM_WRITE], c->n_answers);
  }
}
