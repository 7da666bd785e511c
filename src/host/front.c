#include "host/front.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"

/* --- events by their times ----------------------------------------------------------------------- */

static bool is_before(const struct front_event *a, const struct front_event *b)
{
  return a->time != b->time ? a->time < b->time : a->command->id < b->command->id;
}

static void heap_push(struct front_heap *h, uint64_t time, struct command *c)
{
  const struct front_event e = {time, c};
  h->event = mem_more(h->event, h->n, &h->room, sizeof *h->event);
  uint32_t at = h->n++;
  for (; at && is_before(&e, &h->event[(at - 1) / 2]); at = (at - 1) / 2) h->event[at] = h->event[(at - 1) / 2];
  h->event[at] = e;
}

static struct command *heap_pop(struct front_heap *h)
{
  struct command *top = h->event[0].command;
  const struct front_event last = h->event[--h->n];
  uint32_t at = 0;
  for (uint32_t child; (child = 2 * at + 1) < h->n; at = child) {
    if (child + 1 < h->n && is_before(&h->event[child + 1], &h->event[child])) child++;
    if (!is_before(&h->event[child], &last)) break;
    h->event[at] = h->event[child];
  }
  h->event[at] = last;
  return top;
}

static uint64_t heap_time(const struct front_heap *h)
{
  return h->n ? h->event[0].time : FRONT_NEVER;
}

/* --- commands -------------------------------------------------------------------------------------- */

void front_init(struct front *f, const struct front_gpu *gpu, unsigned n)
{
  *f = (struct front){.unit = mem_zeroed(n, sizeof *f->unit), .n_units = n};
  for (unsigned i = 0; i < n; i++) f->unit[i].gpu = gpu[i];
}

void front_free(struct front *f)
{
  BUG_ON(f->n_open);
  mem_free(f->ready.event);
  mem_free(f->running.event);
  for (unsigned i = 0; i < f->n_units; i++) mem_free(f->unit[i].queue.at);
  mem_free(f->unit);
  mem_free(f->asking.at);
  *f = (struct front){0};
}

struct command *command_hold(struct command *c)
{
  c->users++;
  return c;
}

void command_drop(struct command *c)
{
  if (!c || --c->users) return;
  mem_free(c->behind);
  c->ops->free(c);
}

void command_init(struct front *f, struct command *c, uint64_t not_before)
{
  c->state = COMMAND_WAITS;
  c->users = 1;
  c->id = f->next_id++;
  c->ready = not_before;
  c->waits = 1; /* to be given */
}

void command_follow(struct command *c, struct command *first)
{
  if (!first) return;
  if (first->state == COMMAND_DONE) {
    c->ready = later(c->ready, first->end);
    return;
  }
  first->behind = mem_more(first->behind, first->n_behind, &first->room, sizeof(struct command *));
  first->behind[first->n_behind++] = c;
  c->waits++;
}

static void goes_on(struct front *f, struct command *c)
{
  if (--c->waits) return;
  c->state = COMMAND_READY;
  heap_push(&f->ready, c->ready, c);
}

static struct front_unit *unit_of(const struct front *f, const struct command *c)
{
  return &f->unit[c->gpu];
}

static void enter_queue(struct front *f, struct command *c)
{
  struct front_queue *q = &unit_of(f, c)->hardware[c->queue - 1];
  if (q->first) {
    q->last->next_in_queue = c;
    c->waits++; /* to be its first */
  } else q->first = c;
  q->last = c;
}

/* It has started: the next one is looked at. */
static void leave_queue(struct front *f, struct command *c)
{
  struct command *next = c->next_in_queue;
  unit_of(f, c)->hardware[c->queue - 1].first = next;
  if (!next) return;
  next->ready = later(next->ready, c->begin);
  goes_on(f, next);
}

void front_give(struct front *f, struct command *c)
{
  command_hold(c);
  if (c->queue) enter_queue(f, c);
  f->n_open++;
  goes_on(f, c);
}

static void finish(struct front *f, struct command *c)
{
  if (c->ops->end) c->ops->end(c);
  c->state = COMMAND_DONE;
  f->look_up |= c->awaited;
  f->last_end = later(f->last_end, c->end);
  f->n_open--;
  for (uint32_t i = 0; i < c->n_behind; i++) {
    c->behind[i]->ready = later(c->behind[i]->ready, c->end);
    goes_on(f, c->behind[i]);
  }
  c->n_behind = 0;
  command_drop(c);
}

void front_end(struct front *f, struct command *c, uint64_t end)
{
  BUG_ON(c->state != COMMAND_RUNS);
  c->end = later(end, c->begin);
  f->now = later(f->now, c->end);
  finish(f, c);
}

/* --- starts ------------------------------------------------------------------------------------------ */

static bool is_engine(const struct command *c)
{
  return c->place >= COMMAND_TO_DEVICE && c->place <= COMMAND_TO_PEER;
}

static void put(struct command_list *l, struct command *c)
{
  l->at = mem_more(l->at, l->n, &l->room, sizeof(struct command *));
  l->at[l->n++] = c;
}

/* Takes the first n away. */
static void take(struct command_list *l, uint32_t n)
{
  memmove(&l->at[0], &l->at[n], (l->n - n) * sizeof(struct command *));
  l->n -= n;
}

