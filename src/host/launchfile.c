/* Launch files: libconfig syntax into struct launch_case. One table of keys per group. */
#include "host/launchfile.h"

#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/nearest.h"
#include "base/settings.h"
#include "host/casebuild.h"
#include "host/literals.h"
#include "host/texturefile.h"

enum { PATH_LIMIT = 4096 };

struct reader {
  struct launch_case *c;
  const char *path;       /* of the launch file */
  const char *data;       /* value of the key data, or NULL */
  const char *stdout_order;
  struct err *e;
};

struct key {
  const char *name;
  bool (*read)(struct reader *, config_setting_t *);
  bool required;
};

static int line_of(const config_setting_t *s)
{
  return (int)config_setting_source_line(s);
}

/* "FILE:LINE: " + message; keeps the case of callers that already have a message in `inner`. */
static bool fail(const struct reader *r, const config_setting_t *s, const char *message)
{
  return err_set(r->e, "%s:%d: %s", r->path, line_of(s), message);
}

static const char *where(const struct reader *r, const config_setting_t *s)
{
  char buf[PATH_LIMIT];
  snprintf(buf, sizeof buf, "%s:%d", r->path, line_of(s));
  return arena_strdup(&r->c->arena, buf);
}

static bool fail_key(const struct reader *r, const config_setting_t *s, const char *problem)
{
  const char *name = config_setting_name(s);
  return err_set(r->e, "%s:%d: %s: %s", r->path, line_of(s), name ? name : "list element", problem);
}

/* dir/name, unless name is absolute. */
static const char *join(struct reader *r, const char *dir, const char *name)
{
  if (*name == '/' || *dir == '\0') return arena_strdup(&r->c->arena, name);
  size_t n = strlen(dir) + strlen(name) + 2;
  char *p = arena_alloc(&r->c->arena, n, 1);
  snprintf(p, n, "%s/%s", dir, name);
  return p;
}

/* Relative to the launch file. */
static const char *beside(struct reader *r, const char *name)
{
  char *dir = arena_strdup(&r->c->arena, r->path);
  char *slash = strrchr(dir, '/');
  if (!slash) return arena_strdup(&r->c->arena, name);
  *slash = '\0';
  return join(r, slash == dir ? "/" : dir, name);
}

/* A data file: relative to `data`, itself relative to the launch file. */
static const char *data_path(struct reader *r, const char *name)
{
  return beside(r, r->data ? join(r, r->data, name) : name);
}

static bool get_string(struct reader *r, const config_setting_t *s, const char **to)
{
  *to = "";
  if (config_setting_type(s) != CONFIG_TYPE_STRING) return fail_key(r, s, "must be a string");
  *to = config_setting_get_string(s);
  if (**to == '\0') return fail_key(r, s, "is empty; fill it in or remove the line");
  return true;
}

static bool get_u32(struct reader *r, const config_setting_t *s, uint32_t min, uint32_t *to)
{
  struct number n;
  if (!literals_number(s, &n) || n.real || n.negative || n.bits < min || n.bits > INT32_MAX)
    return err_set(r->e, "%s:%d: %s: must be an integer from %u to %d", r->path, line_of(s),
                   config_setting_name(s), min, INT32_MAX);
  *to = (uint32_t)n.bits;
  return true;
}

static bool read_dim3(struct reader *r, config_setting_t *s, uint32_t out[3])
{
  int n = config_setting_length(s);
  if ((!config_setting_is_array(s) && !config_setting_is_list(s)) || n < 1 || n > 3)
    return fail_key(r, s, "must be a list of one to three sizes, for example [64, 1, 1]");
  for (int i = 0; i < n; i++) {
    const config_setting_t *item = config_setting_get_elem(s, (unsigned)i);
    struct number v;
    if (!literals_number(item, &v) || v.real || v.negative || v.bits == 0 || v.bits > INT32_MAX)
      return fail_key(r, s, "sizes must be positive integers");
    out[i] = (uint32_t)v.bits;
  }
  return true;
}

/* Walks a group: every child must be in the table. */
static bool read_group(struct reader *r, config_setting_t *group, const struct key *keys, size_t n,
                       const char *what)
{
  for (int i = 0; i < config_setting_length(group); i++) {
    config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
    size_t k = 0;
    while (k < n && strcmp(keys[k].name, config_setting_name(s)) != 0) k++;
    if (k == n) {
      char list[200] = "", hint[NEAREST_HINT];
      struct nearest near;
      size_t used = 0;
      nearest_start(&near, config_setting_name(s));
      for (k = 0; k < n; k++) {
        nearest_offer(&near, keys[k].name);
        if (used < sizeof list) used += (size_t)snprintf(list + used, sizeof list - used, " %s", keys[k].name);
      }
      return err_set(r->e, "%s:%d: unknown key '%.40s' in %s; use one of%s%s", r->path, line_of(s),
                     config_setting_name(s), what, list, nearest_hint(&near, hint));
    }
    TRY(keys[k].read(r, s));
  }
  return true;
}

/* Buffers and symbols ---------------------------------------------------------------------- */

