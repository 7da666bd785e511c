/* A timed GPU and the machine that runs it. Include after cmocka.h. */
#ifndef TESTS_UNIT_GPU_RIG_H
#define TESTS_UNIT_GPU_RIG_H

#include "time/gpu/gpu.h"
#include "time/machine/machine.h"

struct gpu_rig {
  struct gpu *gpu;
  struct machine *machine;
  bool running; /* a run has begun and is not finished */
};

static inline struct gpu_rig gpu_rig_of(struct gpu *gpu, unsigned threads)
{
  struct gpu_rig r = {.gpu = gpu};
  struct domain *d = gpu_domain(r.gpu);
  r.machine = machine_new(&(struct machine_config){.threads = threads, .domain = &d, .n_domains = 1, .epoch = TIME_NEVER});
  return r;
}

static inline struct gpu_rig gpu_rig_new(const struct params *p, unsigned threads)
{
  return gpu_rig_of(gpu_new(p), threads);
}

static inline void gpu_rig_free(struct gpu_rig *r)
{
  machine_free(r->machine);
  gpu_free(r->gpu);
}

static const struct run_watch gpu_rig_watch; /* watches nothing */

/* The first begins a run. */
static inline unsigned gpu_rig_open(struct gpu_rig *r, const struct gpu_launch *l, struct gmem *image)
{
  struct err e = {0};
  unsigned slot;
  if (!r->running) gpu_begin(r->gpu, l->source, image);
  r->running = true;
  if (!gpu_open(r->gpu, l, &slot, &e)) fail_msg("%s", e.msg);
  return slot;
}

/* Runs what is there to its end. */
static inline void gpu_rig_finish(struct gpu_rig *r)
{
  struct fault f = {0};
  gpu_watch(r->gpu, &gpu_rig_watch, false);
  assert_int_equal(machine_run(r->machine, TIME_NEVER), MACHINE_IDLE);
  assert_int_equal(gpu_finish(r->gpu, &f, NULL), RUN_DONE);
  r->running = false;
}

/* Runs launches to their end, in the slots 0 to n - 1, which stay open. */
static inline void gpu_rig_run(struct gpu_rig *r, const struct gpu_launch *l, unsigned n, struct gmem *image)
{
  for (unsigned i = 0; i < n; i++) {
    struct gpu_launch one = l[i];
    one.beside = n > 1;
    assert_int_equal(gpu_rig_open(r, &one, image), i);
  }
  gpu_rig_finish(r);
}

#endif
