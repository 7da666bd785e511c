#include "cuda/core/checked.h"

#include <stdlib.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "sanitize/sanitize.h"

struct checked {
  struct sanitizer *sanitizer;
  bool running; /* a launch is watched */
  bool to_file;
  struct output log;
};

bool checked_start(const struct exec_options *o, const struct gmem *mem, struct checked **out, struct err *e)
{
  struct sanitize_options so = {.tools = o->sanitize, .level = o->print_level, .limit = o->print_limit, .out = stdout};
  *out = NULL;
  if (!o->sanitize) return true;
  struct checked *c = calloc(1, sizeof *c);
  NO_MEMORY_IF(!c);
  c->to_file = o->log;
  if (o->log && !(so.out = output_open(&c->log, o->log, e))) {
    free(c);
    return false;
  }
  c->sanitizer = sanitizer_new(&so, mem);
  *out = c;
  return true;
}

const struct step_tap *checked_begin(struct checked *c, const struct module *m, const struct launch *l)
{
  if (!c) return NULL;
  c->running = true;
  return sanitizer_begin(c->sanitizer, m, l);
}

void checked_end(struct checked *c, const struct fault *f)
{
  if (!c || !c->running) return;
  c->running = false;
  fflush(stdout);
  sanitizer_end(c->sanitizer, f);
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

bool checked_finish(struct checked *c, bool *defects, struct err *e)
{
  if (!c) return true;
  *defects = sanitizer_finish(c->sanitizer) != 0;
  const bool ok = !c->to_file || output_close(&c->log, true, e);
  sanitizer_free(c->sanitizer);
  free(c);
  return ok;
}
