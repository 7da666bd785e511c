/* Parts and time: what a domain knows of the machine.
 *
 * A part (an SM, the memory side, the dispatcher) runs alone for a window of W picoseconds. W is
 * the smallest latency between parts, so that nothing sent inside a window can arrive inside it:
 * parts of a window may run in any order, or at once, without a result changing. All that passes
 * between parts is a message stamped with its arrival time (msg.h).
 */
#ifndef WS_TIME_PART_H
#define WS_TIME_PART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t picos; /* simulated time since the start of the run, ps */
#define TIME_NEVER UINT64_MAX

struct part_ops {
  /* Simulates [from, to). Returns the time of the part's next own event (>= to), or TIME_NEVER when
   * it only waits for messages. */
  picos (*run)(void *self, picos from, picos to);
  /* Adds to a number that grows whenever the part gets something done (deadlock watch). */
  uint64_t (*progress)(const void *self);
  /* True while the part has work that it cannot finish without a message or more time. */
  bool (*busy)(const void *self);
  /* One paragraph: what it is waiting for. */
  void (*dump)(const void *self, FILE *out);
};

/* Somebody has something for a part from `at` on: its next event is then at the latest. Several may say so at once. */
static inline void part_wake(picos *wake, picos at)
{
  if (!wake) return;
  picos seen = __atomic_load_n(wake, __ATOMIC_RELAXED);
  while (at < seen && !__atomic_compare_exchange_n(wake, &seen, at, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
}

struct part {
  const struct part_ops *ops;
  void *self;
  picos next; /* next own event; the domain skips the part until then */
};

#endif
