/* Counters under Nsight Compute's names: what each adds up, from statistics in which every field is another number. Expected
 * values from the names' meaning in the documentation of Nsight Compute (metrics decoder, pipelines, memory tables). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "time/gpu/gpu_stats.h"
#include "time/mem/dram_stats.h"
#include "time/mem/l2_stats.h"
#include "time/sm/sm_stats.h"
#include "view/counters.h"

struct all {
  struct gpu_stats gpu;
  struct sm_stats sm;
  struct l2_stats l2;
  struct dram_stats dram;
};

/* Every 64-bit word of the statistics is different: no counter can take another's place. */
static void fill(void *stats, size_t bytes, uint64_t from)
{
  for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) memcpy((char *)stats + i * sizeof(uint64_t), &(uint64_t){from + 3 * i * i}, sizeof(uint64_t));
}

static double value(const struct all *a, const char *name)
{
  const struct stat_group group[] = {gpu_stats_group("gpu", (struct gpu_stats *)&a->gpu), sm_stats_group("sm", (struct sm_stats *)&a->sm),
                                     l2_stats_group("l2", (struct l2_stats *)&a->l2), dram_stats_group("dram", (struct dram_stats *)&a->dram)};
  double v = -1;
  for (unsigned i = 0; i < counter_n_descs; i++)
    if (strcmp(counter_descs[i].name, name) == 0) {
      assert_true(counter_value(i, group, sizeof group / sizeof group[0], &v));
      return v;
    }
  fail_msg("no counter %s", name);
  return v;
}

static void all_fill(struct all *a)
{
  fill(&a->gpu, sizeof a->gpu, 1000003);
  fill(&a->sm, sizeof a->sm, 2000003);
  fill(&a->l2, sizeof a->l2, 4000037);
  fill(&a->dram, sizeof a->dram, 8000009);
}

/* Pipelines: XU is "transcendental and data type conversion", FP64 has one of its own (Nsight Compute, "Pipelines"). */
static void pipelines(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    enum pipe pipe;
  } row[] = {{"alu", PIPE_ALU}, {"fma", PIPE_FMA}, {"fp16", PIPE_HALF}, {"fp64", PIPE_FP64}, {"tensor", PIPE_TENSOR},
             {"xu", PIPE_SFU}, {"uniform", PIPE_UNIFORM}, {"lsu", PIPE_MEM}, {"cbu", PIPE_BRANCH}};
  struct all a;
  all_fill(&a);
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    char name[64];
    snprintf(name, sizeof name, "sm__inst_executed_pipe_%s.sum", row[i].name);
    assert_true(value(&a, name) == (double)a.sm.pipe[row[i].pipe]);
  }
}

/* smsp__inst_executed_op_*, l1tex__t_requests_pipe_lsu_mem_*, …_sectors_…: instructions, requests and sectors of one kind. */
static void memory_operations(void **state)
{
  (void)state;
  static const struct {
    const char *inst, *l1; /* the atomics that return a value have no name without sass (docs/counters.md) */
    enum mem_class k;
  } row[] = {{"global_ld", "global_op_ld", MEM_CLASS_GLOBAL_LD}, {"global_st", "global_op_st", MEM_CLASS_GLOBAL_ST},
             {"global_atom", "global_op_atom", MEM_CLASS_GLOBAL_ATOM}, {"global_red", "global_op_red", MEM_CLASS_GLOBAL_RED},
             {"local_ld", "local_op_ld", MEM_CLASS_LOCAL_LD}, {"local_st", "local_op_st", MEM_CLASS_LOCAL_ST},
             {"shared_ld", NULL, MEM_CLASS_SHARED_LD}, {"shared_st", NULL, MEM_CLASS_SHARED_ST},
             {"shared_atom", NULL, MEM_CLASS_SHARED_ATOM}, {"ldgsts", NULL, MEM_CLASS_LDGSTS}, {"texture", NULL, MEM_CLASS_TEX}};
  struct all a;
  char name[128];
  all_fill(&a);
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    snprintf(name, sizeof name, "smsp__%sinst_executed_op_%s.sum", row[i].k == MEM_CLASS_GLOBAL_ATOM ? "sass_" : "", row[i].inst);
    assert_true(value(&a, name) == (double)a.sm.mem_class[row[i].k]);
    if (!row[i].l1) continue;
    snprintf(name, sizeof name, "l1tex__t_requests_pipe_lsu_mem_%s.sum", row[i].l1);
    assert_true(value(&a, name) == (double)a.sm.mem_class[row[i].k]);
    snprintf(name, sizeof name, "l1tex__t_sectors_pipe_lsu_mem_%s.sum", row[i].l1);
    assert_true(value(&a, name) == (double)a.sm.class_sectors[row[i].k]);
  }
}

