#include "validate/measured.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/plain_name.h"
#include "validate/csv.h"

enum { NAME_MAX_BYTES = 64, NONE = -1 };

/* What a figure must be multiplied with to be in the suite's unit, microseconds or cycles. */
struct scale {
  double factor;
  bool cycles;
};

/* Where the columns are, NONE: there is none. */
struct columns {
  int kernel, time, grid[3], block[3]; /* grid[0] alone: all sizes in one field */
  int metric, metric_unit;             /* ncu's page details: a row for each metric */
  bool units_row;                      /* ncu's page raw: the row below the header has the units */
  bool profiler;
  struct scale scale;
};

/* "Kernel Name" is kernelname, "Avg (ns)" is avgns. */
static const char *squeezed(const char *text, char out[NAME_MAX_BYTES])
{
  size_t n = 0;
  for (; *text && n + 1 < NAME_MAX_BYTES; text++)
    if (isalnum((unsigned char)*text)) out[n++] = (char)tolower((unsigned char)*text);
  out[n] = '\0';
  return out;
}

static int column(const struct csv *t, const char *const *names)
{
  char have[NAME_MAX_BYTES];
  for (; *names; names++)
    for (unsigned i = 0; i < t->n_columns; i++)
      if (!strcmp(squeezed(t->column[i], have), *names)) return (int)i;
  return NONE;
}

static bool unit_of(const char *text, struct scale *s)
{
  static const struct { const char *name; double factor; bool cycles; } units[] = {
    {"ns", 1e-3, false}, {"nsecond", 1e-3, false}, {"us", 1, false}, {"usecond", 1, false}, {"ms", 1e3, false},
    {"msecond", 1e3, false}, {"s", 1e6, false}, {"second", 1e6, false}, {"cycle", 1, true}, {"cycles", 1, true}};
  char word[NAME_MAX_BYTES];
  squeezed(text, word);
  for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
    if (!strcmp(word, units[i].name)) {
      *s = (struct scale){units[i].factor, units[i].cycles};
      return true;
    }
  return false;
}

/* time_us, Duration (ns), Avg (ns), measured_ms, us, cycles: what a time may be called, and its unit behind that. */
static bool time_column(const struct csv *t, struct columns *c)
{
  static const char *const prefix[] = {"time", "duration", "avg", "mean", "med", "measured", "kerneltime", "elapsed",
                                       ""};
  char have[NAME_MAX_BYTES];
  for (unsigned p = 0; p < sizeof prefix / sizeof prefix[0]; p++)
    for (unsigned i = 0; i < t->n_columns; i++) {
      size_t n = strlen(prefix[p]);
      squeezed(t->column[i], have);
      if (strncmp(have, prefix[p], n) != 0 || !unit_of(have + n, &c->scale)) continue;
      c->time = (int)i;
      return true;
    }
  return false;
}

static bool find_raw(const struct csv *t, struct columns *c)
{
  static const char *const times[] = {"gpu__time_duration.sum", "gpu__time_duration", "gpc__cycles_elapsed.max", NULL};
  for (const char *const *name = times; *name; name++)
    for (unsigned i = 0; i < t->n_columns; i++)
      if (!strcmp(t->column[i], *name) && t->n_rows && unit_of(t->field[i], &c->scale)) {
        c->time = (int)i;
        c->units_row = c->profiler = true;
        return true;
      }
  return false;
}

static bool find_details(const struct csv *t, struct columns *c)
{
  c->metric = column(t, (const char *const[]){"metricname", NULL});
  c->metric_unit = column(t, (const char *const[]){"metricunit", NULL});
  c->time = column(t, (const char *const[]){"metricvalue", NULL});
  c->profiler = c->metric != NONE && c->metric_unit != NONE && c->time != NONE;
  return c->profiler;
}

static void find_sizes(const struct csv *t, const char *const (*names)[12], int out[3])
{
  for (unsigned axis = 0; axis < 3; axis++) out[axis] = column(t, names[axis]);
}

static void find_place(const struct csv *t, struct columns *c)
{
  static const char *const grids[3][12] = {
    {"gridsize", "grid", "gridxyz", "griddim", "launchgridsize", "grdx", "gridx", "griddimx", NULL},
    {"grdy", "gridy", "griddimy", NULL}, {"grdz", "gridz", "griddimz", NULL}};
  static const char *const blocks[3][12] = {
    {"blocksize", "block", "blockxyz", "blockdim", "launchblocksize", "blkx", "blockx", "blockdimx", NULL},
    {"blky", "blocky", "blockdimy", NULL}, {"blkz", "blockz", "blockdimz", NULL}};
  c->kernel = column(t, (const char *const[]){"kernelname", "kernel", "name", "function", "demangledname", NULL});
  find_sizes(t, grids, c->grid);
  find_sizes(t, blocks, c->block);
}

static bool find_columns(const struct csv *t, struct columns *c, struct err *e)
{
  *c = (struct columns){.metric = NONE, .time = NONE};
  find_place(t, c);
  if (c->kernel == NONE)
    return err_set(e, "%s: no column for the kernel's name: call it kernel, Kernel Name or Name", t->path);
  return find_details(t, c) || find_raw(t, c) || time_column(t, c) ||
         err_set(e, "%s: no column for a time with its unit: call it time_us, Duration (ns) or cycles", t->path);
}

static const char *field(const struct csv *t, size_t row, int column)
{
  return column == NONE ? "" : t->field[row * t->n_columns + (unsigned)column];
}

