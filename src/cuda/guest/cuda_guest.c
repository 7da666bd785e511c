#include "cuda/guest/cuda_guest.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "base/span_list.h"
#include "cuda/core/call.h"
#include "cuda/core/exec_report.h"
#include "cuda/core/synchronize.h"
#include "cuda/core/task.h"
#include "cuda/guest/guest_call.h"
#include "cuda/guest/guest_wait.h"
#include "host/linux/linux_syscall.h"
#include "time/mem/l2_rights.h"
#include "time/mem/page_tables.h"

enum { NAME_MAX_BYTES = 96, IN_REGISTERS = 8, PS_PER_NS = 1000 };
enum { REG_SP = 2, REG_T0 = 5, REG_T1 = 6, REG_A0 = 10 };

struct guest_program {
  struct shim *shim;
  struct linux_process *process;
  struct linux_gpu gpu;
  struct program_memory memory;
  struct gmem *image;
  struct guest_handles handles;
  struct guest_thread *threads;
  struct guest_managed *managed;
  struct guest_functions functions;
  const struct guest_entry **by_name; /* all, in order */
  struct arena keep;
  char *options;
  uint64_t gone;                      /* memory.gone when the core forgot its pages last */
  bool in_time;
  struct span_list written;           /* by GPUs, where cores are in time */
  struct page_tables tables;          /* … and the process's, which the GPU walks there */
  struct l2_rights rights;            /* of the GPU's L2 beside cores in time, on one memory */
  void *thread, *printed;             /* across a checkpoint: of the calling thread; text that was not given out yet */
  size_t printed_bytes;
  uint64_t seen_end, seen_open;       /* of the front end, when changes were asked for last */
};

/* The program's memory --------------------------------------------------------------------------------------------- */

static bool read_memory(void *ctx, uint64_t addr, void *to, uint64_t bytes)
{
  const struct guest_program *g = ctx;
  return linux_vm_read(&g->process->vm, to, addr, bytes);
}

static bool write_memory(void *ctx, uint64_t addr, const void *from, uint64_t bytes)
{
  const struct guest_program *g = ctx;
  return linux_vm_write(&g->process->vm, addr, from, bytes);
}

static bool reaches_memory(void *ctx, uint64_t addr, uint64_t bytes, bool writes)
{
  const struct guest_program *g = ctx;
  const enum rv64_access access = writes ? RV64_WRITE : RV64_READ;
  uint64_t n;
  for (uint64_t done = 0; done < bytes; done += n)
    if (!linux_vm_span(&g->process->vm, addr + done, bytes - done, access, &n)) return false;
  return true;
}

/* The page of a __managed__ variable, which is memory of the GPU. */
static uint8_t *managed_page(const struct guest_program *g, uint64_t addr)
{
  const uint64_t from = addr & RV64_PAGE_MASK;
  for (const struct guest_managed *m = g->managed; m; m = m->next)
    if (m->addr < from + RV64_PAGE_BYTES && from < m->addr + m->bytes)
      return gmem_ptr(board_memory(g->shim, from), from, RV64_PAGE_BYTES);
  return NULL;
}

/* Memory of GPUs where the CPU shares it; pinned and managed memory, which is the host's, everywhere. */
static uint8_t *page(void *ctx, uint64_t addr, enum rv64_access access)
{
  struct guest_program *g = ctx;
  struct shim *s = g->shim;
  uint64_t mask;
  if (!s->up || access == RV64_FETCH) return NULL;
  if (s->program.shared) return gmem_page(s->program.shared, addr, &mask);
  const struct block *b = memory_find(s, addr);
  const bool seen = b && (b->kind == BLOCK_PINNED || b->kind == BLOCK_MANAGED);
  return seen ? (uint8_t *)(uintptr_t)(addr & RV64_PAGE_MASK) : managed_page(g, addr);
}

