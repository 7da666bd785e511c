#include "cuda/core/device_work.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "cuda/core/checked.h"
#include "cuda/core/device_queue.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"

enum { PS_PER_NS = 1000, CHUNK = 1 << 16 };

/* Copies and fills --------------------------------------------------------------------------------- */

struct device_move {
  struct command command;
  struct device_op *op;
};

/* Row by row; false: not all of it is mapped. */
static bool move(struct shim *s, const struct device_op *op)
{
  struct gmem *mem = op->grid->module->board->device.mem;
  uint8_t chunk[CHUNK];
  memset(chunk, op->value, sizeof chunk);
  for (uint64_t y = 0; op->width && y < op->height; y++) /* rows of nothing may be 2^64 */
    for (uint64_t x = 0, n; x < op->width; x += n) {
      n = op->width - x < CHUNK ? op->width - x : CHUNK;
      if (op->kind == OP_COPY && !gmem_read(mem, op->from + y * op->pitch_from + x, chunk, n)) return false;
      if (!gmem_write(mem, op->to + y * op->pitch_to + x, chunk, n)) return false;
      checked_written(s->checked, op->to + y * op->pitch_to + x, n);
    }
  return true;
}

static enum command_way move_begins(struct command *c, uint64_t now, uint64_t *end)
{
  const struct device_op *op = ((struct device_move *)c)->op;
  struct shim *s = op->grid->work->shim;
  *end = now;
  if (!task_is_off(s, c->gpu))
    *end += timeline_device_ps(&op->grid->module->board->time, op->width * op->height * (op->kind == OP_COPY ? 2 : 1));
  return COMMAND_LASTS;
}

static void move_ends(struct command *c)
{
  const struct device_op *op = ((struct device_move *)c)->op;
  struct shim *s = op->grid->work->shim;
  if (task_is_off(s, c->gpu)) return;
  memory_sync_registered(s, true);
  bool ok = move(s, op);
  memory_sync_registered(s, false);
  if (s->activity)
    activity_operation(s->activity, &(struct activity_op){
      .name = op->kind == OP_COPY ? "copy by a kernel" : "fill by a kernel", .gpu = c->gpu,
      .bytes = op->width * op->height, .begin = c->begin, .end = c->end, .engine = TIMELINE_NONE });
  if (ok) return;
  shim_say("a copy or fill that launch %llu queued leaves the memory there is", (unsigned long long)op->grid->number);
  s->fault.code = CUDA_ERROR_ILLEGAL_ADDRESS;
  s->fault.when = c->end;
}

static void move_free(struct command *c)
{
  struct device_move *m = (struct device_move *)c;
  device_op_free(m->op);
  free(m);
}

static struct command *move_new(struct shim *s, struct device_op *op, uint64_t ready)
{
  static const struct command_ops ops = { .start = move_begins, .end = move_ends, .free = move_free };
  struct device_move *m = shim_alloc(sizeof *m);
  *m = (struct device_move){ .command = { .ops = &ops, .gpu = (uint8_t)op->grid->module->board->number }, .op = op };
  command_init(&s->front, &m->command, ready);
  return &m->command;
}

/* Kernels -------------------------------------------------------------------------------------------- */

/* The grid of a launch by a kernel. A tail launch of a tail launch stands beside it: chains of those, which may
 * be long, have no depth. */
static struct device_grid *grid_of(const struct device_op *op)
{
  const struct device_grid *from = op->grid;
  bool tail = op->stream == STREAM_TAIL;
  unsigned depth = tail && from->depth ? from->depth : from->depth + 1;
  struct device_grid *g = device_grid_new(from->work, from->module, depth);
  g->child = true;
  return g;
}

static struct command *kernel_new(struct shim *s, struct device_op *op, uint64_t ready)
{
  const struct device_grid *from = op->grid;
  uint32_t bytes = op->q.function->kernel->param_bytes;
  uint8_t *packed = shim_alloc(bytes);
  struct board *b = from->module->board;
  BUG_ON(!gmem_read(b->device.mem, op->buffer, packed, bytes));
  struct graph_op kernel = { .type = NODE_KERNEL, .kernel = { .q = op->q } };
  struct launch_request *q = &kernel.kernel.q;
  q->packed = packed;
  q->packed_bytes = bytes;
  q->parent = from->number;
  q->run = from->run;
  q->context = from->context;
  q->cores = from->cores;
  struct task *w = task_new(s, &kernel, &(struct task_site){ .board = b, .not_before = ready, .moved = true });
  w->grid = grid_of(op);
  gmem_release(b->device.mem, op->buffer);
  op->buffer = 0; /* the launch stays pending until it begins */
  device_op_free(op);
  return &w->command;
}

/* Streams -------------------------------------------------------------------------------------------- */

/* The stream of an operation, or what an event stands for, among those of its grid; NULL: nothing waits for it. */
static struct device_clock *clock_of(const struct device_op *op)
{
  if (op->stream == STREAM_FORGET || op->stream == STREAM_TAIL) return NULL;
  const size_t i = device_grid_clock(op->grid, op->cta, op->stream); /* may move them */
  return &op->grid->clocks[i];
}

