/* A kernel of kernels/ on a small GPU with the machine that runs it. Include after cmocka.h. */
#ifndef TESTS_UNIT_KERNEL_RIG_H
#define TESTS_UNIT_KERNEL_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/presets.h"
#include "func/func.h"
#include "gpu_rig.h"
#include "host/case.h"
#include "host/simulate.h"

struct kernel_rig {
  struct params params;
  struct launch_case file;
  struct case_run *run;
  struct launch *launch;
  struct gpu_rig rig;
};

enum { KERNEL_RIG_SMS = 6 };

/* An rtx-3070 of six SMs. */
static inline void kernel_rig_build(struct kernel_rig *k, const char *name, unsigned threads)
{
  char path[4096];
  struct err e = {0};
  memset(k, 0, sizeof *k);
  if (!presets_dir(NULL, path, sizeof path, &e) || !params_load("rtx-3070", path, &k->params, &e)) fail_msg("%s", e.msg);
  k->params.gpu_sms = KERNEL_RIG_SMS;
  snprintf(path, sizeof path, WS_SOURCE_DIR "/kernels/%s/%s.launch", name, name);
  if (!launchfile_read(&k->file, path, &e)) fail_msg("%s", e.msg);
  struct device_config c = device_config_for(&k->params, true);
  if (!(k->run = case_setup(&k->file, &c, &e))) fail_msg("%s", e.msg);
  k->launch = case_launch(k->run);
  k->rig = gpu_rig_new(&k->params, threads);
}

static inline void kernel_rig_free(struct kernel_rig *k)
{
  gpu_rig_free(&k->rig);
  case_free(k->run);
  launch_case_free(&k->file);
}

static inline struct gpu_launch kernel_rig_launch(const struct kernel_rig *k)
{
  return (struct gpu_launch){.source = func_source(k->launch->func)};
}

/* The same kernel with the same arguments again, on a grid of n CTAs. The caller frees .func. */
static inline struct launch kernel_rig_again(const struct kernel_rig *k, uint32_t n)
{
  struct err e = {0};
  struct launch l = *k->launch;
  l.params.grid[0] = n, l.params.grid[1] = l.params.grid[2] = 1;
  if (!(l.func = func_launch_new(&l.params, &e))) fail_msg("%s", e.msg);
  return l;
}

static inline void assert_same_groups(const struct stat_group *a, const struct stat_group *b, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    for (unsigned r = 0; r < a[i].n; r++) {
      const struct stat_desc *d = &a[i].desc[r];
      if (d->kind != STAT_KIND_U64 && d->kind != STAT_KIND_MAX && d->kind != STAT_KIND_VEC) continue;
      const uint64_t *x = (const uint64_t *)((const char *)a[i].data + d->offset);
      const uint64_t *y = (const uint64_t *)((const char *)b[i].data + d->offset);
      for (unsigned k = 0; k < d->count; k++)
        if (x[k] != y[k]) fail_msg("%s[%u]: %llu and %llu", d->name, k, (unsigned long long)x[k], (unsigned long long)y[k]);
    }
}

/* All counters of the last run and the books of a launch's instructions are the same. */
static inline void assert_same_run(struct gpu *a, struct gpu *b, const unsigned slot_a, const unsigned slot_b)
{
  struct stat_group x[GPU_MAX_GROUPS], y[GPU_MAX_GROUPS];
  unsigned n = gpu_stats_groups(a, x);
  assert_int_equal(gpu_stats_groups(b, y), n);
  assert_same_groups(x, y, n);
  struct gpu_inst_profile p = gpu_profile(a, slot_a), q = gpu_profile(b, slot_b);
  assert_int_equal(p.n_insts, q.n_insts);
  assert_memory_equal(p.by_inst, q.by_inst, p.n_insts * p.n_states * sizeof *p.by_inst);
  assert_memory_equal(p.issued, q.issued, p.n_insts * sizeof *p.issued);
  gpu_profile_free(&p);
  gpu_profile_free(&q);
}

#endif
