#include "validate/suite.h"

#include <libconfig.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "base/settings.h"
#include "base/text.h"
#include "validate/csv.h"
#include "validate/measured.h"

const char *suite_counter_name(enum suite_counter c)
{
  static const char *const names[] = {
    [COUNTER_WARP_INSTS] = "warp_insts", [COUNTER_FP16] = "fp16", [COUNTER_FP32] = "fp32",
    [COUNTER_FP64] = "fp64", [COUNTER_INTEGER] = "integer", [COUNTER_L1_BYTES] = "l1_bytes",
    [COUNTER_L2_BYTES] = "l2_bytes", [COUNTER_DRAM_BYTES] = "dram_bytes",
  };
  return names[c];
}

/* A file beside the suite's. */
static const char *beside(struct suite *s, const char *name)
{
  const char *slash = strrchr(s->path, '/');
  size_t dir = slash && *name != '/' ? (size_t)(slash - s->path) + 1 : 0, n = dir + strlen(name) + 1;
  char *path = arena_alloc(&s->arena, n, 1);
  snprintf(path, n, "%.*s%s", (int)dir, s->path, name);
  return path;
}

static bool need(struct suite *s, const config_t *c, const char *key, const char **v, struct err *e)
{
  if (!config_lookup_string(c, key, v))
    return err_set(e, "%s: no %s, a string", s->path, key);
  if (!text_is_safe(*v)) return err_set(e, "%s: %s: not printable text", s->path, key);
  *v = arena_strdup(&s->arena, *v);
  return true;
}

static bool read_agree(struct suite *s, const config_t *c, struct err *e)
{
  const config_setting_t *list = config_lookup(c, "agree");
  for (int i = 0; list && i < config_setting_length(list); i++) {
    const char *name = config_setting_get_string_elem(list, i);
    enum suite_counter k = 0;
    while (k < COUNTER__N && name && strcmp(name, suite_counter_name(k)) != 0) k++;
    if (!name || k == COUNTER__N) return err_set(e, "%s: agree: no counter %s", s->path, name ? name : "");
    s->agree[k] = true;
  }
  return true;
}

static void read_set(struct suite *s, const config_t *c)
{
  const config_setting_t *list = config_lookup(c, "set");
  int n = list ? config_setting_length(list) : 0;
  s->set = ARENA_ARRAY(&s->arena, const char *, (size_t)n + 1);
  for (int i = 0; i < n; i++) {
    const char *text = config_setting_get_string_elem(list, i);
    if (text) s->set[s->n_set++] = arena_strdup(&s->arena, text);
  }
}

static bool read_head(struct suite *s, const config_t *c, const char **data, struct err *e)
{
  int cold = 0;
  const char *recorded;
  TRY(need(s, c, "title", &s->title, e));
  TRY(need(s, c, "source", &s->source, e));
  TRY(need(s, c, "gpu", &s->gpu, e));
  TRY(need(s, c, "unit", &s->unit, e));
  TRY(need(s, c, "data", data, e));
  TRY(need(s, c, "recorded", &recorded, e));
  s->recorded_path = beside(s, recorded);
  *data = beside(s, *data);
  if (strcmp(s->unit, "us") != 0 && strcmp(s->unit, "cycles") != 0)
    return err_set(e, "%s: unit is \"us\" or \"cycles\"", s->path);
  if (!config_lookup_float(c, "tolerance_pct", &s->tolerance_pct))
    return err_set(e, "%s: no tolerance_pct, a number with a point", s->path);
  s->agree_pct = 5;
  config_lookup_float(c, "agree_pct", &s->agree_pct);
  config_lookup_bool(c, "cold", &cold);
  s->cold = cold;
  read_set(s, c);
  return read_agree(s, c, e);
}