static void point_at(struct device_clock *clock, struct command *c)
{
  struct command *before = clock->last;
  clock->last = c ? command_hold(c) : NULL;
  command_drop(before);
}

/* An event that was not recorded stands for nothing. */
static void give_event(struct shim *s, struct device_op *op, uint64_t ready)
{
  size_t event = device_grid_clock(op->grid, 0, op->event);
  struct device_clock *stream = clock_of(op), *e = &op->grid->clocks[event];
  if (op->kind == OP_RECORD) {
    point_at(e, stream->last);
  } else {
    struct command *both = task_join(s, ready, NULL, NULL);
    command_follow(both, stream->last);
    command_follow(both, e->last);
    point_at(stream, both);
    front_give(&s->front, both);
    command_drop(both);
  }
  device_op_free(op);
}

/* An operation of a stream, or fired and forgotten; `behind` (NULL: nothing): a tail launch comes behind it. */
static struct command *give(struct shim *s, struct device_op *op, uint64_t ready, struct command *behind)
{
  struct device_grid *g = op->grid;
  struct device_clock *stream = clock_of(op);
  struct command *c = op->kind == OP_KERNEL ? kernel_new(s, op, ready) : move_new(s, op, ready);
  if (stream) {
    command_follow(c, stream->last);
    point_at(stream, c);
  }
  command_follow(c, behind);
  if (!g->family) g->family = task_join(s, ready, NULL, NULL);
  if (!behind) command_follow(g->family, c);
  front_give(&s->front, c);
  return c;
}

/* What was queued but for tail launches, in its order. */
static void give_queued(struct device_grid *g, uint64_t ready)
{
  struct shim *s = g->work->shim;
  device_grid_hold(g); /* its operations hold it, too */
  for (struct device_op *op; (op = device_grid_next(g)) != NULL;) {
    if (op->kind == OP_RECORD || op->kind == OP_WAIT) give_event(s, op, ready);
    else command_drop(give(s, op, ready, NULL));
  }
  device_grid_drop(g);
}

static uint64_t latency(const struct device_grid *g)
{
  return (uint64_t)g->module->board->preset.params.host_device_launch_ns * PS_PER_NS;
}

void device_work_give(struct shim *s, uint64_t now)
{
  for (struct device_grid *g; (g = s->device_queued) != NULL;) {
    s->device_queued = g->next_queued;
    g->listed = false;
    give_queued(g, now + latency(g));
    device_grid_drop(g);
  }
}

/* A kernel begins and ends ---------------------------------------------------------------------------- */

void device_work_prepare(struct task *w)
{
  const struct launch_request *q = &w->op.kernel.q;
  if (!q->parent && module_uses_device_runtime(q->function->module->code.module))
    w->grid = device_grid_new(device_family_new(w->shim, q->context), q->function->module, 0);
}

void device_work_begin(struct task *w)
{
  const struct launch_request *q = &w->op.kernel.q;
  if (!w->grid) return;
  if (w->grid->child) w->grid->work->pending--;
  w->grid->number = q->number;
  w->grid->run = q->run;
  w->grid->context = q->context;
  w->grid->cores = q->cores;
  w->grid->beside = w->command.place == COMMAND_SHARES;
}

const struct device_runtime *device_work_calls(const struct device_grid *g)
{
  return g ? &g->calls : NULL;
}

bool device_work_waits(const struct device_grid *g)
{
  return g && (g->first || g->tails);
}

static void all_ended(void *ctx, uint64_t now)
{
  struct task *w = ctx;
  front_end(&w->shim->front, &w->command, now);
}

/* Behind the grid and its children one after the other. The last of them, held; NULL: there are none. */
static struct command *give_tails(struct device_grid *g, uint64_t ready)
{
  struct shim *s = g->work->shim;
  struct command *last = NULL;
  device_grid_hold(g);
  for (struct device_op *op; (op = g->tails) != NULL;) {
    g->tails = op->next;
    if (!g->tails) g->last_tail = &g->tails;
    struct command *c = give(s, op, ready, last ? last : g->family);
    command_drop(last);
    last = c;
  }
  device_grid_drop(g);
  return last;
}

/* Nothing more comes into its streams. What the clocks point at holds the grid. */
static void stop_clocks(struct device_grid *g)
{
  for (size_t i = 0; i < g->n_clocks; i++) point_at(&g->clocks[i], NULL);
}

bool device_work_end(struct task *w, uint64_t end)
{
  struct shim *s = w->shim;
  struct device_grid *g = w->grid;
  if (!g) return false;
  device_grid_unlist(g);
  device_grid_close(g, s->fault.code == CUDA_SUCCESS);
  give_queued(g, end + latency(g));
  stop_clocks(g);
  if (g->tails && !g->family) g->family = task_join(s, end, NULL, NULL);
  if (!g->family) return false;
  struct command *tail = give_tails(g, end + latency(g)), *all = task_join(s, end, all_ended, w);
  command_follow(all, g->family);
  command_follow(all, tail);
  front_give(&s->front, g->family);
  front_give(&s->front, all);
  command_drop(tail);
  command_drop(all);
  command_drop(g->family);
  g->family = NULL;
  return true;
}
