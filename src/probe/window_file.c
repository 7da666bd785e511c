/* Files of windows: libconfig syntax, one group per window. */
#include <libconfig.h>
#include <stdio.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/settings.h"
#include "probe/window.h"

struct file_reader {
  const char *path;
  struct arena *arena;
  struct err *e;
};

static bool fail(const struct file_reader *r, const config_setting_t *s, const char *what)
{
  return err_set(r->e, "%s:%u: %s", r->path, config_setting_source_line(s), what);
}

/* A string of the group; without `required` it may be missing. */
static bool get_text(const struct file_reader *r, const config_setting_t *group, const char *key,
                     bool required, const char **to)
{
  const char *text;
  config_setting_t *s = config_setting_get_member(group, key);
  if (!s) {
    char what[64];
    snprintf(what, sizeof what, "'%s' is missing", key);
    return required ? fail(r, group, what) : true;
  }
  if (!(text = config_setting_get_string(s))) return fail(r, s, "a text in quotes is expected");
  *to = arena_strdup(r->arena, text);
  return true;
}

static bool get_number(const struct file_reader *r, const config_setting_t *group, const char *key,
                       int64_t min, int64_t max, int64_t *to)
{
  config_setting_t *s = config_setting_get_member(group, key);
  if (!s) return true;
  int type = config_setting_type(s);
  if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64) return fail(r, s, "a number is expected");
  *to = config_setting_get_int64(s);
  char what[64];
  snprintf(what, sizeof what, "a number from %lld to %lld is expected", (long long)min,
           (long long)max);
  return (*to >= min && *to <= max) || fail(r, s, what);
}

static bool known_keys(const struct file_reader *r, config_setting_t *group,
                       const char *const *keys)
{
  for (int i = 0; i < config_setting_length(group); i++) {
    config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
    const char *name = config_setting_name(s);
    unsigned k = 0;
    while (keys[k] && strcmp(keys[k], name) != 0) k++;
    if (!keys[k]) return fail(r, s, "there is no such key here");
  }
  return true;
}

/* Rows of a list, one for every `step` warps, each of numbers: cells of the clock reads from `first` on, or,
 * with first WINDOW_LAST_CLOCK, one cell of the last. */
static bool put_cells(const struct file_reader *r, const config_setting_t *row, unsigned warp,
                      int first, struct window *w)
{
  unsigned n = first == WINDOW_LAST_CLOCK ? 1 : (unsigned)config_setting_length(row);
  for (unsigned i = 0; i < n; i++) {
    const config_setting_t *s = row;
    if (first != WINDOW_LAST_CLOCK) s = config_setting_get_elem(row, i);
    if (config_setting_type(s) != CONFIG_TYPE_INT) return fail(r, row, "numbers are expected");
    w->cell[w->n_cells++] = (struct window_cell){
        warp, first == WINDOW_LAST_CLOCK ? first : first + (int)i, config_setting_get_int(s)};
  }
  return true;
}

/* cycles = N; or [N, …], one of each warp; or clocks = ([N, …], …), every clock read of warps that lie
 * warps / rows apart. */
static bool read_cells(const struct file_reader *r, config_setting_t *group, struct window *w)
{
  config_setting_t *cycles = config_setting_get_member(group, "cycles");
  config_setting_t *clocks = config_setting_get_member(group, "clocks");
  config_setting_t *rows = clocks ? clocks : cycles;
  w->cell = ARENA_ARRAY(r->arena, struct window_cell, WINDOW_MAX_CELLS);
  if (cycles && clocks) return fail(r, clocks, "either cycles or clocks");
  if (!rows || !config_setting_is_aggregate(rows)) {
    w->cell[w->n_cells++] = (struct window_cell){0, WINDOW_LAST_CLOCK, -1};
    return get_number(r, group, "cycles", 0, 1 << 30, &w->cell[0].cycles);
  }
  unsigned n = (unsigned)config_setting_length(rows);
  if (!n || n > w->warps || w->warps % n) return fail(r, rows, "a number for each warp is expected");
  w->common = true;
  w->ascending = !clocks;
  for (unsigned i = 0; i < n; i++) {
    const config_setting_t *row = config_setting_get_elem(rows, i);
    if (clocks && config_setting_length(row) > WINDOW_MAX_CLOCKS)
      return fail(r, rows, "too many clock reads");
    int first = clocks ? (int)w->from : WINDOW_LAST_CLOCK;
    if (!put_cells(r, row, i * (w->warps / n), first, w)) return false;
  }
  return true;
}

