#include "probe/infer.h"

#include <stdarg.h>
#include <stdio.h>

#include "probe/window.h"

bool infer_cycles(struct infer *f, unsigned warps, unsigned lanes, int64_t *cycles, struct err *e,
                  const char *code, ...)
{
  char text[INFER_CODE];
  va_list args;
  va_start(args, code);
  int n = vsnprintf(text, sizeof text, code, args);
  va_end(args);
  if (n < 0 || (size_t)n >= sizeof text) return err_set(e, "the window is too long");
  struct window_cell cell[WINDOW_MAX_WARPS];
  struct window w = {.name = "infer", .code = text, .warps = warps, .lanes = lanes,
                     .n_cells = warps, .cell = cell, .common = true};
  struct window_result r;
  int64_t each[WINDOW_MAX_WARPS];
  for (unsigned k = 0; k < warps; k++) cell[k] = (struct window_cell){k, WINDOW_LAST_CLOCK, -1};
  if (!window_run(f->bench, &w, &r, e)) return false;
  window_cycles(&w, &r, each);
  *cycles = each[0];
  for (unsigned k = 1; k < warps; k++)
    if (each[k] > *cycles) *cycles = each[k];
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
