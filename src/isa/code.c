#include "isa/inst.h"

enum { PLACE_BITS = 22, PLACE_SHIFT = 36 /* a module's pcs are below */, PLACE_REGION = 59 };

/* FNV-1a, 64 bits. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
  return (hash ^ value) * 0x100000001b3u;
}

/* What the code says; not how our tables number it (mnemonic, pipe, class): another row must not move code to another
 * DRAM channel. */
static uint64_t mix_inst(uint64_t hash, const struct inst *in)
{
  hash = mix(hash, (uint64_t)in->mem.bytes << 16 | (uint64_t)in->guard_not << 8 | in->guard);
  hash = mix(hash, (uint64_t)in->ctrl.stall << 24 | (uint64_t)in->ctrl.wait << 16 | (uint64_t)in->n_src << 8 | in->n_dst);
  for (unsigned i = 0; i < in->n_src; i++) hash = mix(hash, (uint64_t)in->src[i].file << 8 | in->src[i].index);
  for (unsigned i = 0; i < in->n_dst; i++) hash = mix(hash, (uint64_t)in->dst[i].file << 8 | in->dst[i].index);
  return mix(hash, (uint64_t)in->const_bank << 32 | in->const_off);
}

uint64_t code_place(const struct code_view *c)
{
  uint64_t hash = 0xcbf29ce484222325u, n = (c->end - c->base) >> c->shift;
  for (uint64_t i = 0; i < n; i++) hash = mix_inst(hash, &c->inst[i]);
  return (uint64_t)1 << PLACE_REGION | hash >> (64 - PLACE_BITS) << PLACE_SHIFT;
}
