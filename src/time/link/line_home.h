/* What reaches a line at home: masked stores and atomics of others. */
#ifndef WS_TIME_LINK_LINE_HOME_H
#define WS_TIME_LINK_LINE_HOME_H

#include <string.h>

#include "base/gmem.h"
#include "base/line_op.h"
#include "time/link/link_port.h"

/* False: the line is not mapped. */
static inline bool line_home_store(struct gmem *image, const struct link_store *s)
{
  uint8_t *line = gmem_ptr(image, s->line.addr, sizeof s->bytes);
  for (unsigned i = 0; line && i < sizeof s->bytes; i++)
    if (s->mask[i / 64] >> i % 64 & 1) line[i] = s->bytes[i];
  return line;
}

/* `before`: the line as it was. */
static inline bool line_home_atomic(struct gmem *image, line_apply_fn *apply, uint64_t addr, const struct line_op *op,
                                    uint8_t before[LINE_OP_BYTES])
{
  uint8_t *line = gmem_ptr(image, addr, LINE_OP_BYTES);
  if (!line) return false;
  memcpy(before, line, LINE_OP_BYTES);
  apply(op, line);
  return true;
}

#endif