static bool describe(void *ctx, uint64_t addr, char *text, size_t size)
{
  struct guest_program *g = ctx;
  if (addr < LINUX_TASK_SIZE || !g->shim->up || !memory_is_device(g->shim, addr)) return false;
  snprintf(text, size, ", memory of the GPU, which this machine's CPU does not reach");
  return true;
}

/* Pages that the core remembers may have gone. */
static void forget_gone(struct guest_program *g)
{
  if (g->gone == g->shim->memory.gone) return;
  g->gone = g->shim->memory.gone;
  linux_vm_changed_above(&g->process->vm);
}

/* Time ------------------------------------------------------------------------------------------------------------- */

static uint64_t slice(void *ctx)
{
  const struct guest_program *g = ctx;
  const struct shim *s = g->shim;
  if (!s->up || !s->front.n_open || s->starved) return 0;
  return later(params_request_ps(s->time.params) / PS_PER_NS, 1);
}

static void follow(void *ctx, uint64_t now_ns)
{
  struct guest_program *g = ctx;
  struct shim *s = g->shim;
  pthread_mutex_lock(&s->lock);
  timeline_wait(&s->time, now_ns * PS_PER_NS);
  if (!s->front.busy) task_run(s, s->live ? s->time.now : FRONT_NEVER);
  forget_gone(g);
  pthread_mutex_unlock(&s->lock);
}

static void in_time(void *ctx)
{
  ((struct guest_program *)ctx)->in_time = true;
}

static struct guest_thread *find_thread(const struct guest_program *g, uint32_t tid)
{
  struct guest_thread *t = g->threads;
  while (t && t->tid != tid) t = t->next;
  return t;
}

static bool waits(void *ctx, uint32_t tid)
{
  struct guest_program *g = ctx;
  const struct guest_thread *t = find_thread(g, tid);
  return t && t->waits && slice(g) && !task_has_ended(g->shim, t->waits);
}

/* Operations that begin or end may change anything. */
static bool changes(void *ctx, void (*see)(void *ctx, uint64_t addr, uint64_t bytes), void *to)
{
  struct guest_program *g = ctx;
  const struct front *f = &g->shim->front;
  const bool others = f->last_end != g->seen_end || f->n_open != g->seen_open;
  span_list_take(&g->written, see, to);
  g->seen_end = f->last_end;
  g->seen_open = f->n_open;
  return others;
}

/* What the call took. */
static void take_time(struct guest_program *g)
{
  const uint64_t now = div_up(g->shim->time.now, PS_PER_NS), before = linux_now(g->process);
  if (g->shim->up && now > before) g->process->skipped += now - before;
}

/* Calls ------------------------------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
  const struct guest_entry *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

static const struct guest_entry *find_entry(const struct guest_program *g, const char *name)
{
  const struct guest_entry key = {.name = name}, *const wanted = &key;
  const struct guest_entry **at = bsearch(&wanted, g->by_name, n_guest_entries, sizeof wanted, compare);
  return at ? *at : NULL;
}

static struct guest_thread *thread_of(struct guest_program *g, uint32_t tid)
{
  struct guest_thread *t = find_thread(g, tid);
  if (t) return t;
  t = mem_zeroed(1, sizeof *t);
  t->tid = tid;
  t->next = g->threads;
  return g->threads = t;
}

/* A stream has come to a function of the program. Its caller wakes. */
static void function_due(void *ctx, struct task *w)
{
  struct guest_program *g = ctx;
  struct guest_functions *f = &g->functions;
  f->due = mem_more(f->due, f->n, &f->room, sizeof(struct task *));
  f->due[f->n++] = w;
  for (uint32_t i = 0; i < g->process->n_threads; i++) {
    struct linux_thread *t = g->process->thread[i];
    if (t->tid == f->caller && t->state == LINUX_SLEEPS) t->deadline = 0;
  }
}

