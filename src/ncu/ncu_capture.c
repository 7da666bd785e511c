#include "ncu/ncu_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "base/text.h"
#include "ncu/ncu_report.h"

struct ncu_capture {
  struct ncu_capture_options *o;
  int stream;
  FILE *log; /* NULL: stdout */
  bool on;
  uint64_t number; /* of launches of this process that were profiled */
  char program[PATH_MAX];
};

/* A line, or a part of one, after what the program has printed. */
__attribute__((format(printf, 2, 3))) static void say(const struct ncu_capture *c, const char *fmt, ...)
{
  va_list ap;
  char raw[4096], safe[4096];
  if (c->o->quiet) return;
  va_start(ap, fmt);
  vsnprintf(raw, sizeof raw, fmt, ap);
  va_end(ap);
  FILE *f = c->log ? c->log : stdout;
  const size_t n = strlen(raw);
  const bool ends = n && raw[n - 1] == '\n';
  if (ends) raw[n - 1] = '\0';
  fprintf(f, "%s%s", text_safe(raw, safe, sizeof safe), ends ? "\n" : "");
  fflush(f);
}

struct ncu_capture *ncu_capture_new(struct ncu_capture_options *o, struct err *e)
{
  struct ncu_capture *c = calloc(1, sizeof *c);
  NO_MEMORY_IF(!c);
  c->o = o;
  c->on = !o->waits;
  c->stream = open(o->stream, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (c->stream < 0) {
    err_fill(e, "ncu: launches cannot be handed to warpstep through %s: %s", o->stream, host_error());
    free(c);
    return NULL;
  }
  if (o->log && !(c->log = output_log_open(o->log, false, e))) {
    close(c->stream);
    free(c);
    return NULL;
  }
  const ssize_t n = readlink("/proc/self/exe", c->program, sizeof c->program - 1);
  c->program[n > 0 ? n : 0] = '\0';
  say(c, "==PROF== Connected to process %d (%s)\n", (int)getpid(), c->program);
  return c;
}

void ncu_capture_on(struct ncu_capture *c, bool on)
{
  if (c) c->on = on;
}

bool ncu_capture_next(struct ncu_capture *c, const char *symbol, uint64_t context, uint64_t stream)
{
  if (!c->on || !ncu_filter_next(&c->o->filter, symbol, context, stream)) return false;
  char *name = ncu_kernel_name(symbol, NCU_NAME_FUNCTION);
  say(c, "==PROF== Profiling \"%s\" - %llu: 0%%....50%%....", name, (unsigned long long)c->number++);
  free(name);
  return true;
}

/* Lines of the module: malformed ones are none. They are read again for each launch, as modules come and go. */
static void read_lines(const struct module *m, struct line_table *lines)
{
  struct err e;
  if (line_table_read(m, lines, &e)) return;
  line_table_free(lines);
  *lines = (struct line_table){0};
}

/* One write, so that processes do not mix; what the system splits is put together as long as they do not meet. */
static bool append(int fd, const char *line, size_t bytes)
{
  while (bytes) {
    const ssize_t n = write(fd, line, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    line += n;
    bytes -= (size_t)n;
  }
  return true;
}

bool ncu_capture_keep(struct ncu_capture *c, const struct ncu_launch *launch, const char *gpu, uint64_t context,
                      uint64_t stream, struct err *e)
{
  struct line_table lines = {0};
  struct ncu_action a;
  if (!launch) {
    say(c, "failed\n");
    return true;
  }
  struct ncu_launch l = *launch;
  if (c->o->code) read_lines(l.module, &lines), l.lines = &lines;
  ncu_collect(&a, &l);
  line_table_free(&lines);
  a.pid = (uint64_t)getpid();
  a.context = context;
  a.stream = stream;
  a.gpu = gpu;
  const char *base = strrchr(c->program, '/');
  a.process = base ? base + 1 : c->program;
  struct text_out line = ncu_report_line(&a);
  const bool ok = append(c->stream, line.data, line.n);
  if (!ok) err_fill(e, "ncu: a profiled launch cannot be kept: %s", host_error());
  text_out_close(&line);
  ncu_action_free(&a);
  say(c, ok ? "100%% - 1 pass\n" : "lost\n");
  return ok;
}

void ncu_capture_free(struct ncu_capture *c)
{
  if (!c) return;
  say(c, "==PROF== Disconnected from process %d\n", (int)getpid());
  if (c->log) fclose(c->log);
  close(c->stream);
  free(c);
}
