/* Commands that let the launch go on, forwards or backwards. */
#include <inttypes.h>
#include <string.h>

#include "debug/console_commands.h"

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