/* smsp__average_warps_issue_stalled_REASON_per_issue_active.ratio: warp-cycles in the state for each instruction issued. */
static void stall_reasons(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    enum warp_state state;
  } row[] = {{"barrier", WS_BARRIER}, {"branch_resolving", WS_BRANCH_RESOLVING}, {"dispatch_stall", WS_DISPATCH},
             {"drain", WS_DRAIN}, {"gmma", WS_GMMA}, {"imc_miss", WS_IMC_MISS}, {"lg_throttle", WS_LG_THROTTLE},
             {"long_scoreboard", WS_LONG_SCOREBOARD}, {"math_pipe_throttle", WS_MATH_PIPE}, {"membar", WS_MEMBAR},
             {"mio_throttle", WS_MIO_THROTTLE}, {"no_instruction", WS_NO_INSTRUCTION}, {"not_selected", WS_NOT_SELECTED},
             {"selected", WS_SELECTED}, {"short_scoreboard", WS_SHORT_SCOREBOARD}, {"sleeping", WS_SLEEPING}, {"wait", WS_WAIT}};
  struct all a;
  char name[128];
  all_fill(&a);
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    snprintf(name, sizeof name, "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", row[i].name);
    assert_true(value(&a, name) == (double)a.sm.warp_state[row[i].state] / (double)a.sm.warp_insts);
  }
}

/* Hits and misses are the whole; a rate is hits of the whole, in percent; bytes of DRAM are 32 to a sector. */
static void sums_and_quotients(void **state)
{
  (void)state;
  struct all a;
  all_fill(&a);
  a.dram.dram_read_bytes = 96 * SECTOR_BYTES;
  a.gpu.time_ps = 2000000;
  assert_true(value(&a, "dram__sectors_read.sum") == 96);
  assert_true(value(&a, "gpu__time_duration.sum") == 2000);
  assert_true(value(&a, "dram__bytes_read.sum.per_second") == 96 * SECTOR_BYTES / 2e-6);
  for (unsigned i = 0; i < L2_OP__N; i++) a.l2.op_sectors[i] = 100 + i, a.l2.op_misses[i] = 10 + i;
  double all = value(&a, "lts__t_sectors.sum"), read = value(&a, "lts__t_sectors_op_read.sum");
  assert_true(all == read + value(&a, "lts__t_sectors_op_write.sum") + value(&a, "lts__t_sectors_op_atom.sum") +
                         value(&a, "lts__t_sectors_op_red.sum"));
  assert_true(read == value(&a, "lts__t_sectors_op_read_lookup_hit.sum") + value(&a, "lts__t_sectors_op_read_lookup_miss.sum"));
  assert_true(value(&a, "lts__t_sectors_op_read_lookup_miss.sum") == 10 + L2_OP_READ + 10 + L2_OP_CODE);
  assert_true(value(&a, "lts__t_sector_hit_rate.pct") == 100 * (all - (5 * 10 + 0 + 1 + 2 + 3 + 4)) / all);
  assert_true(value(&a, "sm__warps_active.avg.per_cycle_active") == (double)a.sm.warp_cycles / (double)a.sm.active_cycles);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pipelines),
      cmocka_unit_test(memory_operations),
      cmocka_unit_test(stall_reasons),
      cmocka_unit_test(sums_and_quotients),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
