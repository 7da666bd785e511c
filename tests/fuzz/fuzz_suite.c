/* A suite and its table of measurements: read, questioned as after a run, summed up. */
#include <string.h>

#include "base/bug.h"
#include "draw.h"
#include "fuzz.h"
#include "validate/plot.h"
#include "validate/suite.h"
#include "validate/suite_summary.h"

enum { MAX_ROWS = 8 };

static const char *const columns[] = {
  "id", "split", "group", "run", "launch", "measured", "series", "size", "warp_insts", "fp32", "dram_bytes", "error_pct", "\"a,b\"",
};
enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

static void add_field(struct fuzz_text *t, struct draw *f, unsigned column, unsigned row)
{
  static const char *const words[] = {"fitted", "held-out", "\"run x, y\"", "\"", "\"a\"\"b\"", "\"a", "", "run x", "x", "\t"};
  char n[40];
  unsigned how = field_byte(f);
  if (how < 32) fuzz_add(t, "%s", words[how % 10]);
  else if (column == 0) fuzz_add(t, "row%u", row);
  else if (column == 1) fuzz_add(t, "%s", how & 1 ? "fitted" : "held-out");
  else if (column == 2 || column == 3 || column == 6) fuzz_add(t, "w%u", how & 3);
  else fuzz_add(t, "%s", field_numeral(f, n));
}

static void add_table(struct fuzz_text *t, struct draw *f)
{
  unsigned list[N_COLUMNS + 4], n = 0;
  for (unsigned i = 0; i < N_COLUMNS; i++) {
    unsigned how = field_byte(f);
    if (how == 1) continue;
    list[n++] = how == 2 ? field_pick(f, N_COLUMNS) : i;
  }
  for (unsigned i = 0; i < n; i++) fuzz_add(t, "%s%s", i ? "," : "", columns[list[i]]);
  fuzz_add(t, "\n");
  for (unsigned r = 0; r < MAX_ROWS && f->left; r++) {
    unsigned cut = field_byte(f);
    if (cut == 1) fuzz_add(t, "# x\n\n");
    for (unsigned i = 0; i < n && i != (cut == 2 ? n / 2 : n); i++) {
      if (i) fuzz_add(t, ",");
      add_field(t, f, list[i], r);
    }
    fuzz_add(t, "\n");
  }
}

static void add_suite(struct fuzz_text *t, struct draw *f, const char *data)
{
  static const char *const keys[] = {"title", "source", "gpu", "unit", "recorded"};
  static const char *const usual[] = {"t", "s", "rtx-3070", "us", "/dev/null"};
  char n[40];
  for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    unsigned how = field_byte(f);
    if (how == 1) continue;
    if (how == 2) fuzz_add(t, "%s = %s;\n", keys[i], field_numeral(f, n));
    else fuzz_add(t, "%s = \"%s\";\n", keys[i], how == 3 ? "cycles" : usual[i]);
  }
  fuzz_add(t, "data = \"%s\";\n", data);
  if (field_byte(f) < 8) fuzz_add(t, "tolerance_pct = %s;\n", field_numeral(f, n));
  else fuzz_add(t, "tolerance_pct = 3.0;\n");
  unsigned how = field_byte(f);
  if (how & 1) fuzz_add(t, "agree = [ \"%s\" ];\n", columns[field_pick(f, N_COLUMNS)]);
  if (how & 2) fuzz_add(t, "set = [ \"a=1\", \"b\" ];\n");
  if (how & 4) fuzz_add(t, "agree_pct = %s;\ncold = true;\n", field_numeral(f, n));
  if (how & 8) fuzz_add(t, "agree = %s;\nset = %s;\n", field_numeral(f, n), field_numeral(f, n));
}

static void pretend_run(struct suite *s, struct draw *f)
{
  for (size_t i = 0; i < s->n_rows; i++) {
    struct suite_row *r = &s->row[i];
    r->ran = field_byte(f) != 1;
    r->simulated = (double)field_number(f);
    for (unsigned k = 0; k < COUNTER__N; k++) r->got[k] = (double)field_byte(f);
    if (!r->ran) continue;
    suite_error(r);
    suite_worse(s, r);
    r->comparable = suite_counters_agree(s, r);
  }
}

static void sum_up(const struct suite *s)
{
  double measured[MAX_ROWS], simulated[MAX_ROWS];
  size_t n = 0;
  for (size_t i = 0; i < s->n_rows; i++) {
    if (!s->row[i].ran || !(s->row[i].simulated > 0)) continue;
    measured[n] = s->row[i].measured;
    simulated[n++] = s->row[i].simulated;
  }
  summary_of(measured, simulated, n);
  summary_log_slope(measured, simulated, n);
}

void fuzz_suite(const uint8_t *data, size_t size)
{
  struct draw f = {data, size};
  struct fuzz_text table = {.n = 0}, text = {.n = 0};
  struct fuzz_file data_file, suite_file;
  struct suite s;
  struct err e = {""};
  FILE *out = fopen("/dev/null", "w");
  BUG_ON(!out);
  add_table(&table, &f);
  fuzz_file_open(&data_file, "", table.at, table.n);
  add_suite(&text, &f, data_file.path);
  fuzz_file_open(&suite_file, "", text.at, text.n);
  bool ok = suite_load(&s, suite_file.path, NULL, &e);
  BUG_ON(!ok && e.msg[0] == '\0');
  if (ok) {
    pretend_run(&s, &f);
    plot_write(out, &s);
    sum_up(&s);
  }
  suite_free(&s);
  fuzz_file_close(&suite_file);
  fuzz_file_close(&data_file);
  fclose(out);
}
