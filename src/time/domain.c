#include "time/domain.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/host_memory.h"

enum { HOST_LINE = 64 };

/* The parts that a thread runs first: always the same ones, for their state is in its host core's caches. Lines
 * that another core has written cost as much as some from memory. */
struct domain_share {
  _Alignas(2 * HOST_LINE) atomic_uint next; /* next entry of awake[] to take */
  unsigned end;
};

struct domain {
  struct domain_config cfg;
  picos now;
  picos from, to; /* the window being run */
  uint64_t windows; /* that have run */
  uint64_t quiet;   /* windows in which no part got anything done, up to now */
  atomic_bool moved; /* some part did in this one */
  struct part *group;  /* parts of the phase being run, */
  uint64_t *done;      /* and the progress of each when it ran last, or 0 */
  uint64_t *all_done;  /* of all phases */
  unsigned first[DOMAIN_MAX_PHASES]; /* of each phase, the first part that ran in this window; none: how many it has */
  unsigned *awake;     /* indices of those that have something to do */
  struct domain_share *share; /* per thread, the caller's first */
  unsigned n_shares;
  bool follows; /* another process lets it pass, and said this last: */
  struct domain_report report;
};

/* --- a window ---------------------------------------------------------------------------------- */

/* Only a part that runs gets anything done. */
static void run_part(struct domain *d, unsigned i)
{
  struct part *p = &d->group[i];
  p->next = p->ops->run(p->self, d->from, d->to);
  const uint64_t done = p->ops->progress(p->self);
  if (done == d->done[i]) return;
  d->done[i] = done;
  /* Once in a window: a host line that one thread writes all others miss. */
  if (!atomic_load_explicit(&d->moved, memory_order_relaxed))
    atomic_store_explicit(&d->moved, true, memory_order_relaxed);
}

/* Parts are taken one at a time, from the thread's own share first, then from those of the others: which thread
 * runs a part cannot change what the part does. */
static void run_shares(void *ctx, unsigned own)
{
  struct domain *d = ctx;
  for (unsigned k = 0; k < d->n_shares; k++) {
    struct domain_share *s = &d->share[(own + k) % d->n_shares];
    for (unsigned i; (i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed)) < s->end;)
      run_part(d, d->awake[i]);
  }
}

/* Runs the parts of a phase that have something to do, on all threads. Returns the first of them. */
static unsigned run_parallel(struct domain *d, const struct phase *p, struct team *team)
{
  unsigned n_awake = 0;
  for (unsigned t = 0, i = 0; t < d->n_shares; t++) {
    atomic_store_explicit(&d->share[t].next, n_awake, memory_order_relaxed);
    for (; i < p->n * (t + 1) / d->n_shares; i++)
      if (p->part[i].next < d->to) d->awake[n_awake++] = i;
    d->share[t].end = n_awake;
  }
  if (!n_awake) return p->n;
  const unsigned first = d->awake[0];
  /* Waking helpers for one part would cost more than the part. */
  if (d->n_shares > 1 && n_awake > 1) team_run(team, run_shares, d);
  else run_shares(d, 0);
  return first;
}

static void run_window(struct domain *d, struct team *team)
{
  atomic_store_explicit(&d->moved, false, memory_order_relaxed);
  d->windows++;
  d->done = d->all_done;
  for (unsigned k = 0; k < d->cfg.n_phases; k++) {
    const struct phase *p = &d->cfg.phase[k];
    d->group = p->part;
    if (p->serial)
      for (unsigned i = d->first[k] = 0; i < p->n; i++) run_part(d, i);
    else
      d->first[k] = run_parallel(d, p, team);
    d->done += p->n;
  }
  d->quiet = atomic_load_explicit(&d->moved, memory_order_relaxed) ? 0 : d->quiet + 1;
}

uint64_t domain_windows(const struct domain *d)
{
  return d->windows;
}

unsigned domain_first_run(const struct domain *d, unsigned phase)
{
  return d->first[phase];
}

/* --- looking at all parts ---------------------------------------------------------------------- */

/* Windows stay on the grid of W, whatever is skipped. */
picos domain_next(const struct domain *d)
{
  picos t = TIME_NEVER;
  for (unsigned k = 0; k < d->cfg.n_phases; k++)
    for (unsigned i = 0; i < d->cfg.phase[k].n; i++)
      if (d->cfg.phase[k].part[i].next < t) t = d->cfg.phase[k].part[i].next;
  if (t == TIME_NEVER) return t;
  return t > d->now ? t - t % d->cfg.window : d->now;
}

