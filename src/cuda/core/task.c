#include "cuda/core/task.h"

#include <stdlib.h>
#include <time.h>

#include "base/arith.h"
#include "cuda/core/host_call.h"
#include "cuda/core/host_turns.h"
#include "cuda/core/idle_watch.h"
#include "cuda/core/shim.h"

enum { POLL_NS = 100000, POLLS_UNTIL_TOLD = 20000 }; /* some seconds */
enum { QUESTION_PS = 1000000, QUESTIONS_DOUBLE = 10, CALLS_BETWEEN = 3 }; /* 1 us; 1 ms from the eleventh on */

/* Giving them ------------------------------------------------------------------------------------------ */

/* What a kernel needs of the call that gives it, and its number. One that a kernel launches, and those of a graph,
 * have a context from there. */
static void note_launch(struct shim *s, struct launch_request *q, uint64_t stream_id)
{
  if (!q->context) q->context = context_current(s);
  q->number = record_next(&s->record);
  q->stream_id = stream_id;
  q->call = s->call_mark;
  q->stream = NULL;
  q->stack_bytes = q->context ? q->context->limit[LIMIT_STACK_SIZE] : 0;
}

struct task *task_new(struct shim *s, const struct graph_op *op, const struct task_site *site)
{
  struct task *w = shim_alloc(sizeof *w);
  *w = (struct task){ .shim = s, .op = *op, .stream_id = site->stream_id, .stream_gpu = site->board->number,
                      .call = s->call_mark };
  if (!site->moved) graph_op_own(s, &w->op);
  if (op->type == NODE_KERNEL) note_launch(s, &w->op.kernel.q, site->stream_id);
  w->command.ops = &s->task_kinds->ops;
  w->command.gpu = (uint8_t)site->board->number;
  s->task_kinds->place(s, &w->op, &w->command);
  command_init(&s->front, &w->command, site->not_before);
  s->task_kinds->made(w);
  return w;
}

struct task *task_of_stream(struct shim *s, const struct graph_op *op, const struct stream *st)
{
  return task_new(s, op, &(struct task_site){ .stream_id = st->id, .board = st->board,
                                            .not_before = s->time.now });
}

void task_give_held(struct task *w, struct stream *st)
{
  struct shim *s = w->shim;
  w->command.priority = -st->priority;
  if (w->op.type == NODE_KERNEL) w->command.queue = stream_queue(st);
  stream_follow(s, &w->command, st);
  stream_append(s, &w->command, st);
  front_give(&s->front, &w->command);
}

void task_give(struct task *w, struct stream *st)
{
  task_give_held(w, st);
  command_drop(&w->command);
}

struct join {
  struct command command;
  void (*end)(void *ctx, uint64_t now);
  void *ctx;
};

static enum command_way join_begin(struct command *c, uint64_t now, uint64_t *end)
{
  (void)c;
  *end = now;
  return COMMAND_LASTS;
}

static void join_end(struct command *c)
{
  struct join *j = (struct join *)c;
  if (j->end) j->end(j->ctx, c->end);
}

static void join_free(struct command *c)
{
  free((struct join *)c);
}

struct command *task_join(struct shim *s, uint64_t not_before, void (*end)(void *ctx, uint64_t now), void *ctx)
{
  static const struct command_ops ops = { .start = join_begin, .end = join_end, .free = join_free };
  struct join *j = shim_alloc(sizeof *j);
  *j = (struct join){ .command = { .ops = &ops }, .end = end, .ctx = ctx };
  command_init(&s->front, &j->command, not_before);
  return &j->command;
}

void task_fault(struct shim *s, CUresult r, uint64_t when)
{
  if (s->fault.code != CUDA_SUCCESS) return;
  shim_say("an operation of a stream cannot be done when its time has come: error %d", (int)r);
  s->fault.code = r;
  s->fault.when = when;
}

/* Waiting ---------------------------------------------------------------------------------------------- */

