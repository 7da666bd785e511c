#include "host/linux/linux_cores.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "base/json_out.h"
#include "func/rv64/rv64_step.h"
#include "host/linux/linux_in_hand.h"
#include "host/linux/linux_report.h"
#include "host/linux/linux_thread.h"
#include "host/linux/linux_touched.h"
#include "time/cpu/cpu_complex.h"
#include "time/mem/page_tables.h"

enum { PS_PER_NS = 1000, RETRY_NS = 1000, SCRATCH = 64, REG_A7 = 17 };

struct linux_cores {
  struct linux_process *p;
  const struct machine_preset *machine;
  struct cpu_complex *cpu;
  struct domain *domain;
  struct rv64_stepper *stepper; /* [cores] */
  struct linux_thread **on;     /* [cores], NULL: none */
  picos *turn_end;              /* [cores] */
  struct part part;
  struct linux_vm_watch watch;
  struct linux_touched touched; /* of tables */
  struct page_tables *tables;   /* that a GPU walks, too; NULL: none does */
  struct linux_in_hand in_hand; /* of a call that is being served */
  picos now, start; /* start: where time began, behind what ran without */
  uint64_t order, served;
  bool beside; /* GPUs have work: they are met at every slice */
  bool free;   /* the run under way goes on for as long as there is something to do */
  bool ended;
  picos stop;       /* where the run under way is to stop; TIME_NEVER: nowhere */
  uint64_t regions; /* … or when more regions of interest than so many have begun; UINT64_MAX: never */
  enum linux_end end;
  struct err e;
  uint8_t scratch[SCRATCH][COH_LINE_BYTES]; /* lines of no page, by home */
};

/* --- memory ------------------------------------------------------------------------------------- */

/* A line may still be on its way back when its page is gone. */
static uint8_t *memory(void *ctx, uint64_t line)
{
  struct linux_cores *o = ctx;
  uint64_t mask;
  const uint64_t addr = line << COH_LINE_SHIFT;
  const struct linux_gpu *gpu = o->p->options.gpu;
  uint8_t *page = gmem_page(o->p->image, addr, &mask);
  if (page) return page + (addr & mask);
  if (gpu && addr >= LINUX_TASK_SIZE) page = gpu->page(gpu->ctx, addr, RV64_READ);
  if (page) return page + (addr & ~RV64_PAGE_MASK);
  return memset(o->scratch[line % o->machine->cpu.homes], 0, COH_LINE_BYTES);
}

static void touch(void *ctx, uint64_t addr, uint64_t bytes, enum rv64_access access)
{
  struct linux_cores *o = ctx;
  if (!bytes) return;
  if (o->tables) linux_touched_set(&o->touched, addr, bytes, true);
  linux_in_hand_take(&o->in_hand, o->cpu->coherence, addr, bytes, access == RV64_WRITE);
}

static void changed(void *ctx, uint64_t addr, uint64_t bytes, bool fresh)
{
  struct linux_cores *o = ctx;
  for (uint32_t i = 0; i < o->cpu->n_cores; i++) {
    cpu_core_forget_pages(&o->cpu->core[i]);
    cpu_core_forget_code(&o->cpu->core[i]);
    rv64_step_forget(&o->stepper[i]);
  }
  if (o->tables) o->tables->generation++;
  if (o->tables && fresh) linux_touched_set(&o->touched, addr, bytes, false);
  if (fresh) coh_system_from_memory(o->cpu->coherence, addr >> COH_LINE_SHIFT, bytes >> COH_LINE_SHIFT);
}

/* --- threads and cores --------------------------------------------------------------------------- */

static void finish(struct linux_cores *o, enum linux_end end)
{
  o->ended = true;
  o->end = end;
}

static uint32_t index_of(const struct linux_process *p, const struct linux_thread *t)
{
  uint32_t i = 0;
  while (p->thread[i] != t) i++;
  return i;
}

static picos time_ns(uint64_t ns)
{
  return ns < TIME_NEVER / PS_PER_NS ? ns * PS_PER_NS : TIME_NEVER;
}

