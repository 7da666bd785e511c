#include "cuda/core/poll_trap.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/arith.h"
#include "cuda/core/host_image.h"
#include "cuda/core/host_turns.h"
#include "cuda/core/managed.h"
#include "cuda/core/poll_calls.h"
#include "cuda/core/shim.h"

enum { HOST_PAGE = 4096, SINGLE_STEP = 1 << 8, PS_PER_NS = 1000 };

struct poll_trap {
  struct sigaction segv, trap; /* the program's */
  atomic_uint generation;      /* so often all pages have been opened: what a thread opened before is not closed */
};

/* Pages ------------------------------------------------------------------------------------------------ */

static void allow(uint64_t addr, uint64_t bytes, int what)
{
  mprotect((void *)(uintptr_t)addr, bytes, what);
}

static uint64_t closed_bytes(const struct block *b)
{
  return align_up(b->bytes, HOST_PAGE);
}

static bool is_shared(const struct block *b)
{
  return b->image && (b->kind == BLOCK_PINNED || b->kind == BLOCK_MANAGED);
}

/* The block whose pages hold addr; NULL: none that is shared. */
static struct block *block_at(const struct shim *s, uint64_t addr)
{
  struct block *b = memory_find((struct shim *)s, addr / HOST_PAGE * HOST_PAGE);
  return b && is_shared(b) ? b : NULL;
}

void poll_trap_open(struct shim *s)
{
  for (size_t i = 0; i < s->memory.n; i++) {
    struct block *b = &s->memory.block[i];
    if (!b->closed) continue;
    allow(b->addr, closed_bytes(b), PROT_READ | PROT_WRITE);
    b->closed = false;
  }
  atomic_fetch_add(&s->polls->generation, 1);
}

static void take_signals(struct poll_trap *x);

static void close_all(struct shim *s)
{
  bool any = false;
  for (size_t i = 0; i < s->memory.n; i++) {
    struct block *b = &s->memory.block[i];
    if (!is_shared(b) || b->closed) continue;
    allow(b->addr, closed_bytes(b), PROT_NONE);
    b->closed = any = true;
  }
  if (any) take_signals(s->polls);
}

/* What the thread opened is closed again, unless all of it was opened since. */
static void close_page(const struct shim *s, const struct poll_thread *t, uint64_t page)
{
  if (t->generation == atomic_load(&s->polls->generation)) allow(page, HOST_PAGE, PROT_NONE);
}

static void close_pages(const struct shim *s, const struct poll_thread *t, struct poll_pages *p)
{
  const unsigned kept = p->n < POLL_PAGES ? p->n : POLL_PAGES;
  for (unsigned i = 0; i < kept; i++) close_page(s, t, p->page[i]);
  p->n = 0;
}

/* In the place of the oldest one, when there are that many. */
static void open_page(const struct shim *s, struct poll_thread *t, struct poll_pages *p, uint64_t page)
{
  uint64_t *at = &p->page[p->n % POLL_PAGES];
  const unsigned now = atomic_load(&s->polls->generation);
  if (t->generation != now) t->opened.n = t->through.n = 0;
  t->generation = now;
  if (p->n >= POLL_PAGES) close_page(s, t, *at);
  *at = page;
  p->n++;
  allow(page, HOST_PAGE, PROT_READ | PROT_WRITE);
}

void poll_trap_behind_call(struct shim *s)
{
  struct poll_thread *t = &shim_thread(s)->polls;
  close_pages(s, t, &t->through);
  t->n_seen = 0;
  t->stepwise = false;
  t->known = true;
  t->at = s->time.now;
  if (s->front.n_open) close_all(s);
  else poll_trap_open(s);
}

bool poll_trap_is_spun_on(struct shim *s)
{
  bool any = false;
  for (struct thread *t = s->threads; t; t = t->next) {
    if (!t->polls.through.n) continue;
    any = t->polls.stepwise = true;
    close_pages(s, &t->polls, &t->polls.through);
  }
  return any;
}

/* An access ---------------------------------------------------------------------------------------------- */

/* Whether the instruction has been here since the thread's last call. */
static bool was_here(struct poll_thread *t, uint64_t pc, uint64_t addr)
{
  for (unsigned i = 0; i < t->n_seen; i++)
    if (t->seen[i].pc == pc && t->seen[i].addr == addr) return true;
  if (t->n_seen < POLL_SEEN) t->seen[t->n_seen++] = (struct poll_access){ pc, addr };
  return false;
}

