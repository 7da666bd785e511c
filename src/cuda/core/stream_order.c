#include "cuda/core/stream_order.h"

#include <stdlib.h>

#include "cuda/core/green_context.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"

/* The legacy stream comes behind the blocking streams of its context, those that are gone, too. */
static bool each_blocking(struct shim *s, const struct stream *legacy,
                          bool (*fn)(struct shim *, struct command *, void *), void *ctx)
{
  const struct board *b = legacy->board;
  for (const struct stream *st = s->streams.first; st; st = st->next)
    if (st->board == b && st->green == legacy->green && !st->order.non_blocking && st->order.last &&
        !fn(s, st->order.last, ctx)) return false;
  for (const struct thread *t = s->threads; t && !legacy->green; t = t->next) {
    struct command *last = t->stream[b->number].order.last;
    if (last && !fn(s, last, ctx)) return false;
  }
  return !b->gone || fn(s, b->gone, ctx);
}

bool stream_each_before(struct shim *s, const struct stream *st, bool (*fn)(struct shim *, struct command *, void *),
                        void *ctx)
{
  struct command *legacy = (st->green ? &st->green->legacy : &st->board->legacy)->order.last;
  if (st->order.last && !fn(s, st->order.last, ctx)) return false;
  if (st->order.legacy) return each_blocking(s, st, fn, ctx);
  return st->order.non_blocking || !legacy || fn(s, legacy, ctx);
}

static bool follow(struct shim *s, struct command *c, void *ctx)
{
  (void)s;
  command_follow(ctx, c);
  return true;
}

void stream_follow(struct shim *s, struct command *c, const struct stream *st)
{
  stream_each_before(s, st, follow, c);
}

void stream_append(struct shim *s, struct command *c, struct stream *st)
{
  (void)s;
  struct command *before = st->order.last;
  st->order.last = command_hold(c);
  command_drop(before);
}

/* CUDA C++ Programming Guide, "CUDA Environment Variables". */
static unsigned count_queues(const struct board *b)
{
  const char *text = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  long n = text ? strtol(text, NULL, 10) : 0;
  return n >= 1 && n <= FRONT_QUEUES ? (unsigned)n : b->preset.params.host_queues;
}

unsigned stream_queue(struct stream *st)
{
  if (!st->order.queue) st->order.queue = st->board->queues++ % count_queues(st->board) + 1;
  return st->order.queue;
}

/* *sum becomes what it was and `last`. */
static void add_to(struct shim *s, struct command **sum, struct command *last)
{
  struct command *both = task_join(s, 0, NULL, NULL);
  command_follow(both, last);
  command_follow(both, *sum);
  command_drop(*sum);
  *sum = command_hold(both);
  front_give(&s->front, both);
  command_drop(both);
}

void stream_order_end(struct shim *s, struct stream *st)
{
  struct command *last = st->order.last;
  st->order.last = NULL;
  if (last && last->state != COMMAND_DONE) {
    add_to(s, &st->board->left, last);
    if (!st->order.non_blocking) add_to(s, &st->board->gone, last);
  }
  command_drop(last);
}
