/* Runtime services: vprintf, malloc, free and __assertfail, called at reserved code addresses.
 * Arguments from R4 on, return address in R20:R21, result in R4 (compiler output, CUDA 13.0).
 * Functions of the device runtime: sys_device.c.
 * They run for the active lanes in ascending order, at the moment of the call: a timed run calls
 * in a fixed order.
 */
#include "func/sass/sys.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bits.h"
#include "base/host_memory.h"
#include "func/sass/func_launch.h"
#include "func/sass/guest.h"
#include "func/sass/guest_fault.h"
#include "func/sass/lanes.h"
#include "func/sass/paths.h"
#include "isa/sass/syscall.h"

enum { REG_ARG = 4, REG_RETURN = 20, HEAP_ALIGN = 16, TEXT_MAX = 80 };

struct heap_block {
  struct heap_block *next;
  uint64_t addr, bytes;
  bool used;
};

struct func_heap {
  struct heap_block *first; /* blocks in address order; together they are the heap */
  bool asked; /* by a kernel, whatever it got */
};

static uint64_t arg64(const struct func_warp *w, unsigned reg, unsigned lane)
{
  return lane_join(warp_reg(w, reg)[lane], warp_reg(w, reg + 1)[lane]);
}

static void result64(struct func_warp *w, unsigned lane, uint64_t v)
{
  warp_reg(w, REG_ARG)[lane] = (uint32_t)v;
  warp_reg(w, REG_ARG + 1)[lane] = (uint32_t)(v >> 32);
}

static bool do_vprintf(struct func_warp *w, unsigned lane, struct effect *e, struct fault *f)
{
  struct guest g = {w, lane};
  uint64_t fmt = arg64(w, REG_ARG, lane), args = arg64(w, REG_ARG + 2, lane);
  int n = sys_printf(w->launch->p.print ? *w->launch->p.print : NULL, guest_read, &g, fmt, args);
  if (n < 0) {
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, lane, fmt,
                      "printf cannot read its format 0x%llx or arguments 0x%llx",
                      (unsigned long long)fmt, (unsigned long long)args);
  }
  warp_reg(w, REG_ARG)[lane] = (uint32_t)n;
  return true;
}

static struct heap_block *block_new(uint64_t addr, uint64_t bytes, struct heap_block *next)
{
  struct heap_block *b = mem_alloc(sizeof *b);
  *b = (struct heap_block){next, addr, bytes, false};
  return b;
}

struct func_heap *func_heap_new(uint64_t base, uint64_t bytes)
{
  struct func_heap *h = mem_alloc(sizeof *h);
  h->asked = false;
  h->first = block_new(base, bytes, NULL);
  return h;
}

void func_heap_free(struct func_heap *h)
{
  for (struct heap_block *b = h ? h->first : NULL, *next; b; b = next) {
    next = b->next;
    mem_free(b);
  }
  mem_free(h);
}

size_t func_heap_save(const struct func_heap *h, struct func_heap_block *out, size_t cap)
{
  size_t n = 0;
  for (const struct heap_block *b = h ? h->first : NULL; b; b = b->next, n++)
    if (n < cap) out[n] = (struct func_heap_block){b->addr, b->bytes, b->used};
  return n;
}

struct func_heap *func_heap_restore(const struct func_heap_block *block, size_t n)
{
  struct func_heap *h = mem_alloc(sizeof *h);
  h->first = NULL;
  h->asked = n > 1 || (n && block[0].used);
  for (size_t i = n; i-- > 0;) {
    h->first = block_new(block[i].addr, block[i].bytes, h->first);
    h->first->used = block[i].used;
  }
  return h;
}

/* First fit. */
uint64_t func_heap_take(struct func_heap *h, uint64_t bytes)
{
  if (h) h->asked = true;
  if (!h || !bytes || bytes > UINT64_MAX - HEAP_ALIGN) return 0;
  bytes = align_up(bytes, HEAP_ALIGN);
  for (struct heap_block *b = h->first; b; b = b->next) {
    if (b->used || b->bytes < bytes) continue;
    if (b->bytes > bytes) b->next = block_new(b->addr + bytes, b->bytes - bytes, b->next);
    b->bytes = bytes;
    b->used = true;
    return b->addr;
  }
  return 0;
}

bool func_heap_asked(const struct func_heap *h)
{
  return h && h->asked;
}

bool func_heap_give(struct func_heap *h, uint64_t addr)
{
  struct heap_block *b = h ? h->first : NULL;
  while (b && b->addr != addr) b = b->next;
  if (!b || !b->used) return false;
  b->used = false;
  for (b = h->first; b; b = b->next) { /* join neighbours */
    while (!b->used && b->next && !b->next->used) {
      struct heap_block *gone = b->next;
      b->bytes += gone->bytes;
      b->next = gone->next;
      mem_free(gone);
    }
  }
  return true;
}

static void guest_text(struct func_warp *w, unsigned lane, uint64_t addr, char *buf, size_t size)
{
  struct guest g = {w, lane};
  size_t n = 0;
  while (n < size - 1 && guest_read(&g, addr + n, &buf[n], 1) && buf[n]) n++;
  buf[n] = 0;
}

