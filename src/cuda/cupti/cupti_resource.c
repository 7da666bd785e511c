/* What calls do to contexts, streams and modules, and what they wait for: CUPTI's resource and synchronise callbacks,
 * and records of synchronisation. What is made is found when the call ends, by its number; what is destroyed or waited
 * for is among the call's arguments (CUPTI reference, CUpti_CallbackIdResource, CUpti_CallbackIdSync,
 * CUpti_ActivitySynchronization2).
 */
#include <string.h>

#include "cuda/core/board.h"
#include "cuda/core/context.h"
#include "cuda/cupti/cupti_state.h"

bool cupti_resource_comes(int domain, uint32_t id)
{
  if (domain == DOMAIN_SYNCHRONIZE) return id == STREAM_SYNCHRONIZED || id == CONTEXT_SYNCHRONIZED;
  return domain == DOMAIN_RESOURCE && id >= RESOURCE_CONTEXT_CREATED && id <= RESOURCE_MODULE_UNLOADED && id != 5;
}

/* What is made ----------------------------------------------------------------------------------------- */

void cupti_resource_begin(struct cupti *c)
{
  struct shim *s = shim_get();
  pthread_mutex_lock(&s->lock);
  for (uint32_t id = RESOURCE_CONTEXT_CREATED; id <= RESOURCE_MODULE_UNLOADED; id++) {
    if (!atomic_load(&c->wanted[DOMAIN_RESOURCE][id])) continue;
    pthread_mutex_unlock(&s->lock);
    return; /* it has begun already */
  }
  c->told = (struct cupti_told){s->next_id, s->next_id, s->modules_made + 1};
  pthread_mutex_unlock(&s->lock);
}

/* The oldest that was not told of; it counts as told from now on. With the shim's lock. */
static bool next_context(struct shim *s, struct cupti_told *told, struct cupti_resource_data *d)
{
  struct context *next = NULL;
  for (struct context *x = s->contexts.first; x; x = x->next)
    if (x->id >= told->context && (!next || x->id < next->id)) next = x;
  if (!next) return false;
  *d = (struct cupti_resource_data){.context = next};
  told->context = next->id + 1;
  return true;
}

static struct context *context_of(struct shim *s, const struct stream *st)
{
  return st->context ? st->context : context_current(s);
}

static bool next_stream(struct shim *s, struct cupti_told *told, struct cupti_resource_data *d)
{
  struct stream *next = NULL;
  for (struct stream *x = s->streams.first; x; x = x->next)
    if (x->id >= told->stream && (!next || x->id < next->id)) next = x;
  if (!next) return false;
  *d = (struct cupti_resource_data){.context = context_of(s, next), .stream = next};
  told->stream = next->id + 1;
  return true;
}

static bool next_module(struct shim *s, struct cupti_told *told, struct cupti_resource_data *d,
                        struct cupti_module_data *module)
{
  const struct loaded_module *next = NULL;
  for (const struct loaded_module *x = s->modules; x; x = x->next)
    if (x->id >= told->module && (!next || x->id < next->id)) next = x;
  if (!next) return false;
  *module = (struct cupti_module_data){.id = next->id};
  *d = (struct cupti_resource_data){.context = context_current(s), .module = module};
  told->module = next->id + 1;
  return true;
}

/* The next callback about something new, contexts before what is in them; 0: there is none. */
static uint32_t next_made(struct cupti *c, struct cupti_resource_data *d, struct cupti_module_data *module)
{
  struct shim *s = shim_get();
  uint32_t id = 0;
  pthread_mutex_lock(&s->lock);
  if (!s->up) id = 0;
  else if (next_context(s, &c->told, d)) id = RESOURCE_CONTEXT_CREATED;
  else if (next_stream(s, &c->told, d)) id = RESOURCE_STREAM_CREATED;
  else if (next_module(s, &c->told, d, module)) id = RESOURCE_MODULE_LOADED;
  pthread_mutex_unlock(&s->lock);
  return id;
}

static bool wants_made(const struct cupti *c)
{
  static const uint32_t made[] = {RESOURCE_CONTEXT_CREATED, RESOURCE_STREAM_CREATED, RESOURCE_MODULE_LOADED};
  for (unsigned i = 0; i < sizeof made / sizeof made[0]; i++)
    if (atomic_load(&c->wanted[DOMAIN_RESOURCE][made[i]])) return true;
  return false;
}

/* What is destroyed ------------------------------------------------------------------------------------ */

static const struct {
  const char *function;
  uint32_t id;
} destroyers[] = {{"cuStreamDestroy_v2", RESOURCE_STREAM_DESTROYED}, {"cudaStreamDestroy", RESOURCE_STREAM_DESTROYED},
                  {"cuCtxDestroy_v2", RESOURCE_CONTEXT_DESTROYED}, {"cuModuleUnload", RESOURCE_MODULE_UNLOADED},
                  {"cudaDeviceReset", RESOURCE_CONTEXT_DESTROYED}};