/* What R12 holds, as FP32. */
static bool read_value(const struct file_reader *r, const config_setting_t *group, struct window *w)
{
  config_setting_t *s = config_setting_get_member(group, "value");
  if (!s) return true;
  if (config_setting_type(s) != CONFIG_TYPE_FLOAT) return fail(r, s, "a real number is expected");
  float f = (float)config_setting_get_float(s);
  memcpy(&w->value, &f, sizeof f);
  return w->has_value = true;
}

/* *has: whether the group states it. */
static bool read_bool(const struct file_reader *r, const config_setting_t *group, const char *key,
                      bool *has, bool *v)
{
  config_setting_t *s = config_setting_get_member(group, key);
  if (!s) return true;
  if (config_setting_type(s) != CONFIG_TYPE_BOOL) return fail(r, s, "true or false is expected");
  *v = config_setting_get_bool(s);
  return *has = true;
}

/* A window before this one in the file. */
static bool find_minus(const struct file_reader *r, const config_setting_t *s,
                       const struct window_file *f, struct window *w)
{
  const char *name = NULL;
  if (!get_text(r, s, "minus", false, &name)) return false;
  for (const struct window *o = f->window; name && o < w && !w->minus; o++)
    if (!strcmp(o->name, name)) w->minus = o;
  return !name || w->minus || fail(r, s, "minus names no window before this one");
}

static bool read_window(const struct file_reader *r, config_setting_t *s,
                        const struct window_file *f, struct window *w)
{
  static const char *const keys[] = {"name",  "code",  "warps", "lanes", "from", "cycles", "clocks",
                                     "slack", "minus", "first", "stale", "wrong", "value", "gap",  NULL};
  int64_t warps = 1, lanes = 32, from = 0, slack = 0;
  *w = (struct window){0};
  if (!config_setting_is_group(s)) return fail(r, s, "a group { … } is expected");
  if (!known_keys(r, s, keys) || !get_text(r, s, "name", true, &w->name) ||
      !get_text(r, s, "code", true, &w->code) || !get_text(r, s, "gap", false, &w->gap) ||
      !get_number(r, s, "warps", 1, WINDOW_MAX_WARPS, &warps) ||
      !get_number(r, s, "lanes", 1, 32, &lanes) ||
      !get_number(r, s, "from", 0, WINDOW_MAX_CLOCKS - 2, &from) ||
      !get_number(r, s, "slack", 0, 1 << 30, &slack) || !find_minus(r, s, f, w))
    return false;
  w->warps = (unsigned)warps;
  w->lanes = (unsigned)lanes;
  w->from = (unsigned)from;
  w->slack = (uint32_t)slack;
  bool stated;
  if (!read_value(r, s, w) || !read_bool(r, s, "stale", &w->has_stale, &w->stale) ||
      !read_bool(r, s, "wrong", &w->has_wrong, &w->wrong) || !read_bool(r, s, "first", &stated, &w->first) ||
      !read_cells(r, s, w))
    return false;
  return !(w->first && w->common) || fail(r, s, "first goes with one number of cycles");
}

static bool read_all(const struct file_reader *r, config_setting_t *root, struct window_file *f)
{
  static const char *const keys[] = {"gpu", "source", "windows", NULL};
  config_setting_t *list = config_setting_get_member(root, "windows");
  if (!known_keys(r, root, keys) || !get_text(r, root, "gpu", true, &f->gpu) ||
      !get_text(r, root, "source", true, &f->source))
    return false;
  if (!list || !config_setting_is_list(list)) return fail(r, root, "a list windows = ( … ) is expected");
  f->n = (unsigned)config_setting_length(list);
  f->window = ARENA_ARRAY(r->arena, struct window, f->n);
  for (unsigned i = 0; i < f->n; i++)
    if (!read_window(r, config_setting_get_elem(list, i), f, &f->window[i])) return false;
  return true;
}

bool window_file_read(struct window_file *f, struct arena *a, const char *path, struct err *e)
{
  struct file_reader r = {path, a, e};
  config_t c;
  memory_need(MEMORY_OF_TEXT);
  config_init(&c);
  bool ok = settings_read(&c, path, e) && read_all(&r, config_root_setting(&c), f);
  config_destroy(&c);
  return ok;
}
