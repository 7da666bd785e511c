/* Statistics, tables and suites of `warpstep validate`, against numbers worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "validate/csv.h"
#include "validate/measured.h"
#include "validate/suite.h"
#include "validate/suite_summary.h"

static void assert_near(double got, double want)
{
  if (!(fabs(got - want) < 1e-9)) fail_msg("%.12g is not %.12g", got, want);
}

/* Errors +10, -20, +30, -40 and 0 percent. */
static void errors_are_summed_up(void **state)
{
  (void)state;
  const double measured[] = {10, 10, 100, 100, 1000}, simulated[] = {11, 8, 130, 60, 1000};
  struct summary s = summary_of(measured, simulated, 5);
  assert_int_equal(s.n, 5);
  assert_near(s.mean_abs, 20);
  assert_near(s.bias, -4);
  assert_near(s.p50, 20);
  assert_near(s.p90, 30 + 0.6 * (40 - 30));
  assert_near(s.worst, 40);
}

/* y = 2 x^3: in logarithms a line of slope 3; ranks agree; reversed they are opposite. */
static void correlations_and_slope(void **state)
{
  (void)state;
  const double x[] = {1, 2, 4, 8}, y[] = {2, 16, 128, 1024}, back[] = {1024, 128, 16, 2};
  assert_near(summary_log_slope(x, y, 4), 3);
  assert_near(summary_of(x, y, 4).slope, 3);
  assert_near(summary_of(x, y, 4).rank, 1);
  assert_near(summary_of(x, back, 4).rank, -1);
  const double line[] = {3, 5, 9, 17};
  assert_near(summary_of(x, line, 4).r, 1);
}

/* Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5). */
static void equal_values_share_a_rank(void **state)
{
  (void)state;
  const double x[] = {1, 2, 3, 4}, y[] = {10, 20, 20, 30};
  assert_near(summary_of(x, y, 4).rank, 4.5 / sqrt(4.5 * 5));
}

static void too_few_pairs_have_no_correlation(void **state)
{
  (void)state;
  const double x[] = {1, 2};
  assert_true(isnan(summary_of(x, x, 2).r));
  assert_true(isnan(summary_log_slope(x, x, 1)));
  assert_int_equal(summary_of(x, x, 0).n, 0);
}

/* ---- Files ---- */

static char dir[] = "/tmp/test_validate.XXXXXX";

static char *put(const char *name, const char *text)
{
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  return path;
}

static void csv_fields(void **state)
{
  (void)state;
  struct arena a = {0};
  struct csv t;
  struct err e = {""};
  assert_true(csv_read(&t, put("t.csv", "# made up\nname,value,note\n\"a, b\",1.5,\nplain,,\"say \"\"so\"\"\"\n"),
                       &a, &e));
  assert_int_equal(t.n_rows, 2);
  assert_string_equal(csv_get(&t, 0, "name"), "a, b");
  assert_string_equal(csv_get(&t, 1, "note"), "say \"so\"");
  assert_string_equal(csv_get(&t, 1, "absent"), "");
  double v;
  assert_true(csv_number(&t, 0, "value", &v, &e));
  assert_near(v, 1.5);
  assert_true(csv_number(&t, 1, "value", &v, &e));
  assert_true(isnan(v));
  assert_false(csv_number(&t, 1, "name", &v, &e));
  assert_non_null(strstr(e.msg, "t.csv:4: name: 'plain' is not a number"));
  arena_free(&a);
}

static void csv_errors(void **state)
{
  (void)state;
  static const char *const bad[] = {"a,b\n1\n", "a,b\n1,2,3\n", "a,b\n\"1,2\n", "a,b\n\"1\"x,2\n", ""};
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct arena a = {0};
    struct csv t;
    struct err e = {""};
    assert_false(csv_read(&t, put("bad.csv", bad[i]), &a, &e));
    assert_true(e.msg[0]);
    arena_free(&a);
  }
}

#define HEAD "title = \"T\"; source = \"S\"; gpu = \"rtx-3080\"; unit = \"us\"; data = \"d.csv\";\n" \
             "recorded = \"r.csv\"; tolerance_pct = 2.0; agree = [ \"fp32\", \"integer\" ]; cold = true;\n"
