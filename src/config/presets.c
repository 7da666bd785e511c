#include "config/presets.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "base/nearest.h"
#include "base/settings.h"
#include "config/mig.h"

enum { KEY_MAX = 128, CHAIN_MAX = 16 };

/* ---- Reading one file ---- */

struct reader {
  struct preset *preset;
  const char *dir;               /* of the preset directory */
  char path[PATH_MAX];           /* file being read */
  const char *base;              /* its base name, owned by the preset */
  char chain[CHAIN_MAX][PATH_MAX]; /* files already read, child first */
  unsigned depth;
  struct err *e;
};

static bool fail_at(struct reader *r, const config_setting_t *s, const char *key, const char *why)
{
  return err_set(r->e, "%s:%d: %s: %s", r->path, config_setting_source_line(s), key, why);
}

bool preset_source_known(const char *source)
{
  static const char *const tags[] = {"doc:", "ubench:", "paper:", "fit:"};
  for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
    size_t n = strlen(tags[i]);
    if (strncmp(source, tags[i], n) == 0) return source[n] == ' ' && source[n + 1] != '\0';
  }
  return strcmp(source, "guess") == 0 || strncmp(source, "guess: ", 7) == 0;
}

static bool set_list(struct params *p, struct param_key k, const config_setting_t *v,
                     struct err *e)
{
  int64_t element[PARAM_LIST_MAX + 1];
  unsigned n = (unsigned)config_setting_length(v);
  if (n > PARAM_LIST_MAX) n = PARAM_LIST_MAX + 1;
  for (unsigned i = 0; i < n; i++) {
    const config_setting_t *x = config_setting_get_elem(v, i);
    if (config_setting_type(x) != CONFIG_TYPE_INT && config_setting_type(x) != CONFIG_TYPE_INT64)
      return err_set(e, "must be a list [a, b, ...] of integers");
    element[i] = config_setting_get_int64(x);
  }
  return param_set_list(p, k, element, n, e);
}

static bool set_value(struct params *p, struct param_key k, const config_setting_t *v,
                      struct err *e)
{
  switch (config_setting_type(v)) {
  case CONFIG_TYPE_INT:
  case CONFIG_TYPE_INT64: return param_set_int(p, k, config_setting_get_int64(v), e);
  case CONFIG_TYPE_BOOL: return param_set_bool(p, k, config_setting_get_bool(v), e);
  case CONFIG_TYPE_STRING: return param_set_text(p, k, config_setting_get_string(v), e);
  case CONFIG_TYPE_ARRAY: return set_list(p, k, v, e);
  default: return err_set(e, "must be an integer, a truth value, a name or a list");
  }
}

static int is_cfg(const struct dirent *d)
{
  size_t n = strlen(d->d_name);
  return n > 4 && strcmp(d->d_name + n - 4, ".cfg") == 0;
}

/* The parameter meant, or "". */
static const char *key_hint(const char *key, char hint[NEAREST_HINT])
{
  char name[KEY_MAX];
  struct nearest near;
  nearest_start(&near, key);
  for (unsigned i = 0; i < PARAM_N_KEYS; i++) {
    param_key_name(param_key_at(i), name, sizeof name);
    nearest_offer(&near, name);
  }
  return nearest_hint(&near, hint);
}

static bool unknown_key(struct reader *r, const config_setting_t *s, const char *key)
{
  char hint[NEAREST_HINT], why[NEAREST_HINT + 16];
  snprintf(why, sizeof why, "unknown key%s", key_hint(key, hint));
  return fail_at(r, s, key, why);
}

