#include "time/gpu/dispatcher.h"

#include <string.h>

#include "base/arith.h"

void dispatcher_init(struct dispatcher *d, struct arena *a, const struct params *p,
                     unsigned n_ports)
{
  picos clock = params_clock_ps(p);
  *d = (struct dispatcher){
      .n_ports = n_ports,
      .n_gpcs = p->gpu_gpcs,
      .port = ARENA_ARRAY(a, struct dispatch_port, n_ports),
      .space = sm_space_of(p),
      .interval = p->launch_cta_interval_x100 * clock / 100,
      .latency = p->launch_cta_latency * clock,
      .launch_latency = p->launch_latency_cycles * clock,
      .graph_latency = p->launch_graph_cycles * clock,
      .notice = p->launch_cta_latency * clock + params_request_ps(p),
  };
  for (unsigned i = 0; i < n_ports; i++) d->port[i].gpc = params_gpc(p, i), d->port[i].sm = i;
}

void dispatcher_start(struct dispatcher *d, picos now)
{
  d->n_waiting = d->n_silent = d->next_port = d->next_gpc = 0;
  d->until = now;
  d->ctas = d->handed = d->done = d->taken = 0;
  d->look = false;
  d->n_masked = 0;
  d->next_launch = now;
  memset(d->grid, 0, sizeof d->grid);
  for (unsigned i = 0; i < d->n_ports; i++) {
    d->port[i].used = (struct sm_space){0};
    memset(d->port[i].resident, 0, sizeof d->port[i].resident);
  }
}

/* When the first CTA of a grid can go. */
static picos due(const struct dispatcher *d, unsigned slot)
{
  const struct dispatch_grid *g = &d->grid[slot];
  return g->start + (g->prepared ? d->graph_latency : d->launch_latency);
}

/* The first in the queue, or while that is still on its way the first of a lower priority that is not. */
static unsigned first_due(const struct dispatcher *d)
{
  for (unsigned i = 0; i < d->n_waiting;) {
    unsigned slot = d->waiting[i];
    if (due(d, slot) < d->until) return slot;
    while (i < d->n_waiting && d->grid[d->waiting[i]].priority == d->grid[slot].priority) i++;
  }
  return d->waiting[0];
}

/* One of a higher priority would get room, were CTAs to end. */
static bool first_waits_above(const struct dispatcher *d, int priority)
{
  return d->n_waiting && d->grid[first_due(d)].priority > priority;
}

static void set_head(struct dispatcher *d)
{
  d->head = first_due(d);
  d->look = d->n_waiting > 0;
}

static void choose_head(struct dispatcher *d, picos until)
{
  d->until = until;
  if (d->n_waiting && first_due(d) != d->head) set_head(d);
}

static void enter_queue(struct dispatcher *d, unsigned slot)
{
  unsigned at = d->n_waiting++;
  for (; at && d->grid[d->waiting[at - 1]].priority < d->grid[slot].priority; at--) d->waiting[at] = d->waiting[at - 1];
  d->waiting[at] = (uint8_t)slot;
  if (d->n_waiting == 1) set_head(d);
}

static unsigned sms_of(const struct dispatcher *d, const struct dispatch_grid *g)
{
  return g->cores ? core_set_count(g->cores) : d->n_ports;
}

void dispatcher_add(struct dispatcher *d, unsigned slot, const struct dispatch_grid *grid)
{
  struct dispatch_grid *g = &d->grid[slot];
  uint64_t wave = (uint64_t)sms_of(d, grid) * grid->per_sm;
  BUG_ON(slot >= GRID_SLOTS || d->n_waiting == GRID_SLOTS);
  *g = *grid;
  g->next_cta = g->done = 0;
  g->announced = false;
  d->n_silent++;
  g->last_done = g->start;
  g->mark_first = wave;
  g->mark_step = g->n_ctas > 2 * wave ? (g->n_ctas - 2 * wave) / (DISPATCH_MARKS - 1) : 0;
  g->n_marks = 0;
  d->ctas += g->n_ctas;
  d->n_masked += g->cores != NULL;
  enter_queue(d, slot);
  if (d->n_masked) set_head(d);
}

static void leave_queue(struct dispatcher *d, unsigned slot)
{
  unsigned i = 0;
  while (d->waiting[i] != slot) i++;
  memmove(&d->waiting[i], &d->waiting[i + 1], --d->n_waiting - i);
  if (slot == d->head) set_head(d);
}

void dispatcher_remove(struct dispatcher *d, unsigned slot)
{
  struct dispatch_grid *g = &d->grid[slot];
  BUG_ON(g->next_cta > 0 && g->done < g->n_ctas);
  if (!g->announced && g->n_ctas) d->n_silent--;
  if (g->done < g->n_ctas) {
    d->ctas -= g->n_ctas;
    leave_queue(d, slot);
  }
  if (d->n_masked) set_head(d);
  d->n_masked -= g->cores != NULL;
  *g = (struct dispatch_grid){0};
}

