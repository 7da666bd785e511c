#include "view/run_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "base/text.h"

/* --- reading ------------------------------------------------------------------------------------ */

static const json_t *at(const json_t *j, const char *key)
{
  return json_object_get(j, key);
}

bool run_doc_read(struct run_doc *d, const char *path, struct err *e)
{
  json_error_t why;
  if (access(path, R_OK) != 0) return err_set(e, "%s: cannot read: %s; check the path", path, host_error());
  *d = (struct run_doc){.path = path, .root = json_load_file(path, 0, &why)};
  if (!d->root && why.line > 0) return err_set(e, "%s:%d: no JSON: %s", path, why.line, why.text);
  if (!d->root) return err_set(e, "%s: %s", path, why.text);
  d->program = json_is_array(at(d->root, "launches"));
  if (d->program || json_is_object(at(d->root, "launch"))) return true;
  run_doc_free(d);
  return err_set(e, "%s: neither a report of 'run --json' nor of 'exec --json'", path);
}

void run_doc_free(struct run_doc *d)
{
  json_decref(d->root);
  d->root = NULL;
}

static double number(const json_t *j)
{
  return json_is_number(j) ? json_number_value(j) : 0;
}

static double run_cycles(const struct run_doc *d)
{
  return number(at(at(at(d->root, "stats"), "gpu"), "cycles"));
}

double run_doc_cycles(const struct run_doc *d)
{
  const json_t *launches = at(d->root, "launches");
  double sum = 0;
  if (!d->program) return run_cycles(d);
  for (size_t i = 0; i < json_array_size(launches); i++) sum += number(at(json_array_get(launches, i), "cycles"));
  return sum;
}

size_t run_doc_launches(const struct run_doc *d)
{
  return d->program ? json_array_size(at(d->root, "launches")) : 1;
}

/* Status of a run; of a program "fault" when a launch faulted. */
static const char *status_of(const struct run_doc *d)
{
  const json_t *launches = at(d->root, "launches");
  const char *status = json_string_value(at(at(d->root, "result"), "status"));
  if (!d->program) return status ? status : "unknown";
  for (size_t i = 0; i < json_array_size(launches); i++)
    if (json_is_true(at(json_array_get(launches, i), "faulted"))) return "fault";
  return "ok";
}

bool run_doc_good(const struct run_doc *d)
{
  const char *status = status_of(d);
  return !strcmp(status, "ok") || !strcmp(status, "unchecked");
}

/* --- rows: leaves of two objects that differ ----------------------------------------------------- */

enum { NAME_MAX_BYTES = 128, TEXT_MAX_BYTES = 64 };

struct row {
  char name[NAME_MAX_BYTES], text[2][TEXT_MAX_BYTES];
  bool numbers;
  double value[2], weight; /* the heaviest first */
};

struct rows {
  struct row *row;
  size_t n, room;
};

static struct row *add_row(struct rows *l)
{
  if (l->n == l->room) {
    l->room = l->room ? 2 * l->room : 64;
    l->row = realloc(l->row, l->room * sizeof *l->row);
    NO_MEMORY_IF(!l->row);
  }
  l->row[l->n] = (struct row){0};
  return &l->row[l->n++];
}

/* What a person reads of a leaf; "-" for one that is not there. */
static void leaf_text(const json_t *j, char *buf, size_t size)
{
  if (json_is_string(j)) {
    text_safe(json_string_value(j), buf, size);
  } else if (json_is_integer(j)) {
    snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(j));
  } else if (json_is_real(j)) {
    snprintf(buf, size, "%.6g", json_real_value(j));
  } else if (json_is_boolean(j)) {
    snprintf(buf, size, "%s", json_is_true(j) ? "true" : "false");
  } else {
    char *dump = json_is_array(j) ? json_dumps(j, JSON_COMPACT) : NULL;
    text_safe(dump ? dump : "-", buf, size);
    free(dump);
  }
}

/* A parameter is an object of its value and the source of it; the value is what counts. */
static const json_t *leaf_of(const json_t *j)
{
  const json_t *value = at(j, "value");
  return value ? value : j;
}

static void add_leaf(struct rows *l, const char *name, const json_t *a, const json_t *b)
{
  if (a && b && json_equal(a, b)) return;
  struct row *r = add_row(l);
  text_safe(name, r->name, sizeof r->name);
  leaf_text(a, r->text[0], TEXT_MAX_BYTES);
  leaf_text(b, r->text[1], TEXT_MAX_BYTES);
  r->numbers = (json_is_number(a) || !a) && (json_is_number(b) || !b);
  r->value[0] = number(a);
  r->value[1] = number(b);
}

static void add_differences(struct rows *l, const char *prefix, const json_t *a, const json_t *b);

static void add_member(struct rows *l, const char *prefix, const char *key, const json_t *a, const json_t *b)
{
  char name[NAME_MAX_BYTES];
  snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key);
  a = leaf_of(a);
  b = leaf_of(b);
  if (json_is_object(a) || json_is_object(b))
    add_differences(l, name, a, b);
  else
    add_leaf(l, name, a, b);
}

