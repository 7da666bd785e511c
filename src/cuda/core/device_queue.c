#include "cuda/core/device_queue.h"

#include <stdlib.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "cuda/core/attributes.h"
#include "cuda/core/graph_nested.h"
#include "cuda/core/context_limit.h"
#include "cuda/core/shim.h"
#include "cuda/core/version.h"
#include "load/target.h"

enum {
  MAX_DEPTH = 24, /* CUDA programming guide, "Nesting Depth" */
  NON_BLOCKING = 1, NO_TIMING = 2, /* cudaStreamNonBlocking, cudaEventDisableTiming: nothing else is allowed */
  HANDLE_FIRST = 16, /* below: the NULL stream's names */
};

enum handle_kind { HANDLE_DEAD, HANDLE_STREAM, HANDLE_EVENT };

/* Grids ---------------------------------------------------------------------------------------- */

static uint64_t call(void *ctx, const struct device_call *);

struct device_family *device_family_new(struct shim *s, const struct context *c)
{
  struct device_family *f = shim_alloc(sizeof *f);
  *f = (struct device_family){ .shim = s };
  for (int i = 0; i < LIMIT__N; i++) context_limit_of(c, &f->limit[i], i);
  return f;
}

struct device_grid *device_grid_new(struct device_family *f, struct loaded_module *m, unsigned depth)
{
  struct device_grid *g = shim_alloc(sizeof *g);
  *g = (struct device_grid){ .calls = { g, call }, .work = f, .module = m, .depth = depth, .users = 1 };
  f->users++;
  g->last = &g->first;
  g->last_tail = &g->tails;
  return g;
}

struct device_grid *device_grid_hold(struct device_grid *g)
{
  g->users++;
  return g;
}

void device_grid_drop(struct device_grid *g)
{
  if (!g || --g->users) return;
  for (size_t i = 0; i < g->n_clocks; i++) command_drop(g->clocks[i].last);
  if (!--g->work->users) free(g->work);
  free(g->clocks);
  free(g->handle);
  free(g);
}

size_t device_grid_clock(struct device_grid *g, uint64_t cta, uint64_t handle)
{
  for (size_t i = g->n_clocks; i-- > 0;) /* mostly one of the last */
    if (g->clocks[i].cta == cta && g->clocks[i].handle == handle) return i;
  g->clocks = realloc(g->clocks, (g->n_clocks + 1) * sizeof *g->clocks);
  NO_MEMORY_IF(!g->clocks);
  g->clocks[g->n_clocks] = (struct device_clock){ cta, handle, NULL };
  return g->n_clocks++;
}

/* Queueing --------------------------------------------------------------------------------------- */

static uint64_t fails(const struct device_call *c, CUresult r)
{
  if (r != CUDA_SUCCESS) *c->last_error = (uint16_t)r;
  return r;
}

static struct device_op *op_new(struct device_grid *g, const struct device_call *c, enum device_op_kind kind)
{
  struct device_op *op = shim_alloc(sizeof *op);
  op->kind = kind;
  op->grid = device_grid_hold(g);
  op->cta = c->cta;
  return op;
}

void device_op_free(struct device_op *op)
{
  struct device_family *f = op->grid->work;
  if (op->buffer) {
    gmem_release(op->grid->module->board->device.mem, op->buffer);
    f->pending--;
  }
  device_grid_drop(op->grid);
  free(op);
}

static bool is_handle(const struct device_grid *g, uint64_t h, enum handle_kind kind)
{
  return h >= HANDLE_FIRST && h - HANDLE_FIRST < g->n_handles && g->handle[h - HANDLE_FIRST] == kind;
}

/* A stream as the kernel named it. */
static bool is_stream(const struct device_grid *g, uint64_t h)
{
  return h <= STREAM_FORGET || is_handle(g, h, HANDLE_STREAM);
}

/* Somebody is to give what the grid, which runs, has queued. */
static void list(struct device_grid *g)
{
  struct shim *s = g->work->shim;
  if (!g->beside || g->listed) return;
  struct device_grid **at = &s->device_queued; /* in the order of their calls */
  while (*at) at = &(*at)->next_queued;
  *at = device_grid_hold(g);
  g->next_queued = NULL;
  g->listed = true;
}

void device_grid_unlist(struct device_grid *g)
{
  if (!g->listed) return;
  struct device_grid **at = &g->work->shim->device_queued;
  while (*at != g) at = &(*at)->next_queued;
  *at = g->next_queued;
  g->listed = false;
  device_grid_drop(g);
}

struct device_op *device_grid_next(struct device_grid *g)
{
  struct device_op *op = g->first;
  if (!op) return NULL;
  g->first = op->next;
  if (!g->first) g->last = &g->first;
  return op;
}

