/* Commands that let the launch go on, forwards or backwards. */
#include <inttypes.h>
#include <string.h>

#include "debug/console_commands.h"

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

/* The end of the only launch is a place to go back from; that of one of many is no place to stop. */
static bool show(struct console *c, const struct debug_stop *s, struct err *e)
{
  if (s->kind == STOP_REFUSED) {
    *e = s->why;
    return false;
  }
  console_show_stop(c, s);
  if (s->kind == STOP_END && !c->session->o.one_launch) c->go_on = true;
  return true;
}

static bool ended(const struct console *c)
{
  return c->d->target.state == TARGET_ENDED;
}

bool command_continue(struct console *c, char *args, struct err *e)
{
  (void)args;
  if (c->d->target.state == TARGET_FAULTED) return c->go_on = true;
  if (!ended(c)) return show(c, debugger_continue(c->d), e);
  c->go_on = true;
  return true;
}

/* N times, or until something else stops it. */
static bool repeat(struct console *c, const char *args, enum step_what what, bool back, struct err *e)
{
  uint64_t n = 1;
  const struct debug_stop *s = &c->d->stop;
  if (*args && !console_number(c, args, &n, e)) return false;
  if (!back && ended(c)) return err_set(e, "the launch has ended; go back, or 'continue'");
  if (!back && c->d->target.state == TARGET_FAULTED)
    return err_set(e, "the launch has faulted; go back, or 'continue'");
  for (uint64_t i = 0; i < n; i++) {
    s = back ? debugger_reverse_step(c->d, what) : debugger_step(c->d, what);
    if (s->kind != STOP_STEP) break;
  }
  return n == 0 || show(c, s, e);
}

#define STEP_COMMAND(name, what, back)                                                                                 \
  bool command_##name(struct console *c, char *args, struct err *e)                                                    \
  {                                                                                                                    \
    return repeat(c, args, what, back, e);                                                                             \
  }
STEP_COMMAND(stepi, STEP_INST, false)
STEP_COMMAND(nexti, STEP_OVER, false)
STEP_COMMAND(step, STEP_LINE, false)
STEP_COMMAND(next, STEP_LINE_OVER, false)
STEP_COMMAND(finish, STEP_OUT, false)
STEP_COMMAND(stepc, STEP_CTA, false)
STEP_COMMAND(reverse_stepi, STEP_INST, true)
STEP_COMMAND(reverse_nexti, STEP_OVER, true)
STEP_COMMAND(reverse_step, STEP_LINE, true)
STEP_COMMAND(reverse_next, STEP_LINE_OVER, true)
STEP_COMMAND(reverse_finish, STEP_OUT, true)
STEP_COMMAND(reverse_stepc, STEP_CTA, true)

bool command_reverse_continue(struct console *c, char *args, struct err *e)
{
  (void)args;
  return show(c, debugger_reverse_continue(c->d), e);
}

bool command_goto(struct console *c, char *args, struct err *e)
{
  uint64_t position;
  if (!*args) return err_set(e, "goto which position? It is now at %" PRIu64, c->d->target.position);
  if (!console_number(c, args, &position, e)) return false;
  const struct debug_stop *s = debugger_goto(c->d, position);
  if (s->kind == STOP_REFUSED) return show(c, s, e);
  console_show_stop(c, s);
  return true;
}
