#include "validate/runner.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "validate/measured.h"

enum { MAX_ARGUMENTS = 256, LAUNCHES_TEXT = 4096, SECTOR = 32 };

struct job {
  size_t first;   /* row that names the command; the others have the same one */
  pid_t pid;      /* 0: not running */
  char *json;     /* what the child writes */
  bool kept;      /* was there before */
};

/* Which launches there are, without time; then their times. */
enum pass { LOOK, TIME };

struct runner {
  const struct runner_options *o;
  struct suite *s;
  const bool *wanted;
  struct job *job;
  size_t n_jobs, running;
  enum pass pass;
  char dir[PATH_MAX]; /* for the children's files */
};

static bool same_command(const struct suite *s, size_t a, size_t b)
{
  return !strcmp(s->row[a].run, s->row[b].run);
}

/* Whether the row needs the number of its launch. */
static bool is_sought(const struct suite_row *row)
{
  return row->kernel && !row->launch && (!*row->run || !strncmp(row->run, "exec ", 5));
}

static bool takes_part(const struct runner *r, size_t i)
{
  return r->wanted[i] && is_sought(&r->s->row[i]) == (r->pass == LOOK);
}

/* The launches that the wanted rows of a command ask for, the first row given: "3,7,12". Returns the length. */
static size_t launches_of(const struct runner *r, size_t first, char text[LAUNCHES_TEXT])
{
  size_t n = 0;
  text[0] = '\0';
  for (size_t i = first; i < r->s->n_rows; i++)
    if (takes_part(r, i) && r->s->row[i].launch && same_command(r->s, i, first) && n < LAUNCHES_TEXT - 24)
      n += (size_t)snprintf(text + n, LAUNCHES_TEXT - n, "%s%u", n ? "," : "", r->s->row[i].launch);
  return n;
}

/* --- the child -------------------------------------------------------------------------------- */

struct arguments {
  char *v[MAX_ARGUMENTS];
  unsigned n;
};

static void push(struct arguments *a, const char *text)
{
  BUG_ON(a->n + 1 >= MAX_ARGUMENTS);
  NO_MEMORY_IF(!(a->v[a->n++] = strdup(text)));
}

static void push_settings(struct arguments *a, const struct runner *r)
{
  push(a, "--gpu");
  push(a, r->s->gpu);
  for (unsigned i = 0; i < r->s->n_set; i++) push(a, "--set"), push(a, r->s->set[i]);
  for (unsigned i = 0; i < r->o->n_set; i++) push(a, "--set"), push(a, r->o->set[i]);
  if (r->o->presets) push(a, "--presets"), push(a, r->o->presets);
  push(a, "--quiet");
}

static void push_launches(struct arguments *a, const struct runner *r, const struct job *j)
{
  char text[LAUNCHES_TEXT];
  if (r->pass == LOOK) push(a, "--functional");
  else if (r->s->cold) push(a, "--cold");
  if (!launches_of(r, j->first, text)) return;
  push(a, "--time-kernels");
  push(a, text);
  push(a, "--stop-after-timed");
}

/* Words of the command from `text` on. */
static void push_words(struct arguments *a, char *text)
{
  char *save = NULL;
  for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) push(a, w);
}

/* DIR/PROGRAM is started as ./PROGRAM in its folder: it may look for files beside itself. */
static void exec_arguments(struct arguments *a, const struct runner *r, const struct job *j, char *rest)
{
  char dir[2 * PATH_MAX], *slash, *end = rest + strcspn(rest, " ");
  push_launches(a, r, j);
  char stop = *end;
  *end = '\0';
  slash = strrchr(rest, '/');
  snprintf(dir, sizeof dir, "%s/%.*s", r->o->programs ? r->o->programs : ".",
           slash ? (int)(slash - rest) : 0, rest);
  if (chdir(dir) != 0) _exit(127);
  char program[PATH_MAX];
  snprintf(program, sizeof program, "./%s", slash ? slash + 1 : rest);
  push(a, program);
  if (stop) push_words(a, end + 1);
}

static void push_program(struct arguments *a, const struct runner *r, const struct job *j)
{
  push_launches(a, r, j);
  for (char *const *word = r->o->program; word && *word; word++) push(a, *word);
}

static _Noreturn void child(const struct runner *r, const struct job *j)
{
  struct arguments a = {.n = 0};
  char *command = strdup(r->s->row[j->first].run), log[PATH_MAX + 8];
  char *rest = command + strcspn(command, " ");
  if (*rest) *rest++ = '\0';
  push(&a, r->o->self);
  push(&a, *command ? command : "exec");
  push_settings(&a, r);
  push(&a, "--json");
  push(&a, j->json);
  snprintf(log, sizeof log, "%s.log", j->json);
  if (!freopen("/dev/null", "r", stdin) || !freopen(log, "w", stdout) || dup2(1, 2) < 0) _exit(127);
  if (!*command) push_program(&a, r, j);
  else if (!strcmp(command, "exec")) exec_arguments(&a, r, j, rest);
  else if (chdir(r->o->root) == 0) push_words(&a, rest);
  else _exit(127);
  alarm(r->o->limit_s);
  execv(r->o->self, a.v);
  _exit(127);
}

