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
#define FOR_ALL(s, moment, ...)                                                                     \
  do {                                                                                             \
    for (const struct extension *x = (s)->extensions; x; x = x->next)                              \
      if (x->part->moment) x->part->moment(__VA_ARGS__);                                           \
    for (const struct shim_part *const *p = (s)->parts; p && *p; p++)                                   \
      if ((*p)->moment) (*p)->moment(__VA_ARGS__);                                                 \
  } while (0)

void parts_settle(struct shim *s)
{
  FOR_ALL(s, settle, s);
}

void parts_tell(struct shim *s)
{
  FOR_ALL(s, tell, s);
}

void parts_drop(struct shim *s, struct board *b)
{
  FOR_ALL(s, drop, s, b);
}

void parts_reset(struct shim *s, struct board *b)
{
  FOR_ALL(s, reset, s, b);
}
