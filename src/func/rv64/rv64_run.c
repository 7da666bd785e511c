/* The interpreter of RV64GC (func/rv64/rv64_core.h): one indirect jump per instruction, over decoded pages of code.
 * What instructions do is in rv64_exec.def.
 */
#include <fenv.h>
#include <string.h>

#include "func/rv64/rv64_core.h"
#include "func/rv64/rv64_csr.h"
#include "func/rv64/rv64_fp.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Host address of guest bytes that lie in one page of the buffer; NULL: ask for it. */
static inline uint8_t *hit(const struct rv64_tlb_entry *tlb, uint64_t addr, unsigned bytes)
{
  const struct rv64_tlb_entry *e = &tlb[(addr >> RV64_PAGE_SHIFT) % RV64_TLB_ENTRIES];
  if (LIKELY(e->page == ((addr + (bytes - 1)) & RV64_PAGE_MASK))) return (uint8_t *)(e->host + addr);
  return NULL;
}

static inline bool load(struct rv64_core *c, uint64_t addr, void *to, unsigned bytes)
{
  const uint8_t *p = hit(c->load, addr, bytes);
  if (UNLIKELY(!p)) return rv64_load(c, addr, to, bytes);
  memcpy(to, p, bytes);
  return true;
}

static inline bool store(struct rv64_core *c, uint64_t addr, const void *from, unsigned bytes)
{
  uint8_t *p = hit(c->store, addr, bytes);
  if (UNLIKELY(!p)) return rv64_store(c, addr, from, bytes);
  memcpy(p, from, bytes);
  return true;
}

/* The rounding mode of an instruction; RV64_DYN or a reserved one: the hart's is bad. */
static inline unsigned rounding(const struct rv64_hart *h, const struct rv64_inst *in)
{
  return in->rm == RV64_DYN ? h->frm : in->rm;
}

/* Collects exceptions and executes a CSR instruction. */
static bool csr(struct rv64_core *c, const struct rv64_inst *in, enum rv64_csr_op op, uint64_t value, uint64_t now,
                uint64_t *old)
{
  const bool writes = op == RV64_CSR_WRITE || in->rs1 != 0;
  c->hart.fflags |= rv64_fp_collect();
  return rv64_csr(&c->hart, (unsigned)in->imm, op, value, writes, now, old);
}

/* The bytes of an instruction that is none, for messages. */
static enum rv64_stop illegal(struct rv64_core *c, const struct rv64_code *page, const struct rv64_inst *in)
{
  const size_t at = (size_t)(in - page->inst);
  uint16_t low, high = 0;
  memcpy(&low, page->host + 2 * at, 2);
  if (in->parcels == 2 && at + 1 < RV64_PAGE_PARCELS) memcpy(&high, page->host + 2 * at + 2, 2);
  c->trap_value = (uint64_t)high << 16 | low;
  return RV64_STOP_ILLEGAL;
}

#define FORGET_CODE rv64_forget_code(c)
#define PC   (page->base + 2 * (uint64_t)(in - page->inst))

#define GO                             \
  do {                                 \
    if (UNLIKELY(left-- == 0)) {       \
      left = 0;                        \
      stop = RV64_STOP_BUDGET;         \
      goto out;                        \
    }                                  \
    goto *label[in->op];               \
  } while (0)
#define NEXT              \
  do {                    \
    in += in->parcels;    \
    GO;                   \
  } while (0)
/* The instruction has no effect and is not counted. */
#define STOP(why)       \
  do {                  \
    stop = (why);       \
    goto stopped;       \
  } while (0)
/* On from `in` plus an offset in bytes, which may be in another page. */
#define JUMP(offset, links)                                             \
  do {                                                                  \
    const uintptr_t to = (uintptr_t)in + (uintptr_t)(offset) * (sizeof *in / 2); \
    if (links) x[in->rd] = PC + 2 * (uint64_t)in->parcels;              \
    if (LIKELY(to - (uintptr_t)page->inst < PAGE_OF_CODE)) {            \
      in = (const struct rv64_inst *)to;                                \
      GO;                                                               \
    }                                                                   \
    pc = PC + (uint64_t)(offset);                                       \
    goto elsewhere;                                                     \
  } while (0)
#define JUMP_TO(target)                            \
  do {                                             \
    pc = (target) & ~(uint64_t)1;                  \
    x[in->rd] = PC + 2 * (uint64_t)in->parcels;    \
    goto elsewhere;                                \
  } while (0)

#define DO(id, statement) L_##id: statement; NEXT;
#define X_IS(id, value) L_##id: x[in->rd] = (value); NEXT;
#define F_IS(id, value) L_##id: f[in->rd] = (value); NEXT;
#define BRANCH(id, condition) L_##id: if (condition) JUMP(IMM, false); NEXT;
#define LOAD(id, type)                                                              \
  L_##id: {                                                                         \
    type v;                                                                         \
    if (UNLIKELY(!load(c, X1 + (uint64_t)IMM, &v, sizeof v))) STOP(RV64_STOP_LOAD); \
    x[in->rd] = (uint64_t)v;                                                        \
    NEXT;                                                                           \
  }
#define LOAD_F(id, type, with)                                                      \
  L_##id: {                                                                         \
    type v;                                                                         \
    if (UNLIKELY(!load(c, X1 + (uint64_t)IMM, &v, sizeof v))) STOP(RV64_STOP_LOAD); \
    f[in->rd] = (with) | v;                                                         \
    NEXT;                                                                           \
  }
