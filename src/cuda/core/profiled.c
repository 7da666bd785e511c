#include "cuda/core/profiled.h"

#include <string.h>

#include "cuda/core/shim.h"
#include "ncu/ncu_capture.h"

/* As profilers number them: the first context is 1, its default stream 7, a stream made right behind the context 13. */
enum { FIRST_CONTEXT = 1, DEFAULT_STREAM = 7, FIRST_STREAM = 13 };

static uint64_t context_number(const struct launch_request *q)
{
  return q->context ? q->context->id : FIRST_CONTEXT;
}

static uint64_t stream_number(const struct launch_request *q)
{
  return q->stream_id ? FIRST_STREAM + q->stream_id - (FIRST_CONTEXT + 1) : DEFAULT_STREAM;
}

bool profiled_next(struct shim *s, const struct launch_request *q)
{
  return ncu_capture_next(s->profile, q->function->kernel->name, context_number(q), stream_number(q));
}

void profiled_keep(struct shim *s, const struct launch_request *q, const struct launch *launch,
                   const struct sim_result *r)
{
  const struct module_kernel *k = q->function->kernel;
  struct err e = {""};
  struct ncu_launch l = {.params = &q->function->module->board->preset.params,
                         .result = r,
                         .launch = launch,
                         .module = q->function->module->code.module,
                         .kernel = k,
                         .grid = q->grid,
                         .block = q->block,
                         .tally = s->schedulers,
                         .shared_dynamic = q->shared};
  launch_cluster(k, q->cluster, l.cluster);
  if (!ncu_capture_keep(s->profile, r->end == RUN_DONE ? &l : NULL, s->options.gpu, context_number(q), stream_number(q),
                        &e))
    shim_cannot_write(s, &e);
}

CUresult profiled_on(struct shim *s, bool on)
{
  ncu_capture_on(s->profile, on);
  return CUDA_SUCCESS;
}
