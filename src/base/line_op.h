/* Atomics on the bytes of one line, apart from who asked for them: operands travel to where the line is, are applied
 * there, and the bytes of before come back. What the codes mean is the step source's own (func_line_apply,
 * func/func.h). */
#ifndef WS_BASE_LINE_OP_H
#define WS_BASE_LINE_OP_H

#include <stddef.h>
#include <stdint.h>

enum { LINE_OP_BYTES = 128, LINE_OP_LANES = 64, LINE_OP_WORDS = 4 };

struct line_operand {
  uint32_t offset; /* in the line, bytes */
  uint32_t value[LINE_OP_WORDS], compare[LINE_OP_WORDS];
};

struct line_op {
  uint8_t op, type; /* codes of the step source */
  uint8_t bytes;    /* of an access */
  uint8_t lanes;    /* they follow each other in this order */
  struct line_operand lane[LINE_OP_LANES];
};

static inline size_t line_op_bytes(const struct line_op *o)
{
  return offsetof(struct line_op, lane) + o->lanes * sizeof o->lane[0];
}

/* Applies it to a line. */
typedef void line_apply_fn(const struct line_op *, uint8_t line[LINE_OP_BYTES]);

/* Of a load that reduces what several memories have: the lanes' bytes of n lines, in this order, become those of one;
 * lanes have no operands. */
typedef void line_reduce_fn(const struct line_op *, unsigned n, const uint8_t (*line)[LINE_OP_BYTES],
                            uint8_t out[LINE_OP_BYTES]);

#endif