/* False: it asks. */
static bool start(struct front *f, struct command *c)
{
  uint64_t at = c->late ? later(c->ready, f->now) : c->ready, end = 0;
  if (is_engine(c)) at = later(at, unit_of(f, c)->engine_free[c->place]);
  c->begin = end = at;
  c->state = COMMAND_RUNS;
  enum command_way way = c->ops->start(c, at, &end);
  if (way == COMMAND_ASKS) {
    c->state = COMMAND_READY;
    c->late = true;
    return false;
  }
  if (c->queue) leave_queue(f, c);
  if (way == COMMAND_GOES) return true;
  c->end = later(end, c->begin);
  if (is_engine(c)) unit_of(f, c)->engine_free[c->place] = c->end;
  heap_push(&f->running, c->end, c);
  return true;
}

/* Behind those of its priority that were ready before. */
static void enqueue(struct command_list *queue, struct command *c)
{
  put(queue, c);
  struct command **q = queue->at;
  uint32_t at = queue->n - 1;
  for (; at && q[at - 1]->priority < c->priority; at--) q[at] = q[at - 1];
  q[at] = c;
}

/* Kernels that wait for a GPU, as far as it takes them now. */
static bool start_kernels_of(struct front *f, struct front_unit *u)
{
  bool any = false;
  while (u->queue.n) {
    struct command *c = u->queue.at[0];
    if (c->place == COMMAND_ALONE ? u->gpu.count(u->gpu.ctx) > 0 : u->gpu.full(u->gpu.ctx)) break;
    take(&u->queue, 1);
    if (!start(f, c)) BUG("a kernel that asks");
    any = true;
  }
  for (uint32_t i = 0; i < u->queue.n; i++) u->queue.at[i]->late = true;
  return any;
}

static bool start_kernels(struct front *f)
{
  bool any = false;
  for (unsigned i = 0; i < f->n_units; i++) any |= start_kernels_of(f, &f->unit[i]);
  return any;
}

uint32_t front_kernels_ready(const struct front *f, unsigned gpu)
{
  uint32_t n = f->unit[gpu].queue.n;
  for (uint32_t i = 0; i < f->ready.n; i++) {
    const struct front_event *e = &f->ready.event[i];
    n += e->command->place == COMMAND_SHARES && e->command->gpu == gpu && e->time <= f->now;
  }
  return n;
}

uint64_t front_gpus_now(const struct front *f)
{
  uint64_t now = 0;
  for (unsigned i = 0; i < f->n_units; i++) now = later(now, f->unit[i].gpu.now(f->unit[i].gpu.ctx));
  return now;
}

/* Whether anyone who asked could start. What starts may make others ask. */
static bool ask(struct front *f)
{
  const uint32_t n = f->asking.n;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    struct command *c = f->asking.at[i];
    if (!start(f, c)) f->asking.at[kept++] = c;
  }
  for (uint32_t i = n; kept < n && i < f->asking.n; i++) f->asking.at[kept + i - n] = f->asking.at[i];
  f->asking.n -= n - kept;
  return kept < n;
}

static void become_ready(struct front *f, struct command *c)
{
  if (c->place == COMMAND_SHARES || c->place == COMMAND_ALONE) enqueue(&unit_of(f, c)->queue, c);
  else if (!start(f, c)) put(&f->asking, c);
}

/* --- time --------------------------------------------------------------------------------------------- */

/* The next event, up to `until`. False: there is none. */
static bool next_event(struct front *f, uint64_t until)
{
  uint64_t ready = heap_time(&f->ready), ends = heap_time(&f->running), t = ready < ends ? ready : ends;
  if (t > until || t == FRONT_NEVER) return false;
  f->now = later(f->now, t);
  if (ends > ready) become_ready(f, heap_pop(&f->ready));
  else finish(f, heap_pop(&f->running));
  return true;
}

/* One that has kernels or copies; NULL: none has any. */
static const struct front_gpu *busy_gpu(const struct front *f)
{
  for (unsigned i = 0; i < f->n_units; i++)
    if (f->unit[i].gpu.count(f->unit[i].gpu.ctx)) return &f->unit[i].gpu;
  return NULL;
}

bool front_stands(const struct front *f)
{
  return !busy_gpu(f) && !f->ready.n && !f->running.n;
}

/* Kernels on the GPUs go on to the next event, or to `until`. False: they are there. */
static bool run_gpus(struct front *f, uint64_t until, enum front_gpu_stop *stop)
{
  uint64_t ready = heap_time(&f->ready), ends = heap_time(&f->running), to = ready < ends ? ready : ends;
  if (to > until) to = until;
  const struct front_gpu *g = busy_gpu(f);
  if (!g || later(g->now(g->ctx), f->reached) >= to) return false;
  *stop = g->run(g->ctx, to);
  if (*stop == FRONT_GPU_REACHED && to != FRONT_NEVER) f->reached = to;
  if (*stop != FRONT_GPU_REACHED) f->now = later(f->now, g->now(g->ctx));
  return *stop != FRONT_GPU_REACHED;
}

static enum front_stop run(struct front *f, uint64_t until, const struct command *target)
{
  while ((!target || target->state != COMMAND_DONE) && !(f->led && f->look_up)) {
    enum front_gpu_stop stop;
    if (start_kernels(f)) continue;
    if (run_gpus(f, until, &stop)) {
      if (stop == FRONT_GPU_PAUSE) return FRONT_PAUSED;
      ask(f);
      continue;
    }
    if (next_event(f, until)) {
      ask(f);
      continue;
    }
    if (until != FRONT_NEVER) f->now = later(f->now, until);
    if (ask(f)) continue;
    return until == FRONT_NEVER && f->n_open ? FRONT_BLOCKED : FRONT_REACHED;
  }
  return FRONT_REACHED;
}

enum front_stop front_run(struct front *f, uint64_t until, const struct command *target)
{
  if (f->busy) return FRONT_BUSY;
  f->busy = true;
  enum front_stop stop = run(f, until, target);
  f->busy = false;
  return stop;
}