/* The thread's time, when all others stand. The GPUs may have gone on without it. */
static void place(struct shim *s, struct poll_thread *t, uint64_t takes, struct host_turn *turn)
{
  const struct params *p = s->time.params;
  const uint64_t gpu = front_gpus_now(&s->front), base = t->known ? t->at : s->time.now;
  turn->at = base + takes;
  if (gpu > turn->at + 2 * params_request_ps(p)) turn->at = gpu;
  turn->placed = true;
}

/* A page that is on the GPU is there until the host's fault has been taken, and the host has it a while later. Not 0:
 * it is put off until then. */
static uint64_t take_fault(struct shim *s, struct thread *t, uint64_t page, uint64_t waited)
{
  const volatile char *at = (const volatile char *)(uintptr_t)page;
  allow(page, HOST_PAGE, PROT_READ | PROT_WRITE);
  (void)*at; /* which is what managed_look sees */
  s->time.now -= waited;
  managed_look(s);
  const uint64_t until = managed_serve(s);
  const bool off = until > s->time.now;
  t->polls.at = s->time.now = later(s->time.now, t->polls.at - waited);
  return off ? until : 0;
}

/* Whether simulated time stands for a function of a stream (host_call.h), and this is it. */
static bool is_function(const struct shim *s)
{
  return s->front.busy && s->host_calls.calls && pthread_equal(s->host_calls.thread, pthread_self());
}

/* The thread sleeps, and GPUs go on. */
static void sleep_until(struct shim *s, struct thread *t, uint64_t until)
{
  struct host_turn turn;
  host_turns_begin(s, &turn, NULL);
  turn.at = later(until, t->polls.at);
  turn.placed = true;
  host_turns_reach(s, &turn);
  host_turns_end(s, &turn);
  t->polls.at = turn.at;
  s->time.now = later(s->time.now, turn.at);
}

/* The machine comes to the time of the thread, which is at this page. */
static void meet(struct shim *s, struct thread *t, uint64_t page, bool poll)
{
  struct host_turn turn;
  uint64_t fault, takes = poll ? (uint64_t)s->time.params->host_poll_ns * PS_PER_NS : 0;
  if (s->front.busy && !poll) return; /* time stands for a function of a stream, until that polls */
  if (is_function(s)) s->function_polls = true;
  host_turns_begin(s, &turn, NULL);
  while (s->front.busy || !host_turns_stand(s)) host_turns_pause(s);
  fault = managed_fault_ps(s, page);
  place(s, &t->polls, takes + fault, &turn);
  host_turns_reach(s, &turn);
  host_turns_end(s, &turn);
  t->polls.at = turn.at;
  t->polls.known = true;
  s->time.now = later(s->time.now, turn.at);
  uint64_t until = fault ? take_fault(s, t, page, fault) : 0;
  for (; until; until = take_fault(s, t, page, 0)) sleep_until(s, t, until);
}

static void step_on(const struct shim *s, struct poll_thread *t, uint64_t page, greg_t *regs)
{
  if (!t->opened.n) t->steps = 0;
  t->pc = (uint64_t)regs[REG_RIP];
  open_page(s, t, &t->opened, page);
  regs[REG_EFL] |= SINGLE_STEP;
}

/* False: nothing of ours is there. */
static bool access_with_lock(struct shim *s, uint64_t addr, greg_t *regs)
{
  struct thread *t = shim_thread(s);
  const uint64_t page = addr / HOST_PAGE * HOST_PAGE;
  const struct block *b = block_at(s, addr);
  if (!b) return false;
  if (!b->closed) { /* it was opened meanwhile, or one of its pages was closed then */
    allow(page, HOST_PAGE, PROT_READ | PROT_WRITE);
    return true;
  }
  if (t->polls.opened.n) { /* of an instruction that touches several */
    step_on(s, &t->polls, page, regs);
    return true;
  }
  s->calls++; /* it does not spin unseen (idle_watch.h) */
  s->caller = t;
  t->host_clock.spun = true;
  host_turns_meet(s);
  const bool full = t->polls.n_seen == POLL_SEEN;
  const bool again = was_here(&t->polls, (uint64_t)regs[REG_RIP], addr), poll = again || (full && !is_function(s));
  s->record.polls += poll;
  meet(s, t, page, poll);
  if (!s->front.n_open) poll_trap_open(s);
  else if (full && !t->polls.stepwise) open_page(s, &t->polls, &t->polls.through, page);
  else step_on(s, &t->polls, page, regs);
  return true;
}

