/* What parts of the timing model say of themselves in the report of a deadlock: counts set by hand come back in its lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/presets.h"
#include "time/coh/coh_cache.h"
#include "time/coh/coh_home.h"
#include "time/coh/coh_net.h"
#include "time/cpu/cpu_core.h"
#include "time/dma/dma.h"
#include "time/gpu/netlist.h"
#include "time/link/hub_in.h"
#include "time/noc/cluster_net.h"
#include "time/sm/copy_engine.h"

static char text[4096];

static FILE *begin(void)
{
  memset(text, 0, sizeof text);
  FILE *f = fmemopen(text, sizeof text, "w");
  assert_non_null(f);
  return f;
}

static void said(FILE *f, const char *want)
{
  fclose(f);
  assert_string_equal(text, want);
}

static void memory(void **state)
{
  struct params p;
  struct netlist n;
  struct err e = {0};
  char dir[4096];
  (void)state;
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  assert_true(params_load("rtx-3070", dir, &p, &e));
  p.gpu_sms = 2;
  netlist_build(&n, &p, NULL, NULL, 0, NULL, NULL);
  struct partition m = n.partition[1];
  m.n_slices = m.n_channels = 1;
  m.slice[0].in.n = 3, m.slice[0].misses.n = 5, m.slice[0].atomics.n = 7, m.slice[0].blocked = 1;
  m.channel[0].n[DRAM_READ] = 11, m.channel[0].n[DRAM_WRITE] = 13, m.channel[0].n_answers = 17;
  FILE *f = begin();
  partition_dump(&m, f);
  char want[512];
  snprintf(want, sizeof want,
           "  L2 slice %u: 3 requests queued (blocked), 0 in the crossbar, 5 lines on their way, 7 atomics\n"
           "  DRAM channel 1: 11 reads, 13 writes queued, 17 answers on their way\n", m.slice[0].id);
  said(f, want);
  m.slice[0].blocked = 0;
  f = begin();
  partition_dump(&m, f);
  fclose(f);
  assert_null(strstr(text, "blocked"));
  m.slice[0].in.n = 0; /* what netlist_free may look at */
  netlist_free(&n);
}

static void engines(void **state)
{
  static struct dma d;
  static struct hub_in h;
  static struct cluster_net c;
  struct copy_job job[3] = {{.way = COPY_STORE, .pc = 0x120, .unanswered = 4, .walked = true}, {.way = COPY_NONE},
                            {.way = COPY_LOAD, .pc = 0x340}};
  struct copy_engine e = {.job = job, .n_jobs = 2, .max_jobs = 3};
  (void)state;
  d.n_engines = 3;
  d.engine[0].n = 2, d.engine[0].left = 4096, d.engine[2].n = 1, d.engine[2].left = 77;
  FILE *f = begin();
  dma_ops.part.dump(&d, f);
  said(f, "  copy engine 0: 2 copies, 4096 bytes left of the first\n  copy engine 2: 1 copies, 77 bytes left of the first\n");
  h.n_spare = HUB_JOBS - 9;
  f = begin();
  hub_in_ops.part.dump(&h, f);
  said(f, "  hub: 9 requests of others\n");
  c.messages = 1234, c.n_states = 3;
  f = begin();
  cluster_net_dump(&c, f);
  said(f, "  SM-to-SM network: 1234 messages, clusters that meet: 3\n");
  f = begin();
  copy_engine_dump(&e, f);
  said(f, "    asynchronous copy engine: store of pc 0x120, requested, 4 requests unanswered\n"
          "    asynchronous copy engine: load of pc 0x340, not all requested, 0 requests unanswered\n");
  job[0].unanswered = 0, e.n_jobs = 1, job[2].way = COPY_NONE;
  f = begin();
  copy_engine_dump(&e, f);
  said(f, "    asynchronous copy engine: store of pc 0x120, on its way, 0 requests unanswered\n");
  e.n_jobs = 0; /* nothing is in use */
  f = begin();
  copy_engine_dump(&e, f);
  said(f, "");
}

/* Lines between two states, not those that rest. */
static void coherence(void **state)
{
  enum { SETS = 2, WAYS = 2, NO_MISS = UINT16_MAX };
  unsigned rests = COH_ST_I, moves = 0;
  struct coh_port port = {.node = 6};
  struct coh_miss miss[2] = {{.acks = 1}, {.acks = 3}};
  char want[512];
  (void)state;
  assert_true(coh_state_rests[rests]);
  while (moves < COH_STATES && coh_state_rests[moves]) moves++;
  assert_true(moves < COH_STATES);
  struct coh_entry in_cache[SETS * WAYS] = {{.state = (uint8_t)rests}, {.state = (uint8_t)moves, .line = 0x10, .miss = NO_MISS},
                                            {.state = (uint8_t)rests}, {.state = (uint8_t)moves, .line = 0x23, .miss = 1}};
  struct coh_cache c = {.cfg = {.sets = SETS, .ways = WAYS}, .port = &port, .entry = in_cache, .miss = miss};
  FILE *f = begin();
  coh_cache_dump(&c, f);
  snprintf(want, sizeof want, "  cache 6: line 0x%x is %s\n  cache 6: line 0x%x is %s, 3 answers to come\n", 0x10u << COH_LINE_SHIFT,
           coh_state_name[moves], 0x23u << COH_LINE_SHIFT, coh_state_name[moves]);
  said(f, want);
  struct coh_home_entry at_home[SETS * WAYS] = {{.state = (uint8_t)rests}, {.state = (uint8_t)rests}, {.state = (uint8_t)rests},
                                                {.state = (uint8_t)moves, .line = 0x45, .requestor = 8}};
  struct coh_home h = {.cfg = {.sets = SETS, .ways = WAYS}, .port = &port, .entry = at_home};
  f = begin();
  coh_home_dump(&h, f);
  snprintf(want, sizeof want, "  home 6: line 0x%x is %s, for node 8\n", 0x45u << COH_LINE_SHIFT, coh_state_name[moves]);
  said(f, want);
}

static void cores(void **state)
{
  static struct cpu_core c;
  (void)state;
  c.pc = 0x10074, c.state = CPU_RUNS, c.n_loads = 2, c.n_stores = 3;
  FILE *f = begin();
  cpu_core_dump(&c, f);
  said(f, "  core, pc 0x10074: running, 2 loads, 3 stores on their way\n");
  c.solo.active = true, c.fetch_out = true;
  f = begin();
  cpu_core_dump(&c, f);
  said(f, "  core, pc 0x10074: running, 2 loads, 3 stores, an atomic, code on their way\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory), cmocka_unit_test(engines), cmocka_unit_test(coherence),
                                     cmocka_unit_test(cores)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