static uint64_t queue(struct device_grid *g, const struct device_call *c, struct device_op *op, uint64_t stream)
{
  if (stream >= HANDLE_FIRST) op->cta = 0;
  op->stream = stream < STREAM_TAIL ? 0 : stream;
  op->next = NULL;
  struct device_op ***last = stream == STREAM_TAIL ? &g->last_tail : &g->last;
  **last = op;
  *last = &op->next;
  if (stream != STREAM_TAIL) list(g);
  return fails(c, CUDA_SUCCESS);
}

static struct function *function_at(struct device_grid *g, uint64_t pc)
{
  const struct module *m = g->module->code.module;
  struct function *f = NULL;
  for (unsigned i = 0; i < module_kernel_count(m); i++) {
    const struct module_kernel *k = module_kernel_at(m, i);
    if (k->entry_pc == pc) return module_get_function(g->work->shim, g->module, k->name, &f) ? NULL : f;
  }
  return NULL;
}

/* Takes a parameter buffer; 0: more than parameters can be, the launches that wait are too many, or there
 * is no memory. */
static uint64_t reserve(struct device_grid *g, const struct device_call *c, const struct launch_request *q,
                        uint64_t bytes)
{
  struct device_family *w = g->work;
  if (bytes > PARAM_LIMIT) {
    fails(c, CUDA_ERROR_INVALID_VALUE);
    return 0;
  }
  if (w->pending >= w->limit[LIMIT_PENDING_LAUNCHES]) {
    fails(c, cudaErrorLaunchPendingCountExceeded);
    return 0;
  }
  uint64_t buffer = gmem_alloc(g->module->board->device.mem, bytes ? bytes : 1, "parameters of a launch by a kernel");
  if (!buffer) {
    fails(c, CUDA_ERROR_OUT_OF_MEMORY);
    return 0;
  }
  w->pending++;
  struct device_op *op = op_new(g, c, OP_KERNEL);
  op->q = *q;
  op->buffer = buffer;
  op->next = g->reserved;
  g->reserved = op;
  return buffer;
}

/* arg: function, grid, block, dynamic shared memory */
static CUresult read_launch(struct device_grid *g, const uint64_t *arg, const uint64_t *dims,
                            struct launch_request *q)
{
  *q = (struct launch_request){ .function = function_at(g, arg[0]), .shared = (uint32_t)dims[6] };
  if (!q->function) return cudaErrorInvalidDeviceFunction;
  for (unsigned i = 0; i < 3; i++) {
    q->grid[i] = (uint32_t)dims[i];
    q->block[i] = (uint32_t)dims[3 + i];
  }
  kernel_own_block(q);
  return kernel_check(q);
}

static uint64_t get_buffer_v2(struct device_grid *g, const struct device_call *c)
{
  struct launch_request q;
  CUresult r = read_launch(g, c->arg, c->arg + 1, &q);
  if (r == CUDA_SUCCESS) return reserve(g, c, &q, q.function->kernel->param_bytes);
  fails(c, r);
  return 0;
}

/* The reserved launch of a buffer, which is launched now. */
static uint64_t launch(struct device_grid *g, const struct device_call *c, struct device_op **at, uint64_t stream)
{
  struct device_op *op = *at;
  if (!is_stream(g, stream)) return fails(c, CUDA_ERROR_INVALID_HANDLE);
  if (stream != STREAM_TAIL && g->depth >= MAX_DEPTH) return fails(c, cudaErrorLaunchMaxDepthExceeded);
  *at = op->next;
  op->cta = c->cta;
  return queue(g, c, op, stream);
}

static struct device_op **reserved(struct device_grid *g, uint64_t buffer)
{
  struct device_op **at = &g->reserved;
  while (*at && (*at)->buffer != buffer) at = &(*at)->next;
  return at;
}

static uint64_t launch_v2(struct device_grid *g, const struct device_call *c)
{
  struct device_op **at = reserved(g, c->arg[0]);
  if (!*at || !(*at)->q.function) return fails(c, CUDA_ERROR_INVALID_VALUE);
  return launch(g, c, at, c->arg[1]);
}

/* The first form: the launch is described here, and its buffer may be missing when there are no
 * parameters. */
static uint64_t launch_v1(struct device_grid *g, const struct device_call *c)
{
  struct launch_request q;
  CUresult r = read_launch(g, c->arg, c->arg + 2, &q);
  uint64_t buffer = c->arg[1];
  if (r != CUDA_SUCCESS) return fails(c, r);
  if (!buffer && q.function->kernel->param_bytes) return fails(c, CUDA_ERROR_INVALID_VALUE);
  if (!buffer && !(buffer = reserve(g, c, &q, 0))) return *c->last_error;
  struct device_op **at = reserved(g, buffer);
  if (!*at || gmem_allocated(g->module->board->device.mem, buffer) < q.function->kernel->param_bytes)
    return fails(c, CUDA_ERROR_INVALID_VALUE);
  (*at)->q = q;
  return launch(g, c, at, c->arg[9]);
}

