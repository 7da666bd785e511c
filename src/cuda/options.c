#include "cuda/options.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 1024 };

static bool parse_u64(const char *s, const char **end, uint64_t *v)
{
  char *stop;
  if (*s < '0' || *s > '9') return false;
  *v = strtoull(s, &stop, 10);
  *end = stop;
  return true;
}

/* "N", "N..", "N..M". */
static bool parse_range(const char **s, struct exec_range *r)
{
  if (!parse_u64(*s, s, &r->first)) return false;
  r->last = r->first;
  if (strncmp(*s, "..", 2) == 0) {
    *s += 2;
    r->last = UINT64_MAX;
    if (**s && **s != ',' && !parse_u64(*s, s, &r->last)) return false;
  }
  return r->first > 0 && r->last >= r->first;
}

static bool parse_ranges(struct exec_options *o, const char *s)
{
  o->range = ARENA_ARRAY(&o->arena, struct exec_range, strlen(s) + 1);
  for (o->last = 0; ; s++) {
    struct exec_range *r = &o->range[o->n_ranges];
    if (!parse_range(&s, r)) break;
    o->n_ranges++;
    if (r->last > o->last) o->last = r->last;
    if (!*s) return true;
    if (*s != ',') break;
  }
  o->n_ranges = 0;
  o->last = UINT64_MAX;
  return false;
}

bool exec_options_time(struct exec_options *o, const char *what, struct err *e)
{
  char why[120];
  if (parse_ranges(o, what)) return true;
  int r = regcomp(&o->name, what, REG_EXTENDED | REG_NOSUB);
  if (r == 0) return o->by_name = true;
  regerror(r, &o->name, why, sizeof why);
  return err_set(e, "--time-kernels %.200s: neither a range N..M nor a regular expression: %s", what,
                 why);
}

/* Options whose value is a number; false: no such option. */
static bool number_option(struct exec_options *o, const char *key, uint64_t **n)
{
  *n = strcmp(key, "max_cycles") == 0 ? &o->max_cycles
       : strcmp(key, "max_insts") == 0 ? &o->max_insts
       : strcmp(key, "sample") == 0    ? &o->sample
       : strcmp(key, "sample_ctas") == 0 ? &o->sample_ctas
                                       : NULL;
  return *n != NULL;
}

static bool take_number(const char *key, const char *value, uint64_t *n, struct err *e)
{
  const char *end;
  return (parse_u64(value, &end, n) && !*end) ||
         err_set(e, EXEC_OPTIONS_VARIABLE ": %s=%.60s: not a number", key, value);
}

static bool take(struct exec_options *o, const char *key, const char *value, struct err *e)
{
  const char *end;
  uint64_t n, *field;
  if (number_option(o, key, &field)) return take_number(key, value, field, e);
  if (strcmp(key, "gpu") == 0) o->gpu = value;
  else if (strcmp(key, "presets") == 0) o->presets = value;
  else if (strcmp(key, "set") == 0) o->set[o->n_set++] = value;
  else if (strcmp(key, "mode") == 0) o->timed = strcmp(value, "functional") != 0;
  else if (strcmp(key, "time") == 0) return exec_options_time(o, value, e);
  else if (strcmp(key, "stop") == 0) o->stop_after_timed = true;
  else if (strcmp(key, "cold") == 0) o->cold = true;
  else if (strcmp(key, "report") == 0) o->report = value;
  else if (strcmp(key, "json") == 0) o->json = value;
  else if (strcmp(key, "capture") == 0) o->capture = value;
  else if (strcmp(key, "trace") == 0) o->trace = value;
  else if (strcmp(key, "quiet") == 0) o->quiet = true;
  else if (strcmp(key, "progress") == 0) o->progress = true;
  else if (strcmp(key, "threads") != 0)
    return err_set(e, EXEC_OPTIONS_VARIABLE ": unknown key '%.60s'", key);
  else if (!parse_u64(value, &end, &n) || *end || n < 1 || n > MAX_THREADS)
    return err_set(e, EXEC_OPTIONS_VARIABLE ": threads=%.60s: not a number from 1 to %d", value,
                   MAX_THREADS);
  else o->threads = (unsigned)n;
  return true;
}

static unsigned count_lines(const char *s)
{
  unsigned n = 1;
  for (; *s; s++) n += *s == '\n';
  return n;
}

bool exec_options_parse(struct exec_options *o, const char *text, struct err *e)
{
  *o = (struct exec_options){ .gpu = "rtx-3070", .timed = true, .threads = 1, .last = UINT64_MAX };
  if (!text) return true;
  char *copy = arena_strdup(&o->arena, text), *save = NULL;
  o->set = ARENA_ARRAY(&o->arena, const char *, count_lines(text));
  for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    char *eq = strchr(line, '=');
    if (!eq) return err_set(e, EXEC_OPTIONS_VARIABLE ": '%.60s' is not KEY=VALUE", line);
    *eq = '\0';
    TRY(take(o, line, eq + 1, e));
  }
  if (o->trace) o->timed = false;
  return true;
}

void exec_options_free(struct exec_options *o)
{
  if (o->by_name) regfree(&o->name);
  arena_free(&o->arena);
}

bool exec_options_chosen(const struct exec_options *o, uint64_t number, const char *kernel)
{
  if (o->by_name) return regexec(&o->name, kernel, 0, NULL, 0) == 0;
  for (unsigned i = 0; i < o->n_ranges; i++)
    if (number >= o->range[i].first && number <= o->range[i].last) return true;
  return o->n_ranges == 0;
}

bool exec_options_timed(const struct exec_options *o, uint64_t number, const char *kernel)
{
  return o->timed && (o->capture || exec_options_chosen(o, number, kernel));
}
