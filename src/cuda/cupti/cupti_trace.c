/* What happens, as records and callbacks. */
#include <string.h>
#include <unistd.h>

#include "cuda/core/context.h"
#include "cuda/core/copy.h"
#include "cuda/core/kernel.h"
#include "cuda/core/task.h"
#include "cuda/cupti/cupti_state.h"

/* Records are handed over by the program's calls from so many bytes on. */
enum { MANY_BYTES = 4 << 20, PS_IN_NS = 1000 };

uint64_t cupti_when(struct cupti *c, const struct call_mark *m, uint64_t ps)
{
  const uint64_t since = ps > m->begin ? ps - m->begin : 0;
  if (!m->begin && !m->clock) return ps / PS_IN_NS;
  return m->clock + (uint64_t)((double)since / PS_IN_NS * atomic_load(&c->ticks_per_ns));
}

static bool is_on(struct cupti *c, int kind) { return atomic_load(&c->enabled[kind]); }

/* Calls -------------------------------------------------------------------------------------------- */

void cupti_call_back(struct cupti *c, int domain, uint32_t id, const void *data)
{
  if (!atomic_load(&c->wanted[domain][id])) return;
  pthread_mutex_lock(&c->lock);
  const cupti_callback callback = c->callback;
  void *user = c->user;
  pthread_mutex_unlock(&c->lock);
  if (callback) callback(user, domain, id, data);
}

/* The kernel that a call launches: of the runtime a host function or a handle, of the driver a function, and where it
 * stands among the arguments. With the shim's lock. NULL: it launches none that is known. */
static const char *symbol_of(struct shim *s, const struct traced_call *t)
{
  static const struct {
    const char *function;
    unsigned argument;
  } launches[] = {{"cuLaunchKernel", 0}, {"cuLaunchCooperativeKernel", 0}, {"cuLaunchKernelEx", 1},
                  {"__cudaLaunchKernel", 0}, {"cudaLaunchKernel", 0}, {"cudaLaunchCooperativeKernel", 0},
                  {"cudaLaunchKernelExC", 1}};
  for (unsigned i = 0; t->arguments && i < sizeof launches / sizeof launches[0]; i++) {
    if (strcmp(launches[i].function, t->name) != 0) continue;
    const struct function *f = ((const struct function *const *)t->arguments)[launches[i].argument];
    if (module_is_function(s, f)) return f->kernel->name;
    return s->registered_name ? s->registered_name(s, f) : NULL;
  }
  return NULL;
}

static void call_back(struct cupti *c, struct traced_call *t, const struct cupti_call *f, int site, CUresult *r)
{
  if (!atomic_load(&c->wanted[f->domain][f->id])) return;
  struct shim *s = shim_get();
  pthread_mutex_lock(&s->lock);
  struct context *context = s->up ? context_current(s) : NULL;
  const char *symbol = s->up ? symbol_of(s, t) : NULL;
  pthread_mutex_unlock(&s->lock);
  /* The driver's launch inside of the runtime's has other arguments, which nobody made. */
  const bool inner = strcmp(f->function, t->name) != 0;
  /* What nvcc 13 puts in the place of cudaLaunchKernel is told of as that. */
  const char *name = f->function + (f->function[0] == '_' ? 2 : 0);
  struct cupti_callback_data d = { .site = site, .function = name, .params = inner ? NULL : t->arguments, .result = r,
                                   .symbol = symbol, .context = context,
                                   .context_id = context ? (uint32_t)context->id : 0, .data = &t->data,
                                   .correlation = t->mark.number };
  cupti_call_back(c, f->domain, f->id, &d);
}

/* The function of the driver that a launch by the runtime calls in its turn, of which callbacks come, too, with the
 * same number. NULL: another function. */
static const struct cupti_call *inner_call(const struct cupti_call *f)
{
  static const char *const pairs[][2] = {
    {"__cudaLaunchKernel", "cuLaunchKernel"}, {"__cudaLaunchKernel_ptsz", "cuLaunchKernel_ptsz"},
    {"cudaLaunchKernel", "cuLaunchKernel"}, {"cudaLaunchKernel_ptsz", "cuLaunchKernel_ptsz"},
    {"cudaLaunchKernelExC", "cuLaunchKernelEx"}, {"cudaLaunchKernelExC_ptsz", "cuLaunchKernelEx_ptsz"},
    {"cudaLaunchCooperativeKernel", "cuLaunchCooperativeKernel"},
    {"cudaLaunchCooperativeKernel_ptsz", "cuLaunchCooperativeKernel_ptsz"}};
  for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    if (strcmp(pairs[i][0], f->function) == 0) return cupti_find_call(pairs[i][1]);
  return NULL;
}

static void enter(struct tracer *tracer, struct traced_call *t)
{
  struct cupti *c = (struct cupti *)tracer;
  const struct cupti_call *f = cupti_find_call(t->name);
  if (!f) return;
  cupti_ask_ahead(c);
  t->mark.number = atomic_fetch_add(&c->calls, 1) + 1;
  const cupti_clock clock = atomic_load(&c->clock);
  t->clocked = clock != NULL;
  if (clock) t->mark.clock = clock();
  const struct cupti_call *inner = inner_call(f);
  call_back(c, t, f, SITE_ENTER, NULL);
  if (inner) call_back(c, t, inner, SITE_ENTER, NULL);
  cupti_resource_enter(c, t);
}

