#include "cuda/core/host_clock.h"

#include <time.h>

#include "base/arith.h"
#include "cuda/core/shim.h"
#include "host/host_time.h"

struct host_clock {
  struct host_time_choice choice;
  struct host_gaps gaps; /* record, replay */
  uint32_t n_threads;
  uint64_t missing; /* replay: calls of which nothing was recorded */
};

bool host_clock_start(struct shim *s, struct err *e)
{
  struct host_time_choice c;
  if (!s->options.host_time) return true;
  TRY(host_time_parse(&c, s->options.host_time, e));
  if (c.mode == HOST_TIME_CALLS) return true;
  struct host_clock *k = shim_alloc(sizeof *k);
  k->choice = c;
  s->host_clock = k;
  return c.mode != HOST_TIME_REPLAY || host_gaps_read(&k->gaps, c.file, e);
}

static uint64_t processor_ns(void)
{
  struct timespec t;
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec : 0;
}

/* Since the thread's last call, ns. */
static uint64_t gap_of(struct host_clock *k, const struct host_clock_thread *t)
{
  uint64_t ns = 0;
  if (k->choice.mode == HOST_TIME_REPLAY) {
    k->missing += !host_gaps_next(&k->gaps, t->number, &ns);
    return ns;
  }
  const uint64_t now = processor_ns();
  if (!t->spun && now > t->cpu) ns = now - t->cpu;
  if (k->choice.mode == HOST_TIME_RECORD) host_gaps_add(&k->gaps, t->number, ns);
  return ns;
}

void host_clock_enter(struct shim *s)
{
  struct host_clock *k = s->host_clock;
  struct host_clock_thread *t = &shim_thread(s)->host_clock;
  if (t->inside++) return;
  if (t->known) {
    const double ps = (double)gap_of(k, t) * 1000 * k->choice.scale;
    const uint64_t now = t->at + (uint64_t)ps;
    if (now < SIM_LAST_START_PS / 2) s->time.now = later(s->time.now, now);
  } else {
    t->number = k->n_threads++;
  }
  t->known = true;
}

void host_clock_leave(struct shim *s)
{
  struct host_clock_thread *t = &shim_thread(s)->host_clock;
  if (--t->inside) return;
  t->spun = false;
  t->at = s->time.now;
  t->cpu = processor_ns();
}

const char *host_clock_kind(const struct shim *s)
{
  static const char *const kind[] = { [HOST_TIME_CALLS] = NULL,
                                      [HOST_TIME_MEASURED] = "measured, other times on every run",
                                      [HOST_TIME_RECORD] = "measured and recorded",
                                      [HOST_TIME_REPLAY] = "replayed" };
  return s->host_clock ? kind[s->host_clock->choice.mode] : NULL;
}

const struct host_gaps *host_clock_record(const struct shim *s, const char **file)
{
  const struct host_clock *k = s->host_clock;
  if (!k || k->choice.mode != HOST_TIME_RECORD) return NULL;
  *file = k->choice.file;
  return &k->gaps;
}

static void tell(struct shim *s)
{
  const struct host_clock *k = s->host_clock;
  if (k && k->missing)
    shim_say("--host-time replay: for %llu calls %s has nothing: no time passed before them",
             (unsigned long long)k->missing, k->choice.file);
}

const struct shim_part host_clock_part = { .tell = tell };
