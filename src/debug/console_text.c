/* What the console's commands share: words, numbers, where the focus is. */
#include <inttypes.h>
#include <string.h>

#include "debug/console_commands.h"

char *console_word(char **at)
{
  char *start = *at + strspn(*at, " \t"), *end = start + strcspn(start, " \t");
  *at = *end ? end + 1 : end;
  *end = '\0';
  *at += strspn(*at, " \t");
  return start;
}

bool console_number(struct console *c, const char *text, uint64_t *n, struct err *e)
{
  struct debug_value v;
  const bool lane = c->d && c->d->target.slot[c->d->focus.slot];
  if (!lane && text[strspn(text, "0123456789")])
    return err_set(e, "'%.60s': without a lane only a number can be given", text);
  if (!expression_evaluate(text, lane ? &c->d->focus : NULL, lane ? &c->d->names : NULL, &v, e)) return false;
  if (v.kind != DEBUG_INT || v.i < 0) return err_set(e, "'%.60s' is not a whole number", text);
  *n = (uint64_t)v.i;
  return true;
}

static const char *place_text(const struct debugger *d, uint64_t pc, char *buf, size_t size)
{
  char where[200];
  module_where(d->map.module, pc, where, sizeof where);
  snprintf(buf, size, "0x%" PRIx64 " <%s>", pc, where);
  return buf;
}

void console_show_focus(struct console *c)
{
  const struct debugger *d = c->d;
  char where[256], text[256], line[300];
  if (!d->target.slot[d->focus.slot]) return;
  const struct view_place at = view_place_of(&d->focus);
  const uint64_t pc = view_pc(&d->focus);
  struct source_frame frame[SOURCE_FRAMES];
  fprintf(c->out, "CTA (%u,%u,%u) warp %u lane %u thread (%u,%u,%u), lanes %08llx, position %" PRIu64 "\n", at.cta[0],
          at.cta[1], at.cta[2], d->focus.warp, d->focus.lane, at.thread[0], at.thread[1], at.thread[2],
          (unsigned long long)debugger_active(d), d->target.position);
  source_map_frames(&d->map, pc, frame);
  source_map_place(&d->map, frame[0].row, line, sizeof line);
  if (*line) fprintf(c->out, "  %s  %s\n", line, source_map_text(&c->d->map, frame[0].row, frame[0].row->line));
  debugger_instruction(d, pc, text, sizeof text);
  fprintf(c->out, "=> %s  %s\n", place_text(d, pc, where, sizeof where), text);
}

static void show_change(struct console *c, const struct debug_point *p)
{
  const struct debug_type t = {DEBUG_INT, p->bytes, false};
  const bool word = p->bytes == 1 || p->bytes == 2 || p->bytes == 4 || p->bytes == 8;
  char before[64], now[64];
  if (!word || !p->known) return;
  const struct debug_value v = debug_value_from(&t, p->now), w = debug_value_from(&t, p->before);
  if (memcmp(p->before, p->now, p->bytes) == 0)
    fprintf(c->out, "  value %s\n", debug_value_text(&v, now, sizeof now));
  else
    fprintf(c->out, "  old %s\n  new %s\n", debug_value_text(&w, before, sizeof before),
            debug_value_text(&v, now, sizeof now));
}

static void show_point(struct console *c, const struct debug_stop *s)
{
  const struct debug_point *p = points_find(c->d->points, s->point);
  if (s->kind == STOP_BREAK)
    fprintf(c->out, "breakpoint %u\n", s->point);
  else
    fprintf(c->out, "watchpoint %u: %s\n", s->point, p ? p->spec : "");
  if (s->kind == STOP_WATCH && p && s == &c->d->stop) show_change(c, p);
}

void console_show_stop(struct console *c, const struct debug_stop *s)
{
  const struct debugger *d = c->d;
  switch (s->kind) {
  case STOP_START: fprintf(c->out, "at the start of the launch\n"); break;
  case STOP_BREAK:
  case STOP_WATCH: show_point(c, s); break;
  case STOP_END: fprintf(c->out, "the launch has ended, position %" PRIu64 "\n", d->target.position); return;
  case STOP_FAULT: fprintf(c->out, "fault: %s\n", d->target.fault.text); break;
  case STOP_INTERRUPT: fprintf(c->out, "interrupted\n"); break;
  default: break;
  }
  c->list_row = NULL;
  console_show_focus(c);
}