/* The newest external number of each kind that the thread has pushed. */
static void keep_external(struct cupti *c, uint32_t correlation)
{
  struct cupti_thread *thread = cupti_thread(c);
  for (int kind = 0; kind < EXTERNAL_KINDS; kind++) {
    const struct cupti_stack *e = &thread->external[kind];
    if (!e->n) continue;
    const struct cupti_external_record r = { .kind = KIND_EXTERNAL, .external_kind = kind, .id = e->id[e->n - 1],
                                             .correlation = correlation };
    cupti_keep(c, &r, sizeof r);
  }
}

static void leave(struct tracer *tracer, struct traced_call *t, CUresult result)
{
  struct cupti *c = (struct cupti *)tracer;
  const struct cupti_call *f = cupti_find_call(t->name);
  const struct cupti_call *inner = inner_call(f);
  cupti_resource_leave(c, t, result);
  if (inner) call_back(c, t, inner, SITE_EXIT, &result);
  call_back(c, t, f, SITE_EXIT, &result);
  const int kind = f->domain == DOMAIN_RUNTIME ? KIND_RUNTIME : KIND_DRIVER;
  if (!is_on(c, kind) || atomic_load(&c->silent[f->domain][f->id])) return;
  const struct cupti_api_record r = { .kind = kind, .cbid = f->id, .start = cupti_when(c, &t->mark, t->begin),
                                      .end = cupti_when(c, &t->mark, t->end), .process = (uint32_t)getpid(),
                                      .thread = (uint32_t)(uintptr_t)pthread_self(), .correlation = t->mark.number,
                                      .result = (uint32_t)result };
  if (is_on(c, KIND_EXTERNAL)) keep_external(c, t->mark.number);
  cupti_keep(c, &r, sizeof r);
  pthread_mutex_lock(&c->lock);
  const bool many = c->bytes >= MANY_BYTES && c->buffer_wanted;
  pthread_mutex_unlock(&c->lock);
  if (many) cupti_hand_over(c);
}

/* Work --------------------------------------------------------------------------------------------- */

static void kernel(struct tracer *tracer, const struct launch_request *q, uint64_t begin, uint64_t end)
{
  struct cupti *c = (struct cupti *)tracer;
  if (!is_on(c, KIND_KERNEL) && !is_on(c, KIND_CONCURRENT_KERNEL)) return;
  const struct module_kernel *k = q->function->kernel;
  struct cupti_kernel_record r = {
    .kind = is_on(c, KIND_CONCURRENT_KERNEL) ? KIND_CONCURRENT_KERNEL : KIND_KERNEL, .registers = (uint16_t)k->regs,
    .start = cupti_when(c, &q->call, begin), .end = cupti_when(c, &q->call, end),
    .completed = cupti_when(c, &q->call, end),
    .device = q->function->module->board->number, .context = q->context ? (uint32_t)q->context->id : 0,
    .stream = (uint32_t)q->stream_id, .shared_static = (int32_t)k->shared_static, .shared_dynamic = (int32_t)q->shared,
    .local_thread = k->stack_bytes, .correlation = q->call.number, .grid_id = (int64_t)q->number,
    .name = cupti_keep_name(c, k->name), .shared_executed = k->shared_static + q->shared };
  for (int i = 0; i < 3; i++) {
    r.grid[i] = (int32_t)q->grid[i];
    r.block[i] = (int32_t)q->block[i];
    r.cluster[i] = q->cluster[i];
  }
  cupti_keep(c, &r, sizeof r);
}

static void copied(struct cupti *c, const struct task *w)
{
  const struct copy *p = &w->op.memcpy.copy;
  const bool to = p->dst.device, from = p->src.device;
  const uint8_t of_host = copy_is_pageable(w->shim, p) ? MEMORY_PAGEABLE : MEMORY_PINNED;
  const struct cupti_copy_record r = {
    .kind = KIND_MEMCPY, .copy_kind = to ? (from ? COPY_DTOD : COPY_HTOD) : from ? COPY_DTOH : COPY_HTOH,
    .src_kind = from ? MEMORY_DEVICE : of_host, .dst_kind = to ? MEMORY_DEVICE : of_host,
    .flags = of_host == MEMORY_PINNED ? FLAG_ASYNC : 0, .bytes = copy_size(p),
    .start = cupti_when(c, &w->call, w->command.begin), .end = cupti_when(c, &w->call, w->command.end),
    .device = w->command.gpu, .context = 1, .stream = (uint32_t)w->stream_id,
    .correlation = w->call.number, .copies = 1 };
  cupti_keep(c, &r, sizeof r);
}

static void filled(struct cupti *c, const struct task *w)
{
  const struct fill *p = &w->op.memset;
  const struct cupti_fill_record r = {
    .kind = KIND_MEMSET, .value = p->value, .bytes = p->width * p->height,
    .start = cupti_when(c, &w->call, w->command.begin), .end = cupti_when(c, &w->call, w->command.end),
    .device = w->command.gpu, .context = 1, .stream = (uint32_t)w->stream_id,
    .correlation = w->call.number, .memory_kind = p->to.device ? MEMORY_DEVICE : MEMORY_PINNED };
  cupti_keep(c, &r, sizeof r);
}

static void moved(struct tracer *tracer, const struct task *w)
{
  struct cupti *c = (struct cupti *)tracer;
  if (w->op.type == NODE_MEMCPY && is_on(c, KIND_MEMCPY)) copied(c, w);
  if (w->op.type == NODE_MEMSET && is_on(c, KIND_MEMSET)) filled(c, w);
}

void cupti_tracer_init(struct cupti *c)
{
  c->tracer = (struct tracer){ .enter = enter, .leave = leave, .kernel = kernel, .moved = moved };
}