/* The running thread goes on, on core i. */
static void go_on(struct linux_cores *o, uint32_t i, picos at)
{
  o->stepper[i].hart = o->p->core->hart;
  cpu_complex_run(o->cpu, i, o->p->core->hart.pc, at);
}

/* When a call that waits for a file is made again: later and later while nothing else comes of it. */
static uint64_t retry_at(const struct linux_cores *o, const struct linux_thread *t)
{
  enum { DOUBLINGS = 10 };
  const uint32_t turns = o->p->tries / o->p->n_threads;
  return earlier(linux_now(o->p) + ((uint64_t)RETRY_NS << (turns < DOUBLINGS ? turns : DOUBLINGS)), t->deadline);
}

/* … but what waits for a GPU is told. */
static uint64_t again_at(const struct linux_cores *o, const struct linux_thread *t)
{
  const struct linux_gpu *gpu = o->p->options.gpu;
  if (t->state != LINUX_RETRIES) return 0;
  return gpu && gpu->waits(gpu->ctx, t->tid) ? UINT64_MAX : retry_at(o, t);
}

static void give_up(struct linux_cores *o, uint32_t i)
{
  struct linux_thread *t = o->on[i];
  t->yields = false;
  t->core = 0;
  t->order = ++o->order;
  t->retry_ns = again_at(o, t);
  t->hart = o->p->core->hart;
  o->on[i] = NULL;
  cpu_core_idle(&o->cpu->core[i], o->now);
}

static void give(struct linux_cores *o, uint32_t i, struct linux_thread *t)
{
  struct linux_process *p = o->p;
  o->on[i] = t;
  t->core = i + 1;
  p->running = index_of(p, t);
  linux_process_resume(p);
  if (!linux_process_signals(p, &o->e)) {
    finish(o, LINUX_KILLED);
    return;
  }
  linux_in_hand_let_go(&o->in_hand, o->cpu->coherence);
  o->turn_end[i] = o->now + (picos)o->machine->cpu.turn_us * 1000 * PS_PER_NS;
  go_on(o, i, o->now);
}

static void stop_core(struct linux_cores *o, uint32_t i)
{
  o->cpu->core[i].stop = true;
  coh_system_wake(o->cpu->coherence, i, o->now);
}

/* Threads that run and have got a signal. */
static void interrupt(struct linux_cores *o)
{
  for (uint32_t i = 0; i < o->cpu->n_cores; i++) {
    const struct linux_thread *t = o->on[i];
    if (t && ((t->pending | o->p->pending) & ~t->blocked)) stop_core(o, i);
  }
}

/* The one that has waited longest; NULL: none. */
static struct linux_thread *next_thread(const struct linux_cores *o)
{
  struct linux_thread *best = NULL;
  for (uint32_t i = 0; i < o->p->n_threads; i++) {
    struct linux_thread *t = o->p->thread[i];
    if (t->core || t->retry_ns > linux_now(o->p) || !linux_thread_ready(o->p, t)) continue;
    if (!best || t->order < best->order) best = t;
  }
  return best;
}

static void schedule(struct linux_cores *o)
{
  struct linux_thread *t = next_thread(o);
  for (uint32_t i = 0; t && !o->ended && i < o->cpu->n_cores; i++) {
    if (o->on[i]) continue;
    give(o, i, t);
    t = next_thread(o);
  }
  for (uint32_t i = 0; t && i < o->cpu->n_cores; i++)
    if (o->on[i] && o->turn_end[i] <= o->now) stop_core(o, i);
}

/* When something is to be done without being asked. */
static picos next_event(const struct linux_cores *o)
{
  picos next = TIME_NEVER;
  bool waits = next_thread(o) != NULL;
  for (uint32_t i = 0; i < o->p->n_threads; i++) {
    const struct linux_thread *t = o->p->thread[i];
    if (!t->core) next = earlier(next, t->state == LINUX_RETRIES ? time_ns(t->retry_ns) : time_ns(t->deadline));
  }
  for (uint32_t i = 0; waits && i < o->cpu->n_cores; i++)
    if (o->on[i] && !o->cpu->core[i].stop) next = earlier(next, o->turn_end[i]);
  return next;
}