/* Members of either object, those of a first. Depth is that of the document, which jansson limits to 2,048. */
static void add_differences(struct rows *l, const char *prefix, const json_t *a, const json_t *b)
{
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)a, key, value) add_member(l, prefix, key, value, at(b, key));
  json_object_foreach((json_t *)b, key, value)
    if (!at(a, key)) add_member(l, prefix, key, NULL, value);
}

/* --- tables -------------------------------------------------------------------------------------- */

/* Change relative to the larger side: 1 where one of them is zero, so that much and nothing are far apart. */
static double relative(const struct row *r)
{
  double most = fmax(fabs(r->value[0]), fabs(r->value[1]));
  return most > 0 ? fabs(r->value[1] - r->value[0]) / most : 0;
}

static int heavier(const void *a, const void *b)
{
  const struct row *x = a, *y = b;
  if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
  return strcmp(x->name, y->name);
}

static void write_rest(FILE *f, size_t n, size_t shown)
{
  if (shown < n) fprintf(f, "  … and %zu more\n", n - shown);
}

/* Width of the column of names. */
static int names_width(const struct rows *l, size_t shown)
{
  size_t width = 34;
  for (size_t i = 0; i < shown; i++)
    if (strlen(l->row[i].name) > width) width = strlen(l->row[i].name);
  return (int)width;
}

static void write_settings(FILE *f, const char *title, struct rows *l)
{
  int width = names_width(l, l->n);
  if (!l->n) return;
  fprintf(f, "\n%-*s %18s %18s\n", width + 2, title, "A", "B");
  for (size_t i = 0; i < l->n; i++)
    fprintf(f, "  %-*s %18s %18s\n", width, l->row[i].name, l->row[i].text[0], l->row[i].text[1]);
}

/* Numbers with what their change means: percent of `whole`, or of A's value where whole is 0. */
static void write_numbers(FILE *f, const char *title, const char *share, struct rows *l, double whole, unsigned rows)
{
  if (!l->n) return;
  qsort(l->row, l->n, sizeof *l->row, heavier);
  size_t shown = l->n < rows ? l->n : rows;
  int width = names_width(l, shown);
  fprintf(f, "\n%-*s %12s %12s %12s %10s\n", width + 2, title, "A", "B", "change", share);
  for (size_t i = 0; i < shown; i++) {
    const struct row *r = &l->row[i];
    double change = r->value[1] - r->value[0], base = whole > 0 ? whole : r->value[0];
    fprintf(f, "  %-*s %12s %12s %+12.6g ", width, r->name, r->text[0], r->text[1], change);
    if (base != 0)
      fprintf(f, "%+8.1f %%\n", 100 * change / base);
    else
      fprintf(f, "%10s\n", "new");
  }
  write_rest(f, l->n, shown);
}

static void drop_words(struct rows *l)
{
  size_t kept = 0;
  for (size_t i = 0; i < l->n; i++)
    if (l->row[i].numbers) l->row[kept++] = l->row[i];
  l->n = kept;
}

static void weigh_relative(struct rows *l)
{
  for (size_t i = 0; i < l->n; i++) l->row[i].weight = relative(&l->row[i]);
}

static void weigh_absolute(struct rows *l)
{
  for (size_t i = 0; i < l->n; i++) l->row[i].weight = fabs(l->row[i].value[1] - l->row[i].value[0]);
}

/* --- runs ---------------------------------------------------------------------------------------- */

static void write_change(FILE *f, double a, double b)
{
  if (a > 0 && b > 0) fprintf(f, "B takes %+.2f %% cycles: A / B = %.3f\n", 100 * (b - a) / a, a / b);
}

/* A text of the report, for people. */
static const char *said(const json_t *j, char buf[TEXT_MAX_BYTES])
{
  const char *text = json_string_value(j);
  return text_safe(text ? text : "?", buf, TEXT_MAX_BYTES);
}

static void write_status(FILE *f, const struct run_doc *d)
{
  char status[TEXT_MAX_BYTES];
  fprintf(f, "%s%s\n", run_doc_good(d) ? "" : ", status ",
          run_doc_good(d) ? "" : text_safe(status_of(d), status, sizeof status));
}

static void write_run(FILE *f, char side, const struct run_doc *d)
{
  char kernel[TEXT_MAX_BYTES], gpu[TEXT_MAX_BYTES];
  fprintf(f, "%c  %s: %s on %s", side, d->path, said(at(d->root, "kernel"), kernel),
          said(at(at(d->root, "gpu"), "preset"), gpu));
  if (run_cycles(d) > 0) fprintf(f, ", %.0f cycles", run_cycles(d));
  write_status(f, d);
}

static void settings(FILE *f, const json_t *a, const json_t *b)
{
  struct rows l = {0};
  add_differences(&l, "", at(at(a, "gpu"), "parameters"), at(at(b, "gpu"), "parameters"));
  add_leaf(&l, "mode", at(a, "mode"), at(b, "mode"));
  add_differences(&l, "launch", at(a, "launch"), at(b, "launch"));
  write_settings(f, "Machine and launch", &l);
  free(l.row);
}

