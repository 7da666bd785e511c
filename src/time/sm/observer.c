#include "time/sm/observer.h"

#define X(id, name) [STAGE_##id] = name,
const char *const pipe_stage_name[STAGE__N] = {PIPE_STAGE_LIST(X)};
#undef X

void observers_add(struct observers *set, struct observer *o)
{
  struct observer **last = &set->first;
  while (*last) last = &(*last)->next;
  *last = o;
  o->next = NULL;
  set->unordered |= o->ops->unordered != NULL;
}

/* Calls the function of every observer that has one for the event. */
#define EACH(event, ...)                                                                           \
  for (struct observer *o = set->first; o; o = o->next)                                            \
    if (o->ops->event) o->ops->event(__VA_ARGS__)

void observe_start(struct observers *set)
{
  EACH(start, o);
}

void observe_warp_begin(struct observers *set, const struct observed_warp *w, uint64_t now)
{
  EACH(warp_begin, o, w, now);
}

void observe_warp_end(struct observers *set, unsigned sub_core, unsigned warp, uint64_t now)
{
  EACH(warp_end, o, sub_core, warp, now);
}

void observe_wait(struct observers *set, unsigned sub_core, unsigned warp, const struct observed_wait *w)
{
  EACH(wait, o, sub_core, warp, w);
}

void observe_issue(struct observers *set, const struct observed *x, const struct observed_issue *how)
{
  EACH(issue, o, x, how);
}

void observe_stage(struct observers *set, const struct observed *x, enum pipe_stage stage, uint64_t at)
{
  EACH(stage, o, x, stage, at);
}

void observe_done(struct observers *set, const struct observed *x, uint64_t at)
{
  EACH(done, o, x, at);
}

void observe_written(struct observers *set, const struct observed *x, uint64_t visible)
{
  EACH(written, o, x, visible);
}

void observe_sources_read(struct observers *set, const struct observed *x, uint64_t visible)
{
  EACH(sources_read, o, x, visible);
}

void observe_unordered(struct observers *set, unsigned sub_core, const struct inst *first, const struct inst *second,
                       uint32_t address)
{
  EACH(unordered, o, sub_core, first, second, address);
}
