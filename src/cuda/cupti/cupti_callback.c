/* CUPTI's callback interface: one subscriber, who hears of calls of the driver and the runtime, of what they make and
 * of what they waited for (cupti_resource.c). */
#include <string.h>

#include "cuda/cupti/cupti_state.h"

struct cupti_subscriber; /* the process has one; its handle is the state */

cupti_result cuptiSubscribe(struct cupti_subscriber **out, cupti_callback callback, void *user);
cupti_result cuptiSubscribe(struct cupti_subscriber **out, cupti_callback callback, void *user)
{
  if (!out) return CUPTI_ERROR_INVALID_PARAMETER;
  struct cupti *c = cupti_get();
  pthread_mutex_lock(&c->lock);
  const bool taken = c->subscribed;
  if (!taken) c->subscribed = true, c->callback = callback, c->user = user;
  pthread_mutex_unlock(&c->lock);
  if (taken) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  *out = (struct cupti_subscriber *)c;
  return CUPTI_SUCCESS;
}

static void want(struct cupti *c, int domain, uint32_t id, bool on)
{
  if (on && domain == DOMAIN_RESOURCE) cupti_resource_begin(c);
  if (atomic_exchange(&c->wanted[domain][id], on) != on) cupti_follow(c, on);
}

/* Of NVTX and states no callback comes, nor of graphs' parts and streams' attributes. */
static bool comes(int domain, uint32_t id)
{
  return domain == DOMAIN_DRIVER || domain == DOMAIN_RUNTIME || cupti_resource_comes(domain, id);
}

/* All that come; whether any does. */
static bool want_domain(struct cupti *c, int domain, bool on)
{
  bool any = false;
  for (uint32_t id = 1; id < CALLBACK_IDS; id++) {
    if (!comes(domain, id)) continue;
    want(c, domain, id, on);
    any = true;
  }
  return any;
}

static bool is_subscriber(const struct cupti *c, const struct cupti_subscriber *handle)
{
  return (const void *)handle == (const void *)c && c->subscribed;
}

cupti_result cuptiUnsubscribe(struct cupti_subscriber *handle);
cupti_result cuptiUnsubscribe(struct cupti_subscriber *handle)
{
  struct cupti *c = cupti_get();
  if (!is_subscriber(c, handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  for (int domain = 1; domain < DOMAINS; domain++) want_domain(c, domain, false);
  pthread_mutex_lock(&c->lock);
  c->subscribed = false;
  c->callback = NULL;
  pthread_mutex_unlock(&c->lock);
  return CUPTI_SUCCESS;
}

cupti_result cuptiEnableCallback(uint32_t on, struct cupti_subscriber *handle, int domain, uint32_t id);
cupti_result cuptiEnableCallback(uint32_t on, struct cupti_subscriber *handle, int domain, uint32_t id)
{
  struct cupti *c = cupti_get();
  if (!is_subscriber(c, handle) || domain <= 0 || domain >= DOMAINS || id == 0 || id >= CALLBACK_IDS)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (comes(domain, id)) want(c, domain, id, on);
  else if (on) cupti_refuse("a callback of CUPTI that is not of calls, contexts, streams, modules or synchronisation");
  return CUPTI_SUCCESS;
}

cupti_result cuptiEnableDomain(uint32_t on, struct cupti_subscriber *handle, int domain);
cupti_result cuptiEnableDomain(uint32_t on, struct cupti_subscriber *handle, int domain)
{
  struct cupti *c = cupti_get();
  if (!is_subscriber(c, handle) || domain <= 0 || domain >= DOMAINS) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!want_domain(c, domain, on) && on) cupti_refuse("callbacks of CUPTI of NVTX or states");
  return CUPTI_SUCCESS;
}

cupti_result cuptiEnableAllDomains(uint32_t on, struct cupti_subscriber *handle);
cupti_result cuptiEnableAllDomains(uint32_t on, struct cupti_subscriber *handle)
{
  cupti_result r = CUPTI_SUCCESS;
  for (int domain = DOMAIN_DRIVER; domain <= DOMAIN_SYNCHRONIZE && r == CUPTI_SUCCESS; domain++)
    r = cuptiEnableDomain(on, handle, domain);
  return r;
}

cupti_result cuptiGetCallbackState(uint32_t *on, struct cupti_subscriber *handle, int domain, uint32_t id);
cupti_result cuptiGetCallbackState(uint32_t *on, struct cupti_subscriber *handle, int domain, uint32_t id)
{
  struct cupti *c = cupti_get();
  if (!on || !is_subscriber(c, handle) || domain <= 0 || domain >= DOMAINS || id >= CALLBACK_IDS)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *on = atomic_load(&c->wanted[domain][id]);
  return CUPTI_SUCCESS;
}

cupti_result cuptiGetCallbackName(int domain, uint32_t id, const char **name);
cupti_result cuptiGetCallbackName(int domain, uint32_t id, const char **name)
{
  const struct cupti_call *f = cupti_call_of(domain, id);
  if (!name || !f) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = f->name;
  return CUPTI_SUCCESS;
}

/* Nothing is followed any more, and nobody subscribed; what was recorded is handed over. */
cupti_result cuptiFinalize(void);
cupti_result cuptiFinalize(void)
{
  struct cupti *c = cupti_get();
  for (int kind = 0; kind < KINDS; kind++)
    if (atomic_exchange(&c->enabled[kind], false)) cupti_follow(c, false);
  cuptiUnsubscribe((struct cupti_subscriber *)c);
  cupti_hand_over(c);
  return CUPTI_SUCCESS;
}

cupti_result cuptiGetVersion(uint32_t *version);
cupti_result cuptiGetVersion(uint32_t *version)
{
  if (!version) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = CUPTI_VERSION;
  return CUPTI_SUCCESS;
}

cupti_result cuptiGetResultString(cupti_result r, const char **text);
cupti_result cuptiGetResultString(cupti_result r, const char **text)
{
  static const struct {
    cupti_result r;
    const char *text;
  } all[] = {
#define RESULT(name) {name, #name}
    RESULT(CUPTI_SUCCESS), RESULT(CUPTI_ERROR_INVALID_PARAMETER), RESULT(CUPTI_ERROR_INVALID_DEVICE),
    RESULT(CUPTI_ERROR_INVALID_CONTEXT), RESULT(CUPTI_ERROR_OUT_OF_MEMORY),
    RESULT(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT), RESULT(CUPTI_ERROR_MAX_LIMIT_REACHED),
    RESULT(CUPTI_ERROR_NOT_INITIALIZED), RESULT(CUPTI_ERROR_QUEUE_EMPTY), RESULT(CUPTI_ERROR_INVALID_STREAM),
    RESULT(CUPTI_ERROR_INVALID_KIND), RESULT(CUPTI_ERROR_NOT_SUPPORTED),
    RESULT(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED), RESULT(CUPTI_ERROR_UNKNOWN),
#undef RESULT
  };
  if (!text) return CUPTI_ERROR_INVALID_PARAMETER;
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (all[i].r != r) continue;
    *text = all[i].text;
    return CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_PARAMETER;
}
cupti_result cuptiGetErrorMessage(cupti_result r, const char **text);
cupti_result cuptiGetErrorMessage(cupti_result r, const char **text) { return cuptiGetResultString(r, text); }
