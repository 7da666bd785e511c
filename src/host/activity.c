#include "host/activity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "host/perfetto.h"
#include "host/simulate.h"
#include "time/sm/sm_stats.h"
#include "time/sm/warp.h"

enum { SUB_CORES = 4, SM_SLOTS = 64, MAX_RECORDS = PERFETTO_MAX_SLICES, NAME_BYTES = 64 };

/* A CTA in its slot, or a warp in its. */
struct stay {
  const struct step_source *source;
  uint64_t cta, begin, end; /* cycles; end CYCLE_NEVER: it is there */
  uint32_t first_state;     /* of a warp: newest of its states; NONE: none */
  uint8_t slot, warp, sub_core;
  bool is_warp;
};

enum { NONE = UINT32_MAX };

/* Cycles of a warp; linked from the newest to the oldest. */
struct state {
  uint64_t from, until;
  uint32_t older;
  uint8_t state;
};

/* The observer of an SM: what happened there in this run. */
struct sm_stays {
  struct observer observer; /* first member */
  const struct gpu_activity *gpu;
  unsigned sm;
  struct stay *stay;
  struct state *state;
  uint32_t n_stays, stay_room, n_states, state_room;
  uint64_t lost;
  uint32_t cta[SM_SLOTS];                          /* the stay of a slot; NONE */
  unsigned warps[SM_SLOTS];                        /* of its CTA that are there */
  uint32_t warp[SUB_CORES][SUB_CORE_MAX_WARPS];    /* likewise */
  uint8_t cta_slot[SUB_CORES][SUB_CORE_MAX_WARPS]; /* of the warp */
};

/* Rows of a track, of which each takes one after the other. */
struct rows {
  uint64_t group, id; /* what they are of; group 0: nothing */
  char name[NAME_BYTES];
  struct row {
    uint64_t track, end; /* track 0: not made yet */
  } *row;
  unsigned n;
};

/* Groups at the top of the file: of the program, of each GPU. */
enum group { GROUP_CALLS, GROUP_GRAPHS, GROUP_LINKS, GROUP__N };
enum gpu_group { GROUP_STREAMS, GROUP_ENGINES, GROUP_SMS, GPU_GROUP__N };
static const char *const group_name[GROUP__N] = {"CUDA calls", "graphs", "links"};
static const char *const gpu_group_name[GPU_GROUP__N] = {"streams", "copy engines", "SMs"};

struct gpu_activity {
  const struct activity *all;
  struct sim_observers observers;
  uint64_t period;
  uint64_t start, begun; /* of the run: ps of the program; cycle of the simulator */
  unsigned number, n_sms;
  struct sm_stays *sm;
  uint64_t *sm_group;
  uint64_t group[GPU_GROUP__N];
};

struct activity {
  struct activity_choice choice;
  struct perfetto *out;
  uint64_t unit;
  struct gpu_activity *gpu;
  unsigned n_gpus;
  uint32_t share; /* stays, and states, that an SM may keep */
  uint64_t group[GROUP__N];
  struct rows *rows; /* a hash table, open addressing */
  size_t n_rows, rows_room;
  unsigned n_threads;
};

/* --- the choice --------------------------------------------------------------------------------- */

struct activity_choice activity_choice_default(void)
{
  return (struct activity_choice){.which = pipe_choice_default(), .last_sm = UINT32_MAX, .to = UINT64_MAX};
}

bool activity_choice_sms(struct activity_choice *c, const char *text, struct err *e)
{
  char *end;
  unsigned long first = strtoul(text, &end, 10), last = first;
  bool ok = *text >= '0' && *text <= '9';
  if (ok && *end == '-') {
    ok = end[1] >= '0' && end[1] <= '9';
    last = strtoul(end + 1, &end, 10);
  }
  if (!ok || *end || last < first || last > UINT16_MAX) return err_set(e, "%s: not SMs such as 3 or 0-7", text);
  c->first_sm = (unsigned)first;
  c->last_sm = (unsigned)last;
  return true;
}

bool activity_choice_fits(const struct activity_choice *c, unsigned n_sms, struct err *e)
{
  const unsigned last = c->last_sm == UINT32_MAX ? c->first_sm : c->last_sm;
  return last < n_sms || err_set(e, "--timeline-sms: no SM %u: the GPU has %u, from 0", last, n_sms);
}

bool activity_choice_warps(struct activity_choice *c, const char *text, struct err *e)
{
  c->warps = true;
  return pipe_choice_warps(&c->which, text, e);
}