static bool anybody_waits(const struct domain *d)
{
  if (d->follows) return d->report.waits;
  for (unsigned k = 0; k < d->cfg.n_phases; k++) {
    const struct phase *p = &d->cfg.phase[k];
    for (unsigned i = 0; i < p->n; i++)
      if (p->part[i].ops->busy(p->part[i].self)) return true;
  }
  return false;
}

bool domain_is_quiet(const struct domain *d)
{
  return d->follows ? d->report.quiet : d->quiet > d->cfg.watchdog_windows;
}

enum domain_end domain_state(const struct domain *d)
{
  if (domain_next(d) == TIME_NEVER) return anybody_waits(d) ? DOMAIN_STUCK : DOMAIN_IDLE;
  return domain_is_quiet(d) ? DOMAIN_STUCK : DOMAIN_REACHED;
}

/* --- in several processes ----------------------------------------------------------------------- */

struct domain_report domain_report(const struct domain *d)
{
  struct domain_report r = {d->now, TIME_NEVER, anybody_waits(d), domain_is_quiet(d)};
  for (unsigned k = 0; k < d->cfg.n_phases; k++)
    for (unsigned i = 0; i < d->cfg.phase[k].n; i++)
      if (d->cfg.phase[k].part[i].next < r.next) r.next = d->cfg.phase[k].part[i].next;
  return r;
}

/* Its first part stands for all. */
void domain_follow(struct domain *d, const struct domain_report *r)
{
  d->follows = true;
  d->report = *r;
  d->now = r->now;
  for (unsigned k = 0; k < d->cfg.n_phases; k++)
    for (unsigned i = 0; i < d->cfg.phase[k].n; i++) d->cfg.phase[k].part[i].next = TIME_NEVER;
  d->cfg.phase[0].part[0].next = r->next;
}

void domain_dump(const struct domain *d, FILE *out)
{
  for (unsigned k = 0; k < d->cfg.n_phases; k++)
    for (unsigned i = 0; i < d->cfg.phase[k].n; i++) {
      const struct part *p = &d->cfg.phase[k].part[i];
      if (p->ops->busy(p->self)) p->ops->dump(p->self, out);
    }
}

/* --- building and running ----------------------------------------------------------------------- */

struct domain *domain_new(const struct domain_config *cfg)
{
  BUG_ON(cfg->window == 0 || cfg->n_phases > DOMAIN_MAX_PHASES);
  struct domain *d = mem_zeroed(1, sizeof *d);
  d->cfg = *cfg;
  unsigned most = 1, all = 1;
  for (unsigned k = 0; k < cfg->n_phases; k++) {
    if (!cfg->phase[k].serial && cfg->phase[k].n > most) most = cfg->phase[k].n;
    all += cfg->phase[k].n;
  }
  d->awake = mem_zeroed(most, sizeof *d->awake);
  d->all_done = mem_zeroed(all, sizeof *d->all_done);
  return d;
}

void domain_free(struct domain *d)
{
  if (!d) return;
  mem_free(d->share);
  mem_free(d->awake);
  mem_free(d->all_done);
  mem_free(d);
}

/* One share for each thread of the team. */
static void share_out(struct domain *d, const struct team *team)
{
  unsigned n = team ? team_threads(team) : 1;
  if (n <= d->n_shares) {
    d->n_shares = n;
    return;
  }
  mem_free(d->share);
  d->share = mem_zeroed_aligned(2 * HOST_LINE, n * sizeof *d->share);
  d->n_shares = n;
}

picos domain_now(const struct domain *d)
{
  return d->now;
}

void domain_idle_until(struct domain *d, picos when)
{
  if (when > d->now) d->now = when;
}

enum domain_end domain_advance(struct domain *d, picos until, struct team *team)
{
  share_out(d, team);
  for (;;) {
    d->from = domain_next(d);
    if (d->from == TIME_NEVER || d->from >= until) return DOMAIN_REACHED;
    d->to = d->now = d->from + d->cfg.window;
    run_window(d, team);
    if (!d->cfg.between(d->cfg.ctx, d->now)) return DOMAIN_NOTICE;
    if (domain_is_quiet(d)) return DOMAIN_STUCK;
  }
}

enum domain_end domain_run(struct domain *d, picos until, struct team *team)
{
  const enum domain_end end = domain_advance(d, until, team);
  return end == DOMAIN_REACHED && domain_next(d) == TIME_NEVER ? domain_state(d) : end;
}