/* --- what cores ask ------------------------------------------------------------------------------ */

/* Code is decoded from memory, for all cores. */
static bool bring_code(struct linux_cores *o, uint32_t i, uint64_t pc)
{
  struct rv64_core *c = o->p->core;
  if (c->n_code == RV64_CODE_PAGES)
    for (uint32_t k = 0; k < o->cpu->n_cores; k++) rv64_step_forget(&o->stepper[k]);
  coh_system_to_memory(o->cpu->coherence, (pc & RV64_PAGE_MASK) >> COH_LINE_SHIFT,
                       2 * RV64_PAGE_BYTES / COH_LINE_BYTES);
  return rv64_step_bring(c, &o->stepper[i], pc);
}

/* Whether a page was there before linux_vm_page brought it (`in_image`: as far as the image knows). */
static bool was_there(struct linux_cores *o, uint64_t addr, bool in_image)
{
  if (addr >= LINUX_TASK_SIZE) return true;
  return o->tables ? linux_touched_add(&o->touched, addr) : in_image;
}

/* For GPUs that walk the process's page tables. */
static bool touch_by_gpu(void *ctx, uint64_t addr)
{
  return linux_touched_add(&((struct linux_cores *)ctx)->touched, addr);
}

/* Rights of a page, which may be touched for the first time: *cost, ps. */
static bool bring_page(struct linux_cores *o, uint32_t i, picos *cost)
{
  struct cpu_core *c = &o->cpu->core[i];
  uint64_t mask;
  const bool in_image = gmem_page(o->p->image, c->address, &mask);
  if (!linux_vm_page(&o->p->vm, c->address, c->writes ? RV64_WRITE : RV64_READ)) return false;
  if (!was_there(o, c->address, in_image)) *cost = time_ns(o->machine->cpu.fault_ns);
  cpu_core_allow(c, c->address, true, c->writes);
  return true;
}

/* Whether the core's wish was granted; else *stop says what has to be served. */
static bool granted(struct linux_cores *o, uint32_t i, enum rv64_stop *stop, picos *cost)
{
  struct cpu_core *c = &o->cpu->core[i];
  struct rv64_core *of = o->p->core;
  of->trap_value = c->address;
  switch (c->ask) {
  case CPU_ASK_CODE: *stop = RV64_STOP_FETCH; return bring_code(o, i, c->pc);
  case CPU_ASK_PAGE: *stop = c->writes ? RV64_STOP_STORE : RV64_STOP_LOAD; return bring_page(o, i, cost);
  case CPU_ASK_FENCE:
    rv64_forget_code(of);
    cpu_core_forget_code(c);
    return true;
  case CPU_ASK_STOP: return true;
  case CPU_ASK_TRAP: break;
  }
  *stop = o->stepper[i].stop;
  of->trap_value = o->stepper[i].trap_value;
  *cost = time_ns(o->machine->cpu.syscall_ns);
  return false;
}

/* The process's clock is that of the cores, whatever its calls make of it. */
static void tell_time(struct linux_cores *o)
{
  o->p->core->instret = o->now / PS_PER_NS;
  o->p->skipped = 0;
}

static uint64_t slice_of(const struct linux_cores *o)
{
  const struct linux_gpu *gpu = o->p->options.gpu;
  return gpu ? gpu->slice(gpu->ctx) : 0;
}

/* What the call does to memory, and GPUs do from now on, is no matter of caches: memory has all bytes before it. */
static void before_gpu_call(struct linux_cores *o)
{
  if (o->beside) coh_system_stores_to_memory(o->cpu->coherence);
  else coh_system_to_memory(o->cpu->coherence, 0, UINT64_MAX);
}

