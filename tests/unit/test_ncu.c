/* warpstep ncu without a program: names, formulas and units of metrics, sections, rules, which launches are chosen, reports. Expected
 * values are worked out by hand from the formulas of docs/ncu.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ncu/ncu_choice.h"
#include "ncu/ncu_filter.h"
#include "ncu/ncu_number.h"
#include "ncu/ncu_report.h"
#include "ncu/ncu_rule.h"

static struct ncu_value *value_of(struct ncu_action *a, const char *row)
{
  for (unsigned i = 0; i < NCU_N_ROWS; i++)
    if (!strcmp(ncu_metric_row(i)->name, row)) return &a->value[i];
  fail_msg("no row %s", row);
  return NULL;
}

/* 10 SMs of 4 sub-cores, 1000 cycles at 1 GHz, active for half of it; 4 slices at 0.5 GHz. */
static struct ncu_action launch_of_ten(void)
{
  struct ncu_action a;
  ncu_action_init(&a);
  a.cc = 86;
  a.kernel = "_Z1kPfi";
  a.process = "p";
  a.gpu = "g";
  a.domain[NCU_SM] = (struct ncu_domain_state){10, 1000, 5000, 1e9};
  a.domain[NCU_SMSP] = (struct ncu_domain_state){40, 1000, 20000, 1e9};
  a.domain[NCU_LTS] = (struct ncu_domain_state){4, 500, NAN, 5e8};
  *value_of(&a, "sm__inst_executed") = (struct ncu_value){8000, 4, NAN, NAN};
  *value_of(&a, "sm__pipe_alu_cycles_active") = (struct ncu_value){3000, 1, NAN, NAN};
  *value_of(&a, "sm__cycles_elapsed") = (struct ncu_value){10000, NAN, 1000, 1000};
  *value_of(&a, "lts__t_sectors") = (struct ncu_value){1000, 2, NAN, NAN};
  return a;
}

static void formulas(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    double value;
    const char *unit;
  } want[] = {
    {"sm__inst_executed.sum", 8000, "inst"},
    {"sm__inst_executed.avg", 800, "inst"},
    {"sm__inst_executed.max", NAN, "inst"},
    {"sm__cycles_elapsed.max", 1000, "cycle"},
    {"sm__inst_executed.sum.per_second", 8e9, "inst/second"},
    {"sm__cycles_elapsed.avg.per_second", 1e9, "hz"},
    {"sm__inst_executed.avg.per_cycle_elapsed", 0.8, "inst/cycle"},
    {"sm__inst_executed.avg.per_cycle_active", 1.6, "inst/cycle"},
    {"sm__inst_executed.sum.peak_sustained", 40, "inst/cycle"},
    {"sm__inst_executed.avg.peak_sustained", 4, "inst/cycle"},
    {"sm__inst_executed.avg.pct_of_peak_sustained_elapsed", 20, "%"},
    {"sm__inst_executed.sum.pct_of_peak_sustained_elapsed", 20, "%"},
    {"sm__inst_executed.avg.pct_of_peak_sustained_active", 40, "%"},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 30, "%"}, /* 3000 of 10 x 1000 is more than 20 % */
    {"sm__throughput.avg.pct_of_peak_sustained_active", 60, "%"},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", 25, "%"}, /* 1000 of 4 x 500 x 2 */
    {"lts__cycles_active.avg", NAN, "cycle"},
    {"dram__bytes_op_read.sum", NAN, "byte"}, /* not of compute capability 8.6 */
  };
  struct ncu_action a = launch_of_ten();
  value_of(&a, "dram__bytes_op_read")->sum = 5;
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    struct ncu_metric m;
    char unit[NCU_UNIT];
    assert_true(ncu_metric_parse(want[i].name, &m));
    const double v = ncu_metric_value(&a, &m);
    if (isnan(want[i].value) ? !isnan(v) : fabs(v - want[i].value) > 1e-9 * want[i].value)
      fail_msg("%s is %g, not %g", want[i].name, v, want[i].value);
    ncu_metric_unit(&m, unit, sizeof unit);
    assert_string_equal(unit, want[i].unit);
  }
  ncu_action_free(&a);
}

