#include "cuda/core/operation.h"

#include "cuda/core/shim.h"

uint64_t operation_take(struct shim *s, struct stream *st, const char *name, enum timeline_engine engine, uint64_t ps,
                        uint64_t bytes)
{
  uint64_t begin = timeline_start(&s->time, &st->clock, engine);
  timeline_finish(&s->time, &st->clock, engine, begin + ps);
  if (s->activity)
    activity_operation(s->activity, &(struct activity_op){ .name = name, .stream = st->id, .bytes = bytes,
                                                           .begin = begin, .end = begin + ps, .engine = engine });
  return begin + ps;
}
