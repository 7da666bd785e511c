#include "cuda/core/device_work.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "cuda/core/checked.h"
#include "cuda/core/device_queue.h"
#include "cuda/core/kernel_run.h"
#include "cuda/core/operation.h"
#include "cuda/core/shim.h"

enum { PS_PER_NS = 1000, CHUNK = 1 << 16 };

/* The clock that a piece of work goes on with; NULL: nothing waits for its stream. */
static struct device_clock *stream_clock(const struct device_op *op)
{
  if (op->stream == STREAM_FORGET || op->stream == STREAM_TAIL) return NULL;
  size_t i = device_grid_clock(op->grid, op->cta, op->stream);
  return &op->grid->clocks[i];
}

/* When the work can start, by the grid that queued it and its stream. */
static uint64_t ready(const struct shim *s, const struct device_op *op)
{
  const struct device_clock *c = stream_clock(op);
  uint64_t latency = (uint64_t)s->preset.params.host_device_launch_ns * PS_PER_NS;
  uint64_t from = op->stream == STREAM_TAIL ? op->grid->done : op->grid->ended;
  return later(from + latency, c ? c->done : 0);
}

/* The grid of a launch by a kernel. A tail launch of a tail launch stands beside it: chains of those, which may
 * be long, have no depth. */
static struct device_grid *grid_of(const struct device_op *op)
{
  struct device_grid *g = shim_alloc(sizeof *g), *from = op->grid;
  bool tail = op->stream == STREAM_TAIL;
  const struct device_clock *c = stream_clock(op);
  g->tail = tail;
  g->parent = device_grid_use(tail && from->tail ? from->parent : from);
  g->clock = c ? (size_t)(c - from->clocks) + 1 : 0;
  g->depth = tail && from->depth ? from->depth : from->depth + 1;
  return g;
}

static void run_kernel(struct shim *s, struct device_op *op, struct stream *lane)
{
  struct device_work *w = op->grid->work;
  uint32_t bytes = op->q.function->kernel->param_bytes;
  uint8_t *packed = shim_alloc(bytes + 1);
  BUG_ON(!gmem_read(s->device.mem, op->buffer, packed, bytes));
  gmem_release(s->device.mem, op->buffer);
  op->buffer = 0;
  w->pending--;
  op->q.packed = packed;
  op->q.packed_bytes = bytes;
  op->q.stream = lane;
  struct device_grid *g = grid_of(op);
  device_grid_begin(g, w, op->grid->module);
  CUresult r = kernel_run(s, &op->q, g, op->grid->number);
  device_grid_end(g, s->record.n, lane->clock.done);
  free(packed);
  if (r == CUDA_SUCCESS || s->fault.code != CUDA_SUCCESS) return;
  s->fault.code = r; /* nobody is there to be told */
  s->fault.when = lane->clock.done;
}

/* Row by row; false: not all of it is mapped. */
static bool move(struct shim *s, const struct device_op *op)
{
  uint8_t chunk[CHUNK];
  memset(chunk, op->value, sizeof chunk);
  for (uint64_t y = 0; op->width && y < op->height; y++) /* rows of nothing may be 2^64 */
    for (uint64_t x = 0, n; x < op->width; x += n) {
      n = op->width - x < CHUNK ? op->width - x : CHUNK;
      if (op->kind == OP_COPY && !gmem_read(s->device.mem, op->from + y * op->pitch_from + x, chunk, n)) return false;
      if (!gmem_write(s->device.mem, op->to + y * op->pitch_to + x, chunk, n)) return false;
      checked_written(s->checked, op->to + y * op->pitch_to + x, n);
    }
  return true;
}

static void run_move(struct shim *s, const struct device_op *op, struct stream *lane)
{
  uint64_t bytes = op->width * op->height * (op->kind == OP_COPY ? 2 : 1);
  memory_sync_registered(s, true);
  bool ok = move(s, op);
  memory_sync_registered(s, false);
  const char *name = op->kind == OP_COPY ? "copy by a kernel" : "fill by a kernel";
  uint64_t end = operation_take(s, lane, name, TIMELINE_NONE, timeline_device_ps(&s->time, bytes),
                                op->width * op->height);
  device_grid_note_end(op->grid, end);
  struct device_clock *c = stream_clock(op);
  if (c) c->done = later(c->done, end);
  if (ok) return;
  shim_say("a copy or fill that launch %llu queued leaves the memory there is", (unsigned long long)op->grid->number);
  s->fault.code = CUDA_ERROR_ILLEGAL_ADDRESS;
  s->fault.when = end;
}

/* An event that was not recorded stands for no time. */
static void run_event(const struct device_op *op)
{
  size_t event = device_grid_clock(op->grid, 0, op->event);
  struct device_clock *stream = stream_clock(op), *e = &op->grid->clocks[event];
  if (op->kind == OP_RECORD) e->done = stream->done;
  else stream->done = later(stream->done, e->done);
}

static void run_op(struct shim *s, struct device_op *op)
{
  struct stream lane = { .graph = true, .clock = { .non_blocking = true, .done = ready(s, op) } };
  switch (op->kind) {
  case OP_KERNEL: run_kernel(s, op, &lane); break;
  case OP_COPY:
  case OP_FILL: run_move(s, op, &lane); break;
  case OP_RECORD:
  case OP_WAIT: run_event(op); break;
  }
}

/* Runs all that waits; a fault drops the rest. */
static void run_all(struct device_work *w)
{
  struct device_op *op;
  while ((op = w->head) && w->shim->fault.code == CUDA_SUCCESS) {
    w->head = op->next;
    run_op(w->shim, op);
    device_op_free(op);
  }
  device_op_free_all(w->head);
  w->head = NULL;
}

static CUresult run_with_work(struct shim *s, const struct launch_request *q)
{
  struct device_work work = { .shim = s };
  struct device_grid grid = { .users = 1 };
  for (int i = 0; i < LIMIT__N; i++) context_limit(s, &work.limit[i], i);
  device_grid_begin(&grid, &work, q->function->module);
  CUresult r = kernel_run(s, q, &grid, 0);
  device_grid_end(&grid, s->record.n, q->stream->clock.done);
  run_all(&work);
  if (grid.done > q->stream->clock.done)
    timeline_finish(&s->time, &q->stream->clock, TIMELINE_NONE, grid.done);
  device_grid_free(&grid);
  return r;
}

CUresult kernel_execute(struct shim *s, const struct launch_request *q)
{
  bool launches = module_uses_device_runtime(q->function->module->code.module);
  return launches ? run_with_work(s, q) : kernel_run(s, q, NULL, 0);
}