static void names(void **state)
{
  (void)state;
  static const char *const wrong[] = {"", "sm__inst_executed", "sm__inst_executed.sum.per", "sm__throughput.avg", "sm__throughput.sum.per_second",
                                      "launch__grid_size.sum", "sm__inst_executed.sum.per_second.per_second", "nothing.sum"};
  struct ncu_metric m;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(ncu_metric_parse(wrong[i], &m));
  assert_true(ncu_metric_parse("launch__grid_size", &m));
  for (unsigned i = 0; i < NCU_N_ROWS; i++)
    for (unsigned k = 0; k < i; k++) assert_string_not_equal(ncu_metric_row(i)->name, ncu_metric_row(k)->name);
  for (unsigned i = 0; i < ncu_n_sections; i++)
    for (unsigned k = 0; k < ncu_sections[i].n; k++)
      if (!ncu_metric_parse(ncu_sections[i].row[k].metric, &m)) fail_msg("%s", ncu_sections[i].row[k].metric);
}

/* Corrected against NVIDIA's parser of names: docs/counters.md. */
static void targets(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    unsigned on;
  } want[] = {{"sm__inst_executed_pipe_fp16.sum", T70 | T75 | T80},
              {"sm__inst_executed_pipe_fma_type_fp16.sum", T86 | T89 | T90 | T100 | T120},
              {"smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", T90},
              {"smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio", T70 | T75 | T80 | T86 | T89 | T90},
              {"dram__bytes_read.sum", T70 | T75 | T80 | T86 | T89 | T90 | T100},
              {"dram__bytes_op_read.sum", T120},
              {"smsp__inst_executed_op_ldgsts.sum", T80 | T86 | T89 | T90 | T100 | T120}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++)
    for (unsigned bit = 1; bit < 256; bit <<= 1)
      assert_int_equal(ncu_metric_on(want[i].name, bit), (want[i].on & bit) != 0);
}

static void choices(void **state)
{
  (void)state;
  struct ncu_choice c = {0};
  struct err e;
  size_t n;
  assert_true(ncu_choice_metrics(&c, "dram__bytes,regex:^launch__grid_dim,breakdown:dram__throughput.avg.pct_of_peak_sustained_elapsed", &e));
  static const char *const want[] = {"dram__bytes.avg", "dram__bytes.avg.pct_of_peak_sustained_elapsed", "dram__bytes.max", "dram__bytes.min",
                                     "dram__bytes.sum", "dram__cycles_active.avg.pct_of_peak_sustained_elapsed", "launch__grid_dim_x",
                                     "launch__grid_dim_y", "launch__grid_dim_z"};
  struct ncu_metric *all = ncu_choice_all(&c, ALL, &n);
  assert_int_equal(n, sizeof want / sizeof *want);
  for (size_t i = 0; i < n; i++) assert_string_equal(all[i].name, want[i]);
  free(all);
  assert_false(ncu_choice_metrics(&c, "regex:(", &e));
  assert_false(ncu_choice_section(&c, "Speed", &e));
  assert_false(ncu_choice_set(&c, "all"));
  assert_false(ncu_choice_wants_code(&c));
  assert_true(ncu_choice_section(&c, "regex:^Source", &e) && ncu_choice_wants_code(&c));
  ncu_choice_free(&c);
}

static const struct ncu_finding *found(const struct ncu_findings *f, const char *rule)
{
  for (unsigned i = 0; i < f->n; i++)
    if (!strcmp(f->f[i].rule, rule)) return &f->f[i];
  return NULL;
}

