#include "cuda/core/staged_copy.h"

#include <stdlib.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"

enum { BUFFERS = 3, BUFFER_ALIGN = 4096 };

/* Whole rows of a plane, or a piece of one. */
struct piece {
  uint64_t plane, row, column;
  uint64_t rows, bytes; /* of each row */
};

struct staged_copy {
  struct live_copy copy;
  struct board *dst, *src;
  struct piece next;         /* plane, row, column of what comes next */
  struct piece piece[BUFFERS];
  uint64_t sent, out, in;   /* parts that began, are in their buffer, are in their place */
  unsigned under_way;       /* copies of parts */
  bool began, failed;
  uint64_t begin, end;      /* ps */
  _Alignas(BUFFER_ALIGN) uint8_t buffer[BUFFERS][STAGED_PART];
};

static bool all_sent(const struct staged_copy *x)
{
  return x->next.plane == x->copy.depth;
}

/* The next part, of at most STAGED_PART bytes. */
static struct piece take_piece(struct staged_copy *x)
{
  const struct live_copy *c = &x->copy;
  struct piece p = x->next;
  p.bytes = earlier(c->width - p.column, STAGED_PART);
  p.rows = p.bytes < c->width ? 1 : earlier(c->height - p.row, STAGED_PART / c->width);
  x->next.column += p.bytes;
  if (x->next.column < c->width) return p;
  x->next.column = 0;
  x->next.row += p.rows;
  if (x->next.row < c->height) return p;
  x->next.row = 0;
  x->next.plane++;
  return p;
}

static struct live_side in_memory(const struct live_side *s, const struct piece *p)
{
  return (struct live_side){ .addr = s->addr + p->plane * s->slice + p->row * s->pitch + p->column, .pitch = s->pitch,
                             .place = LIVE_DEVICE };
}

static struct live_side in_buffer(struct staged_copy *x, uint64_t number)
{
  return (struct live_side){ .addr = (uint64_t)(uintptr_t)x->buffer[number % BUFFERS],
                             .pitch = x->piece[number % BUFFERS].bytes, .place = LIVE_PROGRAM };
}

static void go(struct task *w, struct board *b, const struct piece *p, struct live_copy *l)
{
  const struct shim *s = w->shim;
  const struct sim_options o = { .timed = true, .threads = s->options.threads, .report = stderr,
                                 .observers = board_observers(b) };
  l->width = p->bytes;
  l->height = p->rows;
  l->depth = 1;
  l->who = w;
  w->staged->under_way++;
  live_copy(b->simulator, l, b->device.mem, &o);
}

static void send(struct task *w, uint64_t now)
{
  struct staged_copy *x = w->staged;
  const uint64_t number = x->sent++;
  struct piece *p = &x->piece[number % BUFFERS];
  *p = take_piece(x);
  struct live_copy l = { .src = in_memory(&x->copy.src, p), .dst = in_buffer(x, number), .engine = LIVE_TO_HOST,
                         .start_ps = now };
  go(w, x->src, p, &l);
}

static void bring(struct task *w, uint64_t now)
{
  struct staged_copy *x = w->staged;
  const uint64_t number = x->out++;
  const struct piece *p = &x->piece[number % BUFFERS];
  struct live_copy l = { .src = in_buffer(x, number), .dst = in_memory(&x->copy.dst, p), .engine = LIVE_TO_DEVICE,
                         .start_ps = now };
  go(w, x->dst, p, &l);
}

void staged_copy_start(struct task *w, const struct live_copy *c, struct board *dst, struct board *src, uint64_t now)
{
  struct staged_copy *x = aligned_alloc(BUFFER_ALIGN, sizeof *x);
  NO_MEMORY_IF(!x);
  *x = (struct staged_copy){ .copy = *c, .dst = dst, .src = src };
  w->staged = x;
  for (unsigned i = 0; i < BUFFERS && !all_sent(x); i++) send(w, now);
}

static void finish(struct task *w)
{
  struct staged_copy *x = w->staged;
  const uint64_t end = x->end;
  if (x->failed) task_fault(w->shim, CUDA_ERROR_INVALID_VALUE, end);
  w->command.begin = x->begin;
  w->done = 1;
  w->staged = NULL;
  free(x);
  front_end(&w->shim->front, &w->command, end);
}

void staged_copy_moved(struct task *w, const struct live_end *e, const struct board *by)
{
  struct staged_copy *x = w->staged;
  x->under_way--;
  x->failed |= e->failed;
  if (!x->began) x->begin = e->start_ps;
  x->began = true;
  x->end = later(x->end, e->end_ps);
  const bool off = x->failed || task_is_off(w->shim, w->command.gpu);
  if (!off && by == x->src) bring(w, e->end_ps + STAGED_HAND_OVER_NS * UINT64_C(1000));
  if (by == x->dst) x->in++;
  if (!off && by == x->dst && !all_sent(x)) send(w, e->end_ps);
  if (!x->under_way) finish(w);
}