/* s is (value, "tag: text"). */
static bool read_value(struct reader *r, const config_setting_t *s, const char *key)
{
  struct param_key k;
  int number = param_key_find(key, &k);
  if (number < 0) return unknown_key(r, s, key);
  const config_setting_t *tag = config_setting_get_elem(s, 1);
  if (config_setting_length(s) != 2 || config_setting_type(tag) != CONFIG_TYPE_STRING)
    return fail_at(r, s, key, "must be (value, \"source tag: text\")");
  const char *source = config_setting_get_string(tag);
  if (!preset_source_known(source))
    return fail_at(r, s, key, "its source must start with doc:, ubench:, paper:, fit: or guess");

  struct err why;
  struct params scratch = r->preset->params; /* an inherited value is checked, then dropped */
  struct param_origin *origin = &r->preset->origin[number];
  struct params *into = origin->source ? &scratch : &r->preset->params;
  if (!set_value(into, k, config_setting_get_elem(s, 0), &why))
    return fail_at(r, s, key, why.msg);
  if (origin->source) return true;
  *origin = (struct param_origin){
      .file = r->base,
      .line = (int)config_setting_source_line(s),
      .source = arena_strdup(&r->preset->strings, source),
  };
  return true;
}

static bool read_group(struct reader *r, const config_setting_t *group, const char *prefix)
{
  for (int i = 0; i < config_setting_length(group); i++) {
    const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
    char key[KEY_MAX];
    const char *dot = *prefix ? "." : "", *name = config_setting_name(s);
    if ((size_t)snprintf(key, sizeof key, "%s%s%s", prefix, dot, name) >= sizeof key)
      return fail_at(r, s, name, "key too long");
    if (strcmp(key, "inherit") == 0) continue;
    if (config_setting_is_group(s)) {
      if (config_setting_length(s) == 0) return fail_at(r, s, key, "empty group");
      TRY(read_group(r, s, key));
    } else if (config_setting_is_list(s)) {
      TRY(read_value(r, s, key));
    } else {
      struct param_key k;
      if (param_key_find(key, &k) < 0) return unknown_key(r, s, key);
      return fail_at(r, s, key, "must be (value, \"source tag: text\")");
    }
  }
  return true;
}

static bool read_file(struct reader *r);

/* The preset meant, or "". */
static const char *preset_hint(const char *name, const char *dir, char hint[NEAREST_HINT])
{
  struct nearest near;
  struct dirent **entry;
  char machine[PATH_MAX];
  snprintf(machine, sizeof machine, "%s/machines/%s.cfg", dir, name);
  if (access(machine, R_OK) == 0) return "; it is a machine (--machine)";
  int n = scandir(dir, &entry, is_cfg, alphasort);
  nearest_start(&near, name);
  for (int i = 0; i < n; i++) {
    entry[i]->d_name[strlen(entry[i]->d_name) - strlen(".cfg")] = '\0';
    nearest_offer(&near, entry[i]->d_name);
    free(entry[i]);
  }
  if (n >= 0) free(entry);
  return nearest_hint(&near, hint);
}

/* Goes on with the file that `config` inherits, if any. */
static bool read_parent(struct reader *r, const config_t *config)
{
  const config_setting_t *s = config_lookup(config, "inherit");
  if (!s) return true;
  const char *parent = config_setting_get_string(s);
  if (!parent || strchr(parent, '/')) return fail_at(r, s, "inherit", "must name a preset");
  char path[PATH_MAX];
  if ((size_t)snprintf(path, sizeof path, "%s/%s.cfg", r->dir, parent) >= sizeof path)
    return fail_at(r, s, "inherit", "path too long");
  for (unsigned i = 0; i < r->depth; i++)
    if (strcmp(r->chain[i], path) == 0) return fail_at(r, s, "inherit", "presets inherit in a loop");
  if (r->depth == CHAIN_MAX) return fail_at(r, s, "inherit", "chain too long");
  if (access(path, R_OK) != 0) {
    char hint[NEAREST_HINT], why[KEY_MAX];
    snprintf(why, sizeof why, "no preset '%.64s'%s", parent, preset_hint(parent, r->dir, hint));
    return fail_at(r, s, "inherit", why);
  }
  memcpy(r->path, path, sizeof path);
  return read_file(r);
}

static bool read_config(void *ctx, config_t *config)
{
  struct reader *r = ctx;
  memory_need(MEMORY_OF_TEXT);
  TRY(settings_read(config, r->path, r->e));
  const char *slash = strrchr(r->path, '/');
  r->base = arena_strdup(&r->preset->strings, slash ? slash + 1 : r->path);
  TRY(read_group(r, config_root_setting(config), ""));
  return read_parent(r, config);
}