/* --- room ------------------------------------------------------------------------------------- */

/* While there are masks: the SM is one of the grid's, and of none that waits before it. */
static bool may_use(const struct dispatcher *d, const struct dispatch_grid *g, unsigned sm)
{
  return (!g->cores || core_set_has(g->cores, sm)) && !core_set_has(&d->used_up, sm);
}

static bool has_room(const struct dispatcher *d, const struct dispatch_port *p)
{
  const struct dispatch_grid *g = &d->grid[d->head];
  const struct sm_space *has = &d->space, *used = &p->used, *cta = &g->cta;
  uint32_t shared = used->ctas ? p->carveout : g->carveout;
  if (d->n_masked && !may_use(d, g, p->sm)) return false;
  return p->resident[d->head] < g->per_sm && used->ctas + cta->ctas <= has->ctas &&
         used->warps + cta->warps <= has->warps && used->registers + cta->registers <= has->registers &&
         used->shared + cta->shared <= shared;
}

static void take(struct sm_space *s, const struct sm_space *cta)
{
  s->ctas += cta->ctas;
  s->warps += cta->warps;
  s->registers += cta->registers;
  s->shared += cta->shared;
}

static void give(struct sm_space *s, const struct sm_space *cta)
{
  s->ctas -= cta->ctas;
  s->warps -= cta->warps;
  s->registers -= cta->registers;
  s->shared -= cta->shared;
}

/* --- handing out ------------------------------------------------------------------------------ */

/* When the first CTA of the head can go; TIME_NEVER: there is no grid left. */
static picos head_at(const struct dispatcher *d)
{
  return d->n_waiting ? due(d, d->head) : TIME_NEVER;
}

static uint64_t cta_at(const struct dispatch_grid *g, uint64_t i)
{
  return g->source ? step_cta_at(g->source, i) : i;
}

static void launch(struct dispatcher *d, struct dispatch_port *p, picos now)
{
  struct dispatch_grid *g = &d->grid[d->head];
  picos at = later(later(d->next_launch, now), head_at(d));
  d->next_launch = at + d->interval;
  if (p->used.ctas == 0) p->carveout = g->carveout;
  take(&p->used, &g->cta);
  p->resident[d->head]++;
  launch_queue_push(p->launches, (struct cta_launch){.arrive = at + d->latency, .cta = cta_at(g, g->next_cta++),
                                                     .grid = d->head, .carveout = p->carveout});
  d->handed++;
  if (g->next_cta == g->n_ctas) leave_queue(d, d->head);
}

/* As many SMs as will have CTAs of it share the work. They hear of it before the first CTA comes. */
static void announce(struct dispatcher *d, unsigned slot, picos from)
{
  struct dispatch_grid *g = &d->grid[slot];
  picos arrive = later(earlier(g->start + d->notice, due(d, slot) + d->latency), from + d->latency);
  g->announced = true;
  d->n_silent--;
  for (unsigned i = 0, n = 0; i < d->n_ports && n < g->n_ctas; i++) {
    if (g->cores && !core_set_has(g->cores, i)) continue;
    launch_queue_push(d->port[i].launches,
                      (struct cta_launch){.arrive = arrive, .cta = n++, .grid = slot, .announced = true});
  }
}

static void announce_due(struct dispatcher *d, picos from, picos to)
{
  for (unsigned i = 0; i < d->n_waiting; i++) {
    const struct dispatch_grid *g = &d->grid[d->waiting[i]];
    if (!g->announced && g->start < to) announce(d, d->waiting[i], from);
  }
}

static picos next_announcement(const struct dispatcher *d)
{
  picos next = TIME_NEVER;
  for (unsigned i = 0; i < d->n_waiting; i++) {
    const struct dispatch_grid *g = &d->grid[d->waiting[i]];
    if (!g->announced && g->start < next) next = g->start;
  }
  return next;
}

/* Next SM in turn with room, NULL when all are full. */
static struct dispatch_port *next_with_room(struct dispatcher *d)
{
  for (unsigned k = 0; k < d->n_ports; k++) {
    struct dispatch_port *p = &d->port[(d->next_port + k) % d->n_ports];
    if (!has_room(d, p)) continue;
    d->next_port = (unsigned)((p - d->port) + 1) % d->n_ports;
    return p;
  }
  return NULL;
}

/* CTAs that the head hands out together. */
static unsigned cluster_size(const struct dispatcher *d)
{
  const struct step_source *s = d->n_waiting ? d->grid[d->head].source : NULL;
  return s ? step_cluster_ctas(s) : 1;
}

