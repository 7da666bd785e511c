/* Instruction words of RV64GC (isa/rv64/rv64.h). */
#include "isa/rv64/rv64.h"

struct row {
  const char *name;
  uint32_t mask, match;
  uint8_t format;
};

static const struct row rows[RV64_OP__N] = {
    [RV64_UNDECODED] = {"undecoded", 0, 1, 0},
    [RV64_ILLEGAL] = {"illegal", 0, 1, 0},
    [RV64_PAGE_END] = {"page end", 0, 1, 0},
#define RV64INST(id, name, mask, match, format) [RV64_##id] = {name, mask, match, RV64_FORMAT_##format},
#include "isa/rv64/rv64.def"
#undef RV64INST
};

/* Bits [low, low + n) of the word. */
static uint32_t bits(uint32_t word, unsigned low, unsigned n)
{
  return word >> low & ((1u << n) - 1);
}

/* The same, sign-extended from bit n - 1. */
static int64_t sign_extend(uint32_t value, unsigned n)
{
  return (int64_t)((uint64_t)value << (64 - n)) >> (64 - n);
}

static int64_t offset_b(uint32_t w)
{
  return sign_extend(bits(w, 31, 1) << 12 | bits(w, 7, 1) << 11 | bits(w, 25, 6) << 5 | bits(w, 8, 4) << 1, 13);
}

static int64_t offset_j(uint32_t w)
{
  return sign_extend(bits(w, 31, 1) << 20 | bits(w, 12, 8) << 12 | bits(w, 20, 1) << 11 | bits(w, 21, 10) << 1, 21);
}

static int64_t immediate(uint32_t w, enum rv64_format format)
{
  switch (format) {
  case RV64_FORMAT_I:
  case RV64_FORMAT_IF: return sign_extend(bits(w, 20, 12), 12);
  case RV64_FORMAT_SH6: return bits(w, 20, 6);
  case RV64_FORMAT_SH5: return bits(w, 20, 5);
  case RV64_FORMAT_S: return sign_extend(bits(w, 25, 7) << 5 | bits(w, 7, 5), 12);
  case RV64_FORMAT_B: return offset_b(w);
  case RV64_FORMAT_U: return sign_extend(w & ~0xfffu, 32);
  case RV64_FORMAT_J: return offset_j(w);
  case RV64_FORMAT_CSR: return bits(w, 20, 12);
  default: return 0;
  }
}

static bool writes_float(enum rv64_format format)
{
  return format == RV64_FORMAT_RF || format == RV64_FORMAT_RMF || format == RV64_FORMAT_R4 || format == RV64_FORMAT_IF;
}

/* Modes 5 and 6 are reserved. */
static bool rounding_is_bad(const struct rv64_inst *in, enum rv64_format format)
{
  const bool rounds = format == RV64_FORMAT_RM || format == RV64_FORMAT_RMF || format == RV64_FORMAT_R4;
  return rounds && in->rm > RV64_RMM && in->rm != RV64_DYN;
}

void rv64_decode(uint32_t word, struct rv64_inst *to)
{
  const bool compressed = rv64_is_compressed((uint16_t)word);
  *to = (struct rv64_inst){.op = RV64_ILLEGAL, .parcels = compressed ? 1 : 2};
  const uint32_t w = compressed ? rv64_expand((uint16_t)word) : word;
  unsigned op = RV64_PAGE_END + 1;
  while (op < RV64_OP__N && (w & rows[op].mask) != rows[op].match) op++;
  if (op == RV64_OP__N) return;
  const enum rv64_format format = rows[op].format;
  to->rd = (uint8_t)bits(w, 7, 5);
  if (to->rd == 0 && !writes_float(format)) to->rd = RV64_NOWHERE;
  to->rs1 = (uint8_t)bits(w, 15, 5);
  to->rs2 = (uint8_t)bits(w, 20, 5);
  to->rs3 = (uint8_t)bits(w, 27, 5);
  to->rm = (uint8_t)bits(w, 12, 3);
  to->imm = immediate(w, format);
  if (!rounding_is_bad(to, format)) to->op = (uint16_t)op;
}