static bool read_file(struct reader *r)
{
  memcpy(r->chain[r->depth++], r->path, sizeof r->path);
  return settings_with(read_config, r);
}

/* ---- Whole presets ---- */

static bool all_stated(const struct preset *p, const char *path, struct err *e)
{
  unsigned missing = 0, first = 0;
  for (unsigned i = 0; i < PARAM_N_KEYS; i++) {
    if (p->origin[i].source) continue;
    if (missing++ == 0) first = i;
  }
  if (missing == 0) return true;
  char key[KEY_MAX];
  param_key_name(param_key_at(first), key, sizeof key);
  if (missing == 1) return err_set(e, "%s:1: %s: missing, here and in what it inherits", path, key);
  return err_set(e, "%s:1: %s and %u more keys: missing, here and in what it inherits", path, key,
                 missing - 1);
}

static bool load_into(struct reader *r, const char *name)
{
  int n = settings_is_path(name) ? snprintf(r->path, sizeof r->path, "%s", name)
                                 : snprintf(r->path, sizeof r->path, "%s/%s.cfg", r->dir, name);
  if (n < 0 || (size_t)n >= sizeof r->path)
    return err_set(r->e, "preset name '%.64s…' is too long", name);
  char hint[NEAREST_HINT];
  if (access(r->path, R_OK) != 0 && settings_is_path(name))
    return err_set(r->e, "%s: cannot read: %s; check the path", name, host_error());
  if (access(r->path, R_OK) != 0)
    return err_set(r->e, "no preset '%s' in %s (warpstep gpus lists them)%s", name, r->dir,
                   preset_hint(name, r->dir, hint));
  char first[PATH_MAX];
  memcpy(first, r->path, sizeof first);
  TRY(read_file(r));
  TRY(all_stated(r->preset, first, r->e));
  struct err why;
  if (!params_check(&r->preset->params, &why)) return err_set(r->e, "%s: %.400s", first, why.msg);
  return true;
}

bool preset_load(const char *name, const char *dir, struct preset *p, struct err *e)
{
  *p = (struct preset){0};
  struct reader *r = mem_zeroed(1, sizeof *r);
  r->preset = p;
  r->dir = dir;
  r->e = e;
  bool ok = load_into(r, name);
  mem_free(r);
  if (!ok) preset_free(p);
  return ok;
}

void preset_free(struct preset *p)
{
  arena_free(&p->strings);
}

/* Sets a number as the command line does. */
static bool override_int(struct preset *p, const char *key, uint64_t value, const char *source, struct err *e)
{
  struct param_key k;
  int number = param_key_find(key, &k);
  BUG_ON(number < 0);
  struct err why;
  if (!param_set_int(&p->params, k, (int64_t)value, &why))
    return err_set(e, "%s: %.300s", key, why.msg);
  p->origin[number] = (struct param_origin){.file = "command line", .source = source};
  return true;
}

/* L2 and interconnect stay at their ratio to the SM clock; DRAM keeps its time. */
static bool lock_clock(struct preset *p, const char *mhz, struct err *e)
{
  char *end;
  double value = strtod(mhz, &end);
  if (end == mhz || *end || !(value > 0)) return err_set(e, "clock %.60s: not a number of MHz", mhz);
  struct params before = p->params;
  double khz = value * 1000 + 0.5, ratio = value * 1000 / before.gpu_clock_khz;
  if (khz > UINT32_MAX) khz = UINT32_MAX;
  TRY(override_int(p, "gpu.clock_khz", (uint64_t)khz, "clock", e));
  if (before.l2_clock_khz)
    TRY(override_int(p, "l2.clock_khz", (uint64_t)(before.l2_clock_khz * ratio + 0.5), "clock", e));
  double dram = before.dram_latency > before.l2_latency ? (double)before.dram_latency - before.l2_latency : 0;
  return override_int(p, "dram.latency", before.l2_latency + (uint64_t)(dram * ratio + 0.5), "clock", e);
}

