#include "probe/infer.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "probe/emit.h"

bool infer_run(struct infer *f, const struct infer_test *test, struct err *e)
{
  f->test = test->name;
  f->n_windows = 0;
  return test->run(f, e);
}

void infer_word(struct infer *f, const char *name, const char *inferred, const char *preset,
                const char *published)
{
  struct infer_finding found = {name, inferred, preset, published, !strcmp(inferred, preset),
                                !strcmp(inferred, published)};
  f->report(f->ctx, &found);
}

static bool near(int64_t a, int64_t b, int64_t slack)
{
  return a - b <= slack && b - a <= slack;
}

void infer_number(struct infer *f, const char *name, int64_t inferred, int64_t preset, int64_t published,
                  int64_t slack)
{
  char text[3][24] = {"not seen", "", ""};
  const int64_t value[3] = {inferred, preset, published};
  for (unsigned i = 0; i < 3; i++)
    if (value[i] != INFER_UNKNOWN) snprintf(text[i], sizeof text[i], "%" PRId64, value[i]);
  struct infer_finding found = {name, text[0], text[1], text[2], near(inferred, preset, slack),
                                near(inferred, published, slack)};
  f->report(f->ctx, &found);
}

/* What a GPU stored for a program that --emit wrote. */
static bool read_recorded(const struct infer *f, const struct window *w, struct window_result *r,
                          struct err *e)
{
  char path[PATH_MAX];
  int n = snprintf(path, sizeof path, "%s/%s/out.bin", f->from, w->name);
  if (n < 0 || (size_t)n >= sizeof path) return err_set(e, "%s: the path is too long", f->from);
  return window_read(w, bench_params(f->bench)->arch_sm, path, r, e);
}

bool infer_window(struct infer *f, const struct window *window, struct window_result *r, struct err *e)
{
  char name[64];
  struct window_cell cell = {0, WINDOW_LAST_CLOCK, -1};
  struct window w = *window;
  w.name = name;
  w.cell = &cell;
  w.n_cells = 1;
  snprintf(name, sizeof name, "%s-%04u", f->test, f->n_windows++);
  if (f->from) return read_recorded(f, &w, r, e);
  return window_run(f->bench, &w, r, e) &&
         (!f->emit || emit_window(f->emit, &w, bench_params(f->bench)->arch_sm, e));
}

bool infer_has(const struct infer *f, const char *inst)
{
  return window_assembles(inst, bench_params(f->bench)->arch_sm);
}

/* First clock read of all warps to the latest last one. */
static int64_t span(const struct window_result *r, unsigned warps)
{
  int64_t longest = 0;
  uint32_t first = r->clock[0][0];
  for (unsigned k = 1; k < warps; k++)
    if ((int32_t)(r->clock[k][0] - first) < 0) first = r->clock[k][0];
  for (unsigned k = 0; k < warps; k++) {
    uint32_t cycles = r->clock[k][r->n_clocks - 1] - first;
    if (cycles > longest) longest = cycles;
  }
  return longest;
}

bool infer_cycles(struct infer *f, unsigned warps, unsigned lanes, int64_t *cycles, struct err *e,
                  const char *code, ...)
{
  char text[4096];
  struct window_result r;
  va_list args;
  va_start(args, code);
  int n = vsnprintf(text, sizeof text, code, args);
  va_end(args);
  if (n < 0 || (size_t)n >= sizeof text) return err_set(e, "the window is too long");
  struct window w = {.code = text, .warps = warps, .lanes = lanes};
  if (!infer_window(f, &w, &r, e)) return false;
  *cycles = span(&r, warps);
  return true;
}

bool infer_growth(struct infer *f, unsigned warps, const char *inst, unsigned few, unsigned more,
                  int64_t *cycles, struct err *e)
{
  int64_t low;
  if (!infer_cycles(f, warps, 32, &low, e, "CLK | %u*%s | CLK", few, inst) ||
      !infer_cycles(f, warps, 32, cycles, e, "CLK | %u*%s | CLK", few + more, inst))
    return false;
  *cycles -= low;
  return true;
}

void infer_add(struct infer_text *t, const char *format, ...)
{
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  BUG_ON(n < 0);
  if (t->n + (size_t)n + 1 > t->capacity) {
    t->capacity = 2 * (t->n + (size_t)n + 1);
    t->text = realloc(t->text, t->capacity);
    NO_MEMORY_IF(!t->text);
  }
  vsnprintf(t->text + t->n, t->capacity - t->n, format, again);
  va_end(again);
  t->n += (size_t)n;
}

void infer_text_free(struct infer_text *t)
{
  free(t->text);
}
