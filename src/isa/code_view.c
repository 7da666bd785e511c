#include "isa/inst.h"

#include "base/bug.h"

enum { PLACE_BITS = 22, PLACE_SHIFT = 36 /* a module's pcs are below */, PLACE_REGION = 59 };

/* FNV-1a, 64 bits. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
  return (hash ^ value) * 0x100000001b3u;
}

/* What the code says; not how our tables number it (mnemonic, pipe, class): another row must not move code to another
 * DRAM channel. */
uint64_t code_place_mix(uint64_t hash, const struct inst *in)
{
  hash = mix(hash, (uint64_t)in->mem.bytes << 16 | (uint64_t)in->guard_not << 8 | in->guard);
  hash =
      mix(hash, (uint64_t)in->ctrl.stall << 24 | (uint64_t)in->ctrl.wait << 16 | (uint64_t)in->n_src << 8 | in->n_dst);
  for (unsigned i = 0; i < in->n_src; i++) hash = mix(hash, (uint64_t)in->src[i].file << 8 | in->src[i].index);
  for (unsigned i = 0; i < in->n_dst; i++) hash = mix(hash, (uint64_t)in->dst[i].file << 8 | in->dst[i].index);
  return mix(hash, (uint64_t)in->const_bank << 32 | in->const_off);
}

uint64_t code_place(const struct code_view *c)
{
  uint64_t hash = CODE_PLACE_START, n = code_count(c);
  for (uint64_t i = 0; i < n; i++) hash = code_place_mix(hash, &c->inst[i]);
  return code_place_of(hash);
}

uint64_t code_place_of(uint64_t hash)
{
  return (uint64_t)1 << PLACE_REGION | hash >> (64 - PLACE_BITS) << PLACE_SHIFT;
}

const struct inst *code_rest_at(const struct code_view *c, uint64_t pc)
{
  const struct inst *in = &c->inst[code_index(c, pc)];
  code_want(c, code_number(c, in)); /* another thread may have been here since the caller looked */
  return __atomic_load_n(&in->pc, __ATOMIC_ACQUIRE) == pc ? in : NULL;
}

/* --- instructions of several sizes -------------------------------------------------------------- */

struct code_view code_mixed(const struct inst *inst, uint32_t n, uint64_t base, uint64_t end, unsigned shift,
                            uint32_t *number)
{
  uint64_t from = base;
  for (uint64_t i = 0; i < (end - base) >> shift; i++) number[i] = CODE_NO_INST;
  for (uint32_t i = 0; i < n; i++) {
    const struct inst *in = &inst[i];
    BUG_ON(in->pc < from || in->pc & ((1u << shift) - 1) || !in->bytes || in->next < in->bytes ||
           in->next > end - in->pc);
    number[(in->pc - base) >> shift] = i;
    from = in->pc + in->next;
  }
  return (struct code_view){.base = base, .end = end, .shift = shift, .n = n, .inst = inst, .number = number};
}

uint64_t code_mixed_index(const struct code_view *c, uint64_t pc)
{
  return pc < c->base || pc >= c->end ? CODE_NO_INST : c->number[(pc - c->base) >> c->shift];
}

const struct inst *code_mixed_at(const struct code_view *c, uint64_t pc)
{
  uint64_t i = pc & ((1u << c->shift) - 1) ? CODE_NO_INST : code_mixed_index(c, pc);
  return i == CODE_NO_INST ? NULL : &c->inst[i];
}

uint64_t code_mixed_next(const struct code_view *c, uint64_t pc)
{
  const struct inst *in = code_mixed_at(c, pc);
  if (in) return pc + in->next;
  do pc += UINT64_C(1) << c->shift;
  while (pc < c->end && !code_mixed_at(c, pc));
  return pc;
}

uint64_t code_last_byte(const struct code_view *c, uint64_t pc)
{
  const struct inst *in = c->number ? code_at(c, pc) : NULL;
  return pc + (in ? in->bytes : UINT64_C(1) << c->shift) - 1;
}

uint64_t code_previous(const struct code_view *c, uint64_t pc)
{
  uint64_t step = UINT64_C(1) << c->shift, at = pc - step;
  while (c->number && at > c->base && code_mixed_index(c, at) == CODE_NO_INST) at -= step;
  return at;
}