/* "(64, 1, 1)", "64 1 1", "64,1", 64 and two more fields. False: no sizes, which match any. */
static bool sizes_of(const struct csv *t, size_t row, const int where[3], unsigned out[3])
{
  unsigned n = 0;
  out[0] = out[1] = out[2] = 1;
  for (unsigned axis = 0; axis < 3 && n < 3; axis++) {
    const char *s = field(t, row, where[axis]);
    while (n < 3) {
      s += strcspn(s, "0123456789");
      if (!*s) break;
      char *end;
      unsigned long v = strtoul(s, &end, 10);
      if (v == 0 || v > 0x7fffffff) return false;
      out[n++] = (unsigned)v;
      s = end;
    }
  }
  return n > 0;
}

static void place(struct suite_row *r, const struct csv *t, size_t row, const struct columns *c)
{
  r->kernel = field(t, row, c->kernel);
  if (!sizes_of(t, row, c->grid, r->grid)) r->grid[0] = 0;
  if (!sizes_of(t, row, c->block, r->block)) r->block[0] = 0;
}

void measured_place(struct suite_row *r, const struct csv *t, size_t row)
{
  struct columns c;
  find_place(t, &c);
  place(r, t, row, &c);
}

/* Figures may have commas between thousands. */
static bool figure_of(const char *text, double *v)
{
  char digits[NAME_MAX_BYTES], *end;
  size_t n = 0;
  for (; *text && n + 1 < sizeof digits; text++)
    if (*text != ',' && *text != ' ') digits[n++] = *text;
  digits[n] = '\0';
  *v = strtod(digits, &end);
  return n && !*end && isfinite(*v) && *v > 0;
}

/* The one metric of ncu's page details that is taken: its duration. */
static bool is_duration(const struct csv *t, size_t row, const struct columns *c, struct scale *s)
{
  const char *name = field(t, row, c->metric);
  return (!strcmp(name, "Duration") || !strncmp(name, "gpu__time_duration", 18)) &&
         unit_of(field(t, row, c->metric_unit), s);
}

static bool same_sizes(const unsigned a[3], const unsigned b[3])
{
  return !memcmp(a, b, 3 * sizeof *a);
}

static bool known(const struct suite *s, const struct suite_row *r)
{
  for (size_t i = 0; i < s->n_rows; i++)
    if (!strcmp(s->row[i].kernel, r->kernel) && same_sizes(s->row[i].grid, r->grid) &&
        same_sizes(s->row[i].block, r->block))
      return true;
  return false;
}

static const char *id_of(struct suite *s, const struct suite_row *r)
{
  char text[256];
  const char *name = r->kernel;
  int n = snprintf(text, sizeof text, "%.120s", strncmp(name, "void ", 5) ? name : name + 5);
  char *arguments = strchr(text, '(');
  if (arguments && arguments != text) *arguments = '\0', n = (int)(arguments - text);
  if (r->grid[0]) n += snprintf(text + n, sizeof text - (size_t)n, " %ux%ux%u", r->grid[0], r->grid[1], r->grid[2]);
  if (r->block[0]) snprintf(text + n, sizeof text - (size_t)n, " %ux%ux%u", r->block[0], r->block[1], r->block[2]);
  return arena_strdup(&s->arena, text);
}

/* False: the row is no launch, or was there. */
static bool take(struct suite *s, const struct csv *t, size_t i, const struct columns *c, struct suite_row *r)
{
  struct scale scale = c->scale;
  *r = (struct suite_row){.run = "", .series = "", .group = "measured",
                          .recorded = NAN, .size = NAN, .why = "not run"};
  for (enum suite_counter k = 0; k < COUNTER__N; k++) r->counter[k] = NAN;
  place(r, t, i, c);
  if (!*r->kernel || (c->metric != NONE && !is_duration(t, i, c, &scale))) return false;
  if (!figure_of(field(t, i, c->time), &r->measured)) return false;
  if (c->grid[0] != NONE && !r->grid[0]) return false; /* a copy in a table of launches */
  if (known(s, r)) return false;
  r->measured *= scale.factor;
  r->id = id_of(s, r);
  s->unit = scale.cycles ? "cycles" : "us";
  return true;
}

bool measured_read(struct suite *s, const char *path, struct err *e)
{
  struct csv t;
  struct columns c;
  s->path = s->title = arena_strdup(&s->arena, path);
  s->source = "";
  TRY(csv_read(&t, path, &s->arena, e));
  TRY(find_columns(&t, &c, e));
  s->cold = c.profiler;
  s->row = ARENA_ARRAY(&s->arena, struct suite_row, t.n_rows + 1);
  for (size_t i = c.units_row; i < t.n_rows; i++) s->n_rows += take(s, &t, i, &c, &s->row[s->n_rows]);
  return s->n_rows || err_set(e, "%s: no row has a kernel and a time above zero", path);
}

/* The identifier alone: of "void ns::f<float>(int)", of _ZN2ns1fIfEEvi and of f. */
static const char *identifier(const char *name, size_t *n)
{
  if (!strncmp(name, "_Z", 2)) return plain_name(name, n);
  const char *end = name + strcspn(name, "(<"), *start = end;
  while (start > name && (isalnum((unsigned char)start[-1]) || start[-1] == '_')) start--;
  *n = (size_t)(end - start);
  return start;
}

bool measured_same_kernel(const char *a, const char *b)
{
  size_t na, nb;
  const char *x = identifier(a, &na), *y = identifier(b, &nb);
  return na == nb && na && !memcmp(x, y, na);
}
