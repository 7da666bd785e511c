#include "cli/exec_what_if_machine.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "cli/cli.h"
#include "cli/program_parent.h"
#include "cli/program_start.h"
#include "host/choice.h"
#include "host/what_if_machine.h"
#include "load/plain_name.h"
#include "view/columns.h"
#include "view/run_diff.h"

enum { MOST_TABLES = 10 }; /* of launches, when none are chosen */

/* The program without one of its costs, or with all of them: row.name NULL. */
struct what_if_pass {
  struct machine_what_if row;
  struct run_doc doc; /* root NULL: it failed */
};

struct what_if_passes {
  struct what_if_pass *pass; /* the first is the program as it is */
  uint32_t n, room;
};

static void add_pass(void *ctx, const struct machine_what_if *row)
{
  struct what_if_passes *p = ctx;
  p->pass = mem_more(p->pass, p->n, &p->room, sizeof *p->pass);
  p->pass[p->n++] = (struct what_if_pass){.row = *row};
}

static void ignore(void *ctx, const struct machine_what_if *row)
{
  (void)ctx, (void)row;
}

bool exec_what_if_machine_check(const char *costs, struct err *e)
{
  return machine_what_if_choose(costs, ignore, NULL, e);
}

/* --- running ------------------------------------------------------------------------------------ */

static void unstarted(void *ctx)
{
  (void)ctx;
}

/* Standard input and output of this process, to be given back. */
struct hidden_streams {
  int in, out;
};

static bool hide_streams(struct hidden_streams *s)
{
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  s->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  s->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const bool ok = null >= 0 && s->in >= 0 && s->out >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
                  dup2(null, STDOUT_FILENO) >= 0;
  if (null >= 0) close(null);
  return ok;
}

static void give_streams_back(const struct hidden_streams *s)
{
  if (s->in >= 0) dup2(s->in, STDIN_FILENO), close(s->in);
  if (s->out >= 0) dup2(s->out, STDOUT_FILENO), close(s->out);
}

/* False: it ended as *status says, or left no report. */
static bool run_pass(const struct exec_what_if_machine *w, struct what_if_pass *p, unsigned number, char **program,
                     int *status)
{
  char path[PATH_MAX], *text = NULL;
  size_t bytes = 0;
  struct program_parent parent;
  struct err e = {""};
  FILE *f = open_memstream(&text, &bytes);
  NO_MEMORY_IF(!f);
  snprintf(path, sizeof path, "%s/%u.json", w->folder, number);
  fprintf(f, "%sjson=%s\n", w->options, path);
  if (number) fprintf(f, "quiet=1\nwhat_if=%s\n", p->row.name);
  fclose(f);
  program_options_set(text);
  free(text);
  *status = CLI_BAD_INPUT;
  if (!program_parent_run(&parent, program, unstarted, NULL)) return false;
  sigprocmask(SIG_SETMASK, &parent.before, NULL);
  *status = WIFEXITED(parent.status) ? WEXITSTATUS(parent.status) : 128 + WTERMSIG(parent.status);
  if (*status != 0 && number) return false;
  return run_doc_read(&p->doc, path, &e);
}

/* --- tables ------------------------------------------------------------------------------------- */

static uint64_t number_of(const json_t *o, const char *key)
{
  return (uint64_t)json_integer_value(json_object_get(o, key));
}

/* The launch of a pass that stands for this one; NULL: there is none. */
static const json_t *same_launch(const struct what_if_pass *p, const json_t *launch)
{
  const json_t *list = json_object_get(p->doc.root, "launches"), *l;
  const char *kernel = json_string_value(json_object_get(launch, "kernel"));
  size_t i;
  json_array_foreach(list, i, l) {
    const char *name = json_string_value(json_object_get(l, "kernel"));
    if (number_of(l, "launch") != number_of(launch, "launch")) continue;
    return name && kernel && strcmp(name, kernel) == 0 && !json_is_true(json_object_get(l, "faulted")) ? l : NULL;
  }
  return NULL;
}

/* Of a pass: ps of the program, or of a launch; 0: not known. */
static uint64_t time_of(const struct what_if_pass *p, const json_t *launch)
{
  if (!p->doc.root) return 0;
  if (!launch) return number_of(p->doc.root, "time_ps");
  const json_t *l = same_launch(p, launch);
  return l ? number_of(l, "end_ps") - number_of(l, "start_ps") : 0;
}

/* Kernels that wait in loops execute more or fewer instructions when they wait longer: said, as such a launch's time
 * may have changed for that reason alone. */
static void write_other_work(const struct what_if_pass *p, const json_t *launch)
{
  const json_t *l = launch ? same_launch(p, launch) : NULL;
  if (!l) return;
  const double was = (double)number_of(launch, "warp_insts"), is = (double)number_of(l, "warp_insts");
  const double share = was > 0 ? 100 * (is - was) / was : 0;
  if (share >= 1 || share <= -1) printf("; %+.0f %% instructions", share);
}

