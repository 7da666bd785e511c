#include "host/simulator.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "host/gpu_server.h"
#include "host/surroundings.h"
#include "host/usage.h"
#include "time/gpu/gpu.h"
#include "time/machine/machine.h"
#include "time/mem/outer_memory.h"

struct simulator *simulator_new(const struct params *p)
{
  struct simulator *s = mem_zeroed(1, sizeof *s);
  s->params = p;
  return s;
}

void simulator_set_memory(struct simulator *s, const struct outer_port *outside)
{
  BUG_ON(s->gpu || s->around);
  s->outside = outside;
}

bool simulator_answer(struct simulator *s, uint64_t id, uint64_t at_ps)
{
  struct outer_memory *o = s->gpu ? gpu_outer_memory(s->gpu) : NULL;
  return o && outer_memory_answer(o, id, at_ps);
}

uint64_t simulator_now(const struct simulator *s)
{
  return s->gpu ? gpu_now(s->gpu) : 0;
}

void simulator_join(struct simulator *s, struct surroundings *x, unsigned node, struct gmem *image)
{
  BUG_ON(s->gpu || s->around || x->member[node]);
  s->around = x;
  s->node = node;
  x->member[node] = s;
  x->image[node] = image;
}

void simulator_surround(struct simulator *s)
{
  simulator_join(s, surroundings_new(NULL, NULL, s->params), 0, NULL);
  s->alone_there = true;
}

void simulator_serve_by(struct simulator *s, const struct gpu_server *by, void *server)
{
  BUG_ON(s->gpu || s->around);
  s->served = by;
  s->server = server;
}

void simulator_place(struct simulator *s, uint64_t addr, uint64_t bytes, int node)
{
  if (s->served) s->served->place(s->server, addr, bytes, node >= 0);
  if (s->around) surroundings_place(s->around, addr, bytes, node);
}

void simulator_place_at_host(struct simulator *s, uint64_t addr, uint64_t bytes)
{
  if (s->served) s->served->place(s->server, addr, bytes, true);
  if (s->around) simulator_place(s, addr, bytes, surroundings_socket(s->around, s->node));
}

struct uvm_machine *simulator_manage(struct simulator *s)
{
  if (s->served) return s->served->manage(s->server, s->params);
  return s->around ? surroundings_manage(s->around) : NULL;
}

bool simulator_is_managed(const struct simulator *s)
{
  return s->served || (s->around && s->around->managed);
}

struct simulator *simulator_beside(const struct simulator *first)
{
  struct simulator *s = simulator_new(first->params);
  simulator_surround(s);
  s->around->places_of_another = true;
  return s;
}

void simulator_follow(struct simulator *s, const struct simulator *first)
{
  s->around->places[0] = first->around->places[0];
  s->around->program = first->around->program;
  s->around->written = first->around->written;
  if (s->l2_aside != first->l2_aside || s->l2_fetch != first->l2_fetch)
    simulator_set_l2(s, first->l2_aside, first->l2_fetch);
}

struct uvm_host_fault simulator_act_managed(struct simulator *s, struct uvm_machine *m, const struct uvm_op *o)
{
  return s->served ? s->served->act(s->server, o) : uvm_machine_do(m, o);
}

void simulator_set_program(struct simulator *s, const struct program_memory *program)
{
  if (s->around) s->around->program = program;
}

void simulator_set_rights(struct simulator *s, struct l2_rights *rights, bool at_host)
{
  if (!s->around) return;
  s->around->rights = rights;
  s->around->rights_at_host = at_host;
}

void simulator_set_tables(struct simulator *s, struct page_tables *tables)
{
  if (s->around) s->around->tables = tables;
}

void simulator_set_written(struct simulator *s, struct span_list *written)
{
  if (s->around) s->around->written = written;
}

void simulator_send(const struct simulator *s, struct step_source *source)
{
  if (!s->around) return;
  source->places = s->around->places[s->node];
  source->node = (uint16_t)s->node;
  source->apart = s->around->ranked != NULL;
}

struct machine *simulator_machine(const struct simulator *s)
{
  return s->around ? s->around->machine : s->machine;
}

void simulator_renew_threads(struct simulator *s, unsigned threads)
{
  unsigned cursor = 0;
  if (simulator_next_member(s, &cursor) != s || !simulator_machine(s)) return;
  machine_renew_threads(simulator_machine(s), threads);
}

struct simulator *simulator_next(struct simulator *s, unsigned *cursor)
{
  if (s->around) return surroundings_next(s->around, cursor);
  return (*cursor)++ ? NULL : s;
}

struct simulator *simulator_next_member(struct simulator *s, unsigned *cursor)
{
  if (s->around) return surroundings_next_member(s->around, cursor);
  return (*cursor)++ ? NULL : s;
}

