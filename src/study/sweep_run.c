#include "study/sweep_run.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "base/text.h"

enum { MAX_ARGUMENTS = 512, LAST_WORDS = 240 };

struct job {
  pid_t pid; /* 0: free; of the process and its group */
  uint32_t point;
  struct timespec began;
  bool late; /* it was stopped at the limit */
};

struct runner {
  const struct sweep *w;
  struct sweep_store *store;
  const struct sweep_options *o;
  struct sweep_counts *counts;
  struct job *job; /* o->jobs */
  unsigned running;
  sigset_t signals;   /* looked for while waiting: a child ended, or the user has had enough */
  char dir[PATH_MAX]; /* for the children's files, JOB.json and JOB.log */
};

/* --- the child ---------------------------------------------------------------------------------- */

struct arguments {
  char *v[MAX_ARGUMENTS];
  unsigned n;
};

static void push(struct arguments *a, const char *text)
{
  if (a->n + 1 >= MAX_ARGUMENTS || !(a->v[a->n++] = strdup(text))) _exit(126);
}

/* Each word of the text, behind `option` (NULL: none). */
static void push_words(struct arguments *a, const char *text, const char *option)
{
  char *save = NULL, *copy = strdup(text);
  for (char *w = copy ? strtok_r(copy, " ", &save) : NULL; w; w = strtok_r(NULL, " ", &save)) {
    if (option) push(a, option);
    push(a, w);
  }
}

static void push_settings(struct arguments *a, const struct runner *r, const struct sweep_point *p)
{
  push(a, "--gpu"), push(a, p->gpu);
  for (unsigned i = 0; i < r->w->set.n; i++) push(a, "--set"), push(a, r->w->set.text[i]);
  for (unsigned k = 0; k < r->w->n_axes; k++) push_words(a, p->choice[k], "--set");
  if (r->o->presets) push(a, "--presets"), push(a, r->o->presets);
  push(a, "--quiet");
}

static void file_of(const struct runner *r, const struct job *j, const char *suffix, char path[PATH_MAX + 32])
{
  snprintf(path, PATH_MAX + 32, "%s/%td.%s", r->dir, j - r->job, suffix);
}

/* "exec PROGRAM …", or the operands of run. */
static _Noreturn void child(const struct runner *r, const struct job *j, pid_t parent)
{
  static const char exec[] = "exec ";
  const struct sweep_point p = sweep_point_at(r->w, j->point);
  const bool program = strncmp(p.run, exec, sizeof exec - 1) == 0;
  struct arguments a = {.n = 0};
  char json[PATH_MAX + 32], log[PATH_MAX + 32];
  setpgid(0, 0);
  sigprocmask(SIG_UNBLOCK, &r->signals, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126); /* it died before it could be asked to take us along */
  file_of(r, j, "json", json);
  file_of(r, j, "log", log);
  push(&a, r->o->self);
  push(&a, program ? "exec" : "run");
  push_settings(&a, r, &p);
  push(&a, "--json"), push(&a, json);
  push_words(&a, program ? p.run + sizeof exec - 1 : p.run, NULL); /* sweep.c: none of them is a setting */
  if (!freopen("/dev/null", "r", stdin) || !freopen(log, "w", stdout) || dup2(1, 2) < 0 || chdir(r->w->dir) != 0)
    _exit(126);
  execv(r->o->self, a.v);
  _exit(126);
}

/* --- what it left -------------------------------------------------------------------------------- */

static double member(const json_t *o, const char *key)
{
  const json_t *v = json_object_get(o, key);
  return json_is_number(v) ? json_number_value(v) : 0;
}

/* Of a program: the sum of its timed launches. */
static void take_program(const json_t *launches, struct sweep_result *out)
{
  for (size_t i = 0; i < json_array_size(launches); i++) {
    const json_t *l = json_array_get(launches, i);
    out->warp_insts += member(l, "warp_insts");
    if (!json_is_true(json_object_get(l, "timed"))) continue;
    out->timed = true;
    out->cycles += member(l, "cycles");
    out->time_ns += (member(l, "end_ps") - member(l, "start_ps")) / 1000;
  }
}

static void take_report(const json_t *root, struct sweep_result *out)
{
  const json_t *launches = json_object_get(root, "launches"), *stats = json_object_get(root, "stats");
  const json_t *gpu = json_object_get(stats, "gpu");
  if (launches) {
    take_program(launches, out);
  } else if (gpu) {
    out->timed = true;
    out->cycles = member(gpu, "cycles");
    out->time_ns = member(gpu, "time_ps") / 1000;
    out->warp_insts = member(stats, "warp_insts");
  }
}

/* The last line that begins so, "": any that is not empty. */
static void read_last_words(const char *log, const char *begin, char text[LAST_WORDS])
{
  char line[LAST_WORDS];
  FILE *f = fopen(log, "r");
  text[0] = '\0';
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0] && !strncmp(line, begin, strlen(begin))) text_safe(line, text, LAST_WORDS);
  }
  if (f) fclose(f);
}

static int status_of(const struct job *j, int wait_status)
{
  if (j->late) return -1;
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

static void tell(const struct runner *r, const struct sweep_point *p, const struct sweep_result *x)
{
  char settings[SWEEP_SETTINGS];
  if (!r->o->progress) return;
  const char *why = x->why ? x->why : "";
  sweep_settings(r->w, p, settings);
  fprintf(r->o->progress, "%s %s %s: ", p->gpu, p->run, settings);
  if (x->timed) fprintf(r->o->progress, "%.0f cycles, %.1f s\n", x->cycles, x->host_seconds);
  else if (x->status == 0) fprintf(r->o->progress, "no launch was timed%s%s\n", why[0] ? ": " : "", why);
  else if (x->status < 0) fprintf(r->o->progress, "took longer than %u s\n", r->o->limit_s);
  else fprintf(r->o->progress, "status %d: %s\n", x->status, why);
}

static double seconds_since(const struct timespec *t)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) / 1e9;
}