static void rules(void **state)
{
  (void)state;
  struct ncu_action a = launch_of_ten();
  struct ncu_findings f;
  ncu_rules(&a, &f); /* nearly nothing is known: nothing is claimed */
  for (unsigned i = 0; i < f.n; i++) assert_false(*f.f[i].scope && f.f[i].speedup > 100);
  value_of(&a, "launch__block_size")->sum = 40; /* two warps, the last with 8 threads */
  value_of(&a, "launch__grid_size")->sum = 4;
  value_of(&a, "launch__sm_count")->sum = 10;
  value_of(&a, "launch__waves_per_multiprocessor")->sum = 2.5;
  value_of(&a, "smsp__issue_active")->sum = 4000; /* 0.2 of 20000 */
  value_of(&a, "smsp__average_warp_latency_per_inst_issued.ratio")->sum = 10;
  value_of(&a, "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio")->sum = 5;
  value_of(&a, "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio")->sum = 2;
  value_of(&a, "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio")->sum = 16;
  value_of(&a, "sm__maximum_warps_per_active_cycle_pct")->sum = 75;
  *value_of(&a, "l1tex__lsuin_requests") = (struct ncu_value){100, 1, NAN, NAN};
  a.domain[NCU_L1TEX] = a.domain[NCU_SM];
  value_of(&a, "memory_l2_theoretical_sectors_global")->sum = 1000;
  value_of(&a, "memory_l2_theoretical_sectors_global_ideal")->sum = 600;
  *value_of(&a, "sm__cycles_active") = (struct ncu_value){4000, 1, 100, 800}; /* of ten SMs in 1000 cycles */
  ncu_rules(&a, &f);
  static const struct {
    const char *rule, *scope;
    double speedup;
  } want[] = {
    {"LaunchConfiguration", "global", 37.5},       /* 1/2 x (1 - 8/32) */
    {"IssueSlotUtilization", "local", 70},         /* min(1 - 0.2, 1 - max(0.3, 0.25)) */
    {"CPIStall", "global", 50},                    /* min(70, 5/10) */
    {"ThreadDivergence", "global", 15},            /* (1 - 16/32) x 0.3 */
    {"TheoreticalOccupancy", "global", 25},        /* min(70, 1 - 0.75) */
    {"UncoalescedGlobalAccess", "global", 10},     /* 0.25 x 400/1000 */
    {"WorkloadImbalance", "global", 20},           /* (1 - 400/800) x 4000/10000 */
  };
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    const struct ncu_finding *r = found(&f, want[i].rule);
    if (!r) fail_msg("%s did not fire", want[i].rule);
    assert_string_equal(r->scope, want[i].scope);
    if (fabs(r->speedup - want[i].speedup) > 1e-9) fail_msg("%s says %g, not %g", r->rule, r->speedup, want[i].speedup);
  }
  assert_null(found(&f, "SharedMemoryConflicts"));
  ncu_action_free(&a);
}

static unsigned taken(struct ncu_filter *f, const char *const *launch, unsigned n)
{
  unsigned mask = 0;
  for (unsigned i = 0; i < n; i++) mask |= (unsigned)ncu_filter_next(f, launch[i], 1, 7) << i;
  return mask;
}

static void filters(void **state)
{
  (void)state;
  static const char *const launch[] = {"_Z1aPf", "_Z1bPf", "_Z1aPf", "_Z2abPf", "_Z1aPf"};
  static const struct {
    const char *option[3][2];
    unsigned mask;
  } want[] = {
    {{{"kernel-name", "a"}}, 0x15},
    {{{"kernel-name", "regex:a"}}, 0x1d},
    {{{"kernel-name", "a"}, {"launch-skip", "1"}}, 0x14},
    {{{"kernel-name", "a"}, {"launch-skip-before-match", "1"}}, 0x14},
    {{{"kernel-name", "a"}, {"launch-skip-before-match", "3"}}, 0x10},
    {{{"kernel-name", "a"}, {"launch-skip", "1"}, {"launch-count", "1"}}, 0x04},
    {{{"kernel-name", "_Z1bPf"}, {"kernel-name-base", "mangled"}}, 0x02},
    {{{"kernel-name", "regex:^a\\(float"}, {"kernel-name-base", "demangled"}}, 0x15},
    {{{"kernel-id", "::a:2"}}, 0x04},
    {{{"kernel-id", "1:7:regex:^a:4"}}, 0x10},
    {{{"kernel-id", "2:::"}}, 0},
  };
  struct err e;
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    struct ncu_filter f = {0};
    for (unsigned k = 0; k < 3 && want[i].option[k][0]; k++)
      assert_true(ncu_filter_take(&f, want[i].option[k][0], want[i].option[k][1], &e));
    const unsigned mask = taken(&f, launch, 5);
    if (mask != want[i].mask) fail_msg("%zu: %x, not %x", i, mask, want[i].mask);
    ncu_filter_free(&f);
  }
  struct ncu_filter f = {0};
  assert_false(ncu_filter_take(&f, "kernel-id", "1:2", &e));
  assert_false(ncu_filter_take(&f, "launch-count", "0", &e));
  assert_false(ncu_filter_take(&f, "kernel-name", "regex:[", &e));
  ncu_filter_free(&f);
}

