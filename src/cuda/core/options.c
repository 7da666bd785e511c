#include "cuda/core/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "isa/watch.h"
#include "sanitize/sanitize.h"

/* Options that are a word, a number or a flag in one field. */
enum option_kind { TEXT, NUMBER, FLAG, SMALL };

static const struct option_row {
  const char *key;
  size_t at; /* in struct exec_options: const char *, uint64_t, bool, unsigned */
  enum option_kind kind;
  unsigned most; /* SMALL: from 1 to it */
} rows[] = {
#define ROW(key, field, kind, most) {key, offsetof(struct exec_options, field), kind, most}
  ROW("gpu", gpu, TEXT, 0),
  ROW("machine", machine, TEXT, 0),
  ROW("mig", mig, TEXT, 0),
  ROW("presets", presets, TEXT, 0),
  ROW("host_time", host_time, TEXT, 0),
  ROW("share", share, TEXT, 0),
  ROW("mps", mps, TEXT, 0),
  ROW("capture", capture, TEXT, 0),
  ROW("trace", trace, TEXT, 0),
  ROW("report", report, TEXT, 0),
  ROW("json", json, TEXT, 0),
  ROW("html", html, TEXT, 0),
  ROW("html_baseline", html_baseline, TEXT, 0),
  ROW("timeline", timeline, TEXT, 0),
  ROW("log", log, TEXT, 0),
  ROW("what_if", what_if, TEXT, 0),
  ROW("tally", tally, TEXT, 0),
  ROW("debug", debug, TEXT, 0),
  ROW("debug_gdb", debug_gdb, TEXT, 0),
  ROW("debug_commands", debug_commands, TEXT, 0),
  ROW("ncu_stream", ncu.stream, TEXT, 0),
  ROW("ncu_log", ncu.log, TEXT, 0),
  ROW("stop", stop_after_timed, FLAG, 0),
  ROW("cold", cold, FLAG, 0),
  ROW("quiet", quiet, FLAG, 0),
  ROW("progress", progress, FLAG, 0),
  ROW("debug_batch", debug_batch, FLAG, 0),
  ROW("ncu_code", ncu.code, FLAG, 0),
  ROW("ncu_schedulers", ncu.schedulers, FLAG, 0),
  ROW("ncu_waits", ncu.waits, FLAG, 0),
  ROW("ncu_quiet", ncu.quiet, FLAG, 0),
  ROW("max_cycles", max_cycles, NUMBER, 0),
  ROW("max_insts", max_insts, NUMBER, 0),
  ROW("sample", sample, NUMBER, 0),
  ROW("sample_ctas", sample_ctas, NUMBER, 0),
  ROW("print_limit", print_limit, NUMBER, 0),
  ROW("error_exitcode", error_exitcode, NUMBER, 0),
  ROW("started", started, NUMBER, 0),
  ROW("program", program, NUMBER, 0),
  ROW("ranks_fd", ranks_fd, NUMBER, 0),
  ROW("threads", threads, SMALL, WATCH_MAX_THREADS),
  ROW("interleave", interleave, SMALL, WATCH_MAX_SLICE),
  ROW("debug_turn", debug_turn, SMALL, WATCH_MAX_SLICE),
#undef ROW
};

static bool parse_u64(const char *s, uint64_t *v)
{
  char *stop;
  if (*s < '0' || *s > '9') return false;
  *v = strtoull(s, &stop, 10);
  return !*stop;
}

static bool take_small(const struct option_row *r, const char *value, unsigned *to, struct err *e)
{
  uint64_t n;
  if (!parse_u64(value, &n) || n < 1 || n > r->most)
    return err_set(e, EXEC_OPTIONS_VARIABLE ": %s=%.60s: not a number from 1 to %u", r->key, value, r->most);
  *to = (unsigned)n;
  return true;
}

static bool take_row(struct exec_options *o, const struct option_row *r, const char *value, struct err *e)
{
  void *const field = (char *)o + r->at;
  switch (r->kind) {
  case TEXT: *(const char **)field = value; return true;
  case FLAG: *(bool *)field = true; return true;
  case SMALL: return take_small(r, value, field, e);
  case NUMBER: break;
  }
  return parse_u64(value, field) || err_set(e, EXEC_OPTIONS_VARIABLE ": %s=%.60s: not a number", r->key, value);
}

static const struct option_row *row_of(const char *key)
{
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].key, key) == 0) return &rows[i];
  return NULL;
}

static bool take_check(struct exec_options *o, const char *key, const char *value, struct err *e)
{
  const char *bad;
  unsigned tools = 0;
  const bool ok = strcmp(key, "sanitize") == 0 ? sanitize_tools_parse(value, &tools, &bad)
                                               : sanitize_level_parse(value, &o->print_level);
  o->sanitize |= tools;
  if (ok) return true;
  return err_set(e, EXEC_OPTIONS_VARIABLE ": %s=%.60s: no such value", key, value);
}

static bool take(struct exec_options *o, const char *key, const char *value, struct err *e)
{
  const struct option_row *r = row_of(key);
  if (r) return take_row(o, r, value, e);
  if (strncmp(key, "ncu_", 4) == 0 && ncu_filter_has(key + 4))
    return ncu_filter_take(&o->ncu.filter, key + 4, value, e);
  if (strcmp(key, "set") == 0) o->set[o->n_set++] = value;
  else if (strcmp(key, "mode") == 0) o->timed = strcmp(value, "functional") != 0;
  else if (strcmp(key, "spin") == 0) o->spin_strict = strcmp(value, "strict") == 0;
  else if (strcmp(key, "leaks") == 0) o->sanitize |= SANITIZE_LEAKS;
  else if (strcmp(key, "sanitize") == 0 || strcmp(key, "print_level") == 0) return take_check(o, key, value, e);
  else if (strcmp(key, "timeline_sms") == 0) return activity_choice_sms(&o->activity, value, e);
  else if (strcmp(key, "timeline_warps") == 0) return activity_choice_warps(&o->activity, value, e);
  else if (strcmp(key, "timeline_us") == 0) return activity_choice_us(&o->activity, value, e);
  else if (strcmp(key, "time") == 0)
    return choice_parse(&o->choice, o->capture ? "--launches" : "--time-kernels", value, e);
  else return err_set(e, EXEC_OPTIONS_VARIABLE ": unknown key '%.60s'", key);
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
  *o = (struct exec_options){ .gpu = "rtx-3070", .timed = true, .threads = 1, .choice.last = UINT64_MAX,
                              .activity = activity_choice_default() };
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

bool exec_options_timed(const struct exec_options *o, uint64_t number, const char *kernel)
{
  return o->timed && (o->capture || choice_has(&o->choice, number, kernel));
}

static bool is_looked_at(const struct exec_options *o)
{
  /* With several GPUs, kernels on one may wait for those on others; those of clients are elsewhere. */
  const bool page = o->html && !o->machine && !o->mps;
  return o->ncu.stream || o->trace || o->capture || page || o->debug || o->sanitize;
}

bool exec_options_share(const struct exec_options *o)
{
  return o->timed && !o->sample && !o->sample_ctas && !o->cold && !is_looked_at(o) && !o->max_cycles && !o->max_insts;
}

bool exec_options_take_turns(const struct exec_options *o)
{
  return !o->timed && !is_looked_at(o);
}
