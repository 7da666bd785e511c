/* CUPTI's activity interface: what is recorded, buffers, external correlation, times. */
#include <string.h>
#include <time.h>

#include "cuda/core/context.h"
#include "cuda/cupti/cupti_state.h"

/* Of overhead there is nothing to record: nothing of the profiler's takes simulated time. */
static bool is_kind(int kind) { return kind == KIND_OVERHEAD || cupti_record_bytes(kind) != 0; }

static cupti_result enable(int kind, bool on)
{
  if (kind <= 0 || kind >= KINDS) return CUPTI_ERROR_INVALID_KIND;
  if (!is_kind(kind)) return on ? cupti_refuse("a kind of CUPTI's records") : CUPTI_SUCCESS;
  struct cupti *c = cupti_get();
  if (atomic_exchange(&c->enabled[kind], on) != on) cupti_follow(c, on);
  return CUPTI_SUCCESS;
}

cupti_result cuptiActivityEnable(int kind);
cupti_result cuptiActivityEnable(int kind) { return enable(kind, true); }
cupti_result cuptiActivityDisable(int kind);
cupti_result cuptiActivityDisable(int kind) { return enable(kind, false); }
/* All contexts are followed when one is. */
cupti_result cuptiActivityEnableContext(CUcontext context, int kind);
cupti_result cuptiActivityEnableContext(CUcontext context, int kind)
{
  return context ? enable(kind, true) : CUPTI_ERROR_INVALID_CONTEXT;
}
cupti_result cuptiActivityDisableContext(CUcontext context, int kind);
cupti_result cuptiActivityDisableContext(CUcontext context, int kind)
{
  return context ? enable(kind, false) : CUPTI_ERROR_INVALID_CONTEXT;
}

/* Records of synchronisation whose call failed, too. */
cupti_result cuptiActivityEnableAllSyncRecords(uint8_t on);
cupti_result cuptiActivityEnableAllSyncRecords(uint8_t on)
{
  atomic_store(&cupti_get()->failed_syncs, on);
  return CUPTI_SUCCESS;
}

static cupti_result silence(int domain, uint32_t id, uint8_t on)
{
  if (id >= CALLBACK_IDS) return CUPTI_ERROR_INVALID_PARAMETER;
  atomic_store(&cupti_get()->silent[domain][id], !on);
  return CUPTI_SUCCESS;
}

cupti_result cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t on);
cupti_result cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t on) { return silence(DOMAIN_RUNTIME, id, on); }
cupti_result cuptiActivityEnableDriverApi(uint32_t id, uint8_t on);
cupti_result cuptiActivityEnableDriverApi(uint32_t id, uint8_t on) { return silence(DOMAIN_DRIVER, id, on); }

cupti_result cuptiActivityRegisterCallbacks(cupti_buffer_wanted wanted, cupti_buffer_full full);
cupti_result cuptiActivityRegisterCallbacks(cupti_buffer_wanted wanted, cupti_buffer_full full)
{
  if (!wanted || !full) return CUPTI_ERROR_INVALID_PARAMETER;
  struct cupti *c = cupti_get();
  pthread_mutex_lock(&c->lock);
  c->buffer_wanted = wanted;
  c->buffer_full = full;
  pthread_mutex_unlock(&c->lock);
  return CUPTI_SUCCESS;
}

/* Work that has not ended in simulated time is not recorded yet, whatever the flag. */
cupti_result cuptiActivityFlushAll(uint32_t flag);
cupti_result cuptiActivityFlushAll(uint32_t flag)
{
  (void)flag;
  cupti_hand_over(cupti_get());
  return CUPTI_SUCCESS;
}
cupti_result cuptiActivityFlush(CUcontext context, uint32_t stream, uint32_t flag);
cupti_result cuptiActivityFlush(CUcontext context, uint32_t stream, uint32_t flag)
{
  (void)context, (void)stream;
  return cuptiActivityFlushAll(flag);
}
cupti_result cuptiActivityFlushPeriod(uint32_t milliseconds);
cupti_result cuptiActivityFlushPeriod(uint32_t milliseconds)
{
  (void)milliseconds;
  return CUPTI_SUCCESS;
}

cupti_result cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record);
cupti_result cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record)
{
  if (!buffer || !record) return CUPTI_ERROR_INVALID_PARAMETER;
  int32_t kind;
  size_t at = 0;
  if (*record) {
    at = (size_t)(*record - buffer);
    if (at >= valid) return CUPTI_ERROR_INVALID_PARAMETER;
    memcpy(&kind, *record, sizeof kind);
    at += cupti_record_bytes(kind);
  }
  if (at + sizeof kind > valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = buffer + at;
  return CUPTI_SUCCESS;
}

cupti_result cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *n);
cupti_result cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *n)
{
  (void)context, (void)stream;
  if (!n) return CUPTI_ERROR_INVALID_PARAMETER;
  struct cupti *c = cupti_get();
  pthread_mutex_lock(&c->lock);
  *n = c->dropped;
  c->dropped = 0;
  pthread_mutex_unlock(&c->lock);
  return CUPTI_SUCCESS;
}

