#include "cuda/core/synchronize.h"

#include "cuda/core/green_context.h"
#include "cuda/core/pool.h"
#include "cuda/core/shim.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/task.h"

/* Streams -------------------------------------------------------------------------------------- */

static bool has_ended(struct shim *s, struct command *c, void *ctx)
{
  (void)ctx;
  return task_has_ended(s, c);
}

/* What a new operation of the stream would come behind, held: others may give more while the host waits. */
static struct command *all_before(struct shim *s, const struct stream *st)
{
  struct command *c = task_join(s, 0, NULL, NULL);
  stream_follow(s, c, st);
  front_give(&s->front, c);
  return c;
}

struct command *stream_point(struct shim *s, CUstream h)
{
  struct stream *st = stream_of(s, h);
  return st ? all_before(s, st) : NULL;
}

CUresult stream_wait(struct shim *s, CUstream h)
{
  struct stream *st = stream_of(s, h);
  CUresult r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids(s, st, &r)) return r;
  struct command *c = all_before(s, st);
  r = task_wait(s, c);
  command_drop(c);
  pools_settle(s);
  return r;
}

CUresult stream_query(struct shim *s, CUstream h)
{
  struct stream *st = stream_of(s, h);
  CUresult r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids(s, st, &r)) return r;
  return stream_each_before(s, st, has_ended, NULL) ? CUDA_SUCCESS : task_not_ready(s, NULL);
}

CUresult stream_destroy(struct shim *s, CUstream h)
{
  struct stream *st = s->streams.first;
  while (st && st != h) st = st->next;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  capture_forget_stream(s, st);
  stream_free(s, st);
  return CUDA_SUCCESS;
}

/* Events --------------------------------------------------------------------------------------- */

CUresult event_query(struct shim *s, CUevent h)
{
  struct event *e = event_of(s, h);
  struct shared_record r;
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_has_event(s, e)) return CUDA_ERROR_CAPTURED_EVENT;
  if (ipc_event_is_elsewhere(e, &r)) return ipc_record_is_over(&r) ? CUDA_SUCCESS : task_not_ready(s, &r);
  return task_has_ended(s, e->command) ? CUDA_SUCCESS : task_not_ready(s, NULL);
}

static CUresult wait_for_shared(struct shim *s, CUevent h)
{
  struct command *c = task_join(s, 0, NULL, NULL);
  event_follow(s, c, h);
  front_give(&s->front, c);
  const CUresult r = task_wait(s, c);
  command_drop(c);
  return r;
}

CUresult event_wait(struct shim *s, CUevent h)
{
  struct event *e = event_of(s, h);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_has_event(s, e)) return CUDA_ERROR_CAPTURED_EVENT;
  CUresult r = e->shared ? wait_for_shared(s, h) : e->command ? task_wait(s, e->command) : shim_wait(s, 0);
  pools_settle(s);
  return r;
}

CUresult event_elapsed(struct shim *s, float *ms, CUevent from, CUevent to)
{
  struct event *a = event_of(s, from), *b = event_of(s, to);
  if (!ms) return CUDA_ERROR_INVALID_VALUE;
  if (!a || !b || a->board != b->board || !a->command || !b->command || ((a->flags | b->flags) & EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!task_has_ended(s, a->command) || !task_has_ended(s, b->command)) return CUDA_ERROR_NOT_READY;
  *ms = (float)(((double)b->command->end - (double)a->command->end) / 1e9);
  return CUDA_SUCCESS;
}

/* Contexts ------------------------------------------------------------------------------------- */

/* Calls fn for each stream of a GPU, or of a green context of it. */
static void each_stream(struct shim *s, struct board *b, const struct green_context *green,
                        void (*fn)(struct shim *, struct stream *, void *), void *ctx)
{
  for (struct stream *st = s->streams.first; st; st = st->next)
    if (st->board == b && (!green || st->green == green)) fn(s, st, ctx);
  for (struct green_context *g = s->greens; g; g = g->next)
    if (g->board == b && (!green || g == green)) fn(s, &g->legacy, ctx);
  if (green) return;
  for (struct thread *t = s->threads; t; t = t->next) {
    struct stream *own = &t->stream[b->number];
    own->board = b;
    fn(s, own, ctx);
  }
  fn(s, &b->legacy, ctx);
}

static void come_behind(struct shim *s, struct stream *st, void *command)
{
  (void)s;
  command_follow(command, st->order.last);
}

/* What comes behind all that was given to these GPUs. */
static struct command *all_of(struct shim *s, board_mask boards, const struct green_context *green, uint64_t not_before)
{
  struct command *c = task_join(s, not_before, NULL, NULL);
  for (unsigned i = 0; i < s->boards.n; i++) {
    if (!(boards >> i & 1)) continue;
    each_stream(s, &s->boards.of[i], green, come_behind, c);
    command_follow(c, s->boards.of[i].left);
  }
  return c;
}

struct command *boards_point(struct shim *s, board_mask boards)
{
  struct command *c = all_of(s, boards, NULL, 0);
  front_give(&s->front, c);
  return c;
}

static CUresult wait_for_all(struct shim *s, board_mask boards, const struct green_context *green)
{
  CUresult r;
  if (capture_forbids_unsafe(s, &r)) return r;
  struct command *c = all_of(s, boards, green, 0);
  front_give(&s->front, c);
  r = task_wait(s, c);
  command_drop(c);
  pools_settle(s);
  return r;
}

CUresult stream_wait_boards(struct shim *s, board_mask boards)
{
  return wait_for_all(s, boards, NULL);
}

CUresult stream_wait_context(struct shim *s, const struct context *c)
{
  return wait_for_all(s, board_bit(c ? c->board : board_current(s)), c ? c->green : NULL);
}

CUresult stream_wait_memory(struct shim *s, uint64_t addr)
{
  const struct block *b = memory_find(s, addr);
  board_mask seen = b ? b->in | memory_viewers(b) | board_bit(b->board) : 0;
  for (unsigned i = 0; b && i < s->boards.n; i++)
    if (s->boards.of[i].reach & board_bit(b->board)) seen |= (board_mask)1 << i;
  return stream_wait_boards(s, b ? seen : boards_all(&s->boards));
}

CUresult event_record_all(struct shim *s, struct board *b, const struct green_context *green, CUevent h)
{
  struct event *e = event_of(s, h);
  CUresult r;
  if (!e || e->board != b) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids_unsafe(s, &r)) return r;
  struct command *all = all_of(s, board_bit(b), green, s->time.now);
  event_attach(s, h, all);
  front_give(&s->front, all);
  command_drop(all);
  return CUDA_SUCCESS;
}

static void wait_for_event(struct shim *s, struct stream *st, void *event)
{
  struct task *w = task_of_stream(s, &(struct graph_op){ .type = NODE_WAIT_EVENT, .event = event }, st);
  event_follow(s, &w->command, event);
  task_give(w, st);
}

CUresult stream_wait_event_all(struct shim *s, struct board *b, const struct green_context *green, CUevent h)
{
  CUresult r;
  if (!event_of(s, h)) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids_unsafe(s, &r)) return r;
  each_stream(s, b, green, wait_for_event, h);
  return CUDA_SUCCESS;
}
