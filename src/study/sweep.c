#include "study/sweep.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/host_memory.h"
#include "base/nearest.h"
#include "base/settings.h"
#include "base/text.h"
#include "config/params.h"
#include "config/presets.h"

/* --- the file ---------------------------------------------------------------------------------- */

struct reader {
  struct sweep *s;
  const config_t *config;
  struct err *e;
};

/* A value as `--set` takes it. NULL: neither number, truth nor string. */
static const char *value_text(struct reader *r, const config_setting_t *v)
{
  char text[256];
  switch (config_setting_type(v)) {
  case CONFIG_TYPE_INT: snprintf(text, sizeof text, "%d", config_setting_get_int(v)); break;
  case CONFIG_TYPE_INT64: snprintf(text, sizeof text, "%lld", config_setting_get_int64(v)); break;
  case CONFIG_TYPE_FLOAT: snprintf(text, sizeof text, "%.9g", config_setting_get_float(v)); break;
  case CONFIG_TYPE_BOOL: snprintf(text, sizeof text, "%s", config_setting_get_bool(v) ? "true" : "false"); break;
  case CONFIG_TYPE_STRING: snprintf(text, sizeof text, "%.250s", config_setting_get_string(v)); break;
  default: return NULL;
  }
  return text_is_safe(text) && !strpbrk(text, " =") ? arena_strdup(&r->s->arena, text) : NULL;
}

/* A list of strings, or one string. */
static bool read_list(struct reader *r, const char *name, bool needed, struct sweep_list *l)
{
  const config_setting_t *v = config_lookup(r->config, name);
  if (v && !config_setting_is_aggregate(v) && config_setting_type(v) != CONFIG_TYPE_STRING)
    return err_set(r->e, "%s:%d: %s: from 1 to %d strings", r->s->path, (int)config_setting_source_line(v), name,
                   SWEEP_MAX_RUNS);
  if (!v) return !needed || err_set(r->e, "%s: no %s; see docs/sweep.md", r->s->path, name);
  const bool one = config_setting_type(v) == CONFIG_TYPE_STRING;
  const int n = one ? 1 : config_setting_length(v);
  if (n < (needed ? 1 : 0) || n > SWEEP_MAX_RUNS)
    return err_set(r->e, "%s:%d: %s: from 1 to %d strings", r->s->path, (int)config_setting_source_line(v), name,
                   SWEEP_MAX_RUNS);
  l->text = ARENA_ARRAY(&r->s->arena, const char *, (size_t)n + 1);
  for (int i = 0; i < n; i++) {
    const char *text = one ? config_setting_get_string(v) : config_setting_get_string_elem(v, i);
    if (!text || !*text || !text_is_safe(text))
      return err_set(r->e, "%s:%d: %s: element %d is not printable text", r->s->path,
                     (int)config_setting_source_line(v), name, i + 1);
    for (unsigned k = 0; k < l->n; k++)
      if (strcmp(l->text[k], text) == 0) return err_set(r->e, "%s: %s: %s is there twice", r->s->path, name, text);
    l->text[l->n++] = arena_strdup(&r->s->arena, text);
  }
  return true;
}

/* Presets given as files lie beside the sweep, as runs do. */
static bool place_presets(struct reader *r)
{
  for (unsigned i = 0; i < r->s->gpu.n; i++) {
    char path[PATH_MAX], real[PATH_MAX];
    const char *name = r->s->gpu.text[i];
    if (!strchr(name, '/')) continue;
    const int n = snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : r->s->dir, *name == '/' ? "" : "/", name);
    if (n >= (int)sizeof path || !realpath(path, real))
      return err_set(r->e, "%s: gpu: %s: %s", r->s->path, name, host_error());
    r->s->gpu.text[i] = arena_strdup(&r->s->arena, real);
  }
  return true;
}

/* What a point decides is not for the words of a run. */
static bool check_runs(struct reader *r)
{
  static const char *const taken[] = {"--gpu", "--set", "--json", "--presets", "--help", "-h", NULL};
  for (unsigned i = 0; i < r->s->run.n; i++) {
    const char *run = r->s->run.text[i];
    if (strncmp(run, "exec ", 5) == 0) continue;
    for (const char *w = run; *w; w += strcspn(w, " "), w += strspn(w, " "))
      for (unsigned k = 0; taken[k]; k++) {
        const size_t n = strlen(taken[k]);
        if (strncmp(w, taken[k], n) == 0 && (!w[n] || w[n] == ' ' || w[n] == '='))
          return err_set(r->e, "%s: run: %s is the sweep's own: use gpu, set and vary", r->s->path, taken[k]);
      }
  }
  return true;
}

