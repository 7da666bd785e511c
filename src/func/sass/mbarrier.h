/* Private to func/: the 64 bits of an mbarrier object (layout: sem_sync.c). */
#ifndef WS_FUNC_SASS_MBARRIER_H
#define WS_FUNC_SASS_MBARRIER_H

#include <stdint.h>
#include <string.h>

/* What an operation adds to the current phase; drop: fewer arrivals are expected from the next phase
 * on. tx: transactions that start (positive) or are done (negative); only sm_90 counts them. */
struct mbar_event {
  uint32_t arrivals, drop;
  int32_t tx;
};

/* sm_80: 31 bits of pending arrivals above 32 bits of arrivals per phase. */
static inline uint64_t mbar_apply80(uint64_t v, struct mbar_event ev)
{
  const uint32_t expect = (uint32_t)v + ev.drop, high = (uint32_t)(v >> 32);
  uint32_t phase = high & 0x80000000u, pending = (high & 0x7fffffffu) + ev.arrivals;
  if (pending & 0x80000000u) { /* the last one */
    phase ^= 0x80000000u;
    pending = (expect + 0x40000000u) & 0x7fffffffu;
  }
  return (uint64_t)(phase | pending) << 32 | expect;
}

/* sm_90: a phase ends when no arrival is pending and no transaction is under way. */
static inline uint64_t mbar_apply90(uint64_t v, struct mbar_event ev)
{
  enum { COUNT_BITS = 20, TX_BITS = 22, EXPECT_AT = 1, TX_AT = 21, PENDING_AT = 43 };
  const uint32_t count = (1u << COUNT_BITS) - 1, tx_mask = (1u << TX_BITS) - 1;
  uint32_t expect = ((uint32_t)(v >> EXPECT_AT) + ev.drop) & count;
  uint32_t pending = ((uint32_t)(v >> PENDING_AT) + ev.arrivals) & count;
  uint32_t tx = ((uint32_t)(v >> TX_AT) + (uint32_t)ev.tx) & tx_mask;
  uint64_t phase = v >> 63;
  if (!pending && !tx) {
    phase ^= 1;
    pending = expect;
  }
  return phase << 63 | (uint64_t)pending << PENDING_AT | (uint64_t)tx << TX_AT |
         (uint64_t)expect << EXPECT_AT | (v & 1);
}

/* The layout of an object, newest target first. */
static const struct mbar_layout {
  unsigned from; /* target */
  uint64_t (*apply)(uint64_t v, struct mbar_event ev);
} mbar_layouts[] = {{90, mbar_apply90}, {0, mbar_apply80}};

/* State v of an mbarrier of target sm after the event. */
static inline uint64_t mbar_apply(unsigned sm, uint64_t v, struct mbar_event ev)
{
  const struct mbar_layout *l = mbar_layouts;
  while (sm < l->from) l++;
  return l->apply(v, ev);
}

/* An asynchronous copy has brought `bytes`: the object in shared memory counts them as done. */
static inline void mbar_complete_tx(unsigned sm, uint8_t *object, uint32_t bytes)
{
  uint64_t v;
  memcpy(&v, object, sizeof v);
  v = mbar_apply(sm, v, (struct mbar_event){.tx = -(int32_t)bytes});
  memcpy(object, &v, sizeof v);
}

#endif
