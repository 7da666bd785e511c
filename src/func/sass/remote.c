#include "func/sass/remote.h"

#include "func/func.h"
#include "func/sass/uop.h"

bool func_line_op(struct step_warp *w, struct effect *e, lane_mask lanes, struct line_op *o)
{
  (void)w;
  return atom_line_op(e->priv, e->mem, (uint32_t)lanes, o) || multicast_line_op(e->priv, e->mem, (uint32_t)lanes, o);
}

void func_line_apply(const struct line_op *o, uint8_t line[LINE_OP_BYTES])
{
  atom_line_apply(o, line);
}

void func_line_reduce(const struct line_op *o, unsigned n, const uint8_t (*line)[LINE_OP_BYTES],
                      uint8_t out[LINE_OP_BYTES])
{
  multicast_line_reduce(o, n, line, out);
}