/* Which one, if there is such a one: the program may say anything. With the shim's lock. */
static bool destroyed(struct shim *s, const struct traced_call *t, uint32_t id, struct cupti_resource_data *d,
                      struct cupti_module_data *module)
{
  const void *handle = t->arguments ? *(void *const *)t->arguments : board_current(s)->primary;
  if (id == RESOURCE_CONTEXT_DESTROYED) {
    *d = (struct cupti_resource_data){.context = (CUcontext)(uintptr_t)handle};
    return handle && context_exists(s, d->context);
  }
  if (id == RESOURCE_STREAM_DESTROYED) {
    const struct stream *st = handle ? stream_of(s, (CUstream)(uintptr_t)handle) : NULL;
    if (st) *d = (struct cupti_resource_data){.context = context_of(s, st), .stream = (CUstream)(uintptr_t)handle};
    return st;
  }
  const struct loaded_module *m = s->modules;
  while (m && m != handle) m = m->next;
  if (m) *module = (struct cupti_module_data){.id = m->id};
  *d = (struct cupti_resource_data){.context = context_current(s), .module = module};
  return m;
}

void cupti_resource_enter(struct cupti *c, const struct traced_call *t)
{
  struct shim *s = shim_get();
  for (unsigned i = 0; i < sizeof destroyers / sizeof destroyers[0]; i++) {
    const uint32_t id = destroyers[i].id;
    if (!atomic_load(&c->wanted[DOMAIN_RESOURCE][id]) || strcmp(destroyers[i].function, t->name) != 0) continue;
    struct cupti_module_data module;
    struct cupti_resource_data d;
    pthread_mutex_lock(&s->lock);
    const bool there = s->up && destroyed(s, t, id, &d, &module);
    pthread_mutex_unlock(&s->lock);
    if (there) cupti_call_back(c, DOMAIN_RESOURCE, id, &d);
  }
}

/* What is waited for ----------------------------------------------------------------------------------- */

static const struct {
  const char *function;
  int type;
} waits[] = {
  {"cuStreamSynchronize", SYNC_STREAM}, {"cuStreamSynchronize_ptsz", SYNC_STREAM},
  {"cudaStreamSynchronize", SYNC_STREAM}, {"cudaStreamSynchronize_ptsz", SYNC_STREAM},
  {"cuStreamWaitEvent", SYNC_WAIT_EVENT}, {"cuStreamWaitEvent_ptsz", SYNC_WAIT_EVENT},
  {"cudaStreamWaitEvent", SYNC_WAIT_EVENT}, {"cudaStreamWaitEvent_ptsz", SYNC_WAIT_EVENT},
  {"cuEventSynchronize", SYNC_EVENT}, {"cudaEventSynchronize", SYNC_EVENT},
  {"cuCtxSynchronize", SYNC_CONTEXT}, {"cudaDeviceSynchronize", SYNC_CONTEXT},
};

static int wait_of(const char *function)
{
  for (unsigned i = 0; i < sizeof waits / sizeof waits[0]; i++)
    if (strcmp(waits[i].function, function) == 0) return waits[i].type;
  return 0;
}

/* Whom a call waits for. With the shim's lock; handles may be any. */
static struct cupti_sync_data waited_for(struct shim *s, const struct traced_call *t, int type,
                                         struct cupti_sync_record *r)
{
  struct cupti_sync_data d = {.context = context_current(s)};
  r->stream = r->event = SYNC_NOTHING;
  r->event_sync = SYNC_NOTHING;
  if (type == SYNC_STREAM || type == SYNC_WAIT_EVENT) {
    d.stream = *(const CUstream *)t->arguments;
    const struct stream *st = stream_of(s, d.stream);
    if (st) r->stream = (uint32_t)st->id, d.context = context_of(s, st);
  }
  if (type == SYNC_EVENT || type == SYNC_WAIT_EVENT) {
    const struct event *e = event_of(s, ((const CUevent *)t->arguments)[type == SYNC_WAIT_EVENT]);
    if (e) r->event = e->id;
  }
  r->context = d.context ? (uint32_t)d.context->id : SYNC_NOTHING;
  return d;
}

static void waited(struct cupti *c, const struct traced_call *t, int type, CUresult result)
{
  struct shim *s = shim_get();
  struct cupti_sync_record r = { .kind = KIND_SYNCHRONIZATION, .type = type, .start = cupti_when(c, &t->mark, t->begin),
                                 .end = cupti_when(c, &t->mark, t->end), .correlation = t->mark.number,
                                 .result = (uint32_t)result };
  pthread_mutex_lock(&s->lock);
  const struct cupti_sync_data d = waited_for(s, t, type, &r);
  pthread_mutex_unlock(&s->lock);
  if (atomic_load(&c->enabled[KIND_SYNCHRONIZATION]) && (result == CUDA_SUCCESS || atomic_load(&c->failed_syncs)))
    cupti_keep(c, &r, sizeof r);
  if (result != CUDA_SUCCESS) return;
  if (type == SYNC_STREAM) cupti_call_back(c, DOMAIN_SYNCHRONIZE, STREAM_SYNCHRONIZED, &d);
  if (type == SYNC_CONTEXT) cupti_call_back(c, DOMAIN_SYNCHRONIZE, CONTEXT_SYNCHRONIZED, &d);
}

void cupti_resource_leave(struct cupti *c, const struct traced_call *t, CUresult result)
{
  struct cupti_resource_data d;
  struct cupti_module_data module;
  uint32_t id;
  while (wants_made(c) && (id = next_made(c, &d, &module))) cupti_call_back(c, DOMAIN_RESOURCE, id, &d);
  const int type = wait_of(t->name);
  if (type) waited(c, t, type, result);
}