/* --- what it wrote ---------------------------------------------------------------------------- */

static double number(const json_t *o, const char *key)
{
  const json_t *v = json_object_get(o, key);
  return json_is_number(v) ? json_number_value(v) : NAN;
}

static void take_work(struct suite_row *row, const json_t *work)
{
  row->got[COUNTER_FP16] = number(work, "fp16");
  row->got[COUNTER_FP32] = number(work, "fp32");
  row->got[COUNTER_FP64] = number(work, "fp64");
  row->got[COUNTER_INTEGER] = number(work, "integer");
}

static void take_launch(const struct suite *s, struct suite_row *row, const json_t *l)
{
  bool cycles = !strcmp(s->unit, "cycles");
  row->simulated = cycles ? number(l, "cycles") : (number(l, "end_ps") - number(l, "start_ps")) / 1e6;
  row->got[COUNTER_WARP_INSTS] = number(l, "warp_insts");
  row->got[COUNTER_L1_BYTES] = number(l, "l1_sectors") * SECTOR;
  row->got[COUNTER_L2_BYTES] = number(l, "l2_sectors") * SECTOR;
  row->got[COUNTER_DRAM_BYTES] = number(l, "dram_bytes");
  take_work(row, json_object_get(l, "work"));
}

static void take_run(const struct suite *s, struct suite_row *row, const json_t *stats)
{
  const json_t *gpu = json_object_get(stats, "gpu"), *sm = json_object_get(stats, "sm");
  const json_t *l2 = json_object_get(stats, "l2"), *dram = json_object_get(stats, "dram");
  bool cycles = !strcmp(s->unit, "cycles");
  row->simulated = cycles ? number(gpu, "cycles") : number(gpu, "time_ps") / 1e6;
  row->got[COUNTER_WARP_INSTS] = number(stats, "warp_insts");
  row->got[COUNTER_L1_BYTES] = (number(sm, "l1_read_sectors") + number(sm, "l1_write_sectors")) * SECTOR;
  row->got[COUNTER_L2_BYTES] = (number(l2, "l2_read_sectors") + number(l2, "l2_write_sectors") +
                                number(l2, "l2_strong_write_sectors")) * SECTOR;
  row->got[COUNTER_DRAM_BYTES] = number(dram, "dram_read_bytes") + number(dram, "dram_write_bytes");
  take_work(row, json_object_get(stats, "work"));
}

/* The launch of this number, or the last one. */
static const json_t *find_launch(const json_t *all, unsigned launch)
{
  size_t n = json_array_size(all);
  for (size_t i = 0; i < n; i++)
    if (number(json_array_get(all, i), "launch") == launch) return json_array_get(all, i);
  return launch || !n ? NULL : json_array_get(all, n - 1);
}

static bool same_sizes(const json_t *a, const unsigned b[3])
{
  for (size_t i = 0; i < 3 && b[0]; i++)
    if ((unsigned)json_integer_value(json_array_get(a, i)) != b[i]) return false;
  return true;
}

/* The number of the row's launch. */
static void locate_row(struct suite_row *row, const json_t *root)
{
  const json_t *all = json_object_get(root, "launches");
  row->why = "no launch of that kernel, grid and block";
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *l = json_array_get(all, i);
    const char *name = json_string_value(json_object_get(l, "kernel"));
    if (!name || !measured_same_kernel(row->kernel, name) || !same_sizes(json_object_get(l, "grid"), row->grid) ||
        !same_sizes(json_object_get(l, "block"), row->block))
      continue;
    row->launch = (unsigned)json_integer_value(json_object_get(l, "launch"));
    row->why = "not run";
    return;
  }
}

static void take_row(const struct suite *s, struct suite_row *row, const json_t *root)
{
  const json_t *all = json_object_get(root, "launches"), *stats = json_object_get(root, "stats");
  const json_t *l = all ? find_launch(all, row->launch) : NULL;
  if (l && json_is_true(json_object_get(l, "timed"))) take_launch(s, row, l);
  else if (stats) take_run(s, row, stats);
  else {
    row->why = "that launch did not happen";
    return;
  }
  row->ran = row->simulated > 0;
  row->why = row->ran ? "" : "no time";
  row->comparable = row->ran && suite_counters_agree(s, row);
}

/* The last line a child said, for the table of failures. */
static const char *last_words(struct suite *s, const struct job *j, int status)
{
  char path[PATH_MAX + 8], line[160] = "", last[160] = "";
  snprintf(path, sizeof path, "%s.log", j->json);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f))
    if (line[0] != '\n') memcpy(last, line, sizeof last);
  if (f) fclose(f);
  last[strcspn(last, "\n")] = '\0';
  char text[256];
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) snprintf(text, sizeof text, "took too long");
  else if (WIFEXITED(status) && WEXITSTATUS(status) == 127) snprintf(text, sizeof text, "no such program");
  else snprintf(text, sizeof text, "failed: %s", last);
  return arena_strdup(&s->arena, text);
}

