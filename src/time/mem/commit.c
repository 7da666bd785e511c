#include "time/mem/commit.h"

void commit_init(struct commit *m, struct arena *a, const struct params *p, struct xbar *x,
                 perform_fn *perform, void *ctx)
{
  *m = (struct commit){
      .xbar = x, .port = p->l2_slices, .n_sms = p->gpu_sms, .perform = perform, .ctx = ctx};
  m->log = ARENA_ARRAY(a, struct gmem_log *, m->n_sms);
  m->used = ARENA_ARRAY(a, struct gmem_log *, m->n_sms);
  m->next = ARENA_ARRAY(a, uint32_t, m->n_sms);
}

void commit_start(struct commit *m, struct gmem *image)
{
  m->direct = (struct gmem_view){.image = image};
  m->fault = (struct fault){0};
}

/* --- weak stores of the window ---------------------------------------------------------------- */

/* Each log is in cycle order already; a pass applies the earliest cycle's entries,
 * SM by SM. */
static void merge_logs(struct commit *m, unsigned n)
{
  struct gmem_log *const *log = m->used;
  uint32_t *next = m->next;
  for (unsigned k = 0; k < n; k++) next[k] = 0;
  for (uint64_t now = 0, then; now != UINT64_MAX; now = then) {
    then = UINT64_MAX;
    for (unsigned k = 0; k < n; k++) {
      const struct gmem_log *l = log[k];
      for (; next[k] < l->n && l->entry[next[k]].when <= now; next[k]++) {
        gmem_log_apply(l, next[k], m->direct.image);
        span_list_add(m->written, l->entry[next[k]].addr, l->entry[next[k]].len);
      }
      if (next[k] < l->n && l->entry[next[k]].when < then) then = l->entry[next[k]].when;
    }
  }
}

static void apply_logs(struct commit *m)
{
  unsigned n = 0;
  for (unsigned i = 0; i < m->n_sms; i++)
    if (m->log[i]->n) m->used[n++] = m->log[i];
  if (!n) return;
  merge_logs(m, n);
  for (unsigned k = 0; k < n; k++) gmem_log_clear(m->used[k]);
}

/* --- service calls ---------------------------------------------------------------------------- */

static bool serve(struct commit *m, picos now)
{
  struct mem_req r = *xbar_front(m->xbar, m->port);
  xbar_pop(m->xbar, m->port, now);
  m->stats.requests++;
  m->stats.service_calls++;
  if (!m->perform(m->ctx, &r, now, &m->direct, &m->fault)) return false;
  xbar_answer(m->xbar, m->port, &r, now, 0, false, 0);
  m->stats.replies++;
  return true;
}

/* --- part ------------------------------------------------------------------------------------- */

picos commit_run(void *self, picos from, picos to)
{
  struct commit *m = self;
  (void)from;
  xbar_look(m->xbar, m->port);
  picos next = TIME_NEVER;
  while (!m->fault.kind && (next = xbar_ready(m->xbar, m->port)) < to)
    if (!serve(m, next)) next = TIME_NEVER;
  apply_logs(m);
  xbar_link_move(m->xbar);
  return next;
}

uint64_t commit_progress(const void *self)
{
  const struct commit *m = self;
  return m->stats.requests;
}

bool commit_busy(const void *self)
{
  const struct commit *m = self;
  return xbar_requests_waiting(m->xbar, m->port) != 0;
}

void commit_dump(const void *self, FILE *out)
{
  const struct commit *m = self;
  fprintf(out, "  runtime services: %llu calls done, %u waiting\n",
          (unsigned long long)m->stats.service_calls, xbar_requests_waiting(m->xbar, m->port));
}
