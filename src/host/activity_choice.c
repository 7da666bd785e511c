#include "host/activity_choice.h"

#include <stdlib.h>

struct activity_choice activity_choice_default(void)
{
  return (struct activity_choice){.which = pipe_choice_default(), .last_sm = UINT32_MAX, .to = UINT64_MAX};
}

bool activity_choice_sms(struct activity_choice *c, const char *text, struct err *e)
{
  char *end;
  unsigned long first = strtoul(text, &end, 10), last = first;
  bool ok = *text >= '0' && *text <= '9';
  if (ok && *end == '-') {
    ok = end[1] >= '0' && end[1] <= '9';
    last = strtoul(end + 1, &end, 10);
  }
  if (!ok || *end || last < first || last > UINT16_MAX) return err_set(e, "%s: not SMs such as 3 or 0-7", text);
  c->first_sm = (unsigned)first;
  c->last_sm = (unsigned)last;
  return true;
}

bool activity_choice_fits(const struct activity_choice *c, unsigned n_sms, struct err *e)
{
  const unsigned last = c->last_sm == UINT32_MAX ? c->first_sm : c->last_sm;
  return last < n_sms || err_set(e, "--timeline-sms: no SM %u: the GPU has %u, from 0", last, n_sms);
}

bool activity_choice_warps(struct activity_choice *c, const char *text, struct err *e)
{
  c->warps = true;
  return pipe_choice_warps(&c->which, text, e);
}

bool activity_choice_window(struct activity_choice *c, const char *text, struct err *e)
{
  struct pipe_choice window = pipe_choice_default();
  TRY(pipe_choice_cycles(&window, text, e));
  c->from = window.from;
  c->to = window.to;
  return true;
}

static uint64_t ns_of_us(uint64_t us)
{
  uint64_t ns;
  return __builtin_mul_overflow(us, UINT64_C(1000), &ns) ? UINT64_MAX : ns;
}

bool activity_choice_us(struct activity_choice *c, const char *text, struct err *e)
{
  TRY(activity_choice_window(c, text, e));
  c->from = ns_of_us(c->from);
  c->to = ns_of_us(c->to);
  return true;
}