static void free_gpu(struct simulator *s)
{
  gpu_free(s->gpu);
  s->gpu = NULL;
  s->observers = NULL;
  s->n_open = 0;
}

/* With those of others in its machine. */
static void free_machine(struct simulator *s)
{
  unsigned cursor = 0;
  if (s->around) surroundings_clear(s->around);
  machine_free(s->machine);
  s->machine = NULL;
  for (struct simulator *m; (m = simulator_next_member(s, &cursor));) free_gpu(m);
}

static void simulator_close_launches(struct simulator *s)
{
  while (s->n_open) gpu_close(s->gpu, s->open[--s->n_open]);
}

void simulator_free(struct simulator *s)
{
  if (!s) return;
  free_machine(s);
  gpu_free(s->last);
  if (s->around) s->around->member[s->node] = NULL;
  if (s->alone_there) surroundings_free(s->around);
  positions_free(&s->where);
  gpu_profile_free(&s->profile);
  live_free(s);
  mem_free(s->mix);
  mem_free(s->threads_by);
  mem_free(s);
}

static void note_resident(void *ctx, const struct step_cta *c)
{
  positions_add(&((struct sim_watcher *)ctx)->s->where, c);
}

static bool poll(void *ctx, const struct run_progress *p)
{
  const struct sim_options *o = ((struct sim_watcher *)ctx)->o;
  return o->poll(o->ctx, p);
}

static bool window(void *ctx, uint64_t now)
{
  const struct sim_watcher *w = ctx;
  usage_window(w->o->usage, w->s->gpu, now);
  return true;
}

/* Profilers flush the caches before they run a kernel, but they run it several times and save its memory before that:
 * its pages are known. */
struct params simulator_params(const struct simulator *s, bool cold)
{
  struct params p = *s->params;
  if (cold) p.tlb_walk_cycles = 0;
  return p;
}

void simulator_tell_l2(const struct simulator *s)
{
  gpu_set_l2(s->gpu, s->l2_aside, s->l2_fetch ? s->l2_fetch : s->params->l2_fetch_bytes);
}

void simulator_set_l2(struct simulator *s, uint64_t aside_bytes, unsigned fetch_bytes)
{
  s->l2_aside = aside_bytes;
  s->l2_fetch = fetch_bytes;
  if (s->gpu) simulator_tell_l2(s);
}

void simulator_reset_residency(struct simulator *s)
{
  if (s->gpu) gpu_reset_residency(s->gpu);
}

static void build(struct simulator *s, const struct sim_options *o)
{
  const struct params p = simulator_params(s, o->cold);
  if (s->around) {
    if (s->around->machine) surroundings_wake(s->around, s);
    else surroundings_build(s->around, s, o->threads, o->cold);
    return;
  }
  s->gpu = s->outside ? gpu_new_outside(&p, s->outside) : gpu_new(&p);
  if (s->l2_aside || s->l2_fetch) simulator_tell_l2(s);
  s->machine = machine_new(&(struct machine_config){
      .threads = o->threads, .domain = (struct domain *[]){gpu_domain(s->gpu)}, .n_domains = 1, .epoch = TIME_NEVER});
}

struct gpu *simulator_gpu(struct simulator *s, const struct sim_options *o)
{
  bool same = s->threads == o->threads && s->hazards == o->hazards && s->observers == o->observers;
  if (s->gpu && !same && !s->fresh) free_machine(s);
  if (s->gpu && !s->fresh) return s->gpu;
  if (!s->gpu) build(s, o);
  s->fresh = false;
  if (o->hazards & SIM_HAZARDS_CHECK) gpu_check_hazards(s->gpu);
  if (o->hazards & SIM_HAZARDS_EMULATE) gpu_emulate_hazards(s->gpu);
  if (o->observers) gpu_observe(s->gpu, o->observers->of, o->observers->ctx);
  s->threads = o->threads;
  s->hazards = o->hazards;
  s->observers = o->observers;
  return s->gpu;
}

const uint64_t *sim_counters(const struct sim_result *r, const char *name, unsigned n)
{
  for (unsigned i = 0; i < r->n_groups; i++) {
    const struct stat_desc *d = stat_find(r->group[i], name);
    if (!d) continue;
    BUG_ON(d->count < n);
    return (const uint64_t *)(const void *)((const char *)r->group[i].data + d->offset);
  }
  BUG("no counter %s", name);
}

uint64_t sim_counter(const struct sim_result *r, const char *name)
{
  return *sim_counters(r, name, 1);
}

