/* Timed runs; see run_timed.h. */
#include "cli/run_timed.h"

#include <stdlib.h>

#include "time/gpu/gpu.h"
#include "time/gpu/gpu_stats.h"
#include "view/progress.h"

/* Often enough for a progress line that is redrawn five times a second. */
enum { PROGRESS_INSTS = 50000 };

struct timed_run {
  struct gpu *gpu;
  struct stat_group group[GPU_MAX_GROUPS];
  uint64_t *mix;
};

/* Warp instructions by mnemonic, from the counts per instruction. */
static uint64_t *mix_of(const struct gpu *gpu, const struct code_view *code)
{
  struct gpu_inst_profile p = gpu_profile(gpu);
  uint64_t *mix = calloc(sass_mnemonic_count() + 1, sizeof *mix);

  for (uint64_t i = 0; mix && i < p.n_insts; i++) mix[code->inst[i].mnemonic] += p.issued[i];
  free(p.by_inst);
  free(p.issued);
  return mix;
}

static void fill_report(struct timed_run *t, const struct code_view *code, struct report *r)
{
  const struct occupancy *o = gpu_occupancy(t->gpu);

  r->timed = true;
  r->n_groups = gpu_stats_groups(t->gpu, t->group);
  r->group = t->group;
  r->mix = t->mix = mix_of(t->gpu, code);
  r->ctas_per_sm = o->ctas;
  r->limiter = o->limiter;
  r->cycles = report_u64(r, "cycles");
  r->time_ps = report_u64(r, "time_ps");
  r->warp_insts = report_u64(r, "warp_insts");
  r->thread_insts = report_u64(r, "thread_insts");
}

bool run_timed(struct case_run *cr, unsigned threads, bool check_hazards, bool show_progress,
               struct report *r, struct fault *fault, struct timed_run **out, struct err *e)
{
  struct step_source *source = func_source(case_launch(cr)->func);
  struct progress line;
  struct gpu_progress progress = {progress_update, &line, PROGRESS_INSTS};
  struct timed_run *t = *out = calloc(1, sizeof *t);

  if (!t) return err_set(e, "out of memory");
  t->gpu = gpu_new(&r->preset->params, threads);
  if (check_hazards) gpu_check_hazards(t->gpu);
  progress_start(&line, stderr, show_progress);
  enum gpu_end end =
      gpu_run(t->gpu, source, case_device(cr)->mem, &progress, fault, stderr, e);
  progress_end(&line);
  if (end == GPU_REFUSED) return false;
  fill_report(t, &source->code, r);
  r->hazards = gpu_hazards(t->gpu);
  if (end == GPU_FAULT) r->fault = fault;
  return true;
}

void run_timed_free(struct timed_run *t)
{
  if (!t) return;
  gpu_free(t->gpu);
  free(t->mix);
  free(t);
}
