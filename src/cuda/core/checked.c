#include "cuda/core/checked.h"

#include <stdlib.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "sanitize/sanitize.h"
#include "sanitize/error_tally.h"

struct checked {
  struct sanitizer *sanitizer;
  bool running; /* a launch is watched */
  FILE *log;                    /* NULL: stdout */
  const char *path;             /* of the log */
  struct sanitize_tally *tally; /* of all processes; NULL: none */
  uint64_t told;                /* errors that are in the tally */
};

/* After each launch: nobody knows how the process will end. */
static void tell_tally(struct checked *c)
{
  const uint64_t errors = sanitizer_errors(c->sanitizer);
  if (c->tally) c->tally->errors += errors - c->told;
  c->told = errors;
}

bool checked_start(const struct exec_options *o, const struct gmem *mem, struct checked **out, struct err *e)
{
  struct sanitize_options so = {.tools = o->sanitize, .level = o->print_level, .limit = o->print_limit, .out = stdout};
  *out = NULL;
  if (!o->sanitize) return true;
  struct checked *c = calloc(1, sizeof *c);
  NO_MEMORY_IF(!c);
  c->path = o->log;
  if (o->log && !(so.out = c->log = output_log_open(o->log, !o->tally, e))) {
    free(c);
    return false;
  }
  c->tally = o->tally ? sanitize_tally_open(o->tally) : NULL;
  if (c->tally) c->tally->began++;
  c->sanitizer = sanitizer_new(&so, mem);
  *out = c;
  return true;
}

const struct step_tap *checked_begin(struct checked *c, const struct module *m, const struct launch *l)
{
  if (!c) return NULL;
  c->running = true;
  if (c->tally) c->tally->launches++;
  return sanitizer_begin(c->sanitizer, m, l);
}

void checked_end(struct checked *c, const struct fault *f)
{
  if (!c || !c->running) return;
  c->running = false;
  fflush(stdout);
  sanitizer_end(c->sanitizer, f);
  tell_tally(c);
}

void checked_allocated(struct checked *c, uint64_t addr, uint64_t bytes)
{
  if (c) sanitizer_allocated(c->sanitizer, addr, bytes);
}

void checked_freed(struct checked *c, uint64_t addr)
{
  if (c) sanitizer_freed(c->sanitizer, addr);
}

void checked_written(struct checked *c, uint64_t addr, uint64_t bytes)
{
  if (c) sanitizer_written(c->sanitizer, addr, bytes);
}

void checked_copied(struct checked *c, uint64_t to, uint64_t from, uint64_t bytes)
{
  if (c) sanitizer_copied(c->sanitizer, to, from, bytes);
}

void checked_leaked(struct checked *c, uint64_t addr, uint64_t bytes)
{
  if (c) sanitizer_leaked(c->sanitizer, addr, bytes);
}

/* What the program itself could not write there is an error, too: the reports may be among it. */
static bool stdout_took_all(struct err *e)
{
  if (!fflush(stdout) && !ferror(stdout)) return true;
  return err_set(e, "stdout: cannot write: %s", host_error());
}

bool checked_finish(struct checked *c, bool *defects, struct err *e)
{
  if (!c) return true;
  *defects = sanitizer_finish(c->sanitizer) != 0;
  tell_tally(c);
  if (c->tally) c->tally->ended++;
  sanitize_tally_close(c->tally);
  const bool ok = c->log ? output_log_close(c->log, c->path, e) : stdout_took_all(e);
  sanitizer_free(c->sanitizer);
  free(c);
  return ok;
}