#define STORE(id, type, value)                                                        \
  L_##id: {                                                                           \
    const type v = (type)(value);                                                     \
    if (UNLIKELY(!store(c, X1 + (uint64_t)IMM, &v, sizeof v))) STOP(RV64_STOP_STORE); \
    NEXT;                                                                             \
  }
#define ALIGNED(type)                            \
  if (UNLIKELY(X1 & (sizeof(type) - 1))) {       \
    c->trap_value = X1;                          \
    STOP(RV64_STOP_MISALIGNED);                  \
  }
#define LOAD_RESERVED(id, type)                                     \
  L_##id: {                                                         \
    type v;                                                         \
    ALIGNED(type)                                                   \
    if (UNLIKELY(!load(c, X1, &v, sizeof v))) STOP(RV64_STOP_LOAD); \
    h->reserved = true;                                             \
    h->reservation = X1;                                            \
    x[in->rd] = (uint64_t)v;                                        \
    NEXT;                                                           \
  }
#define STORE_CONDITIONAL(id, type)                                                  \
  L_##id: {                                                                          \
    const type v = (type)X2;                                                         \
    ALIGNED(type)                                                                    \
    const bool fits = h->reserved && h->reservation == X1;                           \
    if (fits && UNLIKELY(!store(c, X1, &v, sizeof v))) STOP(RV64_STOP_STORE);        \
    h->reserved = false;                                                             \
    x[in->rd] = !fits;                                                               \
    NEXT;                                                                            \
  }
#define AMO(id, type, result, value)                                                     \
  L_##id: {                                                                              \
    ALIGNED(type)                                                                        \
    type old;                                                                            \
    const type with = (type)X2;                                                          \
    if (UNLIKELY(!load(c, X1, &old, sizeof old))) STOP(RV64_STOP_STORE);                 \
    const type v = (value);                                                              \
    if (UNLIKELY(!store(c, X1, &v, sizeof v))) STOP(RV64_STOP_STORE);                    \
    x[in->rd] = (uint64_t)(result)old;                                                   \
    NEXT;                                                                                \
  }
#define X_CSR(id, how, value)                                                            \
  L_##id: {                                                                              \
    uint64_t old;                                                                        \
    if (!csr(c, in, how, value, c->instret + (budget - left) - 1, &old)) goto L_ILLEGAL; \
    x[in->rd] = old;                                                                     \
    NEXT;                                                                                \
  }
#define F_ROUNDED(id, fn, a, b, d)                                                  \
  L_##id: {                                                                         \
    const unsigned rm = rounding(h, in);                                            \
    if (LIKELY(rm == RV64_RNE)) {                                                   \
      f[in->rd] = fn(a, b, d);                                                      \
      NEXT;                                                                         \
    }                                                                               \
    if (rm > RV64_RMM) goto L_ILLEGAL;                                              \
    f[in->rd] = rv64_fp_rounded(fn, in->op, (enum rv64_rounding)rm, a, b, d);       \
    NEXT;                                                                           \
  }
#define X_FROM_F(id, value, bits, is_signed)                                                            \
  L_##id: {                                                                                             \
    const unsigned rm = rounding(h, in);                                                                \
    if (rm > RV64_RMM) goto L_ILLEGAL;                                                                  \
    x[in->rd] = rv64_fp_to_int(value, bits, is_signed, (enum rv64_rounding)rm, &h->fflags);             \
    NEXT;                                                                                               \
  }

enum { PAGE_OF_CODE = RV64_PAGE_PARCELS * sizeof(struct rv64_inst) };

static enum rv64_stop run(struct rv64_core *c, const uint64_t budget)
{
  static const void *const label[RV64_OP__N] = {
      [RV64_UNDECODED] = &&L_UNDECODED,
      [RV64_ILLEGAL] = &&L_ILLEGAL,
      [RV64_PAGE_END] = &&L_PAGE_END,
#define RV64INST(id, name, mask, match, format) [RV64_##id] = &&L_##id,
#include "isa/rv64/rv64.def"
#undef RV64INST
  };
  struct rv64_hart *h = &c->hart;
  uint64_t *x = h->x, *f = h->f, left = budget, pc = h->pc;
  struct rv64_code *page = NULL;
  const struct rv64_inst *in = NULL;
  enum rv64_stop stop;

elsewhere: /* at pc; nothing of it was counted */
  page = rv64_code_at(c, pc);
  if (UNLIKELY(!page)) {
    c->instret += budget - left;
    h->pc = pc;
    return RV64_STOP_FETCH;
  }
  in = &page->inst[(pc & ~RV64_PAGE_MASK) / 2];
  GO;

L_UNDECODED:
  left++;
  if (!rv64_code_decode(c, page, &page->inst[in - page->inst])) {
    stop = RV64_STOP_FETCH;
    goto out;
  }
  GO;
L_PAGE_END:
  left++;
  pc = PC;
  goto elsewhere;
L_ILLEGAL:
  stop = illegal(c, page, in);
stopped:
  left++;
out:
  c->instret += budget - left;
  h->pc = PC;
  return stop;

#include "func/rv64/rv64_exec.def"
}

enum rv64_stop rv64_run(struct rv64_core *c, uint64_t budget)
{
  feclearexcept(FE_ALL_EXCEPT);
  const enum rv64_stop stop = run(c, budget);
  c->hart.fflags |= rv64_fp_collect();
  return stop;
}