/* One choice of an axis, which must be a new one. */
static bool add_choice(struct reader *r, int line, struct sweep_list *axis, const char *text)
{
  for (unsigned j = 0; j < axis->n; j++)
    if (strcmp(axis->text[j], text) == 0) return err_set(r->e, "%s:%d: %s is there twice", r->s->path, line, text);
  axis->text[axis->n++] = text;
  return true;
}

static const char *setting_text(struct reader *r, const char *key, const char *value)
{
  const size_t n = strlen(key) + strlen(value) + 2;
  char *text = arena_alloc(&r->s->arena, n, 1);
  snprintf(text, n, "%s=%s", key, value);
  return text;
}

/* { key = "…"; values = [ … ]; } or { settings = [ "…=…", … ]; } */
static bool read_axis(struct reader *r, const config_setting_t *group, struct sweep_list *axis)
{
  const int line = (int)config_setting_source_line(group);
  const char *key = NULL;
  const bool by_key = config_setting_lookup_string(group, "key", &key);
  const config_setting_t *list = config_setting_get_member(group, by_key ? "values" : "settings");
  if (config_setting_is_group(group) && config_setting_length(group) != (by_key ? 2 : 1)) list = NULL;
  const int n = list ? config_setting_length(list) : 0;
  if (n < 1 || n > SWEEP_MAX_CHOICES || (by_key && !text_is_safe(key)))
    return err_set(
        r->e, "%s:%d: vary takes { key = \"…\"; values = [ … ]; } or { settings = [ \"…=…\" ]; }, "
        "with 1 to %d of them",
        r->s->path, line, SWEEP_MAX_CHOICES);
  axis->text = ARENA_ARRAY(&r->s->arena, const char *, (size_t)n);
  for (int i = 0; i < n; i++) {
    const config_setting_t *v = config_setting_get_elem(list, (unsigned)i);
    const char *text = by_key ? value_text(r, v) : config_setting_get_string(v);
    if (!text || !*text || !text_is_safe(text))
      return err_set(r->e, "%s:%d: choice %d is no number, truth or word", r->s->path, line, i + 1);
    TRY(add_choice(r, line, axis, by_key ? setting_text(r, key, text) : arena_strdup(&r->s->arena, text)));
  }
  return true;
}

static bool read_axes(struct reader *r)
{
  struct sweep *s = r->s;
  const config_setting_t *list = config_lookup(r->config, "vary");
  if (list && !config_setting_is_list(list)) return err_set(r->e, "%s: vary is a list: ( { … }, … )", s->path);
  for (int i = 0; list && i < config_setting_length(list); i++) {
    const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);
    if (s->n_axes == SWEEP_MAX_AXES)
      return err_set(r->e, "%s: vary has more than %d elements", s->path, SWEEP_MAX_AXES);
    TRY(read_axis(r, group, &s->axis[s->n_axes++]));
  }
  return true;
}

static bool no_setting(struct reader *r, const config_setting_t *m, const char *const *known)
{
  char hint[NEAREST_HINT];
  struct nearest near;
  nearest_start(&near, config_setting_name(m));
  for (unsigned i = 0; known[i]; i++) nearest_offer(&near, known[i]);
  return err_set(r->e, "%s:%d: no setting '%.60s'; there are name, gpu, run, set and vary%s", r->s->path,
                 (int)config_setting_source_line(m), config_setting_name(m), nearest_hint(&near, hint));
}

static bool read_top(struct reader *r)
{
  static const char *const known[] = {"name", "gpu", "run", "set", "vary", NULL};
  const config_setting_t *root = config_root_setting(r->config);
  for (int i = 0; i < config_setting_length(root); i++) {
    const config_setting_t *m = config_setting_get_elem(root, (unsigned)i);
    unsigned k = 0;
    while (known[k] && strcmp(known[k], config_setting_name(m)) != 0) k++;
    if (!known[k])
      return no_setting(r, m, known);
  }
  const char *name = NULL;
  (void)config_lookup_string(r->config, "name", &name);
  r->s->name = arena_strdup(&r->s->arena, name && text_is_safe(name) ? name : r->s->path);
  return read_list(r, "gpu", true, &r->s->gpu) && read_list(r, "run", true, &r->s->run) &&
         read_list(r, "set", false, &r->s->set) && place_presets(r) && check_runs(r) && read_axes(r);
}

/* --- points ------------------------------------------------------------------------------------ */