static bool collect(struct runner *r, struct job *j, int wait_status, struct err *e)
{
  const struct sweep_point p = sweep_point_at(r->w, j->point);
  struct sweep_result x = {.status = status_of(j, wait_status), .host_seconds = seconds_since(&j->began)};
  char json[PATH_MAX + 32], log[PATH_MAX + 32], why[LAST_WORDS];
  file_of(r, j, "json", json);
  file_of(r, j, "log", log);
  json_t *root = json_load_file(json, 0, NULL);
  if (root && x.status == 0) take_report(root, &x);
  char *report = root ? json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
  x.report = report;
  read_last_words(log, x.status != 0 ? "" : "warpstep: ", why); /* a program may end well without its kernels */
  if (why[0] && !x.timed) x.why = why;
  const bool ok = sweep_store_add(r->store, r->w, &p, &x, e);
  tell(r, &p, &x);
  r->counts->ran++;
  r->counts->failed += x.status != 0;
  free(report);
  json_decref(root);
  unlink(json), unlink(log);
  j->pid = 0;
  r->running--;
  return ok;
}

/* --- all of them ---------------------------------------------------------------------------------- */

/* What a run started itself goes with it. */
static void stop_late(struct runner *r)
{
  for (unsigned i = 0; r->o->limit_s && i < r->o->jobs; i++) {
    struct job *j = &r->job[i];
    if (!j->pid || j->late || seconds_since(&j->began) < r->o->limit_s) continue;
    j->late = true;
    kill(-j->pid, SIGKILL);
  }
}

static bool wait_for_one(struct runner *r, struct err *e)
{
  enum { PAUSE_NS = 50000000 };
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) == 0 || (pid < 0 && errno == EINTR)) {
    const int number = sigtimedwait(&r->signals, NULL, &(struct timespec){0, PAUSE_NS});
    if (number == SIGINT || number == SIGTERM) {
      r->counts->stopped = true;
      return err_set(e, "stopped; the results so far are kept");
    }
    stop_late(r);
  }
  for (unsigned i = 0; i < r->o->jobs; i++)
    if (r->job[i].pid == pid && pid > 0) return collect(r, &r->job[i], status, e);
  return err_set(e, "a process of the sweep is gone: %s", host_error());
}

static bool start(struct runner *r, uint32_t point, struct err *e)
{
  struct job *j = r->job;
  const pid_t self = getpid();
  while (j->pid) j++;
  j->point = point;
  j->late = false;
  clock_gettime(CLOCK_MONOTONIC, &j->began);
  fflush(NULL);
  j->pid = fork();
  if (j->pid == 0) child(r, j, self);
  if (j->pid < 0) return j->pid = 0, err_set(e, "cannot start a process: %s", host_error());
  setpgid(j->pid, j->pid); /* whichever of the two comes first */
  r->running++;
  return true;
}

static bool is_wanted(struct runner *r, uint32_t point)
{
  const struct sweep_point p = sweep_point_at(r->w, point);
  int status;
  if (point % r->o->n_tasks != r->o->task) return false;
  if (!sweep_store_has(r->store, r->w, &p, &status)) return true;
  if (r->o->retry && status != 0) return true;
  r->counts->kept++;
  return false;
}

static bool run_points(struct runner *r, struct err *e)
{
  for (uint32_t i = 0; i < r->w->n_points; i++) {
    if (!is_wanted(r, i)) continue;
    while (r->running == r->o->jobs) TRY(wait_for_one(r, e));
    TRY(start(r, i, e));
  }
  while (r->running) TRY(wait_for_one(r, e));
  return true;
}

/* What still runs after an error is of no use. */
static void stop_all(struct runner *r)
{
  for (unsigned i = 0; i < r->o->jobs; i++) {
    if (!r->job[i].pid) continue;
    kill(-r->job[i].pid, SIGKILL);
    waitpid(r->job[i].pid, NULL, 0);
    char path[PATH_MAX + 32];
    file_of(r, &r->job[i], "json", path), unlink(path);
    file_of(r, &r->job[i], "log", path), unlink(path);
  }
}

bool sweep_run(const struct sweep *w, struct sweep_store *store, const struct sweep_options *o,
               struct sweep_counts *counts, struct err *e)
{
  BUG_ON(o->jobs == 0 || o->n_tasks == 0);
  struct runner r = {.w = w, .store = store, .o = o, .counts = counts, .job = mem_zeroed(o->jobs, sizeof *r.job)};
  const char *tmp = getenv("TMPDIR");
  sigset_t before;
  *counts = (struct sweep_counts){0};
  sigemptyset(&r.signals);
  sigaddset(&r.signals, SIGCHLD), sigaddset(&r.signals, SIGINT), sigaddset(&r.signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &r.signals, &before);
  snprintf(r.dir, sizeof r.dir, "%.4000s/warpstep-sweep.XXXXXX", tmp ? tmp : "/tmp");
  bool ok = mkdtemp(r.dir) != NULL;
  if (!ok) err_fill(e, "%s: %s", r.dir, host_error());
  ok = ok && run_points(&r, e);
  stop_all(&r);
  rmdir(r.dir);
  mem_free(r.job);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return ok;
}
