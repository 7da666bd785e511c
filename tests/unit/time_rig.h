/* One SM (of an rtx-3070 unless named) running one CTA of a mock program (time_mock.h). Include after cmocka.h. */
#ifndef TESTS_UNIT_TIME_RIG_H
#define TESTS_UNIT_TIME_RIG_H

#include "base/host_memory.h"
#include "config/presets.h"
#include "time/sm/sm.h"
#include "time_mock.h"

enum { RUN_CYCLES = 4000, START = 40 /* buffers are full by then */ };

struct rig {
  struct params params;
  struct arena arena;
  struct sm *sm;
  struct gmem *image;
};

static inline void rig_params(struct rig *r, const char *gpu)
{
  struct err e = {0};
  char dir[4096];
  memset(r, 0, sizeof *r);
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load(gpu, dir, &r->params, &e)) fail_msg("%s", e.msg);
  r->params.icache_perfect = r->params.const_perfect = true; /* the figures have warm caches */
}

/* Builds the machine of r->params. */
static inline void rig_init(struct rig *r)
{
  r->image = gmem_new(r->params.vm_page_bits);
  r->sm = ARENA_NEW(&r->arena, struct sm);
  sm_init(r->sm, &r->arena, &r->params, 0);
}

static inline void rig_build_for(struct rig *r, const char *gpu)
{
  rig_params(r, gpu);
  rig_init(r);
}

static inline void rig_build(struct rig *r)
{
  rig_build_for(r, "rtx-3070");
}

static inline void rig_free(struct rig *r)
{
  gmem_log_free(&r->sm->log);
  gmem_free(r->image);
  l1i_free(&r->sm->l1i);
  arena_free(&r->arena);
}

/* L2 has all code: its lines come after the unloaded way there and back. */
static inline void rig_answer_code(struct rig *r)
{
  struct mem_unit *u = &r->sm->mem;
  picos way = (r->params.l2_latency - params_l1_hit_cycles(&r->params)) * r->sm->period;
  for (struct mem_req *q; (q = req_queue_front(&u->port.out)) && q->kind == REQ_CODE; req_queue_pop(&u->port.out))
    reply_queue_push(&u->port.in, (struct mem_reply){.arrive = q->arrive - u->port.request_time + way,
                                                     .line = q->line,
                                                     .txn = q->txn,
                                                     .kind = q->kind,
                                                     .sectors = q->sectors});
}

/* Runs one CTA; no warp issues before cycle START. */
static inline void rig_run_source(struct rig *r, struct step_source *source)
{
  sm_start(r->sm, r->image, source->caps & STEP_CAP_CONTROL);
  sm_open_grid(r->sm, 0, source, 0, &r->arena);
  launch_queue_push(&r->sm->launches, (struct cta_launch){.carveout = r->params.l1_bytes - 65536});
  sm_run(r->sm, 0, 1);
  for (unsigned i = 0; i < r->params.sm_sub_cores; i++)
    for (unsigned w = 0; w < SUB_CORE_MAX_WARPS; w++)
      r->sm->sub_core[i].warps.slot[w].issue_at = START;
  /* The first cycle may have put a warp to sleep or not: look again. */
  for (unsigned i = 0; i < r->params.sm_sub_cores; i++) {
    r->sm->sub_core[i].warps.changed = UINT32_MAX;
    sub_core_wake(&r->sm->sub_core[i], 1);
  }
  picos window = params_request_ps(&r->params), end = RUN_CYCLES * r->sm->period;
  for (picos from = r->sm->period; from < end; from += window) {
    sm_run(r->sm, from, from + window < end ? from + window : end);
    rig_answer_code(r);
  }
  assert_int_equal(r->sm->resident, 0);
  struct err e = {0};
  if (!stat_check_laws(sm_stats_group("sm", &r->sm->stats), &e)) fail_msg("%s", e.msg);
}

static inline void rig_run(struct rig *r, struct mock *m)
{
  rig_run_source(r, &m->source);
}

#endif