bool activity_choice_window(struct activity_choice *c, const char *text, struct err *e)
{
  struct pipe_choice window = pipe_choice_default();
  TRY(pipe_choice_cycles(&window, text, e));
  c->from = window.from;
  c->to = window.to;
  return true;
}

static uint64_t ns_of_us(uint64_t us)
{
  uint64_t ns;
  return __builtin_mul_overflow(us, UINT64_C(1000), &ns) ? UINT64_MAX : ns;
}

bool activity_choice_us(struct activity_choice *c, const char *text, struct err *e)
{
  TRY(activity_choice_window(c, text, e));
  c->from = ns_of_us(c->from);
  c->to = ns_of_us(c->to);
  return true;
}

/* --- times -------------------------------------------------------------------------------------- */

static uint64_t ps_of_cycle(const struct gpu_activity *g, uint64_t cycle)
{
  return g->start + (cycle - g->begun) * g->period;
}

static bool is_chosen(const struct activity *a, uint64_t begin_ps)
{
  uint64_t at = begin_ps / a->unit;
  return at >= a->choice.from && at < a->choice.to;
}

/* --- observing: on the thread of the SM ----------------------------------------------------------- */

static uint32_t add_stay(struct sm_stays *s, const struct stay *x)
{
  if (s->n_stays >= s->gpu->all->share) {
    s->lost++;
    return NONE;
  }
  s->stay = mem_more(s->stay, s->n_stays, &s->stay_room, sizeof *s->stay);
  s->stay[s->n_stays] = *x;
  return s->n_stays++;
}

static void warp_begin(struct observer *o, const struct observed_warp *w, uint64_t now)
{
  struct sm_stays *s = (struct sm_stays *)o;
  const struct activity *a = s->gpu->all;
  const struct activity_choice *c = &a->choice;
  struct stay x = {.source = w->grid->source, .cta = w->cta->id, .begin = now, .end = CYCLE_NEVER, .first_state = NONE,
                   .slot = w->cta_slot};
  bool chosen = is_chosen(a, ps_of_cycle(s->gpu, now));
  if (w->number == 0) s->cta[w->cta_slot] = chosen ? add_stay(s, &x) : NONE;
  if (w->number == 0) s->warps[w->cta_slot] = 0;
  s->warps[w->cta_slot]++;
  s->cta_slot[w->sub_core][w->warp] = w->cta_slot;
  x.is_warp = true;
  x.slot = w->warp;
  x.sub_core = w->sub_core;
  x.warp = (uint8_t)w->number;
  bool shown = chosen && c->warps && pipe_choice_has(&c->which, x.cta, w->number);
  s->warp[w->sub_core][w->warp] = shown ? add_stay(s, &x) : NONE;
}

static void warp_end(struct observer *o, unsigned sub_core, unsigned warp, uint64_t now)
{
  struct sm_stays *s = (struct sm_stays *)o;
  unsigned slot = s->cta_slot[sub_core][warp];
  uint32_t x = s->warp[sub_core][warp];
  if (x != NONE) s->stay[x].end = now;
  if (--s->warps[slot] == 0 && s->cta[slot] != NONE) s->stay[s->cta[slot]].end = now;
}

static void wait(struct observer *o, unsigned sub_core, unsigned warp, const struct observed_wait *w)
{
  struct sm_stays *s = (struct sm_stays *)o;
  uint32_t i = s->warp[sub_core][warp];
  if (i == NONE) return;
  struct state *last = s->stay[i].first_state == NONE ? NULL : &s->state[s->stay[i].first_state];
  if (last && last->state == w->state && last->until == w->from) {
    last->until = w->until;
    return;
  }
  if (s->n_states >= s->gpu->all->share) {
    s->lost++;
    return;
  }
  s->state = mem_more(s->state, s->n_states, &s->state_room, sizeof *s->state);
  s->state[s->n_states] = (struct state){w->from, w->until, s->stay[i].first_state, (uint8_t)w->state};
  s->stay[i].first_state = s->n_states++;
}

static const struct observer_ops ops_of_ctas = {.warp_begin = warp_begin, .warp_end = warp_end};
static const struct observer_ops ops_of_warps = {.warp_begin = warp_begin, .warp_end = warp_end, .wait = wait};

static struct observer *observer_of(void *ctx, unsigned sm)
{
  struct gpu_activity *g = ctx;
  const struct activity_choice *c = &g->all->choice;
  return sm >= c->first_sm && sm <= c->last_sm ? &g->sm[sm].observer : NULL;
}

