#include "time/machine/machine.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

struct machine {
  struct machine_config cfg;
  struct team *team;
  struct domain **domain;
  enum domain_end *end; /* of the epoch's run of each domain */
  picos *due;           /* of each domain, as the epoch begins: domain_next */
  /* The epoch being run. */
  unsigned *awake, n_awake; /* domains with something to do */
  atomic_uint next;         /* next entry of awake[] to take */
  picos to, now; /* it ends then; all have come so far */
};

struct machine *machine_new(const struct machine_config *cfg)
{
  BUG_ON(cfg->n_domains == 0 || cfg->epoch == 0);
  struct machine *m = mem_zeroed(1, sizeof *m);
  m->cfg = *cfg;
  m->domain = mem_zeroed(cfg->n_domains, sizeof *m->domain);
  m->end = mem_zeroed(cfg->n_domains, sizeof *m->end);
  m->due = mem_zeroed(cfg->n_domains, sizeof *m->due);
  m->awake = mem_zeroed(cfg->n_domains, sizeof *m->awake);
  for (unsigned i = 0; i < cfg->n_domains; i++) m->domain[i] = cfg->domain[i];
  m->team = team_new(cfg->threads);
  return m;
}

void machine_free(struct machine *m)
{
  if (!m) return;
  team_free(m->team);
  mem_free(m->domain);
  mem_free(m->end);
  mem_free(m->due);
  mem_free(m->awake);
  mem_free(m);
}

static void *insert(void *array, unsigned n, unsigned at, size_t size)
{
  char *more = mem_zeroed(n + 1, size);
  memcpy(more, array, at * size);
  memcpy(more + (at + 1) * size, (char *)array + at * size, (n - at) * size);
  mem_free(array);
  return more;
}

void machine_add(struct machine *m, struct domain *d, unsigned at)
{
  const unsigned n = m->cfg.n_domains++;
  BUG_ON(at > n);
  m->domain = insert(m->domain, n, at, sizeof *m->domain);
  m->end = insert(m->end, n, at, sizeof *m->end);
  m->due = insert(m->due, n, at, sizeof *m->due);
  m->awake = insert(m->awake, n, at, sizeof *m->awake);
  m->domain[at] = d;
  m->end[at] = DOMAIN_REACHED;
}

/* --- an epoch ---------------------------------------------------------------------------------- */

/* A domain that is stuck goes on to the end of the epoch all the same: others may free it. Alone it may not. */
static void run_domain(struct machine *m, unsigned i, struct team *team)
{
  struct domain *d = m->domain[i];
  do m->end[i] = domain_advance(d, m->to, team);
  while (m->end[i] == DOMAIN_STUCK && m->cfg.n_domains > 1 && domain_next(d) < m->to);
}

static void run_some(void *ctx, unsigned thread)
{
  struct machine *m = ctx;
  (void)thread;
  for (unsigned i; (i = atomic_fetch_add(&m->next, 1)) < m->n_awake;) run_domain(m, m->awake[i], NULL);
}

static void run_awake(struct machine *m)
{
  m->n_awake = 0;
  for (unsigned i = 0; i < m->cfg.n_domains; i++) {
    m->end[i] = DOMAIN_REACHED;
    if (m->due[i] < m->to) m->awake[m->n_awake++] = i;
  }
  if (m->cfg.ranks) m->n_awake = m->cfg.ranks->plan(m->cfg.ranks->ctx, m->to, m->awake, m->n_awake);
  if (m->n_awake == 1 || m->cfg.in_turn) {
    for (unsigned i = 0; i < m->n_awake; i++) run_domain(m, m->awake[i], m->team);
    return;
  }
  atomic_store(&m->next, 0);
  team_run(m->team, run_some, m);
}

/* How far all domains have come: one that gave notice stands inside the epoch, and sends from there on. */
static picos reached(const struct machine *m)
{
  picos t = m->to;
  for (unsigned i = 0; i < m->cfg.n_domains; i++)
    if (m->end[i] == DOMAIN_NOTICE && domain_now(m->domain[i]) < t) t = domain_now(m->domain[i]);
  return t;
}

static void run_machine_phase(struct machine *m, picos from)
{
  const picos to = m->now = reached(m);
  for (unsigned i = 0; i < m->cfg.n_parts; i++) {
    struct part *p = &m->cfg.part[i];
    p->next = p->ops->run(p->self, from, to);
  }
}

/* --- runs --------------------------------------------------------------------------------------- */

static picos earliest(struct machine *m)
{
  picos t = TIME_NEVER;
  for (unsigned i = 0; i < m->cfg.n_domains; i++) {
    picos next = m->due[i] = domain_next(m->domain[i]);
    if (next < t) t = next;
  }
  for (unsigned i = 0; i < m->cfg.n_parts; i++)
    if (m->cfg.part[i].next < t) t = m->cfg.part[i].next;
  return t;
}

/* REACHED: somebody has something to do. */
static enum machine_stop state(const struct machine *m)
{
  enum machine_stop all = MACHINE_IDLE;
  for (unsigned i = 0; i < m->cfg.n_domains; i++) {
    enum domain_end s = domain_state(m->domain[i]);
    if (s == DOMAIN_REACHED) return MACHINE_REACHED;
    if (s == DOMAIN_STUCK) all = MACHINE_STUCK;
  }
  for (unsigned i = 0; i < m->cfg.n_parts; i++) {
    const struct part *p = &m->cfg.part[i];
    if (p->next != TIME_NEVER) return MACHINE_REACHED;
    if (p->ops->busy(p->self)) all = MACHINE_STUCK;
  }
  return all;
}

static bool any_notice(const struct machine *m)
{
  for (unsigned i = 0; i < m->cfg.n_domains; i++)
    if (m->end[i] == DOMAIN_NOTICE) return true;
  return false;
}

/* A domain has been quiet for too long. */
static bool any_quiet(const struct machine *m)
{
  for (unsigned i = 0; i < m->cfg.n_domains; i++)
    if (domain_is_quiet(m->domain[i])) return true;
  return false;
}

static enum machine_stop run(struct machine *m, picos until)
{
  for (;;) {
    picos from = earliest(m);
    if (from == TIME_NEVER) return state(m);
    if (from >= until) {
      m->now = until;
      return MACHINE_REACHED;
    }
    m->to = until - from > m->cfg.epoch ? from + m->cfg.epoch : until;
    run_awake(m);
    if (m->cfg.ranks) m->cfg.ranks->meet(m->cfg.ranks->ctx, m->end);
    run_machine_phase(m, from);
    if (any_notice(m)) return MACHINE_NOTICE;
    if (any_quiet(m) && state(m) == MACHINE_STUCK) return MACHINE_STUCK; /* else it is seen where all wait, above */
  }
}

enum machine_stop machine_run(struct machine *m, picos until)
{
  const struct machine_ranks *ranks = m->cfg.ranks;
  if (ranks) ranks->begin(ranks->ctx, until);
  const enum machine_stop stop = run(m, until);
  if (ranks) ranks->end(ranks->ctx);
  return stop;
}

void machine_renew_threads(struct machine *m, unsigned threads)
{
  team_renew(m->team, threads ? threads : m->cfg.threads);
}

picos machine_now(const struct machine *m)
{
  return m->now;
}

void machine_dump(const struct machine *m, FILE *out)
{
  for (unsigned i = 0; i < m->cfg.n_domains; i++) domain_dump(m->domain[i], out);
  for (unsigned i = 0; i < m->cfg.n_parts; i++) m->cfg.part[i].ops->dump(m->cfg.part[i].self, out);
}