static void numbers(void **state)
{
  (void)state;
  static const struct {
    double v;
    const char *unit;
    bool whole, scale, fp;
    const char *value, *scaled;
  } want[] = {
    {2816, "byte", true, false, false, "2816", "byte"},      {2816, "byte", true, true, false, "2.82", "Kbyte"},
    {0.5, "%", false, true, false, "0.50", "%"},             {4.48e11, "byte/second", false, true, false, "448.00", "Gbyte/second"},
    {1.5e9, "hz", false, true, false, "1.50", "Ghz"},        {6553, "ns", true, true, false, "6.55", "us"},
    {NAN, "inst", true, true, false, "n/a", "inst"},         {0.125, "inst", false, false, true, "0.125000", "inst"},
    {5e6, "cycle", true, true, false, "5000000", "cycle"},
  };
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    const struct ncu_number n = ncu_number(want[i].v, want[i].unit, want[i].whole, want[i].scale, want[i].fp);
    assert_string_equal(n.value, want[i].value);
    assert_string_equal(n.unit, want[i].scaled);
  }
}

static void reports(void **state)
{
  (void)state;
  struct ncu_report r = {0}, back;
  struct ncu_action a = launch_of_ten();
  struct ncu_inst in[1] = {{.pc = 16, .text = "LDG.E R0, [R2] ;", .global = true, .op = 0, .bytes = 4, .issued = 3, .threads = 90,
                            .sectors = 24, .excess = 12, .line = 5, .state[WS_WAIT] = 7}};
  struct ncu_file file[1] = {{"/tmp", "k.cu"}};
  const char *section[1] = {"k"};
  struct err e = {""};
  a.n_insts = a.n_files = a.n_sections = 1;
  a.inst = in, a.file = file, a.section = section;
  r.action = &a;
  r.n = 1;
  assert_true(ncu_choice_section(&r.choice, "SpeedOfLight", &e));
  ncu_choice_add(&r.choice, "dram__bytes.sum");
  FILE *f = tmpfile();
  assert_true(ncu_report_write(f, &r));
  rewind(f);
  assert_true(ncu_report_read(f, "f", &back, &e));
  assert_int_equal(back.n, 1);
  assert_string_equal(back.action->inst->text, in->text);
  assert_int_equal(back.action->inst->excess, 12);
  assert_int_equal(back.action->inst->state[WS_WAIT], 7);
  assert_int_equal(back.action->inst->line, 5);
  assert_string_equal(back.action->file->name, "k.cu");
  assert_true(ncu_value(back.action, "sm__inst_executed.avg") == 800);
  assert_true(isnan(ncu_value(back.action, "sm__inst_executed.max")));
  assert_true(back.choice.section[0] && !back.choice.section[1] && back.choice.n == 1);
  ncu_report_free(&back);
  fclose(f);
  ncu_choice_free(&r.choice);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(formulas), cmocka_unit_test(names),   cmocka_unit_test(targets), cmocka_unit_test(choices),
    cmocka_unit_test(rules),    cmocka_unit_test(filters), cmocka_unit_test(numbers), cmocka_unit_test(reports),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
