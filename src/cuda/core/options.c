#include "cuda/core/options.h"

#include <stdlib.h>
#include <string.h>

#include "isa/watch.h"
#include "sanitize/sanitize.h"

static bool parse_u64(const char *s, const char **end, uint64_t *v)
{
  char *stop;
  if (*s < '0' || *s > '9') return false;
  *v = strtoull(s, &stop, 10);
  *end = stop;
  return true;
}

/* Options whose value is a number; false: no such option. */
static bool number_option(struct exec_options *o, const char *key, uint64_t **n)
{
  *n = strcmp(key, "max_cycles") == 0 ? &o->max_cycles
       : strcmp(key, "max_insts") == 0 ? &o->max_insts
       : strcmp(key, "sample") == 0    ? &o->sample
       : strcmp(key, "sample_ctas") == 0 ? &o->sample_ctas
       : strcmp(key, "print_limit") == 0 ? &o->print_limit
       : strcmp(key, "error_exitcode") == 0 ? &o->error_exitcode
       : strcmp(key, "started") == 0 ? &o->started
       : strcmp(key, "program") == 0 ? &o->program
       : strcmp(key, "ranks_fd") == 0 ? &o->ranks_fd
                                       : NULL;
  return *n != NULL;
}

static bool take_number(const char *key, const char *value, uint64_t *n, struct err *e)
{
  const char *end;
  return (parse_u64(value, &end, n) && !*end) ||
         err_set(e, EXEC_OPTIONS_VARIABLE ": %s=%.60s: not a number", key, value);
}

static bool take_small(const char *key, const char *value, unsigned most, unsigned *to, struct err *e)
{
  const char *end;
  uint64_t n;
  if (!parse_u64(value, &end, &n) || *end || n < 1 || n > most)
    return err_set(e, EXEC_OPTIONS_VARIABLE ": %s=%.60s: not a number from 1 to %u", key, value, most);
  *to = (unsigned)n;
  return true;
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

/* Options of the debugger; false: another one. */
static bool debug_option(struct exec_options *o, const char *key, const char *value)
{
  if (strcmp(key, "debug") == 0) o->debug = value;
  else if (strcmp(key, "debug_gdb") == 0) o->debug_gdb = value;
  else if (strcmp(key, "debug_commands") == 0) o->debug_commands = value;
  else if (strcmp(key, "debug_batch") == 0) o->debug_batch = true;
  else return false;
  return true;
}

/* Of warpstep ncu, behind "ncu_". */
static bool take_ncu(struct ncu_capture_options *o, const char *key, const char *value, struct err *e)
{
  if (strcmp(key, "stream") == 0) o->stream = value;
  else if (strcmp(key, "log") == 0) o->log = value;
  else if (strcmp(key, "code") == 0) o->code = true;
  else if (strcmp(key, "schedulers") == 0) o->schedulers = true;
  else if (strcmp(key, "waits") == 0) o->waits = true;
  else if (strcmp(key, "quiet") == 0) o->quiet = true;
  else if (ncu_filter_has(key)) return ncu_filter_take(&o->filter, key, value, e);
  else return err_set(e, EXEC_OPTIONS_VARIABLE ": unknown key 'ncu_%.60s'", key);
  return true;
}

static bool take(struct exec_options *o, const char *key, const char *value, struct err *e)
{
  uint64_t *field;
  if (number_option(o, key, &field)) return take_number(key, value, field, e);
  if (debug_option(o, key, value)) return true;
  if (strncmp(key, "ncu_", 4) == 0) return take_ncu(&o->ncu, key + 4, value, e);
  if (strcmp(key, "gpu") == 0) o->gpu = value;
  else if (strcmp(key, "machine") == 0) o->machine = value;
  else if (strcmp(key, "presets") == 0) o->presets = value;
  else if (strcmp(key, "set") == 0) o->set[o->n_set++] = value;
  else if (strcmp(key, "mode") == 0) o->timed = strcmp(value, "functional") != 0;
  else if (strcmp(key, "time") == 0)
    return choice_parse(&o->choice, o->capture ? "--launches" : "--time-kernels", value, e);
  else if (strcmp(key, "stop") == 0) o->stop_after_timed = true;
  else if (strcmp(key, "cold") == 0) o->cold = true;
  else if (strcmp(key, "timeline") == 0) o->timeline = value;
  else if (strcmp(key, "timeline_sms") == 0) return activity_choice_sms(&o->activity, value, e);
  else if (strcmp(key, "timeline_warps") == 0) return activity_choice_warps(&o->activity, value, e);
  else if (strcmp(key, "timeline_us") == 0) return activity_choice_us(&o->activity, value, e);
  else if (strcmp(key, "host_time") == 0) o->host_time = value;
  else if (strcmp(key, "spin") == 0) o->spin_strict = strcmp(value, "strict") == 0;
  else if (strcmp(key, "share") == 0) o->share = value;
  else if (strcmp(key, "html") == 0) o->html = value;
  else if (strcmp(key, "html_baseline") == 0) o->html_baseline = value;
  else if (strcmp(key, "report") == 0) o->report = value;
  else if (strcmp(key, "json") == 0) o->json = value;
  else if (strcmp(key, "capture") == 0) o->capture = value;
  else if (strcmp(key, "trace") == 0) o->trace = value;
  else if (strcmp(key, "log") == 0) o->log = value;
  else if (strcmp(key, "tally") == 0) o->tally = value;
  else if (strcmp(key, "leaks") == 0) o->sanitize |= SANITIZE_LEAKS;
  else if (strcmp(key, "sanitize") == 0 || strcmp(key, "print_level") == 0) return take_check(o, key, value, e);
  else if (strcmp(key, "quiet") == 0) o->quiet = true;
  else if (strcmp(key, "progress") == 0) o->progress = true;
  else if (strcmp(key, "threads") == 0) return take_small(key, value, WATCH_MAX_THREADS, &o->threads, e);
  else if (strcmp(key, "debug_turn") == 0) return take_small(key, value, WATCH_MAX_SLICE, &o->debug_turn, e);
  else if (strcmp(key, "interleave") == 0) return take_small(key, value, WATCH_MAX_SLICE, &o->interleave, e);
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
  return o->ncu.stream || o->trace || o->capture || o->html || o->debug || o->sanitize;
}

bool exec_options_share(const struct exec_options *o)
{
  return o->timed && !o->sample && !o->sample_ctas && !o->cold && !is_looked_at(o) && !o->max_cycles && !o->max_insts;
}

bool exec_options_take_turns(const struct exec_options *o)
{
  return !o->timed && !is_looked_at(o);
}