/* CTAs of the head for which an SM has room, at most n. */
static uint64_t room_for(const struct dispatcher *d, const struct dispatch_port *p, uint64_t n)
{
  struct dispatch_port q = *p;
  const struct dispatch_grid *g = &d->grid[d->head];
  uint64_t k = 0;
  for (; k < n && has_room(d, &q); k++) {
    if (q.used.ctas == 0) q.carveout = g->carveout;
    take(&q.used, &g->cta);
    q.resident[d->head]++;
  }
  return k;
}

/* The head is a gang that has to wait for room. */
static bool gang_waits(const struct dispatcher *d)
{
  const struct dispatch_grid *g = &d->grid[d->head];
  if (!d->n_waiting || !g->gang || g->next_cta) return false;
  uint64_t room = 0;
  for (unsigned i = 0; i < d->n_ports && room < g->n_ctas; i++) room += room_for(d, &d->port[i], g->n_ctas - room);
  return room < g->n_ctas;
}

/* SM of the GPC with room that holds the fewest CTAs, `not` alone if no other has room. */
static struct dispatch_port *emptiest(struct dispatcher *d, unsigned gpc, struct dispatch_port *not)
{
  struct dispatch_port *best = NULL;
  for (unsigned i = 0; i < d->n_ports; i++) {
    struct dispatch_port *p = &d->port[i];
    if (p == not || p->gpc != gpc || !has_room(d, p)) continue;
    if (!best || p->used.ctas < best->used.ctas) best = p;
  }
  return best ? best : not;
}

/* False: the GPC has no room for all of a cluster. Of pairs, an SM holds one CTA each. */
static bool launch_cluster(struct dispatcher *d, unsigned gpc, picos now)
{
  const unsigned n = cluster_size(d);
  const struct step_source *s = d->grid[d->head].source;
  const bool pairs = s && s->pairs && n > 1;
  struct dispatch_port *last = NULL;
  uint64_t room = 0;
  for (unsigned i = 0; i < d->n_ports && room < n; i++)
    if (d->port[i].gpc == gpc) room += room_for(d, &d->port[i], pairs ? n / 2 : n);
  if (room < n) return false;
  for (unsigned k = 0; k < n; k++) launch(d, last = emptiest(d, gpc, pairs && k % 2 ? last : NULL), now);
  return true;
}

/* The next GPC in turn with room gets a cluster. */
static bool launch_cluster_somewhere(struct dispatcher *d, picos now)
{
  for (unsigned k = 0; k < d->n_gpcs; k++) {
    unsigned gpc = (d->next_gpc + k) % d->n_gpcs;
    if (!launch_cluster(d, gpc, now)) continue;
    d->next_gpc = (gpc + 1) % d->n_gpcs;
    return true;
  }
  return false;
}

/* Into the SM, or of a cluster its GPC, that has more room now. */
static bool launch_near(struct dispatcher *d, struct dispatch_port *p, picos now)
{
  if (cluster_size(d) > 1) return launch_cluster(d, p->gpc, now);
  if (!has_room(d, p)) return false;
  launch(d, p, now);
  return true;
}

/* CTAs go round the SMs until these are full, grid after grid. */
static void go_round(struct dispatcher *d, picos now, picos to)
{
  while (d->look && head_at(d) < to) {
    if (gang_waits(d)) {
      d->look = false;
      return;
    }
    if (cluster_size(d) > 1) {
      d->look = launch_cluster_somewhere(d, now);
      continue;
    }
    struct dispatch_port *p = next_with_room(d);
    if (p)
      launch(d, p, now);
    else
      d->look = false;
  }
}

/* --- masks ------------------------------------------------------------------------------------ */

static bool is_handed_out(const struct dispatch_grid *g)
{
  return g->next_cta == g->n_ctas;
}

/* CTAs of the head go, as long as there is room: first to `near` (NULL: nowhere), where a CTA has ended. */
static void hand_out(struct dispatcher *d, struct dispatch_port *near, picos now)
{
  const struct dispatch_grid *g = &d->grid[d->head];
  while (!is_handed_out(g) && !gang_waits(d)) {
    if (near && launch_near(d, near, now)) continue;
    near = NULL;
    struct dispatch_port *p = cluster_size(d) > 1 ? NULL : next_with_room(d);
    if (p) launch(d, p, now);
    else if (cluster_size(d) == 1 || !launch_cluster_somewhere(d, now)) return;
  }
}

/* Each grid whose time has come has, in their order, what those before it leave of its SMs. */
static void go_round_masked(struct dispatcher *d, struct dispatch_port *near, picos now, picos to)
{
  d->used_up = (struct core_set){0};
  for (unsigned i = 0; i < d->n_waiting;) {
    const struct dispatch_grid *g = &d->grid[d->waiting[i]];
    if (due(d, d->waiting[i]) >= to) {
      i++;
      continue;
    }
    d->head = d->waiting[i];
    hand_out(d, near, now);
    if (is_handed_out(g)) continue; /* another one is number i */
    for (unsigned k = 0; k < d->n_ports; k++)
      if (!g->cores || core_set_has(g->cores, k)) core_set_add(&d->used_up, k);
    i++;
  }
  set_head(d);
  d->look = false;
}

