#include "isa/sass/constant_fields.h"

#include <stdbool.h>

#include "isa/sass/row.h"

static bool has_constant_source(const struct sass_row *row, unsigned form)
{
  for (unsigned n = 0; n < 3; n++)
    if (row_place(row, form, n) == AT_B_CONST) return true;
  return false;
}

static bool has_number_source(const struct sass_row *row, unsigned form)
{
  for (unsigned n = 0; n < 3; n++)
    if (row_place(row, form, n) == AT_B_IMM) return true;
  return false;
}

/* Operands that name their own fields. */
static void note_operand(unsigned kind, struct sass_constant_fields *f)
{
  if (kind == OPD_TOFF) f->operand = FLD_COFF;
  if (kind == OPD_CADDR || kind == OPD_UCADDR || kind == OPD_UCADDR_UR) f->load = FLD_COFF_LDC;
  if (kind == OPD_LDCU) f->load = FLD_COFF_LDCU;
}

static void note_form(const struct sass_row *row, unsigned form, struct sass_constant_fields *f)
{
  const bool moves = row->sem == SEM_MOV || row->sem == SEM_UMOV;
  if (has_constant_source(row, form)) f->operand = FLD_COFF;
  if (moves && has_number_source(row, form)) f->number = FLD_IMM32;
  for (unsigned i = 0; i < ROW_OPS && row->op[i]; i++) note_operand(row->op[i] & OM_KIND, f);
}

void sass_constant_fields(unsigned sm, struct sass_constant_fields of[SASS_OPCODES])
{
  for (unsigned i = 0; i < sass_n_rows; i++) {
    const struct sass_row *row = &sass_rows[i];
    for (unsigned forms = row_forms(row, sm); forms; forms &= forms - 1) {
      const unsigned form = (unsigned)__builtin_ctz(forms);
      note_form(row, form, &of[row->base | (form & 7) << 9 | (form >> 3) << 12]);
    }
  }
}

unsigned sass_opcode(struct word128 w)
{
  return (unsigned)(bits_get(w, 0, 12) | bits_get(w, 91, 1) << 12);
}

uint64_t sass_word_field(struct word128 w, unsigned field)
{
  return field_get(w, field);
}
