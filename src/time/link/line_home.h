/* What reaches a line at home: masked stores and atomics of others. */
#ifndef WS_TIME_LINK_LINE_HOME_H
#define WS_TIME_LINK_LINE_HOME_H

#include <string.h>

#include "base/gmem.h"
#include "base/line_op.h"
#include "base/swap_quad.h"
#include "time/link/link_port.h"

/* False: the line is not mapped. */
static inline bool line_home_store(struct gmem *image, const struct link_store *s)
{
  uint8_t *line = gmem_ptr(image, s->line.addr, sizeof s->bytes);
  for (unsigned i = 0; line && i < sizeof s->bytes; i++)
    if (s->mask[i / 64] >> i % 64 & 1) line[i] = s->bytes[i];
  return line;
}

/* A group of bytes that changes at once; *was becomes what is there when it is something else. */
typedef uint64_t __attribute__((may_alias)) line_pair;

static inline bool line_swap_pair(line_pair *p, line_pair *was, line_pair now)
{
  return __atomic_compare_exchange_n(p, was, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* `before`: the line as it was. The program's threads may be at the same words, in host memory, so each group (of eight
 * bytes; of sixteen, where the operation has so many) changes only from what the operation has seen; the operation is
 * made again where one had changed. */
#define LINE_HOME_ATOMIC(name, group, swap)                                                                       \
  static inline bool name(struct gmem *image, line_apply_fn *apply, uint64_t addr, const struct line_op *op,      \
                          uint8_t before[LINE_OP_BYTES])                                                          \
  {                                                                                                               \
    group *line = (group *)(void *)gmem_ptr(image, addr, LINE_OP_BYTES);                                          \
    group was[LINE_OP_BYTES / sizeof(group)], now[LINE_OP_BYTES / sizeof(group)];                                 \
    if (!line || addr % sizeof *line) return false; /* messages come from other processes, too */                 \
    memcpy(was, line, sizeof was);                                                                                \
    memcpy(now, was, sizeof now);                                                                                 \
    apply(op, (uint8_t *)now);                                                                                    \
    for (unsigned i = 0; i < sizeof was / sizeof was[0]; i++) {                                                   \
      while (now[i] != was[i] && !swap(&line[i], &was[i], now[i])) {                                              \
        memcpy(now, was, sizeof now);                                                                             \
        apply(op, (uint8_t *)now);                                                                                \
      }                                                                                                           \
    }                                                                                                             \
    memcpy(before, was, sizeof was);                                                                              \
    return true;                                                                                                  \
  }
LINE_HOME_ATOMIC(line_home_pairs, line_pair, line_swap_pair)
LINE_HOME_ATOMIC(line_home_quads, quad, swap_quad)
#undef LINE_HOME_ATOMIC

static inline bool line_home_atomic(struct gmem *image, line_apply_fn *apply, uint64_t addr, const struct line_op *op,
                                    uint8_t before[LINE_OP_BYTES])
{
  const bool wide = op->bytes == sizeof(quad);
  return wide ? line_home_quads(image, apply, addr, op, before) : line_home_pairs(image, apply, addr, op, before);
}

#endif
