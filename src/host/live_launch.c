/* Launches on the GPU between two moments (host/live_gpu.h): how they come, and what is said of them when they end. */
#include "host/live_parts.h"

#include <string.h>

#include "base/bug.h"
#include "host/gpu_server.h"
#include "host/usage.h"
#include "time/link/fabric.h"
#include "time/link/hub_out.h"
#include "time/msg.h"

static bool begin(struct simulator *s, const struct live_launch *l, const struct sim_options *o, struct err *e)
{
  const struct gpu_launch first = {.source = func_source(l->launch->func), .gang = l->launch->grid_barrier != 0};
  BUG_ON(!o->timed || o->hazards || o->cold || o->sample_ctas || o->first_ctas);
  simulator_forget(s, first.source->code.isa);
  struct gpu *gpu = simulator_gpu_at(s, o, l->start_ps, e);
  if (!gpu || !gpu_fits(gpu, &first, e)) return false;
  live_watch_as(s, o);
  simulator_begin_observing(s, gpu_now(gpu));
  live_begin_run(s, l->start_ps, first.source, l->image ? l->image : l->launch->params.image);
  return true;
}

/* A launch that finds copies alone on the GPU. */
static void begin_launches(struct simulator *s, const struct live_launch *l, const struct sim_options *o)
{
  if (s->around) surroundings_wake(s->around, s);
  s->live->n_launches = 0;
  simulator_forget(s, func_source(l->launch->func)->code.isa);
  if (s->fresh) simulator_gpu(s, o);
  live_watch_as(s, o);
  simulator_begin_observing(s, gpu_now(s->gpu));
}

static struct gpu_launch for_gpu(const struct simulator *s, const struct live_launch *l)
{
  const uint64_t start = live_clock_gpu(live_clock_of(s), l->start_ps);
  return (struct gpu_launch){.source = func_source(l->launch->func),
                             .start = round_up(start, params_clock_ps(s->params)),
                             .prepared = l->prepared, .beside = l->beside,
                             .gang = l->launch->grid_barrier != 0, .priority = l->priority};
}

/* All processes that have GPUs of the machine do the same. */
static void note_launch(const struct simulator *s, const struct live_launch *l)
{
  const struct func_params *p = &l->launch->params;
  struct ranks *r = live_ranked(s)->ranks;
  const uint64_t what[] = {s->node, l->start_ps, (uint64_t)(int64_t)l->priority, l->beside, l->prepared, p->entry_pc,
                           p->code_bytes, p->shared_dynamic};
  ranks_note(r, p->grid, sizeof p->grid);
  ranks_note(r, p->block, sizeof p->block);
  ranks_note(r, what, sizeof what);
  ranks_note(r, p->kernel_name, strlen(p->kernel_name));
  ranks_note(r, p->bank[0], p->bank_bytes[0]);
}

bool live_open(struct simulator *s, const struct live_launch *l, const struct sim_options *o, struct err *e)
{
  if (s->served) return s->served->open(s->server, s->params, l, o, e);
  struct live *v = live_of(s);
  if (live_ranked(s)) note_launch(s, l);
  if (!live_clock_of(s)->running) TRY(begin(s, l, o, e));
  else if (!v->n_open) begin_launches(s, l, o);
  simulator_send(s, func_source(l->launch->func));
  const struct gpu_launch g = for_gpu(s, l);
  BUG_ON(live_full(s));
  TRY(simulator_open(s, &g, e)); /* as the only one of a run it fits */
  struct live_slot *slot = &v->slot[s->open[s->n_open - 1]];
  for (unsigned i = 0; i < GPU_SLOTS; i++)
    if (v->slot[i].gpu.source) v->slot[i].together++;
  *slot = (struct live_slot){.launch = *l, .gpu = g, .together = v->n_open + 1};
  if (s->around) fabric_taken(s->around->fabric, s->node, slot->link_taken, GPU_LINKS);
  if (!v->n_open && o->usage)
    usage_begin(o->usage, s->gpu, g.start, params_clock_ps(s->params), params_request_ps(s->params));
  v->n_open++;
  v->n_launches++;
  return true;
}

/* --- and go -------------------------------------------------------------------------------------- */