static bool do_assertfail(struct func_warp *w, unsigned lane, struct effect *e, struct fault *f)
{
  char what[TEXT_MAX], file[TEXT_MAX];
  guest_text(w, lane, arg64(w, REG_ARG, lane), what, sizeof what);
  guest_text(w, lane, arg64(w, REG_ARG + 2, lane), file, sizeof file);
  const uint32_t *c = w->cta->ctaid;
  return func_fault(w, e, f, FAULT_ASSERT, lane, 0,
                    "%s:%u: block [%u,%u,%u], thread [%u,%u,%u]: assertion `%s' failed", file,
                    (unsigned)warp_reg(w, REG_ARG + 4)[lane], c[0], c[1], c[2], w->tid[0][lane],
                    w->tid[1][lane], w->tid[2][lane], what);
}

/* void cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned) */
static bool do_set_condition(struct func_warp *w, unsigned lane, struct effect *e, struct fault *f)
{
  uint64_t handle = arg64(w, REG_ARG, lane);
  uint32_t value = warp_reg(w, REG_ARG + 2)[lane];
  if (!(handle % sizeof value) && gmem_write(w->launch->p.image, handle, &value, sizeof value)) return true;
  return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, lane, handle,
                    "cudaGraphSetConditional: 0x%llx is no handle of a condition", (unsigned long long)handle);
}

static bool service(struct func_warp *w, unsigned number, unsigned lane, struct effect *e,
                    struct fault *f)
{
  struct func_heap *heap = w->launch->p.heap;
  switch (number) {
  case SYSCALL_VPRINTF:
    return do_vprintf(w, lane, e, f);
  case SYSCALL_MALLOC:
    result64(w, lane, func_heap_take(heap, arg64(w, REG_ARG, lane)));
    return true;
  case SYSCALL_FREE: {
    uint64_t p = arg64(w, REG_ARG, lane);
    if (!p || func_heap_give(heap, p)) return true;
    return func_fault(w, e, f, FAULT_TRAP, lane, p, "free of 0x%llx, which malloc did not return",
                      (unsigned long long)p);
  }
  case SYSCALL_ASSERTFAIL:
    return do_assertfail(w, lane, e, f);
  case SYSCALL_SET_CONDITION:
    return do_set_condition(w, lane, e, f);
  case SYSCALL_TEX_GRAD:
  case SYSCALL_TEX_GRAD_ARRAY:
    return sys_tex_grad(w, number == SYSCALL_TEX_GRAD_ARRAY, lane, e, f);
  case SYSCALL_DRIVER_PRIVATE:
    return func_fault(w, e, f, FAULT_UNSUPPORTED, lane, 0,
                      "the device runtime asks the driver for something that is not published, which is "
                      "not simulated");
  default:
    return sys_device(w, number, lane, e, f);
  }
}

/* Copies take one lane after the other; those that wait are a path that comes back. */
static bool copy_run(struct func_warp *w, unsigned number, uint32_t m, struct effect *e, struct fault *f)
{
  uint64_t target[LANES];
  const unsigned word = (number - SYSCALL_COPY) % COPY_WORDS, first = bits_first(m);
  for (uint32_t r = m; r; r &= r - 1)
    target[bits_first(r)] = word == COPY_RETURN ? arg64(w, REG_RETURN, bits_first(r)) : e->pc;
  if (word == COPY_ARGUMENTS) {
    if (!sys_copy_arguments(w, (number - SYSCALL_COPY) / COPY_WORDS, first, e, f)) return false;
    target[first] = e->pc + FUNC_INST_BYTES;
  }
  path_jump_lanes(w, m, target, e);
  return true;
}

static bool syscall_run(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                        struct fault *f)
{
  uint64_t target[LANES];
  if (w->launch->n_regs <= REG_RETURN + 1) {
    return func_fault(w, e, f, FAULT_ILLEGAL_INST, bits_first(m), 0,
                      "runtime service called with %u registers", w->launch->n_regs);
  }
  if (u->imm >= SYSCALL_COPY) return copy_run(w, u->imm, m, e, f);
  bool waits = u->imm == DEVICE_GRID_SYNC || u->imm == DEVICE_GRID_SYNC_GRID, done = true;
  if (waits && !sys_grid_sync(w, m, e, f, &done)) return false;
  if (!done) { /* asks again */
    path_jump(w, m, w->step.paths.p[w->cur].pc, e);
    w->step.paths.p[w->cur].yielded = true;
    return true;
  }
  uint64_t here = e->pc;
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    target[i] = arg64(w, REG_RETURN, i);
    e->pc = target[i] - FUNC_INST_BYTES; /* a fault is told at the call */
    if (!waits && !service(w, u->imm, i, e, f)) return false;
  }
  e->pc = here;
  path_jump_lanes(w, m, target, e);
  return true;
}

uop_fn *sem_sys_handler(const struct sass_inst *s, struct uop *u)
{
  if (s->sem != SEM_SYSCALL) return NULL;
  u->guard = PRED_NONE;
  u->guard_xor = 0;
  u->imm = s->src[0].imm;
  u->flags |= UOP_CONTROL;
  if (u->imm >= SYSCALL_COPY) sys_copy_destination(u);
  return syscall_run;
}