static void begin_run(void *ctx, uint64_t cycle)
{
  struct gpu_activity *g = ctx;
  g->begun = cycle;
  for (unsigned i = 0; i < g->n_sms; i++) g->sm[i].n_stays = g->sm[i].n_states = 0;
}

/* --- tracks ------------------------------------------------------------------------------------- */

static uint64_t group_of(struct activity *a, enum group g)
{
  if (!a->group[g]) a->group[g] = perfetto_track(a->out, 0, group_name[g]);
  return a->group[g];
}

/* Names say which GPU it is where there are several. */
static uint64_t group_of_gpu(struct activity *a, unsigned gpu, enum gpu_group k)
{
  struct gpu_activity *g = &a->gpu[gpu];
  char name[NAME_BYTES] = "";
  if (g->group[k]) return g->group[k];
  if (a->n_gpus > 1) snprintf(name, sizeof name, "GPU %u: ", gpu);
  snprintf(name + strlen(name), sizeof name - strlen(name), "%s", gpu_group_name[k]);
  return g->group[k] = perfetto_track(a->out, 0, name);
}

static struct rows *slot_of(const struct activity *a, uint64_t group, uint64_t id)
{
  uint64_t h = (group * UINT64_C(0x9e3779b97f4a7c15) ^ id) * UINT64_C(0x9e3779b97f4a7c15);
  size_t i = (size_t)(h >> 32) & (a->rows_room - 1);
  while (a->rows[i].group && (a->rows[i].group != group || a->rows[i].id != id)) i = (i + 1) & (a->rows_room - 1);
  return &a->rows[i];
}

static void grow_rows(struct activity *a)
{
  struct rows *old = a->rows;
  size_t room = a->rows_room;
  a->rows_room = room ? 2 * room : 256;
  a->rows = mem_zeroed(a->rows_room, sizeof *a->rows);
  for (size_t i = 0; i < room; i++)
    if (old[i].group) *slot_of(a, old[i].group, old[i].id) = old[i];
  mem_free(old);
}

/* The pointer is good until the next one is asked for. */
static struct rows *rows_of(struct activity *a, uint64_t group, uint64_t id, const char *name)
{
  if (2 * (a->n_rows + 1) > a->rows_room) grow_rows(a);
  struct rows *r = slot_of(a, group, id);
  if (r->group) return r;
  *r = (struct rows){.group = group, .id = id};
  snprintf(r->name, sizeof r->name, "%s", name);
  a->n_rows++;
  return r;
}

/* The track of the first row that is free from `begin` on; it is taken until `end`. */
static uint64_t take_row(struct activity *a, struct rows *r, uint64_t begin, uint64_t end)
{
  char name[NAME_BYTES + 16];
  unsigned i = 0;
  while (i < r->n && r->row[i].end > begin) i++;
  if (i == r->n) {
    r->row = mem_resize(r->row, ++r->n, sizeof *r->row);
    snprintf(name, sizeof name, i ? "%s (%u)" : "%s", r->name, i + 1);
    r->row[i].track = perfetto_track(a->out, r->group, name);
  }
  r->row[i].end = end;
  return r->row[i].track;
}

static void put(struct activity *a, struct rows *r, const char *name, uint64_t begin, uint64_t end,
                const struct perfetto_arg *args, unsigned n)
{
  uint64_t from = begin / a->unit, until = end / a->unit;
  perfetto_slice(a->out, take_row(a, r, from, until), from, until, name, args, n);
}

/* --- the program's side -------------------------------------------------------------------------- */

static struct rows *stream_rows(struct activity *a, unsigned gpu, uint64_t stream)
{
  char name[NAME_BYTES] = "default stream";
  if (stream) snprintf(name, sizeof name, "stream %" PRIu64, stream);
  return rows_of(a, group_of_gpu(a, gpu, GROUP_STREAMS), stream, name);
}

void activity_call(struct activity *a, uint64_t thread, const char *name, uint64_t begin, uint64_t end)
{
  char text[NAME_BYTES];
  if (!is_chosen(a, begin)) return;
  snprintf(text, sizeof text, "thread %u", a->n_threads);
  struct rows *r = rows_of(a, group_of(a, GROUP_CALLS), thread, text);
  if (!r->n) {
    take_row(a, r, 0, 0);
    a->n_threads++;
  }
  /* Calls of a callback lie within another's: on one track. */
  perfetto_slice(a->out, r->row[0].track, begin / a->unit, end / a->unit, name, NULL, 0);
}

