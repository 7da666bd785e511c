/* The GPU between two moments (host/live_gpu.h): what is there, at what time of the program's clock, and how a run
 * begins.
 */
#include "host/live_parts.h"

#include "base/bug.h"
#include "host/gpu_server.h"
#include "host/usage.h"
#include "time/dma/dma.h"
#include "time/machine/machine.h"
#include "time/mem/l2_rights.h"
#include "time/uvm/uvm_machine.h"

unsigned live_count(const struct simulator *s)
{
  if (s->served) return s->served->count(s->server);
  return s->live ? s->live->n_open + s->live->ended_launches : 0;
}

bool live_busy(const struct simulator *s)
{
  if (s->served) return s->served->busy(s->server);
  return live_count(s) || (s->live && (s->live->n_copies || s->live->n_ended > s->live->taken));
}

unsigned live_copies(const struct simulator *s)
{
  if (s->served) return s->served->copies(s->server);
  return s->live ? s->live->n_copies : 0;
}

uint64_t live_ctas_done(const struct simulator *s)
{
  if (s->served) return s->served->ctas_done(s->server);
  return s->gpu ? gpu_ctas_done(s->gpu) : 0;
}

void live_free(struct simulator *s)
{
  if (!s->live) return;
  live_clock_free(&s->live->clock);
  mem_free(s->live->copy);
  mem_free(s->live->ended);
  mem_free(s->live);
}

bool live_full(const struct simulator *s)
{
  return live_count(s) >= GPU_SLOTS;
}

static bool has_others(const struct simulator *s)
{
  return s->around && s->around->preset->n_gpus > 1;
}

uint64_t live_now(const struct simulator *s)
{
  if (s->served) return s->served->now(s->server);
  const struct live_clock *k = s->live ? live_clock_of(s) : NULL;
  if (!k || !k->running) return 0;
  const uint64_t now = has_others(s) ? machine_now(simulator_machine(s)) : gpu_now(s->gpu);
  return later(k->start, live_clock_program(k, now, k->stood));
}

uint64_t live_time(const struct simulator *s, uint64_t gpu_ps)
{
  const struct live_clock *k = live_clock_of(s);
  return later(k->start, live_clock_program_at(k, gpu_ps, false));
}

void live_stand(struct simulator *s, uint64_t from, uint64_t until)
{
  struct live_clock *k = live_clock_of(s);
  BUG_ON(!k->running || has_others(s) || (s->around && s->around->rights));
  if (until <= from) return;
  live_clock_stand(k, from, until);
  if (s->around && s->around->managed) uvm_machine_clock(s->around->managed, until, k->skew - k->stood);
}

void live_on_window(struct simulator *s, bool (*window)(void *ctx, uint64_t now_ps), void *ctx)
{
  live_of(s);
  live_clock_of(s)->window = window;
  live_clock_of(s)->window_ctx = ctx;
}

/* --- a run begins ------------------------------------------------------------------------------- */

static bool behind_window(void *ctx, uint64_t now)
{
  const struct simulator *s = ((struct sim_watcher *)ctx)->s;
  const struct live_clock *k = live_clock_of(s);
  if (s->live->options.usage && s->live->n_open) usage_window(s->live->options.usage, s->gpu, now);
  const struct uvm *u = live_managed(s);
  if (s->live->n_copies && (gpu_dma(s->gpu)->n_done || (u && u->buffer.n_done))) return false;
  return !k->window || k->window(k->window_ctx, live_clock_program(k, now, k->stood));
}

void live_watch_as(struct simulator *s, const struct sim_options *o)
{
  struct live *v = s->live;
  v->options = *o;
  v->watcher = (struct sim_watcher){s, &v->options};
  v->watch = simulator_watch(&v->watcher);
  v->watch.window = behind_window;
}

/* As live_watch_as, but for what is one GPU's alone. */
static void watch_beside(struct simulator *s, const struct sim_options *o)
{
  struct sim_options own = *o;
  own.usage = NULL;
  live_watch_as(s, &own);
}

/* A GPU comes into the run under way. */
static void woken(struct simulator *s)
{
  struct live *v = live_of(s);
  BUG_ON(v->n_ended != v->taken);
  v->n_launches = v->n_ended = v->taken = 0;
  watch_beside(s, &s->around->run->live->options);
  gpu_watch(s->gpu, &v->watch, true);
}

void live_begin_run(struct simulator *s, uint64_t start_ps, const struct step_source *first, struct gmem *image)
{
  struct live_clock *k = live_clock_of(s);
  unsigned cursor = 0;
  live_clock_begin(k, start_ps, gpu_now(s->gpu));
  if (s->around) s->around->links.skew = k->skew;
  if (s->around && s->around->rights) s->around->rights->skew = k->skew;
  if (s->around && s->around->managed) uvm_machine_clock(s->around->managed, start_ps, k->skew);
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    live_of(m)->n_launches = 0;
    if (m != s) watch_beside(m, &s->live->options);
  }
  if (s->around) s->around->woken = woken;
  simulator_begin(s, first, image);
}

/* --- what has ended ------------------------------------------------------------------------------ */

struct live_end *live_add_end(struct live *v, const struct live_end *x)
{
  v->ended = mem_more(v->ended, v->n_ended, &v->room_ended, sizeof *v->ended);
  uint32_t at = v->n_ended++;
  for (; at > v->taken && v->ended[at - 1].end_ps > x->end_ps; at--) v->ended[at] = v->ended[at - 1];
  v->ended[at] = *x;
  return &v->ended[at];
}

bool live_take(struct simulator *s, struct live_end *end)
{
  struct live *v = s->live;
  if (s->served) return s->served->take(s->server, end);
  if (!v || v->taken == v->n_ended) return false;
  *end = v->ended[v->taken++];
  v->ended_launches -= !end->copy;
  return true;
}
