/* Number formats, rankings and columns of the text reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "time/gpu/gpu_stats.h"
#include "time/mem/dram_stats.h"
#include "time/mem/l2_stats.h"
#include "time/noc/noc_stats.h"
#include "time/sm/sm_stats.h"
#include "view/columns.h"
#include "view/counters.h"
#include "view/progress.h"
#include "view/report.h"

static void commas(void **state)
{
  char buf[28];

  (void)state;
  assert_string_equal(with_commas(0, buf), "0");
  assert_string_equal(with_commas(999, buf), "999");
  assert_string_equal(with_commas(1000, buf), "1,000");
  assert_string_equal(with_commas(12345678, buf), "12,345,678");
  assert_string_equal(with_commas(UINT64_MAX, buf), "18,446,744,073,709,551,615");
}

static void units(void **state)
{
  char buf[16];

  (void)state;
  assert_string_equal(with_bytes(0, buf), "0 B");
  assert_string_equal(with_bytes(999, buf), "999 B");
  assert_string_equal(with_bytes(1000, buf), "1.00 kB");
  assert_string_equal(with_bytes(999600, buf), "1.00 MB");
  assert_string_equal(with_bytes(12340000, buf), "12.3 MB");
  assert_string_equal(with_bytes(UINT64_C(5120000000000), buf), "5.12 TB");
  assert_string_equal(with_seconds(7.157e-6, buf), "7.16 us");
  assert_string_equal(with_seconds(0.1234, buf), "123 ms");
  assert_string_equal(with_seconds(61.0, buf), "61.0 s");
}

static void percents(void **state)
{
  (void)state;
  assert_true(percent(1, 4) == 25.0);
  assert_true(percent(1, 0) == 0.0);
}

static const char *letter(const void *ctx, unsigned i)
{
  (void)ctx;
  return (const char *const[]){"a", "b", "c", "d", "e"}[i];
}

static void ranking(void **state)
{
  const uint64_t value[] = {10, 0, 50, 10, 30};
  struct column c = {0};

  (void)state;
  column_rank(&c, value, letter, NULL, 5, 2, 100);
  assert_int_equal(c.n, 3);
  assert_string_equal(c.line[0], "  c                          50  50.0");
  assert_string_equal(c.line[1], "  e                          30  30.0");
  assert_string_equal(c.line[2], "  others                     20  20.0");
  /* a single remaining one is named; zeros are left out; equal ones keep their order */
  c.n = 0;
  column_rank(&c, value, letter, NULL, 5, 3, 100);
  assert_int_equal(c.n, 4);
  assert_string_equal(c.line[2], "  a                          10  10.0");
  assert_string_equal(c.line[3], "  d                          10  10.0");
}

static void column_limits(void **state)
{
  struct column c = {0};

  (void)state;
  for (int i = 0; i < COLUMN_LINES + 3; i++)
    column_add(&c, "%s", "0123456789012345678901234567890123456789");
  assert_int_equal(c.n, COLUMN_LINES);
  assert_int_equal(strlen(c.line[0]), COLUMN_WIDTH);
}

static void fault_names(void **state)
{
  (void)state;
  for (unsigned k = FAULT_NONE; k <= FAULT_ASSERT; k++)
    assert_string_not_equal(fault_kind_name(k), "unknown fault");
  assert_string_equal(fault_kind_name(FAULT_ASSERT + 1), "unknown fault");
}

/* Never in a pipe: logs must not fill up with progress lines. */
static void progress_is_for_terminals(void **state)
{
  struct progress p;
  FILE *f = tmpfile();

  (void)state;
  assert_non_null(f);
  progress_start(&p, f, true);
  assert_null(p.f);
  p.start -= 100;
  p.last -= 100;
  progress_update(&p, &(struct run_progress){1, 1, 1, 2});
  progress_end(&p);
  assert_int_equal(ftell(f), 0);
  fclose(f);
}

/* docs/counters.md is the table of counters.def. */
static void counters_are_documented(void **state)
{
  char line[1024], want[1024];
  unsigned n = 0;
  FILE *f = fopen("docs/counters.md", "r");

  (void)state;
  assert_non_null(f);
  while (fgets(line, sizeof line, f)) {
    if (strncmp(line, "| `", 3) != 0) continue;
    assert_true(n < counter_n_descs);
    const struct counter_desc *d = &counter_descs[n++];
    snprintf(want, sizeof want, "| `%s` | %s | %s |\n", d->name, d->unit, d->text);
    assert_string_equal(line, want);
  }
  fclose(f);
  assert_int_equal(n, counter_n_descs);
}

/* docs/json.md has the tables of statistics, without their laws. */
static void statistics_are_documented(void **state)
{
  static char doc[1 << 17], rows[1 << 17];
  FILE *f = fopen("docs/json.md", "r"), *out = fmemopen(rows, sizeof rows, "w");

  (void)state;
  assert_non_null(f);
  doc[fread(doc, 1, sizeof doc - 1, f)] = '\0';
  fclose(f);
  stat_write_doc(out, "gpu", gpu_stats_desc, gpu_stats_n_desc);
  stat_write_doc(out, "sm", sm_stats_desc, sm_stats_n_desc);
  stat_write_doc(out, "noc", noc_stats_desc, noc_stats_n_desc);
  stat_write_doc(out, "l2", l2_stats_desc, l2_stats_n_desc);
  stat_write_doc(out, "dram", dram_stats_desc, dram_stats_n_desc);
  fclose(out);
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n"))
    if (!strstr(row, " | law | ") && !strstr(doc, row)) fail_msg("docs/json.md lacks: %s", row);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(counters_are_documented),
    cmocka_unit_test(statistics_are_documented),
    cmocka_unit_test(commas),        cmocka_unit_test(units),
    cmocka_unit_test(percents),      cmocka_unit_test(ranking),
    cmocka_unit_test(column_limits), cmocka_unit_test(fault_names),
    cmocka_unit_test(progress_is_for_terminals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
