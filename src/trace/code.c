#include "trace/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "isa/isa.h"

/* MAX_CODE: bytes; what is kept of them is eight times as much. */
enum { LANES = 32, BASE = MODULE_CODE_BASE, SHIFT = 4, MAX_CODE = 1 << 26 };

static void allocate(struct trace_code *c, const struct trace_kernel *k)
{
  *c = (struct trace_code){.pc = calloc(k->n_insts + 1u, sizeof *c->pc),
                           .barrier = calloc(k->n_insts + 1u, sizeof *c->barrier)};
  NO_MEMORY_IF(!c->pc || !c->barrier);
}

void trace_code_free(struct trace_code *c)
{
  free(c->pc);
  free(c->barrier);
  free(c->own);
}

/* ---- with the cubin ---- */

static struct trace_barrier barrier_of(struct isa_barrier b)
{
  return (struct trace_barrier){.id = b.known ? b.id % TRACE_BARRIER_UNKNOWN : TRACE_BARRIER_UNKNOWN,
                                .waits = b.waits,
                                .warps = (uint16_t)(b.threads / LANES)};
}

static bool resolve(struct trace_code *c, const struct trace_kernel *k, uint32_t i,
                    const struct module_instance *m, const struct module_kernel *kernel,
                    struct err *e)
{
  const struct trace_inst *t = &k->inst[i];
  char mnemonic[128];
  c->pc[i] = kernel->entry_pc + (uint64_t)(int64_t)(int32_t)t->pc;
  const struct inst *in = code_at(&c->view, c->pc[i]);
  if (!in || in->flags & INST_UNDECODED)
    return err_set(e, "%s+0x%x (%s) is no instruction of %s: not the code that was traced",
                   kernel->name, t->pc, t->opcode, module_name(module_of(m)));
  const struct isa *isa = c->view.isa;
  uint64_t index = (uint64_t)(in - c->view.inst);
  isa->form(c->view.decoded, index, mnemonic, sizeof mnemonic);
  size_t n = strcspn(mnemonic, ".");
  if (strncmp(mnemonic, t->opcode, n) != 0 || (t->opcode[n] && t->opcode[n] != '.'))
    return err_set(e, "%s+0x%x is %s in the trace and %s in %s: not the code that was traced",
                   kernel->name, t->pc, t->opcode, mnemonic, module_name(module_of(m)));
  if (in->flags & INST_BAR) c->barrier[i] = barrier_of(isa->barrier(c->view.decoded, index));
  return true;
}

bool trace_code_of(struct trace_code *c, const struct trace_kernel *k,
                   const struct module_instance *m, const struct module_kernel *kernel,
                   struct err *e)
{
  allocate(c, k);
  c->view = *module_code(m);
  c->entry_pc = kernel->entry_pc;
  c->code_bytes = kernel->code_bytes;
  c->control = true;
  for (uint32_t i = 0; i < k->n_insts; i++) TRY(resolve(c, k, i, m, kernel, e));
  return true;
}

/* ---- without ---- */

/* Registers of the trace for those that isa.like numbered. */
static uint8_t renumber(struct operand *list, uint8_t n, const uint8_t *reg, unsigned n_reg)
{
  uint8_t kept = 0;
  unsigned used = 0;
  for (unsigned i = 0; i < n; i++) {
    if (list[i].file != FILE_R || used == n_reg) continue;
    list[kept] = list[i];
    list[kept].index = reg[used++];
    if (list[kept].index + list[kept].width > 255) list[kept].width = 1;
    kept++;
  }
  return kept;
}

/* The only immediate of a trace is the last: BAR's thread count if it has one, else its number. */
static struct trace_barrier barrier_like(const struct trace_inst *t, const struct trace_kernel *k)
{
  struct trace_barrier b = {.waits = !strstr(t->opcode, ".ARV")};
  uint64_t v = t->immediate;
  if (v && v % LANES == 0 && v / LANES <= k->warps_per_cta) b.warps = (uint16_t)(v / LANES);
  else b.id = v % TRACE_BARRIER_UNKNOWN;
  return b;
}

static bool guess(struct trace_code *c, const struct trace_kernel *k, uint32_t i, struct err *e)
{
  const struct trace_inst *t = &k->inst[i];
  struct inst *in = &c->own[(c->pc[i] - BASE) >> SHIFT];
  if (!c->view.isa->like(k->header.sm, t->opcode, t->n_src, in))
    return err_set(e, "%s+0x%x: no instruction %s on sm_%u is known; with the cubin it may be",
                   k->header.name, t->pc, t->opcode, k->header.sm);
  in->pc = c->pc[i];
  in->has_const = false;
  in->n_dst = renumber(in->dst, in->n_dst, t->dst, t->n_dst);
  in->n_src = renumber(in->src, in->n_src, t->src, t->n_src);
  if (in->flags & INST_DEPBAR) in->limit[0].at_most = (uint8_t)(t->immediate & 63);
  if (in->flags & INST_BAR) c->barrier[i] = barrier_like(t, k);
  return true;
}

bool trace_code_guess(struct trace_code *c, const struct trace_kernel *k, struct err *e)
{
  int64_t low = 0, high = 0;
  allocate(c, k);
  for (uint32_t i = 0; i < k->n_insts; i++) {
    int64_t pc = (int32_t)k->inst[i].pc; /* functions outside the kernel may lie below it */
    if (pc < low) low = pc;
    if (pc > high) high = pc;
    if (pc & ((1 << SHIFT) - 1))
      return err_set(e, "%s+0x%x: instructions of sm_%u lie at multiples of 16", k->header.name,
                     k->inst[i].pc, k->header.sm);
  }
  if (high - low > MAX_CODE)
    return err_set(e, "%s: its code spans %lld bytes, of at most %d", k->header.name, (long long)(high - low),
                   (int)MAX_CODE);
  size_t n = (size_t)(high - low) / (1 << SHIFT) + 1;
  c->own = calloc(n, sizeof *c->own);
  NO_MEMORY_IF(!c->own);
  for (size_t i = 0; i < n; i++)
    c->own[i] = (struct inst){.pc = BASE + (i << SHIFT), .flags = INST_UNDECODED, .guard = GUARD_NONE,
                              .bytes = 1 << SHIFT, .next = 1 << SHIFT};
  c->view = (struct code_view){.base = BASE, .end = BASE + (n << SHIFT), .shift = SHIFT, .inst = c->own,
                               .isa = module_isa(k->header.sm)};
  for (uint32_t i = 0; i < k->n_insts; i++) {
    c->pc[i] = (uint64_t)(BASE + (int32_t)k->inst[i].pc - low);
    TRY(guess(c, k, i, e));
  }
  c->view.place = code_place(&c->view);
  c->entry_pc = c->view.base;
  c->code_bytes = c->view.end - c->view.base;
  return true;
}
