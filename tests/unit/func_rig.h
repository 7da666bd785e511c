/* One instruction at a time: a launch whose code is a few words of compiler output (CUDA 13.0,
 * sm_86 unless a test says otherwise), one CTA, registers set and read by the test. */
#ifndef TEST_FUNC_RIG_H
#define TEST_FUNC_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/host_memory.h"
#include "func/func.h"
#include "func/sass/func_warp.h"
#include "isa/sass/sass.h"

enum { RIG_BASE = 0x10000, RIG_MAX = 16, RIG_SHARED = 4096, RIG_LOCAL = 256 };
#define RIG_SHARED_WINDOW 0x7f0000000000ull
#define RIG_LOCAL_WINDOW 0x7e0000000000ull

#define W_EXIT 0x000fea0003800000ull, 0x000000000000794dull

struct rig {
  struct gmem *mem;
  uint64_t buf; /* 64 KiB of guest memory */
  struct sass_inst sass[RIG_MAX];
  struct inst inst[RIG_MAX];
  struct func_launch *l;
  struct func_cta *cta;
  struct func_warp *w; /* warp 0 */
  struct gmem_view view;
  struct mem_effect me;
  struct effect e;
  struct fault f;
};

/* words: pairs {high, low}, as the disassembler's listing shows them. */
static inline struct rig *rig_new_sm(unsigned sm, const uint64_t *words, unsigned n, unsigned threads)
{
  struct rig *r = aligned_alloc(_Alignof(struct rig), sizeof *r);
  struct err e = {0};
  assert_non_null(r);
  memset(r, 0, sizeof *r);
  r->mem = gmem_new(16);
  r->buf = gmem_alloc(r->mem, 65536, "buf");
  for (unsigned i = 0; i < n; i++) {
    struct word128 w = {words[2 * i + 1], words[2 * i]};
    if (!sass_decode(sm, w, RIG_BASE + 16 * i, &r->sass[i], &r->inst[i], &e)) fail_msg("%s", e.msg);
  }
  struct func_params p = {
      .sm = sm, .code = {.base = RIG_BASE, .end = RIG_BASE + 16 * n, .shift = 4, .inst = r->inst, .decoded = r->sass},
      .entry_pc = RIG_BASE, .grid = {1, 1, 1}, .block = {threads, 1, 1}, .regs_per_thread = 32,
      .shared_static = RIG_SHARED, .local_bytes = RIG_LOCAL, .shared_window = RIG_SHARED_WINDOW,
      .local_window = RIG_LOCAL_WINDOW, .image = r->mem, .n_workers = 1, .slots_per_worker = 1,
      .kernel_name = "rig"};
  r->l = func_launch_new(&p, &e);
  if (!r->l) fail_msg("%s", e.msg);
  struct step_source *s = func_source(r->l);
  r->cta = (struct func_cta *)s->ops->cta_begin(s, 0, 0, 0, 0);
  r->w = &r->cta->warps[0];
  r->view.image = r->mem;
  r->e.mem = &r->me;
  return r;
}

static inline struct rig *rig_new(const uint64_t *words, unsigned n, unsigned threads)
{
  return rig_new_sm(86, words, n, threads);
}

static inline void rig_free(struct rig *r)
{
  func_launch_free(r->l);
  gmem_free(r->mem);
  free(r);
}

/* Steps a path of warp 0 through all commit points. */
static inline bool rig_step_path(struct rig *r, unsigned path)
{
  const struct step_ops *ops = r->w->step.ops;
  if (!ops->step(&r->w->step, path, &r->e, &r->f)) return false;
  if (!(r->e.flags & EFF_MEM)) return true;
  lane_mask all = r->me.lanes | r->me.near_lanes;
  if (!ops->perform(&r->w->step, &r->e, all, &r->view, &r->f)) return false;
  ops->finish(&r->w->step, &r->e);
  return true;
}

static inline bool rig_step(struct rig *r)
{
  return rig_step_path(r, 0);
}

static inline void rig_set(struct rig *r, unsigned reg, unsigned lane, uint32_t v)
{
  warp_reg(r->w, reg)[lane] = v;
}

static inline uint32_t rig_get(struct rig *r, unsigned reg, unsigned lane)
{
  return warp_reg(r->w, reg)[lane];
}

static inline void rig_set64(struct rig *r, unsigned reg, unsigned lane, uint64_t v)
{
  rig_set(r, reg, lane, (uint32_t)v);
  rig_set(r, reg + 1, lane, (uint32_t)(v >> 32));
}

#endif