void activity_operation(struct activity *a, const struct activity_op *x)
{
  static const char *const engines[TIMELINE__N] = {"to the device", "to the host"};
  const struct perfetto_arg args[] = {
      {"bytes", x->bytes, NULL}, {"start_ps", x->begin, NULL}, {"end_ps", x->end, NULL}};
  if (!is_chosen(a, x->begin)) return;
  struct rows *stream = stream_rows(a, x->gpu, x->stream);
  if (x->begin == x->end && !x->bytes) {
    if (!stream->n) take_row(a, stream, 0, 0);
    perfetto_instant(a->out, stream->row[0].track, x->begin / a->unit, x->name);
    return;
  }
  put(a, stream, x->name, x->begin, x->end, args, 3);
  if (x->engine == TIMELINE_NONE) return;
  const uint64_t group = group_of_gpu(a, x->gpu, GROUP_ENGINES);
  put(a, rows_of(a, group, x->engine, engines[x->engine]), x->name, x->begin, x->end, args, 3);
}

void activity_kernel(struct activity *a, const struct activity_kernel *k)
{
  char grid[48], block[48];
  if (!is_chosen(a, k->begin)) return;
  snprintf(grid, sizeof grid, "%u x %u x %u", k->grid[0], k->grid[1], k->grid[2]);
  snprintf(block, sizeof block, "%u x %u x %u", k->block[0], k->block[1], k->block[2]);
  const struct perfetto_arg args[] = {{"launch", k->number, NULL}, {"grid", 0, grid},
                                      {"block", 0, block},         {"start_ps", k->begin, NULL},
                                      {"end_ps", k->end, NULL},    {"cycles", k->cycles, NULL}};
  put(a, stream_rows(a, k->gpu, k->stream), k->name, k->begin, k->end, args, k->timed ? 6 : 5);
}

void activity_graph(struct activity *a, uint64_t stream, uint64_t begin, uint64_t end)
{
  const struct perfetto_arg args[] = {{"stream", stream, NULL}};
  if (is_chosen(a, begin))
    put(a, rows_of(a, group_of(a, GROUP_GRAPHS), 0, "graph launches"), "graph", begin, end, args, 1);
}

/* MB/s (bytes per us), and per cent of the step; of equal ones that follow each other the first. */
void activity_link(struct activity *a, const struct activity_link *l)
{
  char name[NAME_BYTES + 8];
  const uint64_t group = group_of(a, GROUP_LINKS);
  const uint64_t rate = perfetto_counter(a->out, group, l->name, "MB/s");
  snprintf(name, sizeof name, "%s taken", l->name);
  const uint64_t taken = perfetto_counter(a->out, group, name, "%");
  uint64_t before = UINT64_MAX;
  for (unsigned i = 0; i <= l->n; i++) {
    const uint64_t bytes = i < l->n ? l->step[i] : 0;
    if (bytes == before || !is_chosen(a, i * l->width)) continue;
    const uint64_t at = i * l->width / a->unit;
    perfetto_value(a->out, rate, at, (double)bytes * 1e6 / (double)l->width);
    perfetto_value(a->out, taken, at, (double)bytes * (double)l->femtos_per_byte / 10 / (double)l->width);
    before = bytes;
  }
}

/* --- the GPU's side ------------------------------------------------------------------------------- */

void activity_begin(struct activity *a, unsigned gpu, uint64_t start)
{
  a->gpu[gpu].start = start;
}

static uint64_t sm_group(struct activity *a, unsigned gpu, unsigned sm)
{
  uint64_t *group = &a->gpu[gpu].sm_group[sm];
  char name[NAME_BYTES];
  snprintf(name, sizeof name, "SM %u", sm);
  if (!*group) *group = perfetto_track(a->out, group_of_gpu(a, gpu, GROUP_SMS), name);
  return *group;
}

static void put_states(struct activity *a, const struct sm_stays *s, const struct stay *x, uint64_t track)
{
  uint32_t oldest = NONE; /* the list is turned round */
  for (uint32_t i = x->first_state, older; i != NONE; i = older) {
    older = s->state[i].older;
    s->state[i].older = oldest;
    oldest = i;
  }
  for (uint32_t i = oldest; i != NONE; i = s->state[i].older) {
    const struct state *y = &s->state[i];
    perfetto_slice(a->out, track, ps_of_cycle(s->gpu, y->from) / a->unit, ps_of_cycle(s->gpu, y->until) / a->unit,
                   warp_state_name[y->state], NULL, 0);
  }
}

