#include "cuda/core/kernel_fault.h"

#include <string.h>

#include "cuda/core/fault_code.h"
#include "cuda/core/shim.h"
#include "load/line_table.h"

/* How much of the text of a fault is said: what its GPU knows about an address in memory of another one is that there
 * is nothing. */
static int said(const struct board *b, const struct board *owner, const struct fault *f)
{
  char near[200];
  const size_t n = strlen(f->text);
  if (owner == b) return (int)n;
  near[0] = ',', near[1] = ' ';
  gmem_describe(b->device.mem, f->addr, near + 2, sizeof near - 2);
  const size_t end = strlen(near);
  return (int)(n > end && strcmp(f->text + n - end, near) == 0 ? n - end : n);
}

/* Laid out as compute-sanitizer's reports are, for people and scripts who know those. */
static void tell_fault(struct shim *s, const struct launch_request *q, const struct fault *f)
{
  char where[400], near[200];
  const struct board *b = q->function->module->board;
  const bool illegal = f->kind == FAULT_ILLEGAL_ADDRESS;
  const bool global = illegal || (f->kind == FAULT_MISALIGNED && gmem_ptr(b->device.mem, f->addr & ~UINT64_C(15), 1));
  const struct board *owner = global ? board_of(s, f->addr) : b;
  line_table_where(q->function->module->code.module, f->pc, where, sizeof where);
  fprintf(stderr, "========= %.*s\n=========     at %s (pc 0x%llx)\n", said(b, owner, f), f->text, where,
          (unsigned long long)f->pc);
  fprintf(stderr, "=========     by thread (%u,%u,%u) in block (%u,%u,%u)\n", f->thread[0],
          f->thread[1], f->thread[2], f->cta[0], f->cta[1], f->cta[2]);
  if (f->kind == FAULT_LOCAL_RANGE)
    fprintf(stderr, "=========     a thread's stack is what cudaDeviceSetLimit(cudaLimitStackSize, BYTES) says\n");
  if (!global) return;
  gmem_describe(owner->device.mem, f->addr, near, sizeof near);
  fprintf(stderr, "=========     address 0x%llx is %s\n", (unsigned long long)f->addr, near);
  if (!illegal || owner == b) return;
  fprintf(stderr, "=========     of GPU %u", owner->number);
  if (gmem_ptr(owner->device.mem, f->addr, 1)) /* else nobody could */
    fprintf(stderr, ", whose memory GPU %u cannot access (cudaDeviceEnablePeerAccess)", b->number);
  fputc('\n', stderr);
}

/* Where the warps of a launch that ended early are, most first; what: how it ended. */
static void kernel_fault_tell_where(const struct launch_request *q, const struct sim_result *r, const char *what)
{
  enum { MAX_ROWS = 12 };
  char where[400];
  fprintf(stderr, "========= kernel %s %s\n", q->function->kernel->name, what);
  for (unsigned i = 0; i < r->where->n && i < MAX_ROWS; i++) {
    const struct position *p = &r->where->row[i];
    line_table_where(q->function->module->code.module, p->pc, where, sizeof where);
    fprintf(stderr, "=========     %llu warp%s at %s (%s)\n", (unsigned long long)p->warps,
            p->warps == 1 ? "" : "s", where, path_wait_name(p->wait));
  }
  if (r->where->n > MAX_ROWS)
    fprintf(stderr, "=========     and at %u more places\n", r->where->n - MAX_ROWS);
}

/* Why a kernel was ended that did nothing wrong. */
static const char *why_ended(const struct shim *s, enum run_end end)
{
  if (end == RUN_CYCLE_LIMIT) return "reached the limit of --max-cycles";
  if (end == RUN_INST_LIMIT) return "reached the limit of --max-instructions";
  return s->end.cut ? "was ended with its context: nothing of it came to an end any more" : "was stopped";
}

void kernel_fault_keep(struct shim *s, const struct launch_request *q, const struct sim_result *r, uint64_t end)
{
  s->fault.when = end;
  s->fault.waits = !r->timed;
  s->fault.code = r->end == RUN_FAULT ? fault_code(r->fault.kind) : CUDA_ERROR_LAUNCH_TIMEOUT;
  if (r->end == RUN_FAULT) tell_fault(s, q, &r->fault);
  if (r->end != RUN_FAULT) kernel_fault_tell_where(q, r, why_ended(s, r->end));
  else if (r->fault.kind == FAULT_DEADLOCK)
    kernel_fault_tell_where(q, r, "cannot go on");
  if (r->end == RUN_STOPPED) return; /* there are no later calls */
  fprintf(stderr, "========= launch %llu: every later call of the CUDA interface fails\n",
          (unsigned long long)q->number);
}