static void renew(void *ctx, uint64_t addr, uint64_t bytes)
{
  struct linux_cores *o = ctx;
  const uint64_t first = addr >> COH_LINE_SHIFT;
  coh_system_from_memory(o->cpu->coherence, first, ((addr + bytes - 1) >> COH_LINE_SHIFT) - first + 1);
}

static void ignore(void *ctx, uint64_t addr, uint64_t bytes)
{
  (void)ctx, (void)addr, (void)bytes;
}

/* … and caches behind it. It may have given GPUs something to do. */
static void after_gpu_call(struct linux_cores *o)
{
  const struct linux_gpu *gpu = o->p->options.gpu;
  linux_in_hand_let_go(&o->in_hand, o->cpu->coherence);
  gpu->changes(gpu->ctx, ignore, o);
  coh_system_from_memory(o->cpu->coherence, 0, UINT64_MAX);
  if (!o->beside && slice_of(o)) {
    o->beside = true;
    coh_system_note_stores(o->cpu->coherence, true);
  }
}

/* Serves it as the process's threads are served; *cost: what it takes, ps. */
static bool serve_call(struct linux_cores *o, enum rv64_stop stop, bool *gone, picos *cost)
{
  struct linux_process *p = o->p;
  const bool gpu = p->options.gpu && stop == RV64_STOP_ECALL && p->core->hart.x[REG_A7] == LINUX_GPU_CALL;
  if (gpu) before_gpu_call(o);
  const bool goes_on = linux_process_serve(p, stop, gone, &o->end, &o->e);
  if (gpu) after_gpu_call(o);
  if (p->skipped) *cost = time_ns(p->skipped);
  return goes_on;
}

/* With the registers of core i's thread in the process's core. */
static void serve(struct linux_cores *o, uint32_t i)
{
  struct linux_process *p = o->p;
  struct linux_thread *t = o->on[i];
  tell_time(o);
  enum rv64_stop stop = RV64_STOP_BUDGET;
  picos cost = 0;
  bool gone = false;
  p->running = index_of(p, t);
  p->core->hart = o->stepper[i].hart;
  p->core->hart.pc = o->cpu->core[i].pc;
  if (!granted(o, i, &stop, &cost) && !serve_call(o, stop, &gone, &cost)) {
    finish(o, o->end);
    return;
  }
  if (gone) {
    o->on[i] = NULL;
    cpu_core_idle(&o->cpu->core[i], o->now);
    if (p->exited) finish(o, LINUX_EXITED);
  } else if (t->state != LINUX_RUNS || t->yields || o->cpu->core[i].ask == CPU_ASK_STOP) {
    give_up(o, i);
  } else if (!linux_process_signals(p, &o->e)) {
    finish(o, LINUX_KILLED);
  } else {
    go_on(o, i, o->now + cost);
  }
  linux_in_hand_let_go(&o->in_hand, o->cpu->coherence);
}

static uint64_t insts(const struct linux_cores *o)
{
  uint64_t n = 0;
  for (uint32_t i = 0; i < o->cpu->n_cores; i++) n += o->cpu->core[i].stats.insts;
  return n;
}

static void check_limit(struct linux_cores *o)
{
  const uint64_t limit = o->p->options.max_insts, n = limit ? insts(o) : 0;
  if (o->ended || !limit || n < limit) return;
  err_fill(&o->e, "stopped after %" PRIu64 " instructions", n);
  finish(o, LINUX_LIMIT);
}

static picos os_run(void *self, picos from, picos to)
{
  struct linux_cores *o = self;
  bool asked = o->part.next < to;
  (void)from;
  o->now = to;
  for (uint32_t i = 0; i < o->cpu->n_cores; i++) asked |= o->cpu->core[i].state == CPU_ASKS;
  check_limit(o);
  if (o->ended || !asked) return o->part.next;
  o->served++;
  for (uint32_t i = 0; i < o->cpu->n_cores && !o->ended; i++)
    if (o->cpu->core[i].state == CPU_ASKS) serve(o, i);
  if (o->ended) return TIME_NEVER;
  tell_time(o);
  schedule(o);
  interrupt(o);
  return later(next_event(o), to);
}