static uint64_t queue_copy(struct device_grid *g, const struct device_call *c, bool rows)
{
  const uint64_t *a = c->arg;
  enum { DEVICE_TO_DEVICE = 3, DEFAULT = 4 };
  uint64_t kind = rows ? a[6] : a[3], stream = rows ? a[7] : a[4];
  if (!is_stream(g, stream)) return fails(c, CUDA_ERROR_INVALID_HANDLE);
  if (kind != DEVICE_TO_DEVICE && kind != DEFAULT) return fails(c, cudaErrorInvalidMemcpyDirection);
  if (rows && (a[1] < a[4] || a[3] < a[4])) return fails(c, cudaErrorInvalidPitchValue);
  struct device_op *op = op_new(g, c, OP_COPY);
  op->to = a[0];
  op->from = rows ? a[2] : a[1];
  op->width = rows ? a[4] : a[2];
  op->height = rows ? a[5] : 1;
  op->pitch_to = a[1];
  op->pitch_from = a[3];
  return queue(g, c, op, stream);
}

static uint64_t queue_fill(struct device_grid *g, const struct device_call *c, bool rows)
{
  const uint64_t *a = c->arg;
  uint64_t stream = rows ? a[5] : a[3];
  if (!is_stream(g, stream)) return fails(c, CUDA_ERROR_INVALID_HANDLE);
  if (rows && a[1] < a[3]) return fails(c, cudaErrorInvalidPitchValue);
  struct device_op *op = op_new(g, c, OP_FILL);
  op->to = a[0];
  op->pitch_to = a[1];
  op->value = (uint8_t)(rows ? a[2] : a[1]);
  op->width = rows ? a[3] : a[2];
  op->height = rows ? a[4] : 1;
  return queue(g, c, op, stream);
}

static uint64_t queue_event(struct device_grid *g, const struct device_call *c, enum device_op_kind kind)
{
  uint64_t event = kind == OP_RECORD ? c->arg[0] : c->arg[1], stream = kind == OP_RECORD ? c->arg[1] : c->arg[0];
  if (!is_handle(g, event, HANDLE_EVENT) || !is_stream(g, stream) || stream == STREAM_TAIL ||
      stream == STREAM_FORGET)
    return fails(c, CUDA_ERROR_INVALID_HANDLE);
  struct device_op *op = op_new(g, c, kind);
  op->event = event;
  return queue(g, c, op, stream);
}

/* Answers ---------------------------------------------------------------------------------------- */

