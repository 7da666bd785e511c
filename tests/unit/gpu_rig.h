/* A timed GPU and the machine that runs it. Include after cmocka.h. */
#ifndef TESTS_UNIT_GPU_RIG_H
#define TESTS_UNIT_GPU_RIG_H

#include "time/gpu/gpu.h"
#include "time/machine/machine.h"

struct gpu_rig {
  struct gpu *gpu;
  struct machine *machine;
};

static inline struct gpu_rig gpu_rig_new(const struct params *p, unsigned threads)
{
  struct gpu_rig r = {.gpu = gpu_new(p)};
  struct domain *d = gpu_domain(r.gpu);
  r.machine = machine_new(&(struct machine_config){.threads = threads, .domain = &d, .n_domains = 1, .epoch = TIME_NEVER});
  return r;
}

static inline void gpu_rig_free(struct gpu_rig *r)
{
  machine_free(r->machine);
  gpu_free(r->gpu);
}

/* Runs launches to their end. */
static inline void gpu_rig_run(struct gpu_rig *r, const struct gpu_launch *l, unsigned n, struct gmem *image)
{
  struct run_watch watch = {0};
  struct fault f = {0};
  struct err e = {0};
  if (!gpu_start(r->gpu, l, n, image, &watch, &e)) fail_msg("%s", e.msg);
  assert_int_equal(machine_run(r->machine, TIME_NEVER), MACHINE_IDLE);
  assert_int_equal(gpu_finish(r->gpu, &f, NULL), RUN_DONE);
}

#endif