static int64_t missing(struct guest_program *g, const char *name)
{
  char what[NAME_MAX_BYTES + 48];
  snprintf(what, sizeof what, "%s, by a program on a simulated CPU,", name);
  pthread_mutex_lock(&g->shim->lock);
  const CUresult r = shim_unsupported(g->shim, what);
  shim_thread(g->shim)->last = r;
  pthread_mutex_unlock(&g->shim->lock);
  return r;
}

static void read_arguments(struct guest_call *c)
{
  const struct rv64_hart *h = &c->process->core->hart;
  for (unsigned i = 0; i < IN_REGISTERS; i++) c->a[i] = h->x[REG_A0 + i];
  c->a[IN_REGISTERS - 1] = h->x[REG_T0];
  /* Those behind on the stack, as far as it goes. */
  linux_vm_read(&c->process->vm, &c->a[IN_REGISTERS], h->x[REG_SP], (GUEST_ARGUMENTS - IN_REGISTERS) * sizeof c->a[0]);
}

/* The runtime remembers errors of calls that never reached it, too. */
static int64_t refused(struct guest_call *c)
{
  if (c->result == LINUX_FAULTS) return c->result;
  pthread_mutex_lock(&c->shim->lock);
  shim_thread(c->shim)->last = (CUresult)c->result;
  pthread_mutex_unlock(&c->shim->lock);
  return c->result;
}

static int64_t serve(const struct guest_entry *e, struct guest_call *c)
{
  if (setjmp(c->out)) return refused(c);
  read_arguments(c);
  if (guest_wait(c, e)) return LINUX_WAITS;
  return e->serve(c);
}

static int64_t call(void *ctx, struct linux_process *p, enum rv64_access *access)
{
  struct guest_program *g = ctx;
  struct shim *s = g->shim;
  char name[NAME_MAX_BYTES];
  if (!linux_vm_string(&p->vm, name, sizeof name, p->core->hart.x[REG_T1])) {
    p->core->trap_value = p->core->hart.x[REG_T1];
    *access = RV64_READ;
    return LINUX_FAULTS;
  }
  const struct guest_entry *e = find_entry(g, name);
  struct guest_thread *t = thread_of(g, linux_running(p)->tid);
  struct guest_call c = {.shim = s, .handles = &g->handles, .process = p, .thread = t, .name = name, .keep = &g->keep,
                         .in_time = g->in_time, .managed = &g->managed, .functions = &g->functions};
  pthread_setspecific(s->thread_key, t->state);
  if (s->up) timeline_wait(&s->time, linux_now(p) * PS_PER_NS);
  const int64_t result = e ? serve(e, &c) : missing(g, name);
  t->state = pthread_getspecific(s->thread_key);
  arena_free(&c.scratch);
  take_time(g);
  forget_gone(g);
  fflush(stdout); /* what the device printed */
  p->core->trap_value = c.fault;
  *access = c.access;
  return result;
}

/* From its beginning to its end ------------------------------------------------------------------------------------ */

static void sort_entries(struct guest_program *g)
{
  g->by_name = mem_zeroed(n_guest_entries, sizeof *g->by_name);
  for (unsigned i = 0; i < n_guest_entries; i++) g->by_name[i] = &guest_entries[i];
  qsort(g->by_name, n_guest_entries, sizeof *g->by_name, compare);
}

/* Of a machine whose GPU walks its CPU's page tables. */
static struct page_tables tables_of(const struct cpu_params *p)
{
  enum { PS_PER_US = 1000000 };
  const picos period = PS_PER_US / p->clock_mhz;
  return (struct page_tables){.entries = p->gpu_tlb_entries,
                              .walk_entries = p->gpu_walk_cache_entries,
                              .walkers = p->gpu_walkers,
                              .shared_ps = p->gpu_tlb_cycles * period,
                              .read_ps = p->gpu_walk_cycles * period,
                              .fault_ps = (picos)p->fault_ns * PS_PER_NS,
                              .end = LINUX_TASK_SIZE};
}