/* Sizes of buffers on the device and the like: there are none. */
cupti_result cuptiActivitySetAttribute(int attribute, size_t *bytes, const void *value);
cupti_result cuptiActivitySetAttribute(int attribute, size_t *bytes, const void *value)
{
  (void)attribute;
  return bytes && value ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

cupti_result cuptiActivityPushExternalCorrelationId(int kind, uint64_t id);
cupti_result cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
  if (kind <= 0 || kind >= EXTERNAL_KINDS) return CUPTI_ERROR_INVALID_PARAMETER;
  struct cupti_stack *e = &cupti_thread(cupti_get())->external[kind];
  if (e->n == EXTERNAL_DEPTH) return CUPTI_ERROR_OUT_OF_MEMORY;
  e->id[e->n++] = id;
  return CUPTI_SUCCESS;
}

cupti_result cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id);
cupti_result cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id)
{
  if (kind <= 0 || kind >= EXTERNAL_KINDS) return CUPTI_ERROR_INVALID_PARAMETER;
  struct cupti_stack *e = &cupti_thread(cupti_get())->external[kind];
  if (!e->n) return CUPTI_ERROR_QUEUE_EMPTY;
  e->n--;
  if (id) *id = e->id[e->n];
  return CUPTI_SUCCESS;
}

static uint64_t host_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What the program's clock says, and when; of some tries the one that took least. */
struct reading {
  uint64_t ticks, ns;
};
static struct reading read_clock(cupti_clock clock)
{
  enum { TRIES = 5 };
  struct reading best = {0};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < TRIES; i++) {
    const uint64_t before = host_ns(), ticks = clock(), took = host_ns() - before;
    if (took < least) least = took, best = (struct reading){ticks, before + took / 2};
  }
  return best;
}

/* A program's clock may count what it likes, cycles of the processor for one. */
static double ticks_per_ns(cupti_clock clock)
{
  enum { LONG_ENOUGH_NS = 2000000 };
  const struct reading from = read_clock(clock);
  struct reading to;
  do to = read_clock(clock);
  while (to.ns < from.ns + LONG_ENOUGH_NS);
  return (double)(to.ticks - from.ticks) / (double)(to.ns - from.ns);
}

/* From now on times are put on this clock (docs/profilers.md): work begins behind what it says at the call. */
cupti_result cuptiActivityRegisterTimestampCallback(cupti_clock clock);
cupti_result cuptiActivityRegisterTimestampCallback(cupti_clock clock)
{
  if (!clock) return CUPTI_ERROR_INVALID_PARAMETER;
  struct cupti *c = cupti_get();
  atomic_store(&c->ticks_per_ns, ticks_per_ns(clock));
  atomic_store(&c->clock, clock);
  return CUPTI_SUCCESS;
}

cupti_result cuptiGetTimestamp(uint64_t *ns);
cupti_result cuptiGetTimestamp(uint64_t *ns)
{
  if (!ns) return CUPTI_ERROR_INVALID_PARAMETER;
  const cupti_clock clock = atomic_load(&cupti_get()->clock);
  struct shim *s = shim_get();
  pthread_mutex_lock(&s->lock);
  *ns = clock ? clock() : s->time.now / 1000;
  pthread_mutex_unlock(&s->lock);
  return CUPTI_SUCCESS;
}

static uint32_t number_of(const struct context *c) { return (uint32_t)c->id; }
static uint32_t device_of(const struct context *c) { return c->board->number; }

/* What is asked of a context that is there. */
static cupti_result ask(CUcontext context, uint32_t *answer, uint32_t (*of)(const struct context *))
{
  struct shim *s = shim_get();
  if (!answer) return CUPTI_ERROR_INVALID_PARAMETER;
  pthread_mutex_lock(&s->lock);
  const bool there = s->up && context_exists(s, context);
  if (there) *answer = of(context);
  pthread_mutex_unlock(&s->lock);
  return there ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

cupti_result cuptiGetContextId(CUcontext context, uint32_t *id);
cupti_result cuptiGetContextId(CUcontext context, uint32_t *id)
{
  return ask(context, id, number_of);
}

cupti_result cuptiGetDeviceId(CUcontext context, uint32_t *id);
cupti_result cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
  return ask(context, id, device_of);
}

cupti_result cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id);
cupti_result cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
  (void)context, (void)per_thread;
  struct shim *s = shim_get();
  if (!id) return CUPTI_ERROR_INVALID_PARAMETER;
  pthread_mutex_lock(&s->lock);
  struct stream *st = s->up ? stream_of(s, stream) : NULL;
  if (st) *id = (uint32_t)st->id;
  pthread_mutex_unlock(&s->lock);
  return st ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM;
}
cupti_result cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id);
cupti_result cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
  return cuptiGetStreamIdEx(context, stream, 0, id);
}