static bool read_buffer_key(struct reader *r, struct buffer_draft *d, config_setting_t *s,
                            struct err *e)
{
  const char *key = config_setting_name(s);
  struct given v = { .text = NULL };
  if (config_setting_type(s) == CONFIG_TYPE_STRING) {
    v.text = config_setting_get_string(s);
    bool is_path = strcmp(key, "file") == 0 || strcmp(key, "expect") == 0;
    if (is_path && *v.text) v.text = data_path(r, v.text);
  } else if (!literals_number(s, &v.n)) {
    return err_set(e, "%s must be a number or a string", key);
  }
  return buffer_set(r->c, d, key, v, e);
}

static bool read_buffer(struct reader *r, config_setting_t *s, bool symbol)
{
  const char *name = config_setting_name(s), *what = symbol ? "symbol" : "buffer";
  struct err inner = { "" };
  if (!config_setting_is_group(s))
    return fail_key(r, s, "must be a group, for example { type = \"f32\"; count = 64; …; }");
  struct buffer_draft d = buffer_start(r->c, name, where(r, s));
  for (int i = 0; i < config_setting_length(s); i++) {
    config_setting_t *item = config_setting_get_elem(s, (unsigned)i);
    if (!read_buffer_key(r, &d, item, &inner))
      return err_set(r->e, "%s:%d: %s '%.60s': %.300s", r->path, line_of(item), what, name,
                     inner.msg);
  }
  if (buffer_finish(r->c, &d, symbol, &inner)) return true;
  return err_set(r->e, "%s:%d: %s '%.60s': %.300s", r->path, line_of(s), what, name, inner.msg);
}

static bool read_all_buffers(struct reader *r, config_setting_t *s, bool symbol)
{
  if (!config_setting_is_group(s)) return fail_key(r, s, "must be a group { name = { … }; }");
  for (int i = 0; i < config_setting_length(s); i++)
    TRY(read_buffer(r, config_setting_get_elem(s, (unsigned)i), symbol));
  return true;
}

static bool read_buffers(struct reader *r, config_setting_t *s)
{
  return read_all_buffers(r, s, false);
}

static bool read_symbols(struct reader *r, config_setting_t *s)
{
  return read_all_buffers(r, s, true);
}

/* Arguments ------------------------------------------------------------------------------ */

static bool read_arg_value(struct reader *r, config_setting_t *s, struct err *e)
{
  const char *key = config_setting_name(s), *at = where(r, s);
  bool is_text = config_setting_type(s) == CONFIG_TYPE_STRING;
  enum value_type type;
  struct number n;
  if (strcmp(key, "buffer") == 0 || strcmp(key, "bytes") == 0) {
    if (!is_text) return err_set(e, "%s must be a string", key);
    const char *text = config_setting_get_string(s);
    return strcmp(key, "buffer") == 0 ? arg_add_buffer(r->c, at, text, e)
                                      : arg_add_bytes(r->c, at, text, e);
  }
  if (strcmp(key, "texture") == 0 || strcmp(key, "surface") == 0) {
    if (!is_text) return err_set(e, "%s must be a string", key);
    return arg_add_texture(r->c, at, config_setting_get_string(s), e);
  }
  if (!value_type_parse(key, &type))
    return err_set(e, "unknown kind '%.40s'; use buffer, texture, surface, bytes or a type "
                   "(u8 … f64)", key);
  if (!literals_number(s, &n)) return err_set(e, "%s must be a number", key);
  return arg_add_value(r->c, at, type, n, e);
}

static bool read_args(struct reader *r, config_setting_t *s)
{
  if (!config_setting_is_list(s))
    return fail_key(r, s, "must be a list, for example ( { buffer = \"x\"; }, { u32 = 5; } )");
  for (int i = 0; i < config_setting_length(s); i++) {
    config_setting_t *item = config_setting_get_elem(s, (unsigned)i);
    struct err inner = { "" };
    if (!config_setting_is_group(item) || config_setting_length(item) != 1)
      return err_set(r->e, "%s:%d: argument %d must have one key, for example { u32 = 5; }",
                     r->path, line_of(item), i + 1);
    if (!read_arg_value(r, config_setting_get_elem(item, 0), &inner))
      return err_set(r->e, "%s:%d: argument %d: %s", r->path, line_of(item), i + 1, inner.msg);
  }
  return true;
}

/* Textures and surfaces (texturefile.c) ---------------------------------------------------- */

static bool read_image_groups(struct reader *r, config_setting_t *s, bool surface)
{
  if (!config_setting_is_group(s)) return fail_key(r, s, "must be a group { name = { … }; }");
  for (int i = 0; i < config_setting_length(s); i++) {
    config_setting_t *item = config_setting_get_elem(s, (unsigned)i);
    struct err inner = { "" };
    int line = line_of(item);
    if (!texturefile_read(r->c, item, where(r, item), surface, &line, &inner))
      return err_set(r->e, "%s:%d: %s '%.60s': %.300s", r->path, line,
                     surface ? "surface" : "texture", config_setting_name(item), inner.msg);
  }
  return true;
}

static bool read_textures(struct reader *r, config_setting_t *s)
{
  return read_image_groups(r, s, false);
}

