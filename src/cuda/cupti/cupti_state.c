#include "cuda/cupti/cupti_state.h"

#include <stdlib.h>
#include <string.h>

static const struct cupti_call all_calls[] = {
#define CALL(domain, function, name, id) {#function, #name, DOMAIN_##domain, id},
#include "cuda/cupti/cupti_calls.def"
#undef CALL
};
enum { N_CALLS = sizeof all_calls / sizeof all_calls[0] };

struct cupti *cupti_get(void)
{
  struct shim *s = shim_get();
  pthread_mutex_lock(&s->lock);
  struct cupti *c = (struct cupti *)s->follower;
  if (!c) {
    c = shim_alloc(sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    pthread_key_create(&c->thread, free);
    cupti_tracer_init(c);
    s->follower = &c->tracer;
  }
  pthread_mutex_unlock(&s->lock);
  return c;
}

struct cupti_thread *cupti_thread(struct cupti *c)
{
  struct cupti_thread *t = pthread_getspecific(c->thread);
  if (t) return t;
  t = shim_alloc(sizeof *t);
  pthread_setspecific(c->thread, t);
  return t;
}

void cupti_follow(struct cupti *c, bool more)
{
  struct shim *s = shim_get();
  pthread_mutex_lock(&s->lock);
  const uint64_t n = atomic_fetch_add(&c->followed, more ? 1 : UINT64_MAX) + (more ? 1 : UINT64_MAX);
  atomic_store(&s->tracer, n ? &c->tracer : NULL);
  pthread_mutex_unlock(&s->lock);
}

/* Functions of the runtime are behind those of the driver, both in the order of their names. */
const struct cupti_call *cupti_find_call(const char *function)
{
  size_t from = 0, to = N_CALLS;
  const bool runtime = strncmp(function, "cuda", 4) == 0 || strncmp(function, "__cuda", 6) == 0;
  const int domain = runtime ? DOMAIN_RUNTIME : DOMAIN_DRIVER;
  while (from < to) {
    const size_t i = (from + to) / 2;
    const struct cupti_call *f = &all_calls[i];
    const int order = domain == f->domain ? strcmp(function, f->function) : domain - f->domain;
    if (order == 0) return f;
    if (order < 0) to = i;
    else from = i + 1;
  }
  return NULL;
}

const struct cupti_call *cupti_call_of(int domain, uint32_t id)
{
  for (size_t i = 0; i < N_CALLS; i++)
    if (all_calls[i].domain == domain && all_calls[i].id == id) return &all_calls[i];
  return NULL;
}

cupti_result cupti_refuse(const char *what)
{
  struct shim *s = shim_get();
  pthread_mutex_lock(&s->lock);
  shim_unsupported(s, what);
  pthread_mutex_unlock(&s->lock);
  return CUPTI_ERROR_NOT_SUPPORTED;
}