static bool access_here(uint64_t addr, greg_t *regs)
{
  struct shim *s = shim_if_any();
  if (!s || !s->polls || !memory_is_for_host(addr)) return false;
  if (shim_is_mine(s) || s->pid != getpid()) { /* our own code; a child, whose GPU it is not */
    const bool ours = block_at(s, addr);
    if (ours) poll_trap_open(s);
    return ours;
  }
  shim_lock(s);
  const bool ours = access_with_lock(s, addr, regs);
  pthread_mutex_unlock(&s->lock);
  return ours;
}

uint64_t poll_trap_argument(struct shim *s, uint64_t addr)
{
  if (shim_is_mine(s) || s->pid != getpid()) return host_image(s, addr);
  shim_lock(s);
  if (s->front.n_open && block_at(s, addr)) {
    host_turns_meet(s);
    meet(s, shim_thread(s), addr / HOST_PAGE * HOST_PAGE, false);
  }
  addr = host_image(s, addr);
  pthread_mutex_unlock(&s->lock);
  return addr;
}

/* Signals -------------------------------------------------------------------------------------------------- */

/* As if this handler were not there. */
static void pass_on(const struct sigaction *to, int number, siginfo_t *info, void *context)
{
  if (to->sa_flags & SA_SIGINFO) {
    to->sa_sigaction(number, info, context);
  } else if (to->sa_handler == SIG_DFL) {
    signal(number, SIG_DFL);
    if (info->si_code <= 0 || number == SIGTRAP) raise(number); /* else the instruction does it again */
  } else if (to->sa_handler != SIG_IGN) {
    to->sa_handler(number);
  }
}

static void on_fault(int number, siginfo_t *info, void *context)
{
  const int error = errno;
  ucontext_t *u = context;
  const struct shim *s = shim_if_any();
  const bool ours = info->si_code == SEGV_ACCERR &&
                    access_here((uint64_t)(uintptr_t)info->si_addr, u->uc_mcontext.gregs);
  if (!ours && s && s->polls) pass_on(&s->polls->segv, number, info, context);
  errno = error;
}

/* Behind a step. False: the instruction goes on, as string instructions do. */
static bool has_ended(const struct shim *s, struct poll_thread *t, uint64_t pc)
{
  const unsigned kept = t->opened.n < POLL_PAGES ? t->opened.n : POLL_PAGES;
  if (pc == t->pc && (t->stepwise || ++t->steps < POLL_STEPS)) return false;
  if (pc != t->pc) {
    close_pages(s, t, &t->opened);
    return true;
  }
  for (unsigned i = 0; i < kept; i++) open_page(s, t, &t->through, t->opened.page[i]);
  t->opened.n = 0;
  return true;
}

static void on_step(int number, siginfo_t *info, void *context)
{
  const int error = errno;
  ucontext_t *u = context;
  const struct shim *s = shim_if_any();
  struct thread *t = s ? pthread_getspecific(s->thread_key) : NULL;
  greg_t *regs = u->uc_mcontext.gregs;
  if (t && t->polls.pc) {
    if (has_ended(s, &t->polls, (uint64_t)regs[REG_RIP])) {
      t->polls.pc = 0;
      regs[REG_EFL] &= ~(greg_t)SINGLE_STEP;
    }
  } else if (s && s->polls) pass_on(&s->polls->trap, number, info, context);
  errno = error;
}

static void take_signal(int number, void (*handler)(int, siginfo_t *, void *), struct sigaction *before)
{
  struct sigaction now, ours = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER };
  if (sigaction(number, NULL, &now) != 0) return;
  if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == handler) return;
  *before = now;
  sigaction(number, &ours, NULL);
}

/* The program may have set its own since. */
static void take_signals(struct poll_trap *x)
{
  take_signal(SIGSEGV, on_fault, &x->segv);
  take_signal(SIGTRAP, on_step, &x->trap);
}

void poll_trap_start(struct shim *s)
{
  s->polls = shim_alloc(sizeof *s->polls);
  s->host_turns = host_turns_new();
  s->record.strict = true;
  if (!poll_calls_start())
    shim_say("--spin strict: no filter of system calls can be had: those that get pinned or managed memory fail "
             "(EFAULT) while kernels run");
}