static bool read_surfaces(struct reader *r, config_setting_t *s)
{
  return read_image_groups(r, s, true);
}

/* Top level ------------------------------------------------------------------------------ */

static bool read_cubin(struct reader *r, config_setting_t *s)
{
  bool several = config_setting_is_list(s) || config_setting_is_array(s);
  int n = several ? config_setting_length(s) : 1;
  if (n == 0) return fail_key(r, s, "is empty; fill it in or remove the line");
  for (int i = 0; i < n; i++) {
    const char *text;
    TRY(get_string(r, several ? config_setting_get_elem(s, (unsigned)i) : s, &text));
    launch_case_add_cubin(r->c, beside(r, text));
  }
  return true;
}

static bool read_kernel(struct reader *r, config_setting_t *s)
{
  const char *text;
  TRY(get_string(r, s, &text));
  r->c->kernel = arena_strdup(&r->c->arena, text);
  return true;
}

static bool read_grid(struct reader *r, config_setting_t *s)
{
  return read_dim3(r, s, r->c->grid);
}

static bool read_block(struct reader *r, config_setting_t *s)
{
  return read_dim3(r, s, r->c->block);
}

static bool read_cluster(struct reader *r, config_setting_t *s)
{
  r->c->cluster[0] = r->c->cluster[1] = r->c->cluster[2] = 1;
  return read_dim3(r, s, r->c->cluster);
}

static bool read_shmem(struct reader *r, config_setting_t *s)
{
  return get_u32(r, s, 0, &r->c->shmem);
}

static bool read_stack(struct reader *r, config_setting_t *s)
{
  return get_u32(r, s, 1, &r->c->stack);
}

/* Read before everything else, because it changes the meaning of names. */
static bool read_data(struct reader *r, config_setting_t *s)
{
  return get_string(r, s, &r->data);
}

static bool read_order(struct reader *r, config_setting_t *s)
{
  const char *text;
  TRY(get_string(r, s, &text));
  r->c->order_free = strcmp(text, "free") == 0;
  if (!r->c->order_free && strcmp(text, "strict") != 0)
    return fail_key(r, s, "must be \"strict\" or \"free\"");
  return true;
}

static bool read_stdout(struct reader *r, config_setting_t *s)
{
  const char *text;
  TRY(get_string(r, s, &text));
  r->c->stdout_file = data_path(r, text);
  return true;
}

static bool read_stdout_order(struct reader *r, config_setting_t *s)
{
  TRY(get_string(r, s, &r->stdout_order));
  r->c->stdout_exact = strcmp(r->stdout_order, "exact") == 0;
  if (!r->c->stdout_exact && strcmp(r->stdout_order, "lines") != 0)
    return fail_key(r, s, "must be \"lines\" or \"exact\"");
  return true;
}

static const struct key top_keys[] = {
  { "cubin", read_cubin, true },     { "kernel", read_kernel, false },
  { "grid", read_grid, true },       { "block", read_block, true },
  { "cluster", read_cluster, false }, { "shmem", read_shmem, false }, { "stack", read_stack, false },
  { "data", read_data, false },      { "order", read_order, false },
  { "args", read_args, false },      { "buffers", read_buffers, false },
  { "symbols", read_symbols, false }, { "stdout", read_stdout, false },
  { "stdout_order", read_stdout_order, false },
  { "textures", read_textures, false }, { "surfaces", read_surfaces, false },
};
enum { N_TOP = sizeof top_keys / sizeof top_keys[0] };

static bool read_top(struct reader *r, config_setting_t *root)
{
  config_setting_t *data = config_setting_get_member(root, "data");
  if (data) TRY(read_data(r, data));
  TRY(read_group(r, root, top_keys, N_TOP, "a launch file"));
  for (size_t i = 0; i < N_TOP; i++)
    if (top_keys[i].required && !config_setting_get_member(root, top_keys[i].name))
      return err_set(r->e, "%s: no key '%s'; add it", r->path, top_keys[i].name);
  if (r->stdout_order && !r->c->stdout_file)
    return fail(r, config_setting_get_member(root, "stdout_order"),
                "stdout_order without stdout; name the expected file or remove it");
  return launch_case_check(r->c, r->e);
}

bool launchfile_read(struct launch_case *c, const char *path, struct err *e)
{
  launch_case_init(c, path);
  struct reader r = { .c = c, .path = c->origin, .e = e };
  size_t bytes;
  int line = 1;
  char *text = settings_text(path, &bytes, e);
  if (!text) return false;
  struct err inner = { "" };
  char *wide = literals_widen(&c->arena, text, bytes, &line, &inner);
  mem_free(text);
  if (!wide) return err_set(e, "%s:%d: %s", path, line, inner.msg);
  config_t config;
  memory_need(MEMORY_OF_TEXT + 64 * bytes);
  config_init(&config);
  bool ok = config_read_string(&config, wide);
  if (ok) ok = read_top(&r, config_root_setting(&config));
  else
    err_set(e, "%s:%d: %s; see docs/launch-files.md for the syntax", path,
            config_error_line(&config), config_error_text(&config));
  config_destroy(&config);
  return ok;
}