static void put_stay(struct activity *a, const struct sm_stays *s, const struct stay *x,
                     const struct activity_kernel *k)
{
  enum { WARPS = 1000 }; /* ids of warp slots lie behind those of CTA slots */
  char name[NAME_BYTES];
  uint64_t from = ps_of_cycle(s->gpu, x->begin) / a->unit;
  uint64_t until = (x->end == CYCLE_NEVER ? k->end : ps_of_cycle(s->gpu, x->end)) / a->unit;
  uint64_t id = x->is_warp ? WARPS + (uint64_t)x->sub_core * SUB_CORE_MAX_WARPS + x->slot : x->slot;
  if (until < from) until = from;
  if (x->is_warp)
    snprintf(name, sizeof name, "warp slot %u.%u", x->sub_core, x->slot);
  else
    snprintf(name, sizeof name, "CTA slot %u", x->slot);
  uint64_t track = take_row(a, rows_of(a, sm_group(a, k->gpu, s->sm), id, name), from, until);
  const struct perfetto_arg args[] = {{"launch", k->number, NULL}, {"cta", x->cta, NULL}, {"warp", x->warp, NULL}};
  perfetto_slice(a->out, track, from, until, k->name, args, x->is_warp ? 3 : 2);
  if (x->is_warp) put_states(a, s, x, track);
}

void activity_ran(struct activity *a, const struct step_source *source, const struct activity_kernel *k)
{
  const struct gpu_activity *g = &a->gpu[k->gpu];
  for (unsigned i = 0; i < g->n_sms; i++)
    for (uint32_t n = 0; n < g->sm[i].n_stays; n++)
      if (g->sm[i].stay[n].source == source) put_stay(a, &g->sm[i], &g->sm[i].stay[n], k);
}

/* --- all of it ------------------------------------------------------------------------------------ */

static void begin_gpu(struct activity *a, unsigned number, const struct params *p)
{
  struct gpu_activity *g = &a->gpu[number];
  *g = (struct gpu_activity){.all = a,
                             .observers = {.ctx = g, .of = observer_of, .begin = begin_run},
                             .period = params_clock_ps(p),
                             .number = number,
                             .n_sms = p->gpu_sms,
                             .sm = mem_zeroed(p->gpu_sms, sizeof *g->sm),
                             .sm_group = mem_zeroed(p->gpu_sms, sizeof *g->sm_group)};
  for (unsigned i = 0; i < g->n_sms; i++) {
    g->sm[i].observer.ops = a->choice.warps ? &ops_of_warps : &ops_of_ctas;
    g->sm[i].gpu = g;
    g->sm[i].sm = i;
  }
}

struct activity *activity_new(const struct activity_choice *c, const struct params *const *p, unsigned n,
                              uint64_t unit_ps)
{
  struct activity *a = mem_zeroed(1, sizeof *a);
  uint32_t sms = 0;
  *a = (struct activity){.choice = *c, .out = perfetto_new(), .unit = unit_ps, .n_gpus = n,
                         .gpu = mem_zeroed(n, sizeof *a->gpu)};
  for (unsigned i = 0; i < n; i++) {
    begin_gpu(a, i, p[i]);
    sms += p[i]->gpu_sms;
  }
  a->share = MAX_RECORDS / sms;
  return a;
}

const struct sim_observers *activity_observers(const struct activity *a, unsigned gpu)
{
  return &a->gpu[gpu].observers;
}

static void free_gpu(struct gpu_activity *g)
{
  for (unsigned i = 0; i < g->n_sms; i++) {
    mem_free(g->sm[i].stay);
    mem_free(g->sm[i].state);
  }
  mem_free(g->sm);
  mem_free(g->sm_group);
}

void activity_free(struct activity *a)
{
  if (!a) return;
  for (unsigned i = 0; i < a->n_gpus; i++) free_gpu(&a->gpu[i]);
  for (size_t i = 0; i < a->rows_room; i++) mem_free(a->rows[i].row);
  mem_free(a->rows);
  mem_free(a->gpu);
  perfetto_free(a->out);
  mem_free(a);
}

bool activity_has_ctas(const struct activity *a)
{
  for (unsigned i = 0; i < a->n_gpus; i++)
    if (a->gpu[i].group[GROUP_SMS]) return true;
  return false;
}

uint64_t activity_lost(const struct activity *a)
{
  uint64_t lost = perfetto_lost(a->out);
  for (unsigned i = 0; i < a->n_gpus; i++)
    for (unsigned k = 0; k < a->gpu[i].n_sms; k++) lost += a->gpu[i].sm[k].lost;
  return lost;
}

void activity_write(const struct activity *a, FILE *f)
{
  perfetto_write(a->out, f);
}