static picos next_masked(const struct dispatcher *d)
{
  picos next = TIME_NEVER;
  for (unsigned i = 0; i < d->n_waiting; i++) {
    const picos at = due(d, d->waiting[i]);
    if (d->look || at >= d->until) next = earlier(next, at);
  }
  return next;
}

/* --- completions ------------------------------------------------------------------------------ */

/* Completion that happened first, in (time, SM) order; NULL when none is due before `to`. */
static struct dispatch_port *first_done(struct dispatcher *d, picos to)
{
  struct dispatch_port *best = NULL;
  picos at = to;
  for (unsigned i = 0; i < d->n_ports; i++) {
    struct cta_done *c = done_queue_front(d->port[i].done);
    if (!c || c->arrive >= at) continue;
    at = c->arrive;
    best = &d->port[i];
  }
  return best;
}

static void count_done(struct dispatcher *d, struct dispatch_grid *g, uint64_t n, picos now)
{
  g->last_done = now;
  g->done += n;
  d->done += n;
  while (g->mark_step && g->n_marks < DISPATCH_MARKS && g->done >= g->mark_first + g->n_marks * g->mark_step)
    g->mark[g->n_marks++] = now;
}

/* The SM has room for what comes next. When that is known. */
static picos complete(struct dispatcher *d, struct dispatch_port *p)
{
  struct cta_done c = *done_queue_front(p->done);
  struct dispatch_grid *g = &d->grid[c.grid];
  done_queue_pop(p->done);
  give(&p->used, &g->cta);
  p->resident[c.grid]--;
  count_done(d, g, 1, c.arrive);
  return c.arrive;
}

bool dispatcher_take(struct dispatcher *d, unsigned slot, picos now, uint64_t *cta)
{
  struct dispatch_grid *g = &d->grid[slot];
  const unsigned n = g->source ? step_cluster_ctas(g->source) : 1;
  if (g->next_cta >= g->n_ctas || first_waits_above(d, g->priority)) return false;
  *cta = cta_at(g, g->next_cta);
  g->next_cta += n;
  d->handed += n;
  d->taken += n;
  count_done(d, g, n, now);
  if (g->next_cta == g->n_ctas) leave_queue(d, slot);
  return true;
}

static void run_masked(struct dispatcher *d, picos from, picos to)
{
  struct dispatch_port *p;
  d->until = to;
  go_round_masked(d, NULL, from, to);
  while ((p = first_done(d, to))) go_round_masked(d, p, complete(d, p), to);
}

static void run_in_order(struct dispatcher *d, picos from, picos to)
{
  struct dispatch_port *p;
  choose_head(d, to);
  go_round(d, from, to);
  while ((p = first_done(d, to))) {
    picos now = complete(d, p);
    if (d->n_waiting && d->grid[d->head].gang && !d->grid[d->head].next_cta) d->look = true; /* all of it, or none */
    while (!d->look && head_at(d) < to && launch_near(d, p, now)) continue;
    go_round(d, now, to);
  }
}

picos dispatcher_run(void *self, picos from, picos to)
{
  struct dispatcher *d = self;
  if (d->n_silent) announce_due(d, from, to);
  if (d->n_masked) run_masked(d, from, to);
  else run_in_order(d, from, to);
  for (unsigned i = 0; i < d->n_ports; i++)
    if (d->port[i].done->n) return to;
  return dispatcher_next(d);
}

picos dispatcher_next(const struct dispatcher *d)
{
  picos next = d->n_masked ? next_masked(d) : d->look ? head_at(d) : TIME_NEVER;
  if (d->n_silent) next = earlier(next, next_announcement(d));
  if (d->n_masked) return next;
  return d->n_waiting && d->waiting[0] != d->head && due(d, d->waiting[0]) < next ? due(d, d->waiting[0]) : next;
}

uint64_t dispatcher_progress(const void *self)
{
  const struct dispatcher *d = self;
  return d->handed + d->done;
}

bool dispatcher_busy(const void *self)
{
  const struct dispatcher *d = self;
  return d->done < d->ctas;
}

void dispatcher_dump(const void *self, FILE *out)
{
  const struct dispatcher *d = self;
  for (unsigned i = 0; i < GRID_SLOTS; i++) {
    const struct dispatch_grid *g = &d->grid[i];
    if (!g->n_ctas) continue; /* a free slot */
    fprintf(out, "  dispatcher: %llu of %llu CTAs launched, %llu done\n", (unsigned long long)g->next_cta,
            (unsigned long long)g->n_ctas, (unsigned long long)g->done);
  }
}
