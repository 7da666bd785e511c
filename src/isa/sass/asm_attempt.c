/* What one attempt consists of: values of fields, what the compiler writes into those that the text does not show,
 * the word that they make, the message when it fails. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/sass/asm_parse.h"

bool asm_fail(const struct attempt *a, unsigned progress, const char *at, const char *fmt, ...)
{
  struct asm_failure *f = a->line->fail;
  va_list ap;
  if (progress <= f->progress || a->alias) return false;
  f->progress = progress;
  f->at = at;
  va_start(ap, fmt);
  vsnprintf(f->msg, sizeof f->msg, fmt, ap);
  va_end(ap);
  return false;
}

int asm_field(const struct attempt *a, unsigned id)
{
  for (unsigned i = 0; i < a->n; i++)
    if (a->field[i] == id) return (int)i;
  return -1;
}

/* ---- defaults ---- */

/* What the compiler writes into fields that the text does not show. sem SEM__N: any. */
struct usual {
  uint16_t field;
  uint16_t sem;
  uint8_t value, sm_min;
};

static const struct usual usual[] = {
    {FLD_MOV_MASK, SEM__N, 15, 0},       {FLD_MEM_A64, SEM__N, 1, 0},
    {FLD_ATOM_A64_70, SEM__N, 1, 0},     {FLD_UNK_REDAS_72, SEM__N, 1, 0},
    {FLD_UNK_LDGSTS_70, SEM__N, 1, 0},   {FLD_UNK_CCTL_79, SEM__N, 1, 0},
    {FLD_IMMA_COL, SEM__N, 1, 0},
    {FLD_BMMA_POPC, SEM__N, 1, 0},       {FLD_UNK_QMMA_74, SEM__N, 1, 0},
         {FLD_UNK_I2IP_74, SEM__N, 1, 90},
    {FLD_MUFU_FMT, SEM__N, 0, 0},        {FLD_DEPBAR_LE, SEM__N, 1, 0},
    {FLD_UNUSED_RC, SEM__N, 0, 80},      {FLD_UNUSED_RC, SEM__N, SASS_RZ, 0},
    {FLD_RD, SEM_LDGSTS, SASS_RZ, 0},
    {FLD_UNK_SYNCS_70, SEM__N, 1, 0},    {FLD_ATOM_A64, SEM__N, 1, 0},
    {FLD_PP, SEM_BAR, 0, 0},             {FLD_TEX_B, SEM__N, 1, 0},
    {FLD_UNK_TEX_48, SEM__N, 255, 0},    {FLD_TEX_RD2, SEM__N, SASS_RZ, 0},
    {FLD_TEX_MASK, SEM__N, 15, 0},       {FLD_MASK_L256, SEM__N, 255, 0},
    {FLD_IMM32, SEM_R2P, 255, 0},        {FLD_IMM32, SEM_UR2UP, 255, 0},
    {FLD_GMMA_GSB, SEM__N, 7, 0},
    {FLD_UNK_MASK_S256, SEM__N, 255, 0}, {FLD_RD_HI, SEM__N, SASS_RZ, 0},
};

unsigned asm_urz(const struct attempt *a, unsigned id)
{
  return sass_urz_code(a->line->env->sm) & (unsigned)bits_ones(field_width(id));
}

static uint64_t field_default(const struct attempt *a, unsigned id)
{
  for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
    const struct usual *u = &usual[i];
    if (u->field == id && (u->sem == SEM__N || u->sem == a->row->sem) &&
        a->line->env->sm >= u->sm_min)
      return u->value;
  }
  switch (id) {
  case FLD_RD: case FLD_RA: case FLD_RB: case FLD_RC: return SASS_RZ;
  case FLD_URD: case FLD_URA: case FLD_URB: case FLD_URC: case FLD_URC6: case FLD_TEX_URH:
  case FLD_URA_MASK: case FLD_SCALE_UR: case FLD_TC_AUX:
    return asm_urz(a, id);
  case FLD_PU: case FLD_PV: case FLD_PP: case FLD_PQ: case FLD_PR: return SASS_PT;
  default: return 0;
  }
}

uint64_t asm_default(const struct attempt *a, unsigned id)
{
  int other;
  /* A carry in that is not written is "no carry": !PT. */
  for (unsigned i = 0; i < ROW_OPS; i++)
    if ((id == FLD_PP_NOT && a->row->op[i] == OPD_PPX) ||
        (id == FLD_PQ_NOT && a->row->op[i] == OPD_PQX))
      return 1;
  if (id == a->row->when_field) return bits_first(a->row->when_mask);
  /* FRND writes one type for both sides; RELU marks three bits. */
  if (id == FLD_CVT_SRC_FSIZE && (a->row->sem == SEM_FRND || a->row->sem == SEM_UFRND) &&
      (other = asm_field(a, FLD_CVT_DST_FSIZE)) >= 0)
    return a->val[other];
  if (id == FLD_UNK_HFMA_87 && (other = asm_field(a, FLD_HFMA_RELU)) >= 0 && a->val[other]) return 7;
  return field_default(a, id);
}

static bool apply_overrides(struct attempt *a)
{
  for (unsigned k = 0; k < a->line->n_overrides; k++) {
    const struct asm_override *o = &a->line->override[k];
    int i = asm_field(a, o->field);
    if (o->field == FLD_NONE) continue;
    if (i < 0 || o->value & ~bits_ones(field_width(o->field)))
      return asm_fail(a, AT_MODIFIER, a->line->operands.end,
                      i < 0 ? "%s has no field %s" : "%s: value out of range for ?%s",
                      a->row->name, sass_fields[o->field].id);
    if (i == 0 && a->val[0] != o->value) return false; /* ?OPCODE= chooses the row */
    a->val[i] = o->value;
    a->fixed |= 1u << i;
  }
  return true;
}

bool asm_start(struct attempt *a, const struct asm_line *line, const struct sass_row *row,
               unsigned form)
{
  *a = (struct attempt){.line = line, .row = row, .form = form};
  a->n = row_fields(row, form, a->field);
  for (unsigned i = 0; i < a->n; i++) a->val[i] = asm_default(a, a->field[i]);
  a->val[0] = row->base | (form & 7) << 9 | (form >> 3) << 12;
  a->val[1] = line->guard.index;
  a->val[2] = line->guard.neg;
  return apply_overrides(a);
}

/* ---- words ---- */

struct sass_inst asm_view(const struct attempt *a)
{
  struct sass_inst s = {.row = a->row, .sem = a->row->sem,
                        .sm = (uint8_t)a->line->env->sm, .n_fields = (uint8_t)a->n};
  memcpy(s.field, a->field, sizeof s.field);
  memcpy(s.val, a->val, sizeof s.val);
  return s;
}

struct word128 asm_word(const struct attempt *a)
{
  struct sass_inst s = asm_view(a);
  struct inst_ctrl c = a->line->ctrl;
  c.reuse = a->reuse;
  for (unsigned k = 0; k < a->line->n_overrides; k++)
    if (a->line->override[k].field == FLD_NONE) c.reuse = (uint8_t)a->line->override[k].value & 7;
  return sass_encode(&s, &c);
}
