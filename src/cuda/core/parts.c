#include "cuda/core/parts.h"

#include "cuda/core/process.h"
#include "cuda/core/shim.h"

struct extension {
  struct extension *next;
  const struct shim_part *part;
  void *state;
};

void *part_state(struct shim *s, const struct shim_part *p, size_t bytes)
{
  struct extension *x = s->extensions;
  while (x && x->part != p) x = x->next;
  if (x) return x->state;
  x = shim_alloc(sizeof *x);
  *x = (struct extension){ .next = s->extensions, .part = p, .state = shim_alloc(bytes) };
  s->extensions = x;
  return x->state;
}

/* Calls member `moment` of each part that has one. */
#define FOR_ALL(s, moment)                                                                          \
  do {                                                                                             \
    for (const struct extension *x = (s)->extensions; x; x = x->next)                              \
      if (x->part->moment) x->part->moment(s);                                                     \
    for (const struct shim_part *const *p = (s)->parts; p && *p; p++)                                   \
      if ((*p)->moment) (*p)->moment(s);                                                           \
  } while (0)

void parts_settle(struct shim *s)
{
  FOR_ALL(s, settle);
}

void parts_tell(struct shim *s)
{
  FOR_ALL(s, tell);
}

void parts_drop(struct shim *s)
{
  FOR_ALL(s, drop);
}

void parts_reset(struct shim *s)
{
  FOR_ALL(s, reset);
}
