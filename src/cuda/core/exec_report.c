#include "cuda/core/exec_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/output.h"
#include "base/program_report.h"
#include "cuda/core/checked.h"
#include "cuda/core/debugged.h"
#include "cuda/core/managed.h"
#include "cuda/core/pages.h"
#include "cuda/core/parts.h"
#include "cuda/core/sampling.h"
#include "cuda/core/shim.h"
#include "cuda/core/time_share.h"
#include "host/host_time.h"
#include "trace/export.h"

/* The file's name, or "NAME.PID" where another process of the program has written that since the start, and the user is
 * told. */
static const char *own_file(const struct shim *s, const char *path, char own[PATH_MAX])
{
  enum { NS = 1000 * 1000 * 1000 };
  struct stat is;
  if (!s->options.started || output_is_open(path) || stat(path, &is) != 0 || !S_ISREG(is.st_mode)) return path;
  if ((uint64_t)is.st_mtim.tv_sec * NS + (uint64_t)is.st_mtim.tv_nsec < s->options.started) return path;
  if (snprintf(own, PATH_MAX, "%s.%d", path, (int)getpid()) >= PATH_MAX) return path;
  shim_say("%s is of another process of the program; that of process %d is %s", path, (int)getpid(), own);
  return own;
}

/* What is written to a file: false with *e filled when it cannot be made. */
typedef bool write_fn(struct shim *, FILE *, uint64_t total, struct err *e);

static void write_file(struct shim *s, const char *path, write_fn *write, uint64_t total)
{
  struct output out;
  struct err e = {""};
  char own[PATH_MAX];
  FILE *f = output_open(&out, own_file(s, path, own), &e);
  const bool ok = f && write(s, f, total, &e);
  if (!f || !output_close(&out, ok, &e)) shim_cannot_write(s, &e);
}

/* With the calling program's own report as its member "cpu". */
static bool write_json(struct shim *s, FILE *f, uint64_t total, struct err *e)
{
  const struct program_report *r = s->program.report;
  char *text = NULL;
  size_t bytes = 0;
  FILE *own = r ? open_memstream(&text, &bytes) : NULL;
  (void)e;
  if (own) r->json(r->ctx, own), fclose(own);
  record_write_json(f, &s->record, boards_name(s), total, text);
  free(text);
  return true;
}

static bool write_page(struct shim *s, FILE *f, uint64_t total, struct err *e)
{
  json_t *program = record_json(&s->record, boards_name(s), total, PAGES_TABLE);
  const bool ok = pages_write(s->pages, f, program, s->options.html_baseline, e);
  json_decref(program);
  return ok;
}

static bool write_table(struct shim *s, FILE *f, uint64_t total, struct err *e)
{
  (void)e;
  record_write_table(f, &s->record, boards_name(s), total);
  sampling_write(f, s->samples);
  if (s->program.report) s->program.report->table(s->program.report->ctx, f);
  return true;
}

static bool write_timeline(struct shim *s, FILE *f, uint64_t total, struct err *e)
{
  (void)total, (void)e;
  link_report_show(&s->record.links, s->activity);
  const unsigned long long lost = activity_lost(s->activity);
  activity_write(s->activity, f);
  if (lost)
    shim_say("--timeline: %llu slices more are not in %s; choose fewer with --timeline-sms, --timeline-warps or "
             "--timeline-us", lost, s->options.timeline);
  return true;
}

static bool write_gaps(struct shim *s, FILE *f, uint64_t total, struct err *e)
{
  const char *path;
  (void)total, (void)e;
  host_gaps_write(host_clock_record(s, &path), f);
  return true;
}

static void write_host_time(struct shim *s, uint64_t total)
{
  const char *path;
  if (host_clock_record(s, &path)) write_file(s, path, write_gaps, total);
}

/* A choice that no launch met is more likely a mistake than meant. */
static void tell_unmet(const struct shim *s)
{
  const struct choice *c = &s->options.choice;
  for (uint64_t i = 0; i < s->record.n; i++)
    if (s->record.launch[i].kernel && choice_has(c, i + 1, s->record.launch[i].kernel)) return;
  if (s->record.n && (c->by_name || c->n_ranges))
    shim_say("none of the %llu launches is one that %s names", (unsigned long long)s->record.n,
             s->options.capture ? "--launches" : "--time-kernels");
}

static void finish_checks(struct shim *s)
{
  struct err e = {""};
  if (s->checked) memory_tell_leaks(s);
  if (!checked_finish(s->checked, &s->defects, &e)) shim_cannot_write(s, &e);
  s->checked = NULL;
}

/* Of a process that only asked which GPUs there are, as packages start some to find that out, unless it is the program
 * itself. Its report would take the name of the file of the program that started it. */
static bool has_nothing_to_tell(const struct shim *s)
{
  const uint64_t program = s->options.program;
  return program && program != (uint64_t)getpid() && !s->contexts.had_any && !program_is_guest(s);
}

static void write_files(struct shim *s, uint64_t total)
{
  struct err e;
  write_host_time(s, total);
  if (s->options.json) write_file(s, s->options.json, write_json, total);
  if (s->activity) write_file(s, s->options.timeline, write_timeline, total);
  if (s->pages) write_file(s, s->options.html, write_page, total);
  if (s->options.report) write_file(s, s->options.report, write_table, total);
  else if (!s->options.quiet) write_table(s, stderr, total, &e);
}

void exec_report(struct shim *s)
{
  struct err e = {""};
  if (!s->up || s->pid != getpid()) return;
  s->ending = true;
  if (s->starved) {
    trace_export_free(s->trace, false, &e);
    return;
  }
  end_watch_begin(s);
  parts_settle(s);
  ipc_events_end(s);
  s->record.n_managed = managed_stats(s, s->record.managed, UVM_GPUS);
  s->record.share = time_share_stats(s);
  s->record.links = link_report_of(s);
  s->record.host_time = host_clock_kind(s);
  uint64_t total = s->time.now > s->front.last_end ? s->time.now : s->front.last_end;
  shim_flush_print(s);
  fflush(stdout);
  finish_checks(s);
  debugged_finish(s);
  ncu_capture_free(s->profile);
  s->profile = NULL;
  if (!trace_export_free(s->trace, true, &e) && !s->lost) shim_cannot_write(s, &e);
  tell_unmet(s);
  parts_tell(s);
  s->trace = NULL;
  if (!has_nothing_to_tell(s)) write_files(s, total);
}
