#include "time/mem/l2_rights.h"

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"

void l2_rights_open(struct l2_rights *r, uint32_t n_slices)
{
  l2_rights_free(r);
  r->mail = mem_zeroed(n_slices, sizeof *r->mail);
  r->n_slices = n_slices;
}

static void add(struct l2_rights_stats *to, const struct l2_rights_stats *s)
{
#define X(id, what) to->id += s->id;
  L2_RIGHTS_STAT_LIST(X)
#undef X
}

struct l2_rights_stats l2_rights_sum(const struct l2_rights *r)
{
  struct l2_rights_stats s = r->past;
  for (uint32_t i = 0; i < r->n_slices; i++) add(&s, &r->mail[i].stats);
  return s;
}

void l2_rights_free(struct l2_rights *r)
{
  r->past = l2_rights_sum(r);
  for (uint32_t i = 0; i < r->n_slices; i++) mem_free(r->mail[i].ask), mem_free(r->mail[i].grant);
  mem_free(r->mail);
  r->mail = NULL;
  r->n_slices = 0;
}

/* --- the slice's side --------------------------------------------------------------------------- */

void l2_rights_ask(struct l2_rights *r, const struct l2_ask *a)
{
  struct l2_mail *m = &r->mail[a->slice];
  m->ask = mem_more(m->ask, m->n_asks, &m->room_asks, sizeof *m->ask);
  m->ask[m->n_asks++] = *a;
}

const struct l2_grant *l2_rights_granted(const struct l2_rights *r, uint32_t slice)
{
  const struct l2_mail *m = &r->mail[slice];
  return m->first_grant < m->n_grants ? &m->grant[m->first_grant] : NULL;
}

void l2_rights_pop(struct l2_rights *r, uint32_t slice)
{
  struct l2_mail *m = &r->mail[slice];
  BUG_ON(m->first_grant == m->n_grants);
  if (++m->first_grant == m->n_grants) m->first_grant = m->n_grants = 0;
}

/* --- the CPUs' side ----------------------------------------------------------------------------- */

/* The slice whose first ask behind next[] is the earliest; n_slices: none is left. */
static uint32_t earliest(const struct l2_rights *r, const uint32_t *next)
{
  uint32_t best = r->n_slices;
  for (uint32_t i = 0; i < r->n_slices; i++) {
    const struct l2_mail *m = &r->mail[i];
    if (next[i] == m->n_asks) continue;
    if (best == r->n_slices || m->ask[next[i]].at < r->mail[best].ask[next[best]].at) best = i;
  }
  return best;
}

static picos program_time(const struct l2_rights *r, picos at)
{
  return at > r->skew ? at - r->skew : 0;
}

void l2_rights_take(struct l2_rights *r, void (*see)(void *ctx, const struct l2_ask *), void *ctx)
{
  uint32_t any = 0;
  for (uint32_t i = 0; i < r->n_slices; i++) any |= r->mail[i].n_asks;
  if (!any) return;
  uint32_t *next = mem_zeroed(r->n_slices, sizeof *next);
  for (uint32_t i; (i = earliest(r, next)) < r->n_slices;) {
    struct l2_ask a = r->mail[i].ask[next[i]++];
    a.at = program_time(r, a.at);
    see(ctx, &a);
  }
  for (uint32_t i = 0; i < r->n_slices; i++) r->mail[i].n_asks = 0;
  mem_free(next);
}

void l2_rights_grant(struct l2_rights *r, uint32_t slice, const struct l2_grant *g)
{
  BUG_ON(slice >= r->n_slices);
  struct l2_mail *m = &r->mail[slice];
  m->grant = mem_more(m->grant, m->n_grants, &m->room_grants, sizeof *m->grant);
  const picos at = g->at + r->skew;
  uint32_t i = m->n_grants++;
  for (; i > m->first_grant && m->grant[i - 1].at > at; i--) m->grant[i] = m->grant[i - 1];
  m->grant[i] = *g;
  m->grant[i].at = at;
}