static void tell(struct shim *s)
{
  for (uint32_t i = 0; i < s->front.asking.n; i++) {
    const struct task *w = (const struct task *)s->front.asking.at[i];
    char what[120];
    s->task_kinds->describe(w, what, sizeof what);
    shim_say("stream %llu waits for %s, with %u operation%s behind it", (unsigned long long)w->stream_id, what,
             w->command.n_behind, w->command.n_behind == 1 ? "" : "s");
  }
}

/* Only other processes can end what asks: of one of these. */
static const struct shared_record *waits_elsewhere(const struct shim *s)
{
  const struct command_list *l = &s->front.asking;
  for (uint32_t i = 0; i < l->n; i++)
    if (((const struct task *)l->at[i])->op.type != NODE_SHARED_EVENT) return NULL;
  return l->n ? &((const struct task *)l->at[0])->op.shared : NULL;
}

/* Sleeps, and may call meanwhile; a process that waits for another is woken by it, so that who looks sees no time in
 * which both sleep (cli/process_tree.h). */
static void let_others(struct shim *s, const struct shared_record *r)
{
  const struct timespec a_while = { .tv_nsec = POLL_NS };
  const struct shared_record awaited = r ? *r : (struct shared_record){ NULL, 0 };
  pthread_mutex_unlock(&s->lock);
  if (awaited.slot) ipc_record_wait(&awaited);
  else nanosleep(&a_while, NULL);
  pthread_mutex_lock(&s->lock);
}

static void step_aside(struct shim *s, unsigned polls)
{
  if (polls == POLLS_UNTIL_TOLD) tell(s);
  let_others(s, polls ? waits_elsewhere(s) : NULL);
}

static enum front_stop run_front(struct shim *s, uint64_t until, const struct command *target, bool pause)
{
  if (!s->front.n_open) return FRONT_REACHED;
  bool nested = s->front.busy, before = s->may_pause;
  if (!nested) s->may_pause = pause, memory_sync_running(s, true);
  enum front_stop stop = front_run(&s->front, until, target);
  if (!nested) s->may_pause = before, memory_sync_running(s, false);
  return stop;
}

enum front_stop task_run(struct shim *s, uint64_t until)
{
  return run_front(s, until, NULL, true);
}

/* Where no launch is timed, times are nominal and far longer than a GPU's: what a question asks about would be over
 * after very many of them, and a kernel that goes on beside the host (kernel_turns.h) stands in calls that wait for
 * nothing. So questions without rest let more and more pass. */
static void pass_nominal_time(struct shim *s)
{
  if (s->live || s->options.timed || s->host_turns || s->front.busy) return;
  if (s->calls > s->asked_at + CALLS_BETWEEN) s->asked = 0;
  const uint64_t pass = (uint64_t)QUESTION_PS << s->asked;
  if (s->asked < QUESTIONS_DOUBLE) s->asked++;
  s->asked_at = s->calls;
  task_run(s, front_gpus_now(&s->front) + pass);
  timeline_wait(&s->time, s->time.now + pass);
}

CUresult task_not_ready(struct shim *s, const struct shared_record *r)
{
  pass_nominal_time(s);
  if (s->enter && (r || s->front.asking.n) && front_stands(&s->front)) let_others(s, r ? r : waits_elsewhere(s));
  return CUDA_ERROR_NOT_READY;
}

/* The one thread that all threads of a guest call on waits: nobody can end that. */
static CUresult blocked_guest(struct shim *s)
{
  tell(s);
  return shim_unsupported(s, "waiting for what only the waiting program could do");
}

static CUresult wait_for(struct shim *s, const struct command *c)
{
  unsigned polls = 0;
  if (host_call_is_mine(s)) return CUDA_ERROR_NOT_PERMITTED;
  while (c->state != COMMAND_DONE) {
    if (s->starved) return CUDA_ERROR_OUT_OF_MEMORY; /* nothing happens any more */
    enum front_stop stop = run_front(s, FRONT_NEVER, c, true);
    if (stop == FRONT_REACHED) continue;
    if (stop == FRONT_BLOCKED && program_is_guest(s)) return blocked_guest(s);
    step_aside(s, stop == FRONT_BLOCKED ? polls++ : 0);
  }
  return CUDA_SUCCESS;
}