static bool cut_instance(struct preset *p, const char *profile, struct err *e)
{
  struct mig_value v[MIG_VALUES];
  char name[PARAM_TEXT_MAX];
  if (p->instance) return err_set(e, "mig %.60s: it is an instance already", profile);
  TRY(mig_values(&p->params, profile, v, e));
  snprintf(name, sizeof name, "%.40s MIG %.16s", p->params.name, profile);
  for (unsigned i = 0; i < MIG_VALUES; i++) TRY(override_int(p, v[i].key, v[i].value, "mig", e));
  memcpy(p->params.name, name, sizeof name);
  p->instance = true;
  return true;
}

bool preset_override(struct preset *p, const char *assignment, struct err *e)
{
  char key[KEY_MAX];
  if (strncmp(assignment, "mig=", 4) == 0) return cut_instance(p, assignment + 4, e);
  if (strncmp(assignment, "clock=", 6) == 0) return lock_clock(p, assignment + 6, e);
  const char *eq = strchr(assignment, '=');
  if (!eq || (size_t)(eq - assignment) >= sizeof key)
    return err_set(e, "'%s': must be KEY=VALUE", assignment);
  snprintf(key, sizeof key, "%.*s", (int)(eq - assignment), assignment);
  struct param_key k;
  int number = param_key_find(key, &k);
  char hint[NEAREST_HINT];
  if (number < 0)
    return err_set(e, "%s: unknown parameter (warpstep gpus --resolve lists them)%s", key, key_hint(key, hint));
  struct err why;
  struct params changed = p->params;
  if (!param_parse(&changed, k, eq + 1, &why))
    return err_set(e, "%s: %.300s", key, why.msg);
  p->params = changed;
  p->origin[number] = (struct param_origin){.file = "command line", .source = "command line"};
  return true;
}

bool params_load(const char *name, const char *dir, struct params *params, struct err *e)
{
  struct preset p;
  TRY(preset_load(name, dir, &p, e));
  *params = p.params;
  preset_free(&p);
  return true;
}

void preset_write_resolved(FILE *f, const struct preset *p)
{
  for (unsigned i = 0; i < PARAM_N_KEYS; i++) {
    struct param_key k = param_key_at(i);
    const struct param_origin *o = &p->origin[i];
    char key[KEY_MAX], value[256], where[KEY_MAX];
    param_key_name(k, key, sizeof key);
    param_print(&p->params, k, value, sizeof value);
    if (o->line) snprintf(where, sizeof where, "%s:%d", o->file, o->line);
    else snprintf(where, sizeof where, "%s", o->file);
    fprintf(f, "%-32s %-12s %-12s %-18s %s\n", key, value, k.desc->unit, where, o->source);
  }
}

/* ---- List of presets ---- */

/* Architecture files state no product name. A broken file is listed: loading it says what is wrong. */
static bool is_board(const char *dir, const char *file)
{
  char path[PATH_MAX];
  if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, file) >= sizeof path) return false;
  config_t config;
  memory_need(MEMORY_OF_TEXT);
  config_init(&config);
  bool board = !settings_read(&config, path, NULL) || config_lookup(&config, "name");
  config_destroy(&config);
  return board;
}

/* "a100" before "a100-x": as names, not as file names. */
static int by_stem(const struct dirent **a, const struct dirent **b)
{
  size_t n = strlen((*a)->d_name) - strlen(".cfg"), m = strlen((*b)->d_name) - strlen(".cfg");
  int c = memcmp((*a)->d_name, (*b)->d_name, n < m ? n : m);
  return c ? c : (n > m) - (n < m);
}

bool presets_list(const char *dir, struct arena *a, struct preset_names *out, struct err *e)
{
  struct dirent **entry;
  int n = scandir(dir, &entry, is_cfg, by_stem);
  if (n < 0) return err_set(e, "%s: cannot be read: %s", dir, host_error());
  *out = (struct preset_names){.name = ARENA_ARRAY(a, const char *, (size_t)n + 1)};
  for (int i = 0; i < n; i++) {
    if (is_board(dir, entry[i]->d_name)) {
      char *name = arena_strdup(a, entry[i]->d_name);
      name[strlen(name) - strlen(".cfg")] = '\0';
      out->name[out->n++] = name;
    }
    free(entry[i]);
  }
  free(entry);
  return true;
}