static void code(FILE *f, const json_t *a, const json_t *b, unsigned rows)
{
  struct rows l = {0};
  a = at(a, "stats"), b = at(b, "stats");
  add_differences(&l, "", at(a, "mix"), at(b, "mix"));
  add_differences(&l, "work", at(a, "work"), at(b, "work"));
  weigh_absolute(&l);
  write_numbers(f, "Instructions executed", "of A", &l, 0, rows);
  free(l.row);
}

/* Every slot is charged to one reason, so the changes add up to the change of all slots: of the cycles in which SMs
 * were active, times their schedulers. */
static void slots(FILE *f, const json_t *a, const json_t *b, unsigned rows)
{
  struct rows l = {0};
  a = at(at(a, "stats"), "sm"), b = at(at(b, "stats"), "sm");
  add_differences(&l, "", at(a, "slot"), at(b, "slot"));
  weigh_absolute(&l);
  write_numbers(f, "Issue slots, by effect on cycles", "of all", &l, number(at(a, "issue_slots")), rows);
  free(l.row);
}

static void counters(FILE *f, const json_t *a, const json_t *b, unsigned rows)
{
  struct rows l = {0};
  add_differences(&l, "", at(a, "counters"), at(b, "counters"));
  drop_words(&l);
  weigh_relative(&l);
  write_numbers(f, "Counters, by relative change", "of A", &l, 0, rows);
  free(l.row);
}

static void diff_runs(FILE *f, const struct run_doc *a, const struct run_doc *b, unsigned rows)
{
  write_run(f, 'A', a);
  write_run(f, 'B', b);
  write_change(f, run_cycles(a), run_cycles(b));
  settings(f, a->root, b->root);
  code(f, a->root, b->root, rows);
  slots(f, a->root, b->root, rows);
  counters(f, a->root, b->root, rows);
}

/* --- programs ------------------------------------------------------------------------------------ */

/* Whether two launches are of one kernel and geometry. */
static bool alike(const json_t *x, const json_t *y)
{
  static const char *const keys[] = {"kernel", "grid", "block", "shared_dynamic_bytes"};
  for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!json_equal((json_t *)at(x, keys[i]), (json_t *)at(y, keys[i]))) return false;
  return true;
}

static void add_launch(struct rows *l, const json_t *x, const json_t *y)
{
  const char *kernel = json_string_value(at(x, "kernel"));
  char name[NAME_MAX_BYTES];
  snprintf(name, sizeof name, "%.0f %.40s", number(at(x, "launch")), kernel ? kernel : "?");
  add_leaf(l, name, at(x, "cycles"), at(y, "cycles"));
}

/* The k-th launch of a kernel and geometry in A belongs to the k-th in B: each takes the first of its kind that is
 * left. Returns how many of A have none. `taken`: of B's. */
static size_t pair_launches(struct rows *l, const json_t *a, const json_t *b, bool *taken)
{
  size_t alone = 0, first_free = 0;
  for (size_t i = 0; i < json_array_size(a); i++) {
    const json_t *x = json_array_get(a, i);
    while (first_free < json_array_size(b) && taken[first_free]) first_free++;
    size_t k = first_free;
    while (k < json_array_size(b) && (taken[k] || !alike(x, json_array_get(b, k)))) k++;
    if (k == json_array_size(b)) {
      alone++;
      continue;
    }
    taken[k] = true;
    add_launch(l, x, json_array_get(b, k));
  }
  return alone;
}

static void write_program(FILE *f, char side, const struct run_doc *d)
{
  char gpu[TEXT_MAX_BYTES];
  fprintf(f, "%c  %s: %zu launches on %s, %.0f cycles timed", side, d->path, run_doc_launches(d),
          said(at(d->root, "gpu"), gpu), run_doc_cycles(d));
  write_status(f, d);
}

static void diff_programs(FILE *f, const struct run_doc *a, const struct run_doc *b, unsigned rows)
{
  const json_t *x = at(a->root, "launches"), *y = at(b->root, "launches");
  bool *taken = calloc(json_array_size(y) + 1, sizeof *taken);
  struct rows l = {0};
  NO_MEMORY_IF(!taken);
  write_program(f, 'A', a);
  write_program(f, 'B', b);
  write_change(f, run_doc_cycles(a), run_doc_cycles(b));
  size_t alone = pair_launches(&l, x, y, taken), others = 0;
  for (size_t i = 0; i < json_array_size(y); i++) others += !taken[i];
  weigh_absolute(&l);
  write_numbers(f, "Launches, by change of cycles", "of all", &l, run_doc_cycles(a), rows);
  if (alone || others) fprintf(f, "Only in A: %zu launches; only in B: %zu\n", alone, others);
  free(taken);
  free(l.row);
}

void run_diff_write(FILE *f, const struct run_doc *a, const struct run_doc *b, unsigned rows)
{
  BUG_ON(a->program != b->program);
  (a->program ? diff_programs : diff_runs)(f, a, b, rows);
}
