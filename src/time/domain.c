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
  uint64_t progress, quiet; /* of the parts when the last window ended; windows since it grew */
  struct part *group;  /* parts of the phase being run */
  unsigned *awake;     /* indices of those that have something to do */
  struct domain_share *share; /* per thread, the caller's first */
  unsigned n_shares;
  bool follows; /* another process lets it pass, and said this last: */
  struct domain_report report;
};

/* --- a window ---------------------------------------------------------------------------------- */

static void run_part(struct part *p, picos from, picos to)
{
  p->next = p->ops->run(p->self, from, to);
}

/* Parts are taken one at a time, from the thread's own share first, then from those of the others: which thread
 * runs a part cannot change what the part does. */
static void run_shares(void *ctx, unsigned own)
{
  struct domain *d = ctx;
  for (unsigned k = 0; k < d->n_shares; k++) {
    struct domain_share *s = &d->share[(own + k) % d->n_shares];
    for (unsigned i; (i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed)) < s->end;)
      run_part(&d->group[d->awake[i]], d->from, d->to);
  }
}

/* Runs the parts of a phase that have something to do, on all threads. */
static void run_parallel(struct domain *d, const struct phase *p, struct team *team)
{
  d->group = p->part;
  unsigned n_awake = 0;
  for (unsigned t = 0, i = 0; t < d->n_shares; t++) {
    atomic_store_explicit(&d->share[t].next, n_awake, memory_order_relaxed);
    for (; i < p->n * (t + 1) / d->n_shares; i++)
      if (p->part[i].next < d->to) d->awake[n_awake++] = i;
    d->share[t].end = n_awake;
  }
  /* Waking helpers for one part would cost more than the part. */
  if (d->n_shares > 1 && n_awake > 1) team_run(team, run_shares, d);
  else run_shares(d, 0);
}

static void run_window(struct domain *d, struct team *team)
{
  for (unsigned k = 0; k < d->cfg.n_phases; k++) {
    const struct phase *p = &d->cfg.phase[k];
    if (p->serial)
      for (unsigned i = 0; i < p->n; i++) run_part(&p->part[i], d->from, d->to);
    else
      run_parallel(d, p, team);
  }
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

static uint64_t total_progress(const struct domain *d)
{
  uint64_t sum = 0;
  for (unsigned k = 0; k < d->cfg.n_phases; k++)
    for (unsigned i = 0; i < d->cfg.phase[k].n; i++) {
      const struct part *p = &d->cfg.phase[k].part[i];
      sum += p->ops->progress(p->self);
    }
  return sum;
}

static void watch_progress(struct domain *d)
{
  uint64_t done = total_progress(d);
  d->quiet = done == d->progress ? d->quiet + 1 : 0;
  d->progress = done;
}

static bool watchdog_bites(const struct domain *d)
{
  return d->follows ? d->report.quiet : d->quiet > d->cfg.watchdog_windows;
}

enum domain_end domain_state(const struct domain *d)
{
  if (domain_next(d) == TIME_NEVER) return anybody_waits(d) ? DOMAIN_STUCK : DOMAIN_IDLE;
  return watchdog_bites(d) ? DOMAIN_STUCK : DOMAIN_REACHED;
}

/* --- in several processes ----------------------------------------------------------------------- */

struct domain_report domain_report(const struct domain *d)
{
  struct domain_report r = {d->now, TIME_NEVER, anybody_waits(d), watchdog_bites(d)};
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
  unsigned most = 1;
  for (unsigned k = 0; k < cfg->n_phases; k++)
    if (!cfg->phase[k].serial && cfg->phase[k].n > most) most = cfg->phase[k].n;
  d->awake = mem_zeroed(most, sizeof *d->awake);
  return d;
}

void domain_free(struct domain *d)
{
  if (!d) return;
  mem_free(d->share);
  mem_free(d->awake);
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

enum domain_end domain_run(struct domain *d, picos until, struct team *team)
{
  share_out(d, team);
  for (;;) {
    d->from = domain_next(d);
    if (d->from == TIME_NEVER) return domain_state(d);
    if (d->from >= until) return DOMAIN_REACHED;
    d->to = d->now = d->from + d->cfg.window;
    run_window(d, team);
    watch_progress(d);
    if (!d->cfg.between(d->cfg.ctx, d->now)) return DOMAIN_NOTICE;
    if (watchdog_bites(d)) return DOMAIN_STUCK;
  }
}
