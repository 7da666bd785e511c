/* Fields of an operand while it is read: which of the row's fields it is, and where the value goes. */
#include "isa/sass/asm_operand.h"

/* Fields not listed are plain numbers. */
static const uint8_t class_of[FLD__N] = {
    [FLD_RD] = CLASS_REG, [FLD_RA] = CLASS_REG, [FLD_RB] = CLASS_REG, [FLD_RC] = CLASS_REG,
    [FLD_HMMA_META] = CLASS_REG, [FLD_SCALE_A] = CLASS_REG, [FLD_SCALE_B] = CLASS_REG,
    [FLD_SCALE_UR] = CLASS_UREG, [FLD_TEX_RD2] = CLASS_REG, [FLD_TEX_URH] = CLASS_UREG,
    [FLD_TEX_DIM] = CLASS_CHOICE, [FLD_TXQ_QUERY] = CLASS_CHOICE,
    [FLD_URD] = CLASS_UREG, [FLD_URA] = CLASS_UREG, [FLD_URB] = CLASS_UREG, [FLD_URC] = CLASS_UREG,
    [FLD_TMA_HINT] = CLASS_UREG, [FLD_URA_MASK] = CLASS_UREG, [FLD_URC6] = CLASS_UREG,
    [FLD_PU] = CLASS_PRED, [FLD_PV] = CLASS_PRED, [FLD_PP] = CLASS_PRED, [FLD_PQ] = CLASS_PRED,
    [FLD_PR] = CLASS_PRED, [FLD_GMMA_UP] = CLASS_PRED, [FLD_BRA_UP] = CLASS_PRED, [FLD_BRA_UP_NOT] = CLASS_NOT,
    [FLD_PP_NOT] = CLASS_NOT, [FLD_PQ_NOT] = CLASS_NOT, [FLD_PR_NOT] = CLASS_NOT,
    [FLD_URA_NOT] = CLASS_NOT, [FLD_PR_U] = CLASS_FILE,
    [FLD_TC_META] = CLASS_UREG, [FLD_TC_AUX] = CLASS_UREG, [FLD_TMEM_OFFSET] = CLASS_OFFSET,
    [FLD_MEM_OFFSET] = CLASS_OFFSET, [FLD_MEM_OFFSET23] = CLASS_OFFSET,
    [FLD_OFFSET32] = CLASS_OFFSET, [FLD_OFFSET_L256] = CLASS_OFFSET, [FLD_OFFSET_S256] = CLASS_OFFSET,
    [FLD_RD_HI] = CLASS_REG,
    [FLD_LDGSTS_SOFF] = CLASS_OFFSET, [FLD_LDGSTS_GOFF] = CLASS_OFFSET,
    [FLD_TARGET48] = CLASS_TARGET, [FLD_TARGET56] = CLASS_TARGET, [FLD_TARGET30] = CLASS_TARGET,
    [FLD_TARGET_LEPC] = CLASS_BYTE_TARGET,
    [FLD_BREG] = CLASS_BREG, [FLD_MEM_DESC] = CLASS_DESC, [FLD_LDS_STRIDE] = CLASS_CHOICE,
    [FLD_LDGSTS_DESC] = CLASS_DESC, [FLD_RED_DESC] = CLASS_DESC, [FLD_ATOM_DESC76] = CLASS_DESC,
    [FLD_ATOM_DESC90] = CLASS_DESC, [FLD_ATOM_DESC71] = CLASS_DESC,
    [FLD_LDGSTS_A64] = CLASS_WIDTH,
    [FLD_MEM_A64] = CLASS_WIDTH, [FLD_ATOM_A64] = CLASS_WIDTH, [FLD_ATOM_A64_70] = CLASS_WIDTH,
    [FLD_LDGMC_A64] = CLASS_WIDTH,
    [FLD_BMOV_STATE] = CLASS_CHOICE, [FLD_RPC_HI] = CLASS_CHOICE, [FLD_SR] = CLASS_SR,
    [FLD_CBANK_LDC] = CLASS_BANK, [FLD_COFF_LDC] = CLASS_BANK_OFFSET,
    [FLD_COFF_LDCU] = CLASS_BANK_OFFSET,
};

enum field_class asm_class_of(unsigned id)
{
  return class_of[id];
}

unsigned asm_field_of_class(const uint16_t *fields, enum field_class c)
{
  for (; *fields; fields++)
    if (asm_class_of(*fields) == c) return *fields;
  return FLD_NONE;
}

bool asm_fail_operand(const struct attempt *a, enum asm_severity severity, const char *at,
                      const char *what)
{
  return asm_fail(a, AT_OPERAND + 2 * a->position + severity, at, "operand %u: %s",
                  a->position + 1, what);
}

bool asm_put(struct attempt *a, unsigned id, uint64_t v, const char *at)
{
  int i = asm_field(a, id);
  if (i < 0) return asm_fail_operand(a, WRONG_VALUE, at, "not possible with this instruction");
  uint32_t bit = 1u << i;
  if (a->fixed & bit) return true;
  /* One register that is named twice: BAR R2, R2. */
  if (a->set & bit && a->val[i] != v)
    return asm_fail_operand(a, WRONG_VALUE, at, "must be the same register as the operand before");
  a->val[i] = v;
  a->set |= bit;
  return true;
}

void asm_add_choice(struct attempt *a, unsigned id, unsigned n)
{
  int i = asm_field(a, id);
  if (i < 0 || a->fixed >> i & 1 || a->n_choices >= ASM_CHOICES) return;
  for (unsigned k = 0; k < a->n_choices; k++)
    if (a->choice[k].index == i) return;
  struct asm_choice *c = &a->choice[a->n_choices++];
  c->index = (uint8_t)i;
  c->n = (uint8_t)n;
  for (unsigned k = 0; k < n; k++) c->value[k] = k;
}