static bool count_points(struct sweep *s, struct err *e)
{
  uint64_t n = (uint64_t)s->gpu.n * s->run.n;
  for (unsigned k = 0; k < s->n_axes && n <= SWEEP_MAX_POINTS; k++) n *= s->axis[k].n;
  if (n > SWEEP_MAX_POINTS) return err_set(e, "%s: more than %d points", s->path, SWEEP_MAX_POINTS);
  s->n_points = (uint32_t)n;
  size_t longest = 1;
  for (unsigned k = 0; k < s->n_axes; k++) {
    size_t most = 0;
    for (unsigned i = 0; i < s->axis[k].n; i++)
      if (strlen(s->axis[k].text[i]) > most) most = strlen(s->axis[k].text[i]);
    longest += most + 1;
  }
  return longest <= SWEEP_SETTINGS ||
         err_set(e, "%s: settings of a point have more than %d characters", s->path, SWEEP_SETTINGS);
}

struct sweep_point sweep_point_at(const struct sweep *s, uint32_t i)
{
  struct sweep_point p = {0};
  for (unsigned k = s->n_axes; k-- > 0; i /= s->axis[k].n) p.choice[k] = s->axis[k].text[i % s->axis[k].n];
  p.run = s->run.text[i % s->run.n];
  p.gpu = s->gpu.text[i / s->run.n];
  return p;
}

void sweep_settings(const struct sweep *s, const struct sweep_point *p, char text[SWEEP_SETTINGS])
{
  size_t n = 0;
  text[0] = '\0';
  for (unsigned k = 0; k < s->n_axes && n < SWEEP_SETTINGS; k++)
    n += (size_t)snprintf(text + n, SWEEP_SETTINGS - n, "%s%s", k ? " " : "", p->choice[k]);
}

/* --- are they possible? -------------------------------------------------------------------------- */

/* Each setting of a choice. */
static bool override(struct preset *p, const char *choice, struct err *e)
{
  char text[SWEEP_SETTINGS], *save = NULL;
  if (snprintf(text, sizeof text, "%s", choice) >= (int)sizeof text) return err_set(e, "a choice is too long");
  for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) TRY(preset_override(p, w, e));
  return true;
}

/* One combination on one preset. */
static bool try_point(const struct sweep *s, const struct sweep_point *point, const char *presets, struct err *e)
{
  struct preset p;
  TRY(preset_load(point->gpu, presets, &p, e));
  bool ok = true;
  for (unsigned i = 0; ok && i < s->set.n; i++) ok = preset_override(&p, s->set.text[i], e);
  for (unsigned k = 0; ok && k < s->n_axes; k++) ok = override(&p, point->choice[k], e);
  ok = ok && params_check(&p.params, e);
  preset_free(&p);
  return ok;
}

bool sweep_identity(const struct sweep *s, const char *gpu, const char *presets, char *text, size_t size, struct err *e)
{
  struct preset p;
  TRY(preset_load(gpu, presets, &p, e));
  bool ok = true;
  for (unsigned i = 0; ok && i < s->set.n; i++) ok = preset_override(&p, s->set.text[i], e);
  /* All of a preset's numbers: presets start from zeros, so that the bytes between them are the same. */
  snprintf(text, size, "%016" PRIx64, checksum64(&p.params, sizeof p.params));
  preset_free(&p);
  return ok;
}

/* Runs do not matter here. */
static bool try_all(const struct sweep *s, const char *presets, struct err *e)
{
  const uint32_t per_gpu = s->n_points / s->gpu.n, combinations = per_gpu / s->run.n;
  for (unsigned g = 0; g < s->gpu.n; g++)
    for (uint32_t i = 0; i < combinations; i++) {
      struct err why = {""};
      const struct sweep_point p = sweep_point_at(s, g * per_gpu + i);
      if (!try_point(s, &p, presets, &why)) return err_set(e, "%s: on %s: %.400s", s->path, p.gpu, why.msg);
    }
  return true;
}

/* --- whole ------------------------------------------------------------------------------------- */

static void set_dir(struct sweep *s)
{
  const char *slash = strrchr(s->path, '/');
  char *dir = arena_strdup(&s->arena, slash ? s->path : ".");
  if (slash) dir[slash == s->path ? 1 : slash - s->path] = '\0';
  s->dir = dir;
}

bool sweep_read(struct sweep *s, const char *path, const char *presets, struct err *e)
{
  config_t config;
  *s = (struct sweep){0};
  s->path = arena_strdup(&s->arena, path);
  set_dir(s);
  memory_need(MEMORY_OF_TEXT);
  config_init(&config);
  struct reader r = {s, &config, e};
  const bool ok = settings_read(&config, path, e) && read_top(&r) && count_points(s, e) && try_all(s, presets, e);
  config_destroy(&config);
  if (!ok) sweep_free(s);
  return ok;
}

void sweep_free(struct sweep *s)
{
  struct arena a = s->arena;
  arena_free(&a);
}