static void count_traffic(const struct gpu *gpu, unsigned slot, struct sim_result *r)
{
  struct traffic t;
  gpu_traffic(gpu, slot, &t);
  r->l2_sectors = t.l2_read + t.l2_written;
  r->dram_bytes = SECTOR_BYTES * (t.dram_read + t.dram_written);
}

/* Instructions and operations of a launch that was not alone. */
static void count_insts(struct simulator *s, unsigned slot, struct sim_result *r)
{
  struct gpu_inst_profile p = gpu_profile(s->gpu, slot);
  const size_t n = s->isa->n_mnemonics();
  memset(s->mix, 0, n * sizeof *s->mix);
  memset(s->threads_by, 0, n * sizeof *s->threads_by);
  simulator_count_mix(s, &p, &s->live->slot[slot].gpu.source->code);
  gpu_profile_free(&p);
  r->work = s->isa->work(s->threads_by);
  for (size_t k = 0; k < n; k++) {
    r->warp_insts += s->mix[k];
    r->thread_insts += s->threads_by[k];
  }
}

static void collect_shared(struct simulator *s, unsigned slot, struct sim_result *r)
{
  uint64_t start, end;
  bool ended = gpu_launch_times(s->gpu, slot, &start, &end);
  if (!ended) end = gpu_now(s->gpu);
  count_insts(s, slot, r);
  count_traffic(s->gpu, slot, r);
  r->start_ps = start;
  r->time_ps = end > start ? end - start : 0;
  r->cycles = r->time_ps / params_clock_ps(s->params);
  r->ctas_per_sm = gpu_occupancy(s->gpu, slot)->ctas;
  r->limiter = gpu_occupancy(s->gpu, slot)->limiter;
}

static struct link_use links_of(const struct simulator *s, unsigned slot, uint64_t time)
{
  const struct hub_out_stats *of_cores = gpu_links_of_run(s->gpu);
  struct link_use u = {0};
  if (!of_cores || !s->around || !time) return u;
  const picos *before = s->live->slot[slot].link_taken;
  picos now[GPU_LINKS], most = 0;
  const unsigned n = fabric_taken(s->around->fabric, s->node, now, GPU_LINKS);
  for (unsigned i = 0; i < n; i++) most = later(most, now[i] - before[i]);
  u.taken = most < time ? (double)most / (double)time : 1;
  u.requests = of_cores->requests;
  u.reads = of_cores->reads;
  u.read_wait_ps = of_cores->read_wait;
  return u;
}

static void collect_alone(struct simulator *s, unsigned slot, struct sim_result *r)
{
  r->start_ps = s->live->slot[slot].gpu.start;
  r->mix = s->mix;
  r->thread_mix = s->threads_by;
  simulator_collect(s, s->gpu, &s->live->slot[slot].gpu.source->code, r);
  r->links = links_of(s, slot, r->time_ps);
  if (s->live->options.usage) usage_end(s->live->options.usage, s->gpu, r->time_ps);
  r->work = s->isa->work(s->threads_by);
}

struct sim_result *live_collect(struct simulator *s, unsigned slot)
{
  struct live *v = s->live;
  struct live_slot *l = &v->slot[slot];
  struct live_end x = {.who = l->launch.who, .start_ps = l->launch.start_ps,
                       .result = {.timed = true, .together = l->together, .isa = s->isa, .where = &s->where}};
  const bool alone = v->n_launches == 1;
  if (alone && live_clock_of(s)->running) gpu_count(s->gpu); /* copies go on, or other GPUs */
  if (live_ranked(s)) ranked_share_launch(live_ranked(s), s->node, slot, alone);
  if (alone) collect_alone(s, slot, &x.result);
  else collect_shared(s, slot, &x.result);
  const struct live_clock *k = live_clock_of(s);
  const uint64_t start = x.result.start_ps, before = live_clock_stood_at(k, start, false);
  x.start_ps = later(x.start_ps, live_clock_program(k, start, before));
  x.end_ps = x.start_ps + x.result.time_ps + live_clock_stood_at(k, start + x.result.time_ps, true) - before;
  *l = (struct live_slot){0};
  v->n_open--;
  v->ended_launches++;
  return &live_add_end(v, &x)->result;
}