static bool read_row(struct suite_row *r, const struct csv *t, size_t i, struct err *e)
{
  const char *split = csv_get(t, i, "split");
  double launch;
  *r = (struct suite_row){
    .id = csv_get(t, i, "id"), .group = csv_get(t, i, "group"), .run = csv_get(t, i, "run"),
    .series = csv_get(t, i, "series"), .fitted = !strcmp(split, "fitted"), .recorded = NAN,
    .why = "not run",
  };
  TRY(csv_number(t, i, "launch", &launch, e));
  TRY(csv_number(t, i, "measured", &r->measured, e));
  TRY(csv_number(t, i, "size", &r->size, e));
  for (enum suite_counter k = 0; k < COUNTER__N; k++)
    TRY(csv_number(t, i, suite_counter_name(k), &r->counter[k], e));
  if (!isnan(launch) && !(launch >= 1 && launch <= UINT_MAX && floor(launch) == launch))
    return err_set(e, "%s:%u: launch is a number from 1 on, or empty", t->path, t->line[i]);
  r->launch = isnan(launch) ? 0 : (unsigned)launch;
  if (!*r->id || !*r->run || !(r->measured > 0) || isinf(r->measured))
    return err_set(e, "%s:%u: id, run and measured (above zero, finite) are needed", t->path, t->line[i]);
  if (*csv_get(t, i, "kernel")) measured_place(r, t, i);
  return r->fitted || !*split || !strcmp(split, "held-out") ||
         err_set(e, "%s:%u: split is fitted or held-out", t->path, t->line[i]);
}

static bool read_data(struct suite *s, const char *path, struct err *e)
{
  struct csv t;
  TRY(csv_read(&t, path, &s->arena, e));
  s->row = ARENA_ARRAY(&s->arena, struct suite_row, t.n_rows + 1);
  for (; s->n_rows < t.n_rows; s->n_rows++) TRY(read_row(&s->row[s->n_rows], &t, s->n_rows, e));
  for (size_t i = 0; i < s->n_rows; i++)
    for (size_t j = 0; j < i; j++)
      if (!strcmp(s->row[i].id, s->row[j].id))
        return err_set(e, "%s: two rows have the id %s", path, s->row[i].id);
  return true;
}

/* No file yet is no error: nothing was recorded. */
static bool read_recorded(struct suite *s, struct err *e)
{
  struct csv t;
  FILE *f = fopen(s->recorded_path, "r");
  if (!f) return true;
  fclose(f);
  TRY(csv_read(&t, s->recorded_path, &s->arena, e));
  for (size_t i = 0; i < t.n_rows; i++)
    for (size_t j = 0; j < s->n_rows; j++)
      if (!strcmp(csv_get(&t, i, "id"), s->row[j].id))
        TRY(csv_number(&t, i, "error_pct", &s->row[j].recorded, e));
  return true;
}

bool suite_load(struct suite *s, const char *path, const char *data, struct err *e)
{
  const char *own = NULL;
  config_t c;
  *s = (struct suite){0};
  s->path = arena_strdup(&s->arena, path);
  memory_need(MEMORY_OF_TEXT);
  config_init(&c);
  bool ok = settings_read(&c, path, e) && read_head(s, &c, &own, e);
  config_destroy(&c);
  return ok && read_data(s, data ? data : own, e) && read_recorded(s, e);
}

void suite_free(struct suite *s)
{
  arena_free(&s->arena);
  *s = (struct suite){0};
}

double suite_error(const struct suite_row *r)
{
  return 100 * (r->simulated / r->measured - 1);
}

bool suite_worse(const struct suite *s, const struct suite_row *r)
{
  return r->ran && !isnan(r->recorded) &&
         fabs(suite_error(r)) > fabs(r->recorded) + s->tolerance_pct;
}

bool suite_counters_agree(const struct suite *s, const struct suite_row *r)
{
  for (enum suite_counter k = 0; k < COUNTER__N; k++) {
    if (!s->agree[k] || isnan(r->counter[k])) continue;
    if (!(fabs(r->got[k] - r->counter[k]) <= s->agree_pct / 100 * r->counter[k])) return false;
  }
  return true;
}

bool suite_record(const struct suite *s, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, s->recorded_path, e);
  if (!f) return false;
  fprintf(f, "id,error_pct\n");
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct suite_row *r = &s->row[i];
    double error = r->ran ? suite_error(r) : r->recorded;
    if (!isnan(error)) fprintf(f, "%s,%.1f\n", r->id, error);
  }
  return output_close(&out, true, e);
}