struct guest_program *guest_new(const struct guest_setup *setup)
{
  struct guest_program *g = mem_zeroed(1, sizeof *g);
  g->shim = shim_get();
  g->image = setup->image;
  g->options = arena_strdup(&g->keep, setup->options);
  g->gpu = (struct linux_gpu){.ctx = g, .call = call, .page = page, .slice = slice, .follow = follow,
                              .waits = waits, .changes = changes, .describe = describe,
                              .in_time = in_time};
  const bool fused = setup->in_time && setup->memory == CPU_MEMORY_FUSED;
  g->gpu.rights = setup->in_time && setup->memory != CPU_MEMORY_SPLIT ? &g->rights : NULL;
  g->gpu.tables = fused && setup->cpu && setup->cpu->gpu_tlb_entries ? &g->tables : NULL;
  if (g->gpu.tables) g->tables = tables_of(setup->cpu);
  span_list_init(&g->written);
  g->memory = (struct program_memory){.ctx = g, .read = read_memory, .write = write_memory,
                                      .reaches = reaches_memory};
  g->shim->program = (struct program){.memory = &g->memory, .end = LINUX_TASK_SIZE, .options = g->options,
                                      .host_call = function_due,
                                      .shared = setup->memory == CPU_MEMORY_SPLIT ? NULL : setup->image,
                                      .written = setup->in_time ? &g->written : NULL,
                                      .rights = g->gpu.rights,
                                      .tables = g->gpu.tables,
                                      .at_host = setup->memory == CPU_MEMORY_C2C};
  sort_entries(g);
  return g;
}

const struct linux_gpu *guest_gpu(struct guest_program *g)
{
  return &g->gpu;
}

void guest_attach(struct guest_program *g, struct linux_process *p)
{
  g->process = p;
  if (g->shim->program.shared) linux_vm_show(&p->vm);
}

void guest_report(struct guest_program *g, const struct program_report *r)
{
  g->shim->program.report = r;
}

bool guest_reports(const struct guest_program *g)
{
  return g->shim->up;
}

int guest_finish(struct guest_program *g, int status)
{
  struct shim *s = g->shim;
  pthread_mutex_lock(&s->lock);
  exec_report(s);
  pthread_mutex_unlock(&s->lock);
  return shim_status(s, status);
}

bool guest_keep(struct guest_program *g, struct err *e)
{
  struct shim *s = g->shim;
  if (s->options.trace) return err_set(e, "nothing can be saved while --trace writes launches");
  g->thread = pthread_getspecific(s->thread_key);
  mem_free(g->printed);
  g->printed = NULL;
  g->printed_bytes = 0;
  if (!s->print.file) return true;
  fflush(s->print.file);
  g->printed_bytes = s->print.bytes;
  g->printed = memcpy(mem_alloc(g->printed_bytes), s->print.text, g->printed_bytes);
  return true;
}

void guest_open_again(struct guest_program *g, unsigned threads)
{
  shim_come_back(g->shim, g->thread, threads);
  if (!g->shim->print.file) return;
  device_print_open(&g->shim->print);
  fwrite(g->printed, 1, g->printed_bytes, g->shim->print.file);
}

void guest_free(struct guest_program *g)
{
  if (!g) return;
  g->shim->pid = 0; /* nobody's any more: nothing is reported behind it */
  guest_handles_free(&g->handles);
  for (struct guest_thread *t = g->threads, *next; t; t = next) next = t->next, mem_free(t);
  g->shim->program.written = NULL;
  g->shim->program.rights = NULL;
  g->shim->program.tables = NULL;
  l2_rights_free(&g->rights);
  span_list_free(&g->written);
  mem_free(g->functions.due);
  mem_free(g->printed);
  mem_free(g->by_name);
  arena_free(&g->keep);
  mem_free(g);
}