static uint64_t os_progress(const void *self)
{
  return ((const struct linux_cores *)self)->served;
}

static bool os_busy(const void *self)
{
  (void)self;
  return false;
}

static void os_dump(const void *self, FILE *out)
{
  (void)self, (void)out;
}

static bool region_has_begun(const struct linux_cores *o)
{
  return o->p->regions.begun > o->regions;
}

/* The run stops where it ends, or where GPUs have got something to do that had nothing. */
static bool between(void *ctx, picos now)
{
  const struct linux_cores *o = ctx;
  (void)now;
  return !o->ended && !(o->free && (o->beside || region_has_begun(o)));
}

/* --- from start to end --------------------------------------------------------------------------- */

static bool build(struct linux_cores *o, struct err *e)
{
  const struct cpu_params *p = &o->machine->cpu;
  const struct linux_gpu *gpu = o->p->options.gpu;
  void *hart[COH_MAX_NODES];
  o->stepper = mem_zeroed(p->cores, sizeof *o->stepper);
  o->on = mem_zeroed(p->cores, sizeof *o->on);
  o->turn_end = mem_zeroed(p->cores, sizeof *o->turn_end);
  for (uint32_t i = 0; i < p->cores; i++) hart[i] = &o->stepper[i];
  o->cpu = cpu_complex_new(&(struct cpu_complex_config){.params = p, .memory_mbps = o->machine->memory_mbps,
                                                        .memory_latency_ns = o->machine->memory_latency_ns,
                                                        .ops = &rv64_step_ops, .hart = hart, .memory = memory,
                                                        .ctx = o,
                                                        .rights = gpu ? gpu->rights : NULL},
                           e);
  if (!o->cpu) return false;
  static const struct part_ops ops = {os_run, os_progress, os_busy, os_dump};
  o->part = (struct part){&ops, o, 0};
  struct domain_config d = cpu_complex_domain(o->cpu, &o->part);
  d.between = between;
  d.ctx = o;
  o->domain = domain_new(&d);
  return true;
}

/* What is mapped when time begins has been touched. */
static void share_tables(struct linux_cores *o)
{
  const struct linux_vm *vm = &o->p->vm;
  o->tables = o->p->options.gpu ? o->p->options.gpu->tables : NULL;
  if (!o->tables) return;
  linux_touched_init(&o->touched);
  for (uint32_t i = 0; i < vm->n; i++)
    linux_touched_set(&o->touched, vm->vma[i].start, vm->vma[i].end - vm->vma[i].start, true);
  o->tables->touch = touch_by_gpu;
  o->tables->ctx = o;
}

struct linux_cores *linux_cores_new(struct linux_process *p, const struct machine_preset *m, struct err *e)
{
  struct linux_cores *o = mem_zeroed(1, sizeof *o);
  o->p = p;
  o->machine = m;
  if (!build(o, e)) return linux_cores_free(o), NULL;
  share_tables(o);
  o->watch = (struct linux_vm_watch){touch, changed, o};
  p->vm.watch = &o->watch;
  linux_running(p)->hart = p->core->hart;
  o->now = o->start = linux_now(p) * PS_PER_NS;
  domain_idle_until(o->domain, o->now);
  if (p->options.gpu) p->options.gpu->in_time(p->options.gpu->ctx);
  o->beside = slice_of(o) > 0;
  coh_system_note_stores(o->cpu->coherence, o->beside);
  return o;
}

void linux_cores_free(struct linux_cores *o)
{
  if (!o) return;
  o->p->vm.watch = NULL;
  if (o->tables) o->tables->touch = NULL;
  linux_touched_free(&o->touched);
  domain_free(o->domain);
  cpu_complex_free(o->cpu);
  linux_in_hand_free(&o->in_hand);
  mem_free(o->turn_end);
  mem_free(o->on);
  mem_free(o->stepper);
  mem_free(o);
}

