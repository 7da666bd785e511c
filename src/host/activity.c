#include "host/activity.h"

#include <inttypes.h>
#include <string.h>

#include "base/host_memory.h"
#include "host/live_gpu.h"
#include "host/perfetto.h"
#include "host/sm_stays.h"
#include "time/sm/sm_stats.h"
#include "time/sm/warp.h"

enum { NAME_BYTES = 64 };

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
  struct sm_stays *stays; /* what the process's own simulator tells */
  uint64_t start;         /* of the run: ps of the program */
  const struct simulator *live; /* whose clock knows; NULL: time passes as in the GPU */
  unsigned n_sms;
  uint64_t *sm_group;
  uint64_t group[GPU_GROUP__N];
};

struct activity {
  struct activity_choice choice;
  struct perfetto *out;
  uint64_t unit;
  struct gpu_activity *gpu;
  unsigned n_gpus;
  uint64_t group[GROUP__N];
  struct rows *rows; /* a hash table, open addressing */
  size_t n_rows, rows_room;
  unsigned n_threads;
  const char *name; /* in front of those of groups */
  uint64_t lost; /* of SMs' stays and states */
};

/* --- times -------------------------------------------------------------------------------------- */

static bool is_chosen(const struct activity *a, uint64_t begin_ps)
{
  uint64_t at = begin_ps / a->unit;
  return at >= a->choice.from && at < a->choice.to;
}

/* Of a run of the process's own simulator. */
static uint64_t time_here(const void *gpu, uint64_t gpu_ps)
{
  const struct gpu_activity *g = gpu;
  if (g->live) return live_time(g->live, gpu_ps);
  return g->start + gpu_ps - sm_stays_begun(g->stays);
}

/* --- tracks ------------------------------------------------------------------------------------- */

static uint64_t group_of(struct activity *a, enum group g)
{
  char name[NAME_BYTES];
  snprintf(name, sizeof name, "%s%s", a->name, group_name[g]);
  if (!a->group[g]) a->group[g] = perfetto_track(a->out, 0, name);
  return a->group[g];
}

/* Names say which GPU it is where there are several. */
static uint64_t group_of_gpu(struct activity *a, unsigned gpu, enum gpu_group k)
{
  struct gpu_activity *g = &a->gpu[gpu];
  char name[NAME_BYTES];
  if (g->group[k]) return g->group[k];
  snprintf(name, sizeof name, "%s", a->name);
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
  a->gpu[gpu].live = NULL;
}

void activity_begin_live(struct activity *a, unsigned gpu, const struct simulator *s)
{
  a->gpu[gpu].live = s;
}

static uint64_t sm_group(struct activity *a, unsigned gpu, unsigned sm)
{
  uint64_t *group = &a->gpu[gpu].sm_group[sm];
  char name[NAME_BYTES];
  snprintf(name, sizeof name, "SM %u", sm);
  if (!*group) *group = perfetto_track(a->out, group_of_gpu(a, gpu, GROUP_SMS), name);
  return *group;
}

static void put_states(struct activity *a, const struct sm_state *y, uint32_t n, uint64_t track)
{
  for (; n; n--, y++)
    perfetto_slice(a->out, track, y->from / a->unit, y->until / a->unit, warp_state_name[y->state], NULL, 0);
}

static void put_stay(struct activity *a, const struct sm_stay *x, const struct sm_state *states,
                     const struct activity_kernel *k)
{
  enum { WARPS = 1000 }; /* ids of warp slots lie behind those of CTA slots */
  char name[NAME_BYTES];
  uint64_t from = x->begin / a->unit, until = (x->end == SM_STAY_OPEN ? k->end : x->end) / a->unit;
  uint64_t id = x->is_warp ? WARPS + (uint64_t)x->sub_core * SUB_CORE_MAX_WARPS + x->slot : x->slot;
  if (until < from) until = from;
  if (x->is_warp)
    snprintf(name, sizeof name, "warp slot %u.%u", x->sub_core, x->slot);
  else
    snprintf(name, sizeof name, "CTA slot %u", x->slot);
  uint64_t track = take_row(a, rows_of(a, sm_group(a, k->gpu, x->sm), id, name), from, until);
  const struct perfetto_arg args[] = {{"launch", k->number, NULL}, {"cta", x->cta, NULL}, {"warp", x->warp, NULL}};
  perfetto_slice(a->out, track, from, until, k->name, args, x->is_warp ? 3 : 2);
  put_states(a, states, x->n_states, track);
}

void activity_stayed(struct activity *a, const struct sm_stay_list *l, const struct activity_kernel *k)
{
  const struct sm_state *states = l->state;
  for (uint32_t i = 0; i < l->n_stays; states += l->stay[i++].n_states) put_stay(a, &l->stay[i], states, k);
  a->lost += l->lost;
}

void activity_ran(struct activity *a, const struct step_source *source, const struct activity_kernel *k)
{
  struct sm_stay_list l = {0};
  sm_stays_take(a->gpu[k->gpu].stays, source, &l);
  activity_stayed(a, &l, k);
  sm_stay_list_free(&l);
}

/* --- all of it ------------------------------------------------------------------------------------ */

static void begin_gpu(struct activity *a, unsigned number, const struct params *p, uint32_t most)
{
  struct gpu_activity *g = &a->gpu[number];
  const struct sm_stays_way way = {.choice = &a->choice, .unit = a->unit, .most = most, .time = time_here, .ctx = g};
  *g = (struct gpu_activity){.stays = sm_stays_new(&way, p),
                             .n_sms = p->gpu_sms,
                             .sm_group = mem_zeroed(p->gpu_sms, sizeof *g->sm_group)};
}

struct activity *activity_new(const struct activity_choice *c, const struct params *const *p, unsigned n,
                              uint64_t unit_ps)
{
  struct activity *a = mem_zeroed(1, sizeof *a);
  uint32_t sms = 0;
  *a = (struct activity){.choice = *c, .out = perfetto_new(), .name = "", .unit = unit_ps, .n_gpus = n,
                         .gpu = mem_zeroed(n, sizeof *a->gpu)};
  for (unsigned i = 0; i < n; i++) sms += p[i]->gpu_sms;
  for (unsigned i = 0; i < n; i++) begin_gpu(a, i, p[i], PERFETTO_MAX_SLICES / sms);
  return a;
}

void activity_one_of(struct activity *a, uint32_t number, const char *name)
{
  perfetto_number(a->out, number);
  a->name = name;
}

const struct sim_observers *activity_observers(const struct activity *a, unsigned gpu)
{
  return sm_stays_observers(a->gpu[gpu].stays);
}

static void free_gpu(struct gpu_activity *g)
{
  sm_stays_free(g->stays);
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
  return a->lost + perfetto_lost(a->out);
}

void activity_write(const struct activity *a, FILE *f)
{
  perfetto_write(a->out, f);
}