void simulator_count_mix(struct simulator *s, const struct gpu_inst_profile *p, const struct code_view *code)
{
  for (uint64_t i = 0; i < p->n_insts; i++) {
    s->mix[code->inst[i].mnemonic] += p->issued[i];
    s->threads_by[code->inst[i].mnemonic] += p->threads[i];
  }
}

void simulator_collect(struct simulator *s, struct gpu *gpu, const struct code_view *code,
                    struct sim_result *r)
{
  const struct occupancy *o = gpu_occupancy(gpu, s->open[0]);

  r->n_groups = gpu_stats_groups(gpu, r->group);
  r->instances = gpu_instances_of_run(gpu);
  s->profile = gpu_profile(gpu, s->open[0]);
  simulator_count_mix(s, &s->profile, code);
  r->profile = &s->profile;
  r->ctas_per_sm = o->ctas;
  r->limiter = o->limiter;
  r->cycles = sim_counter(r, "cycles");
  r->time_ps = sim_counter(r, "time_ps");
  r->warp_insts = sim_counter(r, "warp_insts");
  r->thread_insts = sim_counter(r, "thread_insts");
  r->hazards = gpu_hazards(gpu);
}

struct gpu *simulator_gpu_at(struct simulator *s, const struct sim_options *o, uint64_t start, struct err *e)
{
  if (o->hazards && s->params->issue_dependence == DEPENDENCE_SCOREBOARD) {
    err_set(e, "hazards of control bits can only be checked or emulated with issue.dependence = "
               "control_bits or hybrid, not scoreboard");
    return NULL;
  }
  const struct params *p = s->params;
  if (o->hazards && (p->ideal_issue || p->ideal_stalls || p->ideal_divergence || p->ideal_local || p->ideal_barriers)) {
    err_set(e, "hazards of control bits are not checked or emulated with ideal.issue, ideal.stalls, ideal.divergence, "
               "ideal.local or ideal.barriers, which leave out what keeps instructions apart");
    return NULL;
  }
  if (o->cold) free_machine(s);
  struct gpu *gpu = simulator_gpu(s, o);
  gpu_count_instances(gpu, o->instances);
  simulator_close_launches(s);
  unsigned cursor = 0;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) start = later(start, gpu_now(m->gpu));
  gpu_idle_until(gpu, start);
  return gpu;
}

void simulator_begin(struct simulator *s, const struct step_source *first, struct gmem *image)
{
  unsigned cursor = 0;
  if (s->around) s->around->image[s->node] = image;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    if (m == s) continue;
    simulator_close_launches(m);
    gpu_idle_until(m->gpu, gpu_now(s->gpu));
    gpu_begin(m->gpu, NULL, m->around->image[m->node]);
  }
  if (s->around) s->around->run = s, s->around->begun = gpu_now(s->gpu);
  gpu_begin(s->gpu, first, image);
}

void simulator_keep(struct simulator *s, enum run_end end)
{
  unsigned cursor = 0;
  if (end == RUN_DONE) return;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    gpu_free(m->last);
    m->last = m->gpu;
    m->gpu = NULL;
  }
  free_machine(s);
}

bool simulator_open(struct simulator *s, const struct gpu_launch *l, struct err *e)
{
  TRY(gpu_open(s->gpu, l, &s->open[s->n_open], e));
  s->n_open++;
  return true;
}

void simulator_begin_observing(const struct simulator *s, uint64_t start_ps)
{
  if (s->observers && s->observers->begin)
    s->observers->begin(s->observers->ctx, start_ps / params_clock_ps(s->params));
}

struct run_watch simulator_watch(struct sim_watcher *w)
{
  const struct sim_options *o = w->o;
  return (struct run_watch){ .max_cycles = o->max_cycles, .max_insts = o->max_insts,
                             .poll = o->poll ? poll : NULL, .resident = note_resident,
                             .window = o->usage ? window : NULL,
                             .ctx = w, .poll_insts = o->poll_insts, .tap = o->tap, .threads = o->threads,
                             .slice = o->slice };
}

static void count_for(struct simulator *s, const struct isa *isa)
{
  const size_t n = isa->n_mnemonics() + 1u;
  if (s->isa == isa) {
    memset(s->mix, 0, n * sizeof *s->mix);
    memset(s->threads_by, 0, n * sizeof *s->threads_by);
    return;
  }
  mem_free(s->mix);
  mem_free(s->threads_by);
  s->isa = isa;
  s->mix = mem_zeroed(n, sizeof *s->mix);
  s->threads_by = mem_zeroed(n, sizeof *s->threads_by);
}

void simulator_forget(struct simulator *s, const struct isa *isa)
{
  gpu_free(s->last);
  s->last = NULL;
  count_for(s, isa);
  s->where.n = 0;
  gpu_profile_free(&s->profile);
}
