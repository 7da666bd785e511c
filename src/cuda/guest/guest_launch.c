/* Launches of a program on a simulated CPU: where a kernel's parameters end is in its code alone. */
#include "cuda/core/call.h"
#include "cuda/core/modules.h"
#include "cuda/guest/guest_call.h"
#include "cuda/runtime/runtime.h"

enum { MOST_ATTRIBUTES = 64 };

/* Brings the GPU up, as the launch itself. */
static CUresult find(struct shim *s, const void *function, struct function **out)
{
  CUresult r = shim_up(s);
  if (r == CUDA_SUCCESS) r = rt_function(s, function, out);
  return r;
}

static const struct module_kernel *kernel_of(struct guest_call *c, const void *function)
{
  struct function *f = NULL;
  pthread_mutex_lock(&c->shim->lock);
  const CUresult r = find(c->shim, function, &f);
  pthread_mutex_unlock(&c->shim->lock);
  if (r != CUDA_SUCCESS) guest_refuse(c, r);
  return f->kernel;
}

void **guest_params(struct guest_call *c, unsigned i, unsigned function)
{
  if (!c->a[i]) return NULL;
  const struct module_kernel *k = kernel_of(c, guest_function(c, function));
  void **to = ARENA_ARRAY(&c->scratch, void *, k->n_params + 1);
  const uint64_t *at = guest_fetch(c, c->a[i], k->n_params * sizeof *at);
  for (unsigned p = 0; p < k->n_params; p++) to[p] = guest_fetch(c, at[p], k->param[p].bytes);
  return to;
}

const cudaLaunchConfig_t *guest_config(struct guest_call *c, unsigned i)
{
  if (!c->a[i]) return NULL;
  cudaLaunchConfig_t *l = guest_fetch(c, c->a[i], sizeof *l);
  const uint64_t stream = (uint64_t)(uintptr_t)l->stream, attributes = (uint64_t)(uintptr_t)l->attr;
  if (l->n_attrs > MOST_ATTRIBUTES) guest_refuse(c, CUDA_ERROR_INVALID_VALUE);
  l->attr = attributes && l->n_attrs ? guest_fetch(c, attributes, l->n_attrs * sizeof *l->attr) : NULL;
  if (stream > (uint64_t)(uintptr_t)STREAM_PER_THREAD) {
    l->stream = guest_handles_find(c->handles, stream, GUEST_CUstream);
    if (!l->stream) guest_refuse(c, CUDA_ERROR_INVALID_HANDLE);
  }
  return l;
}