static void unended(struct linux_cores *o, enum domain_end how)
{
  if (how == DOMAIN_STUCK) {
    cpu_complex_dump(o->cpu, stderr);
    domain_dump(o->domain, stderr);
  }
  BUG_ON(how == DOMAIN_STUCK);
  err_fill(&o->e, "all threads of the program wait for each other");
  finish(o, LINUX_STUCK);
}

/* Threads whose calls wait for GPUs go on when that has come. */
static void wake_waiting(struct linux_cores *o)
{
  const struct linux_gpu *gpu = o->p->options.gpu;
  for (uint32_t i = 0; i < o->p->n_threads; i++) {
    struct linux_thread *t = o->p->thread[i];
    if (t->state == LINUX_RETRIES && t->retry_ns == UINT64_MAX && !gpu->waits(gpu->ctx, t->tid))
      t->retry_ns = linux_now(o->p);
  }
}

/* All cores stand at `until` or behind it: GPUs follow. */
static void meet(struct linux_cores *o, picos until)
{
  const struct linux_gpu *gpu = o->p->options.gpu;
  o->now = later(o->now, until);
  tell_time(o);
  coh_system_stores_to_memory(o->cpu->coherence);
  cpu_complex_tell(o->cpu);
  if (o->cpu->rights) o->cpu->rights->follows = true;
  gpu->follow(gpu->ctx, linux_now(o->p));
  if (o->cpu->rights) o->cpu->rights->follows = false;
  cpu_complex_hear(o->cpu);
  linux_in_hand_let_go(&o->in_hand, o->cpu->coherence);
  if (gpu->changes(gpu->ctx, renew, o)) coh_system_from_memory(o->cpu->coherence, 0, UINT64_MAX);
  o->beside = slice_of(o) > 0;
  coh_system_note_stores(o->cpu->coherence, o->beside);
  wake_waiting(o);
  o->part.next = earlier(o->part.next, later(next_event(o), o->now));
}

/* As far as cores go by themselves, or until GPUs must follow. */
static enum domain_end run_slice(struct linux_cores *o)
{
  const uint64_t slice = slice_of(o);
  const picos until = slice ? o->now + slice * PS_PER_NS : o->stop;
  o->free = !slice;
  const enum domain_end how = domain_run(o->domain, until, NULL);
  if (!slice || o->ended) return how;
  meet(o, until);
  return DOMAIN_REACHED;
}

/* Without GPUs at work cores go on to there by themselves, and may have nothing to do just before it. */
static bool has_come(const struct linux_cores *o, enum domain_end how)
{
  return o->now >= o->stop || (o->free && how == DOMAIN_REACHED) || region_has_begun(o);
}

enum linux_end linux_cores_run(struct linux_cores *o, const struct linux_until *until, struct err *e)
{
  void (*const before)(int) = signal(SIGPIPE, SIG_IGN); /* the guest gets its own */
  enum domain_end how;
  o->stop = time_ns(until->ns);
  o->regions = until->region ? o->p->regions.begun : UINT64_MAX;
  do how = run_slice(o);
  while (!o->ended && !has_come(o, how) && (how == DOMAIN_REACHED || how == DOMAIN_NOTICE));
  if (!o->ended && has_come(o, how)) {
    signal(SIGPIPE, before);
    return LINUX_STOPPED;
  }
  if (!o->ended) unended(o, how);
  for (uint32_t i = 0; i < o->cpu->n_cores; i++) cpu_core_idle(&o->cpu->core[i], o->now);
  signal(SIGPIPE, before);
  *e = o->e;
  return o->end;
}

static struct linux_report report_of(const struct linux_cores *o)
{
  return (struct linux_report){o->machine, o->cpu, o->tables, &o->p->regions, o->now, o->start};
}

void linux_cores_report(const struct linux_cores *o, FILE *f)
{
  const struct linux_report r = report_of(o);
  linux_report_print(&r, f);
}

void linux_cores_json(const struct linux_cores *o, struct json_out *j)
{
  const struct linux_report r = report_of(o);
  linux_report_json(&r, j);
}