static void collect(struct runner *r, struct job *j, int status)
{
  json_error_t why;
  json_t *root = json_load_file(j->json, 0, &why);
  const char *words = root ? "" : last_words(r->s, j, status);
  for (size_t i = j->first; i < r->s->n_rows; i++) {
    if (!takes_part(r, i) || !same_command(r->s, i, j->first)) continue;
    if (!root) r->s->row[i].why = words;
    else if (r->pass == LOOK) locate_row(&r->s->row[i], root);
    else take_row(r->s, &r->s->row[i], root);
  }
  json_decref(root);
}

/* --- all of them ------------------------------------------------------------------------------ */

static bool seen_before(const struct runner *r, size_t row)
{
  for (size_t i = 0; i < r->n_jobs; i++)
    if (same_command(r->s, r->job[i].first, row)) return true;
  return false;
}

/* The launches are in the name: a kept run of fewer rows of the same program does not serve. */
static char *json_path(const struct runner *r, size_t row)
{
  char path[2 * PATH_MAX], launches[LAUNCHES_TEXT];
  int dir = snprintf(path, sizeof path, "%s/", r->o->keep ? r->o->keep : r->dir);
  if (!launches_of(r, row, launches) && r->pass == LOOK) snprintf(launches, sizeof launches, "launches");
  snprintf(path + dir, sizeof path - (size_t)dir, "%s%s%.100s.json", r->s->row[row].id, *launches ? "." : "", launches);
  for (char *p = path + dir; *p; p++) /* ids may hold any character */
    if (!strchr("_-.", *p) && !(*p >= '0' && *p <= '9') && !((*p | 32) >= 'a' && (*p | 32) <= 'z')) *p = '_';
  char *copy = strdup(path);
  NO_MEMORY_IF(!copy);
  return copy;
}

/* What a run left that was stopped while it wrote does not serve. */
static bool is_whole(const char *json)
{
  json_t *j = json_load_file(json, 0, NULL);
  json_decref(j);
  return j != NULL;
}

static void plan(struct runner *r)
{
  r->job = calloc(r->s->n_rows + 1, sizeof *r->job);
  NO_MEMORY_IF(!r->job);
  for (size_t i = 0; i < r->s->n_rows; i++) {
    if (!takes_part(r, i) || seen_before(r, i)) continue;
    struct job *j = &r->job[r->n_jobs++];
    *j = (struct job){.first = i, .json = json_path(r, i)};
    j->kept = r->o->keep && is_whole(j->json);
  }
}

static bool start(struct runner *r, struct job *j, struct err *e)
{
  if (j->kept) {
    collect(r, j, 0);
    return true;
  }
  fflush(NULL);
  j->pid = fork();
  if (j->pid < 0) return err_set(e, "cannot start a process: %s", host_error());
  if (j->pid == 0) child(r, j);
  r->running++;
  return true;
}

static void wait_for_one(struct runner *r)
{
  int status;
  pid_t pid = wait(&status);
  for (size_t i = 0; i < r->n_jobs; i++) {
    struct job *j = &r->job[i];
    if (j->pid != pid) continue;
    collect(r, j, status);
    j->pid = 0;
    r->running--;
    if (!r->o->quiet && r->pass == TIME)
      fprintf(stderr, "%s %s\n", r->s->row[j->first].id,
              r->s->row[j->first].ran ? "" : r->s->row[j->first].why);
  }
}

static void clean_up(struct runner *r)
{
  char log[PATH_MAX + 8];
  for (size_t i = 0; i < r->n_jobs; i++) {
    snprintf(log, sizeof log, "%s.log", r->job[i].json);
    if (!r->o->keep) unlink(r->job[i].json), unlink(log);
    free(r->job[i].json);
  }
  free(r->job);
}

static bool run_pass(struct runner *r, enum pass pass, struct err *e)
{
  bool ok = true;
  r->pass = pass;
  r->n_jobs = 0;
  plan(r);
  for (size_t i = 0; ok && i < r->n_jobs; i++) {
    while (r->running >= r->o->jobs) wait_for_one(r);
    ok = start(r, &r->job[i], e);
  }
  while (r->running) wait_for_one(r);
  clean_up(r);
  return ok;
}

bool runner_run(const struct runner_options *o, struct suite *s, const bool *wanted, struct err *e)
{
  struct runner r = {.o = o, .s = s, .wanted = wanted};
  snprintf(r.dir, sizeof r.dir, "%s/warpstep-validate.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  if (!o->keep && !mkdtemp(r.dir)) return err_set(e, "%s: %s", r.dir, host_error());
  if (o->keep && mkdir(o->keep, 0777) != 0 && errno != EEXIST)
    return err_set(e, "%s: %s", o->keep, host_error());
  bool ok = run_pass(&r, LOOK, e) && run_pass(&r, TIME, e);
  if (!o->keep) rmdir(r.dir);
  return ok;
}