static uint64_t answer(const struct device_call *c, const void *value, size_t bytes)
{
  return fails(c, device_call_write(c, c->arg[0], value, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

static uint64_t answer_int(const struct device_call *c, int value)
{
  return answer(c, &value, sizeof value);
}

static uint64_t create(struct device_grid *g, const struct device_call *c, enum handle_kind kind, unsigned flags)
{
  if (c->arg[1] != flags) return fails(c, CUDA_ERROR_INVALID_VALUE);
  uint64_t h = HANDLE_FIRST + g->n_handles;
  if (answer(c, &h, sizeof h) != CUDA_SUCCESS) return *c->last_error;
  g->handle = realloc(g->handle, g->n_handles + 1);
  NO_MEMORY_IF(!g->handle);
  g->handle[g->n_handles++] = (uint8_t)kind;
  return CUDA_SUCCESS;
}

static uint64_t destroy(struct device_grid *g, const struct device_call *c, enum handle_kind kind)
{
  if (!is_handle(g, c->arg[0], kind)) return fails(c, CUDA_ERROR_INVALID_HANDLE);
  g->handle[c->arg[0] - HANDLE_FIRST] = HANDLE_DEAD;
  return CUDA_SUCCESS;
}

static uint64_t attribute(struct device_grid *g, const struct device_call *c)
{
  int value;
  const struct board *b = board_at(g->work->shim, (int)c->arg[2]);
  if (!b) return fails(c, CUDA_ERROR_INVALID_DEVICE);
  if (!device_attribute(b, (int)c->arg[1], &value))
    return fails(c, CUDA_ERROR_INVALID_VALUE);
  return answer_int(c, value);
}

static uint64_t limit(struct device_grid *g, const struct device_call *c)
{
  if (c->arg[1] >= LIMIT__N) return fails(c, CUDA_ERROR_UNSUPPORTED_LIMIT);
  return answer(c, &g->work->limit[c->arg[1]], sizeof(uint64_t));
}

static uint64_t function_attributes(struct device_grid *g, const struct device_call *c)
{
  const struct function *f = function_at(g, c->arg[1]);
  cudaFuncAttributes a = {0};
  if (!f) return fails(c, cudaErrorInvalidDeviceFunction);
  kernel_attributes(f, &a);
  return answer(c, &a, sizeof a);
}

static uint64_t occupancy(struct device_grid *g, const struct device_call *c)
{
  const struct function *f = function_at(g, c->arg[1]);
  int ctas;
  if (!f) return fails(c, cudaErrorInvalidDeviceFunction);
  CUresult r = kernel_occupancy(f, (int)c->arg[2], c->arg[3], &ctas);
  return r == CUDA_SUCCESS ? answer_int(c, ctas) : fails(c, r);
}

static uint64_t take_memory(const struct device_call *c)
{
  uint64_t p = device_call_take(c, c->arg[1]);
  if (!p && c->arg[1]) return fails(c, CUDA_ERROR_OUT_OF_MEMORY);
  if (answer(c, &p, sizeof p) == CUDA_SUCCESS) return CUDA_SUCCESS;
  device_call_give(c, p);
  return *c->last_error;
}

static uint64_t free_memory(const struct device_call *c)
{
  bool ok = !c->arg[0] || device_call_give(c, c->arg[0]);
  return fails(c, ok ? CUDA_SUCCESS : cudaErrorInvalidDevicePointer);
}

static uint64_t last_error(const struct device_call *c, bool clear)
{
  uint16_t r = *c->last_error;
  if (clear) *c->last_error = 0;
  return r;
}

static uint64_t call(void *ctx, const struct device_call *c)
{
  struct device_grid *g = ctx;
  switch (c->number) {
  case DEVICE_GET_PARAMETER_BUFFER:
    return reserve(g, c, &(struct launch_request){ .function = NULL }, c->arg[1]);
  case DEVICE_GET_PARAMETER_BUFFER_V2: return get_buffer_v2(g, c);
  case DEVICE_LAUNCH_DEVICE: return launch_v1(g, c);
  case DEVICE_LAUNCH_DEVICE_V2: return launch_v2(g, c);
  case DEVICE_STREAM_CREATE: return create(g, c, HANDLE_STREAM, NON_BLOCKING);
  case DEVICE_STREAM_DESTROY: return destroy(g, c, HANDLE_STREAM);
  case DEVICE_STREAM_WAIT_EVENT: return queue_event(g, c, OP_WAIT);
  case DEVICE_EVENT_CREATE: return create(g, c, HANDLE_EVENT, NO_TIMING);
  case DEVICE_EVENT_RECORD:
  case DEVICE_EVENT_RECORD_FLAGS: return queue_event(g, c, OP_RECORD);
  case DEVICE_EVENT_DESTROY: return destroy(g, c, HANDLE_EVENT);
  case DEVICE_MEMCPY: return queue_copy(g, c, false);
  case DEVICE_MEMCPY_2D: return queue_copy(g, c, true);
  case DEVICE_MEMSET: return queue_fill(g, c, false);
  case DEVICE_MEMSET_2D: return queue_fill(g, c, true);
  case DEVICE_GET_LAST_ERROR: return last_error(c, true);
  case DEVICE_PEEK_AT_LAST_ERROR: return last_error(c, false);
  case DEVICE_GET_DEVICE_COUNT: return answer_int(c, 1);
  case DEVICE_GET_DEVICE:
  case DEVICE_GET_CACHE_CONFIG:
  case DEVICE_GET_SHARED_CONFIG: return answer_int(c, 0);
  case DEVICE_RUNTIME_VERSION: return answer_int(c, CUDA_API_VERSION);
  case DEVICE_GET_ATTRIBUTE: return attribute(g, c);
  case DEVICE_GET_LIMIT: return limit(g, c);
  case DEVICE_FUNC_ATTRIBUTES: return function_attributes(g, c);
  case DEVICE_OCCUPANCY:
  case DEVICE_OCCUPANCY_FLAGS: return occupancy(g, c);
  case DEVICE_MALLOC: return take_memory(c);
  case DEVICE_FREE: return free_memory(c);
  case DEVICE_GRAPH_LAUNCH: return fails(c, graph_launch_from_kernel(g->work->shim, g->run, c->arg[0], c->arg[1]));
  default: return fails(c, CUDA_ERROR_NOT_SUPPORTED);
  }
}

/* The grid ---------------------------------------------------------------------------------------- */

static void free_all(struct device_op **list)
{
  for (struct device_op *op; (op = *list) != NULL;) {
    *list = op->next;
    device_op_free(op);
  }
}

void device_grid_close(struct device_grid *g, bool well)
{
  device_grid_hold(g); /* the last operation may be the last that holds it */
  free_all(&g->reserved);
  if (!well) {
    free_all(&g->first);
    free_all(&g->tails);
    g->last = &g->first;
    g->last_tail = &g->tails;
  }
  device_grid_drop(g);
}
