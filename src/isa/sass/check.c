/* Self-check of the instruction tables. */
#include "isa/sass/row.h"

/* Semantics that no row needs to have: TODO when all rows execute; SYSCALL is not an encoding; the encodings of the
 * others are not established for sm_80..90 (PREFETCH is part of CCTL there). */
static const uint16_t without_row[] = {SEM_TODO, SEM_SYSCALL, SEM_F2IP, SEM_R2B, SEM_PREFETCH};

static bool may_lack_row(unsigned sem)
{
  for (size_t i = 0; i < sizeof without_row / sizeof without_row[0]; i++)
    if (without_row[i] == sem) return true;
  return false;
}

/* Both rows have a condition on the same bits, and no value meets both. */
static bool conditions_exclude(const struct sass_row *a, const struct sass_row *b)
{
  if (!a->when_field || !b->when_field || a->when_mask & b->when_mask) return false;
  struct word128 x = field_mask(a->when_field), y = field_mask(b->when_field);
  return x.lo == y.lo && x.hi == y.hi;
}

static bool check_overlap(struct err *e)
{
  for (unsigned i = 0; i < sass_n_rows; i++)
    for (unsigned k = i + 1; k < sass_n_rows; k++) {
      const struct sass_row *a = &sass_rows[i], *b = &sass_rows[k];
      if (a->base != b->base || !(a->forms & b->forms)) continue;
      if (a->sm_max < b->sm_min || b->sm_max < a->sm_min) continue;
      if (!conditions_exclude(a, b))
        return err_set(e, "rows %s and %s match the same words (base 0x%03x)", a->name, b->name,
                       a->base);
    }
  return true;
}

/* The pieces of all fields of one form are disjoint and leave the control bits alone. */
static bool check_form(const struct sass_row *row, unsigned form, bool used[FLD__N], struct err *e)
{
  uint16_t field[SASS_MAX_FIELDS];
  unsigned n = row_fields(row, form, field);
  struct word128 taken = {0, bits_ones(20) << (105 - 64)}; /* control bits */
  for (unsigned i = 0; i < n; i++) {
    struct word128 m = field_mask(field[i]);
    used[field[i]] = true;
    if ((m.lo & taken.lo) | (m.hi & taken.hi))
      return err_set(e, "%s form %u: field %s collides", row->name, form, sass_fields[field[i]].id);
    taken.lo |= m.lo, taken.hi |= m.hi;
  }
  if (row->when_field) {
    bool found = false;
    for (unsigned i = 0; i < n; i++) found |= field[i] == row->when_field;
    if (!found || field_width(row->when_field) > 5)
      return err_set(e, "%s: bad condition field", row->name);
  }
  return true;
}

static bool check_names(unsigned id, struct err *e)
{
  const struct sass_field *f = &sass_fields[id];
  unsigned width = field_width(id);
  if (!width || !f->id) return err_set(e, "field %u has no bits", id);
  if (width < 4 && f->show == SHOW_NAMES && !f->names[0])
    return err_set(e, "field %s has no name for 0", f->id);
  return true;
}

bool sass_tables_check(struct err *e)
{
  bool used[FLD__N] = {false}, sem[SEM__N] = {false};
  TRY(check_overlap(e));
  for (unsigned i = 0; i < sass_n_rows; i++) {
    const struct sass_row *r = &sass_rows[i];
    sem[r->sem] = true;
    if (!r->name || !r->forms) return err_set(e, "row %u matches nothing", i);
    for (unsigned form = 0; form < 16; form++)
      if (r->forms >> form & 1) TRY(check_form(r, form, used, e));
  }
  for (unsigned id = 1; id < FLD__N; id++) {
    TRY(check_names(id, e));
    if (!used[id]) return err_set(e, "field %s is in no row", sass_fields[id].id);
  }
  for (unsigned i = 0; i < SEM__N; i++)
    if (!sem[i] && !may_lack_row(i)) return err_set(e, "semantics number %u is in no row", i);
  return true;
}