static void write_row(const struct what_if_pass *p, uint64_t base, const json_t *launch)
{
  const uint64_t time = time_of(p, launch);
  if (!time) {
    printf("  %-18s%12s %22s the program fails, or launches something else\n", p->row.name, "n/a", "");
    return;
  }
  printf("  %-18s%12.2f %8.1f %% %8.2f x  %s", p->row.name, (double)time / 1e6,
         100.0 * ((double)base - (double)time) / (double)base, (double)base / (double)time, p->row.text);
  write_other_work(p, launch);
  putchar('\n');
}

static bool matters(uint64_t time, uint64_t base)
{
  const uint64_t apart = time > base ? time - base : base - time;
  return !time || apart * 200 >= base;
}

/* Of the passes that are left, the fastest; those that are not known come last. */
static uint32_t fastest(const struct what_if_passes *x, const json_t *launch, const bool *done)
{
  uint32_t best = 0;
  for (uint32_t i = 1; i < x->n; i++) {
    if (done[i]) continue;
    const uint64_t time = time_of(&x->pass[i], launch), least = best ? time_of(&x->pass[best], launch) : 0;
    if (!best || (time && (!least || time < least))) best = i;
  }
  return best;
}

/* launch NULL: of the whole program. */
static void write_table(const struct what_if_passes *x, const json_t *launch)
{
  const uint64_t base = time_of(&x->pass[0], launch);
  bool *done = mem_zeroed(x->n, sizeof *done);
  const char *before = "  no gain: ";
  if (!base) {
    mem_free(done);
    return;
  }
  printf("%-20s%12s %10s %10s\n  %-18s%12.2f\n", "What if there were", "us", "saved", "speed-up", "all costs",
         (double)base / 1e6);
  for (uint32_t i; (i = fastest(x, launch, done)); done[i] = true)
    if (matters(time_of(&x->pass[i], launch), base)) write_row(&x->pass[i], base, launch);
  for (uint32_t i = 1; i < x->n; i++) {
    if (matters(time_of(&x->pass[i], launch), base)) continue;
    printf("%s%s", before, x->pass[i].row.name);
    before = ", ";
  }
  if (*before == ',') putchar('\n');
  mem_free(done);
}

static void write_launch(const struct what_if_passes *x, const json_t *l)
{
  size_t n;
  const char *kernel = json_string_value(json_object_get(l, "kernel"));
  const char *name = plain_name(kernel ? kernel : "?", &n);
  printf("\nlaunch %llu: %.*s on GPU %llu\n", (unsigned long long)number_of(l, "launch"), (int)n, name,
         (unsigned long long)number_of(l, "gpu"));
  write_table(x, l);
}

/* The longest launch that is left; NULL: none. */
static const json_t *longest(const struct what_if_passes *x, const json_t *list, bool *done, size_t *at)
{
  const json_t *l, *most = NULL;
  size_t i;
  json_array_foreach(list, i, l) {
    if (done[i] || (most && time_of(&x->pass[0], l) <= time_of(&x->pass[0], most))) continue;
    most = l;
    *at = i;
  }
  if (most) done[*at] = true;
  return most;
}

static void write_launches(const struct what_if_passes *x, const char *which)
{
  const json_t *list = json_object_get(x->pass[0].doc.root, "launches"), *l;
  struct choice c = {0};
  struct err ignored;
  size_t i;
  if (which) {
    if (choice_parse(&c, "--time-kernels", which, &ignored))
      json_array_foreach(list, i, l) {
        const char *kernel = json_string_value(json_object_get(l, "kernel"));
        if (kernel && choice_has(&c, number_of(l, "launch"), kernel)) write_launch(x, l);
      }
    choice_free(&c);
    return;
  }
  bool *done = mem_zeroed(json_array_size(list) + 1, sizeof *done);
  for (unsigned n = 0; n < MOST_TABLES && (l = longest(x, list, done, &i)); n++) write_launch(x, l);
  mem_free(done);
}

/* --- all of it ---------------------------------------------------------------------------------- */

static void run_others(const struct exec_what_if_machine *w, struct what_if_passes *x, char **program)
{
  struct hidden_streams s;
  int status;
  if (!hide_streams(&s)) {
    give_streams_back(&s);
    cli_error("--what-if: /dev/null: %s", host_error());
    return;
  }
  for (uint32_t i = 1; i < x->n; i++) run_pass(w, &x->pass[i], i, program, &status);
  give_streams_back(&s);
}

int exec_what_if_machine_run(const struct exec_what_if_machine *w, char **program)
{
  struct what_if_passes x = {0};
  struct err ignored;
  int status;
  add_pass(&x, &(struct machine_what_if){0});
  machine_what_if_choose(w->costs, add_pass, &x, &ignored);
  if (run_pass(w, &x.pass[0], 0, program, &status) && status == 0) {
    run_others(w, &x, program);
    printf("\nthe program\n");
    write_table(&x, NULL);
    write_launches(&x, w->which);
    fflush(stdout);
  } else if (status) {
    cli_error("--what-if: the program failed, so it is not run again");
  } else {
    cli_error("--what-if: the program has left no report (it used no GPU), so it is not run again");
    status = CLI_BAD_INPUT;
  }
  for (uint32_t i = 0; i < x.n; i++) run_doc_free(&x.pass[i].doc);
  mem_free(x.pass);
  return status;
}
