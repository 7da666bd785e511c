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

/* `before`: the line as it was. The program's threads may be at the same words, in host memory, so each group of eight
 * bytes changes only from what the operation has seen; the operation is made again where one had changed. */
static inline bool line_home_atomic(struct gmem *image, line_apply_fn *apply, uint64_t addr, const struct line_op *op,
                                    uint8_t before[LINE_OP_BYTES])
{
  typedef uint64_t __attribute__((may_alias)) group;
  group *line = (group *)(void *)gmem_ptr(image, addr, LINE_OP_BYTES);
  group was[LINE_OP_BYTES / sizeof(group)], now[LINE_OP_BYTES / sizeof(group)];
  if (!line || addr % sizeof *line) return false; /* messages come from other processes, too */
  memcpy(was, line, sizeof was);
  memcpy(now, was, sizeof now);
  apply(op, (uint8_t *)now);
  for (unsigned i = 0; i < sizeof was / sizeof was[0]; i++) {
    while (now[i] != was[i] &&
           !__atomic_compare_exchange_n(&line[i], &was[i], now[i], false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      memcpy(now, was, sizeof now);
      apply(op, (uint8_t *)now);
    }
  }
  memcpy(before, was, sizeof was);
  return true;
}

#endif