#define COLUMNS "id,split,group,run,launch,measured,fp32,integer\n"

static bool load(struct suite *s, const char *head, const char *data, struct err *e)
{
  put("d.csv", data);
  return suite_load(s, put("t.suite", head), NULL, e);
}

static void a_suite_is_read(void **state)
{
  (void)state;
  struct suite s;
  struct err e = {""};
  put("r.csv", "id,error_pct\nb,-4.0\ngone,1\n");
  if (!load(&s, HEAD, COLUMNS "a,fitted,small,run x,,10,100,\nb,held-out,small,exec p/q 1,7,20,,50\n", &e))
    fail_msg("%s", e.msg);
  assert_int_equal(s.n_rows, 2);
  assert_true(s.cold && s.row[0].fitted && !s.row[1].fitted);
  assert_int_equal(s.row[0].launch, 0);
  assert_int_equal(s.row[1].launch, 7);
  assert_true(isnan(s.row[0].recorded));
  assert_near(s.row[1].recorded, -4);
  assert_true(isnan(s.row[1].counter[COUNTER_FP32]));
  assert_near(s.row[1].counter[COUNTER_INTEGER], 50);
  suite_free(&s);
}

/* Nearly 6 % are within the recorded 4 % and the tolerance of 2, on either side; more is worse. */
static void worse_than_recorded(void **state)
{
  (void)state;
  struct suite s = {.tolerance_pct = 2};
  struct suite_row r = {.measured = 100, .simulated = 105.9, .recorded = -4, .ran = true};
  assert_false(suite_worse(&s, &r));
  r.simulated = 94.1;
  assert_false(suite_worse(&s, &r));
  r.simulated = 107;
  assert_true(suite_worse(&s, &r));
  r.simulated = 93;
  assert_true(suite_worse(&s, &r));
  r.recorded = NAN;
  assert_false(suite_worse(&s, &r));
}

static void counters_must_agree(void **state)
{
  (void)state;
  struct suite s = {.agree_pct = 5, .agree = {[COUNTER_FP32] = true}};
  struct suite_row r = {.counter = {[COUNTER_FP32] = 100, [COUNTER_INTEGER] = 100},
                        .got = {[COUNTER_FP32] = 104, [COUNTER_INTEGER] = 900}};
  assert_true(suite_counters_agree(&s, &r));
  r.got[COUNTER_FP32] = 106;
  assert_false(suite_counters_agree(&s, &r));
  r.counter[COUNTER_FP32] = NAN;
  assert_true(suite_counters_agree(&s, &r));
  r.counter[COUNTER_FP32] = 0;
  assert_false(suite_counters_agree(&s, &r));
}

static void suite_errors(void **state)
{
  (void)state;
  static const struct { const char *head, *data, *says; } bad[] = {
    {"title = \"T\";", "", "no source"},
    {"title = ;", "", "t.suite:1"},
    {HEAD "unit", "", "t.suite:3"},
    {HEAD, COLUMNS "a,other,g,run x,,1,,\n", "fitted or held-out"},
    {HEAD, COLUMNS "a,fitted,g,run x,,0,,\n", "above zero"},
    {HEAD, COLUMNS "a,fitted,g,run x,,1,,\na,fitted,g,run y,,1,,\n", "two rows"},
  };
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct suite s;
    struct err e = {""};
    assert_false(load(&s, bad[i].head, bad[i].data, &e));
    if (!strstr(e.msg, bad[i].says)) fail_msg("'%s' does not say '%s'", e.msg, bad[i].says);
    suite_free(&s);
  }
}

/* What ran gets its new error, what did not keeps the old one. */
static void recording(void **state)
{
  (void)state;
  struct suite s;
  struct err e = {""};
  put("r.csv", "id,error_pct\na,9.0\nb,-4.0\n");
  const char *data = COLUMNS "a,fitted,g,run x,,10,,\nb,fitted,g,run y,,20,,\n";
  assert_true(load(&s, HEAD, data, &e));
  s.row[0].ran = true;
  s.row[0].simulated = 12;
  assert_true(suite_record(&s, &e));
  suite_free(&s);
  assert_true(load(&s, HEAD, data, &e));
  assert_near(s.row[0].recorded, 20);
  assert_near(s.row[1].recorded, -4);
  suite_free(&s);
}