/* The same, when threads of the program take turns. */
static CUresult wait_in_turn(struct shim *s, struct command *c)
{
  struct host_turn turn;
  unsigned polls = 0;
  if (host_call_is_mine(s)) return CUDA_ERROR_NOT_PERMITTED;
  c->awaited = true;
  host_turns_begin(s, &turn, c);
  while (c->state != COMMAND_DONE && !s->starved) {
    if (!host_turns_leads(s, &turn)) {
      host_turns_pause(s);
      continue;
    }
    const enum front_stop stop = host_turns_run(s, c, FRONT_NEVER);
    if (stop != FRONT_REACHED) step_aside(s, stop == FRONT_BLOCKED ? polls++ : 0);
  }
  host_turns_end(s, &turn);
  return s->starved ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult task_wait(struct shim *s, struct command *c)
{
  command_hold(c);
  CUresult r = s->host_turns ? wait_in_turn(s, c) : wait_for(s, c);
  if (r == CUDA_SUCCESS) r = shim_wait(s, c->end);
  command_drop(c);
  return r;
}

enum front_stop task_run_for(struct shim *s, const struct command *c, uint64_t until)
{
  return run_front(s, until, c, true);
}

bool task_has_ended(const struct shim *s, const struct command *c)
{
  return !c || (c->state == COMMAND_DONE && c->end <= s->time.now);
}

/* Calls ------------------------------------------------------------------------------------------------ */

/* The GPUs have gone on beside a program that waited in its own code, or for another thread. */
static void meet_gpus(struct shim *s)
{
  const uint64_t window = params_request_ps(s->time.params), gpu = front_gpus_now(&s->front);
  if (gpu > s->time.now + 2 * window) timeline_wait(&s->time, gpu);
}

/* In a call that waits for nothing. Without time all happens that can, but a kernel that goes on beside the host
 * (kernel_turns.h) stands. */
static void run_all(struct shim *s)
{
  s->stands = true;
  run_front(s, FRONT_NEVER, NULL, false);
  s->stands = false;
}

void task_catch_up(struct shim *s)
{
  if (!s->front.n_open || s->front.busy) return;
  if (!s->live) return run_all(s);
  meet_gpus(s);
  run_front(s, s->time.now, NULL, false);
}

void task_go_on(struct shim *s)
{
  if (!s->front.n_open || s->front.busy) return;
  if (!s->live) run_all(s);
  if (s->front.n_open && !program_is_guest(s)) idle_watch(s); /* a simulated CPU lets time pass itself */
}

/* The process -------------------------------------------------------------------------------------------- */

void task_start(struct shim *s, const struct task_kinds *kinds, const struct front_gpu *gpu, bool live)
{
  s->task_kinds = kinds;
  s->live = live;
  front_init(&s->front, gpu, s->boards.n);
}

void task_settle(struct shim *s)
{
  if (!s->front.busy) run_front(s, FRONT_NEVER, NULL, false);
}

bool task_is_off(const struct shim *s, unsigned gpu)
{
  return s->fault.code != CUDA_SUCCESS || (s->dropped && s->dropped->number == gpu);
}

/* What asks there never will be done. */
static void drop(struct shim *s, struct board *b)
{
  uint32_t asking = 0;
  for (uint32_t i = 0; i < s->front.asking.n; i++) asking += s->front.asking.at[i]->gpu == b->number;
  if (!asking || s->front.busy) return;
  s->dropped = b;
  run_front(s, FRONT_NEVER, NULL, false);
  s->dropped = NULL;
}

const struct shim_part task_part = { .settle = task_settle, .tell = tell, .drop = drop };
