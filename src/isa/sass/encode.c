/* From row and field values back to the instruction word. */
#include "base/bug.h"
#include "isa/sass/row.h"

static void encode_ctrl(struct word128 *w, const struct inst_ctrl *c)
{
  bits_or(w, 105, 4, c->stall);
  bits_or(w, 109, 1, !c->yield);
  bits_or(w, 110, 3, c->write_sb);
  bits_or(w, 113, 3, c->read_sb);
  bits_or(w, 116, 6, c->wait);
  bits_or(w, 122, 3, c->reuse);
}

struct word128 sass_encode(const struct sass_inst *s, const struct inst_ctrl *ctrl)
{
  struct word128 w = {0, 0};
  uint16_t field[SASS_MAX_FIELDS];
  BUG_ON(!s->row);
  unsigned n = row_fields(s->row, opcode_form((unsigned)s->val[0]), field);
  BUG_ON(n != s->n_fields);
  for (unsigned i = 0; i < n; i++) BUG_ON(!field_put(&w, field[i], s->val[i]));
  encode_ctrl(&w, ctrl);
  return w;
}
