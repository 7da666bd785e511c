/* Memory of several GPUs at one address: what a multicast object's mapping leads to. Spans change between commands of
 * the host alone, so that any part may look at them while kernels run.
 *
 * An address in a span stands for one byte at each leg; it is mapped in no image, so that accesses which know nothing
 * of multicasts fault. Legs are in the order of the object's GPUs, in which values are reduced.
 */
#ifndef WS_BASE_MULTICAST_H
#define WS_BASE_MULTICAST_H

#include <stddef.h>
#include <stdint.h>

struct gmem;

enum { MULTICAST_LEGS = 16 };

struct multicast_leg {
  struct gmem *image; /* of the GPU whose memory it is */
  uint64_t addr;      /* there: of the span's first byte */
  uint16_t node;      /* of the machine */
};

struct multicast_span {
  uint64_t addr, bytes; /* whole lines of 128 bytes */
  unsigned n;
  struct multicast_leg leg[MULTICAST_LEGS];
};

struct multicast {
  size_t n;
  const struct multicast_span *span; /* apart from each other */
};

/* The span that has all these bytes; NULL: none. */
static inline const struct multicast_span *multicast_span(const struct multicast *m, uint64_t addr, uint64_t bytes)
{
  for (size_t i = 0; m && i < m->n; i++) {
    const struct multicast_span *s = &m->span[i];
    if (addr - s->addr < s->bytes && bytes <= s->bytes - (addr - s->addr)) return s;
  }
  return NULL;
}

#endif