static int make_dir(void **state)
{
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static void assert_row(const struct suite_row *r, const char *kernel, unsigned grid, unsigned block, double measured)
{
  if (!measured_same_kernel(r->kernel, kernel)) fail_msg("%s is not %s", r->kernel, kernel);
  assert_int_equal(r->grid[0], grid);
  assert_int_equal(r->block[0], block);
  assert_near(r->measured, measured);
}

/* The same launches as profilers print them: 2.34, 2.24 and 2.1 us; copies and later launches are no rows. */
static void tables_of_profilers(void **state)
{
  (void)state;
  static const struct {
    const char *path, *unit;
    size_t n;
    bool cold;
    double first, last;
    unsigned grid[2], block[2]; /* of the first and the last row */
    const char *name;           /* of the last */
  } table[] = {
    {"tests/validate/tables/details.csv", "us", 4, true, 2.34, 2.1, {64, 32}, {256, 128}, "other"},
    {"tests/validate/tables/raw.csv", "us", 2, true, 2.34, 2.24, {64, 64}, {256, 256}, "add"},
    {"tests/validate/tables/trace.csv", "us", 2, false, 2.34, 2.1, {64, 32}, {256, 128}, "add"},
    {"tests/validate/tables/sum.csv", "us", 2, false, 2.34, 2.17, {0, 0}, {0, 0}, "add"},
    {"tests/validate/tables/own.csv", "cycles", 2, false, 4100, 3900, {64, 32}, {256, 128}, "add"},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    struct suite s = {0};
    struct err e = {""};
    if (!measured_read(&s, table[i].path, &e)) fail_msg("%s", e.msg);
    assert_string_equal(s.unit, table[i].unit);
    assert_int_equal(s.n_rows, table[i].n);
    assert_int_equal(s.cold, table[i].cold);
    assert_row(&s.row[0], "scale", table[i].grid[0], table[i].block[0], table[i].first);
    assert_row(&s.row[s.n_rows - 1], table[i].name, table[i].grid[1], table[i].block[1], table[i].last);
    suite_free(&s);
  }
}

static void refuse_table(const char *text, const char *why)
{
  struct suite s = {0};
  struct err e = {""};
  char path[128];
  snprintf(path, sizeof path, "%s/t.csv", dir);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  assert_false(measured_read(&s, path, &e));
  if (!strstr(e.msg, why)) fail_msg("'%s' does not say '%s'", e.msg, why);
  suite_free(&s);
}

static void tables_that_say_too_little(void **state)
{
  (void)state;
  refuse_table("grid,time_us\n1,2\n", "no column for the kernel's name");
  refuse_table("kernel,time\na,2\n", "no column for a time with its unit");
  refuse_table("kernel,time_us\na,fast\n,3\nb,-1\n", "no row has a kernel");
}

static void names_of_kernels(void **state)
{
  (void)state;
  assert_true(measured_same_kernel("void ns::f<float, 3>(float *, int)", "_ZN2ns1fIfLi3EEEvPfi"));
  assert_true(measured_same_kernel("f", "f(int)"));
  assert_false(measured_same_kernel("f2", "f"));
  assert_false(measured_same_kernel("ns::f(int)", "ns::g(int)"));
}

static int remove_dir(void **state)
{
  (void)state;
  static const char *const names[] = {"t.csv", "bad.csv", "d.csv", "r.csv", "t.suite"};
  char path[128];
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
    snprintf(path, sizeof path, "%s/%s", dir, names[i]);
    unlink(path);
  }
  return rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(errors_are_summed_up),
    cmocka_unit_test(correlations_and_slope),
    cmocka_unit_test(equal_values_share_a_rank),
    cmocka_unit_test(too_few_pairs_have_no_correlation),
    cmocka_unit_test(csv_fields),
    cmocka_unit_test(csv_errors),
    cmocka_unit_test(a_suite_is_read),
    cmocka_unit_test(worse_than_recorded),
    cmocka_unit_test(counters_must_agree),
    cmocka_unit_test(suite_errors),
    cmocka_unit_test(recording),
    cmocka_unit_test(tables_of_profilers),
    cmocka_unit_test(tables_that_say_too_little),
    cmocka_unit_test(names_of_kernels),
  };
  return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
