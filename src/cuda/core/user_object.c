#include "cuda/core/user_object.h"

#include <stdlib.h>

#include "cuda/core/shim.h"

struct user_object {
  struct user_object *next;
  void *data;
  void (*destroy)(void *);
  uint64_t count;
};

static bool exists(const struct shim *s, const struct user_object *u)
{
  const struct user_object *at = s->user_objects.live;
  while (at && at != u) at = at->next;
  return at != NULL;
}

/* Destructors are called when the call that gave up the last reference ends. */
static void drop(struct shim *s, struct user_object *u, uint64_t count)
{
  struct user_object **at = &s->user_objects.live, **end = &s->user_objects.dead;
  u->count -= count;
  if (u->count) return;
  while (*at != u) at = &(*at)->next;
  *at = u->next;
  u->next = NULL;
  while (*end) end = &(*end)->next;
  *end = u;
}

void user_object_bury(struct shim *s)
{
  for (struct user_object *u; (u = s->user_objects.dead);) {
    s->user_objects.dead = u->next;
    pthread_mutex_unlock(&s->lock);
    u->destroy(u->data);
    shim_lock(s);
    free(u);
  }
}

CUresult user_object_create(struct shim *s, CUuserObject *out, void *data, void (*destroy)(void *), unsigned count,
                            unsigned flags)
{
  enum { NO_DESTRUCTOR_SYNC = 1 }; /* the only flag, and it must be there */
  if (!out || !destroy || !count || count > INT32_MAX || flags != NO_DESTRUCTOR_SYNC)
    return CUDA_ERROR_INVALID_VALUE;
  struct user_object *u = shim_alloc(sizeof *u);
  *u = (struct user_object){ .next = s->user_objects.live, .data = data, .destroy = destroy, .count = count };
  *out = s->user_objects.live = u;
  return CUDA_SUCCESS;
}

CUresult user_object_retain(struct shim *s, CUuserObject u, unsigned count)
{
  if (!exists(s, u) || !count || count > INT32_MAX) return CUDA_ERROR_INVALID_VALUE;
  u->count += count;
  return CUDA_SUCCESS;
}

CUresult user_object_release(struct shim *s, CUuserObject u, unsigned count)
{
  if (!exists(s, u) || !count || count > u->count) return CUDA_ERROR_INVALID_VALUE;
  drop(s, u, count);
  return CUDA_SUCCESS;
}

/* The graph's entry for an object, or where a new one goes. */
static struct user_reference **find(struct user_reference **list, const struct user_object *u)
{
  while (*list && (*list)->object != u) list = &(*list)->next;
  return list;
}

static void add(struct user_reference **list, struct user_object *u, uint64_t count)
{
  struct user_reference **at = find(list, u);
  if (!*at) *at = shim_alloc(sizeof **at);
  (*at)->object = u;
  (*at)->count += count;
}

CUresult user_object_give(struct shim *s, struct user_reference **list, CUuserObject u, unsigned count,
                          unsigned flags)
{
  enum { MOVE = 1 };
  if (!exists(s, u) || !count || count > INT32_MAX || flags > MOVE || (flags == MOVE && count > u->count))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags != MOVE) u->count += count;
  add(list, u, count);
  return CUDA_SUCCESS;
}

CUresult user_object_take(struct shim *s, struct user_reference **list, CUuserObject u, unsigned count)
{
  struct user_reference **at = find(list, u), *r = *at;
  if (!r || !count || r->count < count) return CUDA_ERROR_INVALID_VALUE;
  r->count -= count;
  if (!r->count) {
    *at = r->next;
    free(r);
  }
  drop(s, u, count);
  return CUDA_SUCCESS;
}

void user_object_copy(struct user_reference **to, const struct user_reference *from)
{
  for (; from; from = from->next) {
    from->object->count += from->count;
    add(to, from->object, from->count);
  }
}

void user_object_drop_all(struct shim *s, struct user_reference **list)
{
  for (struct user_reference *r; (r = *list);) {
    *list = r->next;
    drop(s, r->object, r->count);
    free(r);
  }
}
