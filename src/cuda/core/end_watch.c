#include "cuda/core/end_watch.h"

#include "base/arith.h"
#include "cuda/core/context_turns.h"
#include "cuda/core/shim.h"
#include "host/live_gpu.h"

enum { LOOKS = 8 }; /* in the quiet time */

#define QUIET_PS (END_QUIET_US * UINT64_C(1000000))

static bool copies_go(const struct shim *s)
{
  for (unsigned i = 0; i < s->boards.n; i++)
    if (live_copies(s->boards.of[i].simulator)) return true;
  return false;
}

static uint64_t ctas_done(const struct shim *s)
{
  uint64_t n = 0;
  for (unsigned i = 0; i < s->boards.n; i++) n += board_ctas_done(&s->boards.of[i]);
  return n;
}

static bool has_gone_on(struct shim *s)
{
  struct end_watch *w = &s->end;
  const uint64_t ctas = ctas_done(s);
  const bool gone_on = w->events != s->front.n_open || w->ctas != ctas || copies_go(s);
  w->events = s->front.n_open;
  w->ctas = ctas;
  return gone_on;
}

void end_watch_begin(struct shim *s)
{
  const uint64_t now = later(s->time.now, front_gpus_now(&s->front));
  s->end = (struct end_watch){.on = true, .quiet = now, .look = now + QUIET_PS / LOOKS};
  has_gone_on(s);
}

bool end_watch_is_over(struct shim *s, uint64_t now)
{
  struct end_watch *w = &s->end;
  if (!w->on || now < w->look) return false;
  if (has_gone_on(s)) w->quiet = now;
  if (now >= w->quiet + QUIET_PS) return true;
  w->look = now + QUIET_PS / LOOKS;
  return false;
}
