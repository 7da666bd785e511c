/* The engine: advances parts window by window, on one or several host threads.
 *
 * Per window [t, t+W): all parallel parts run (any order, any thread); when they have stopped,
 * those of the second group, in the same way; then, alone, the serial parts in fixed order.
 * Windows in which nobody has anything to do are skipped. The result is the same for every number
 * of threads.
 */
#ifndef WS_TIME_ENGINE_H
#define WS_TIME_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "time/part.h"

struct engine;

struct engine_config {
  picos window;          /* W > 0 */
  unsigned threads;      /* host threads, >= 1 */
  struct part *parallel; /* run at once */
  unsigned n_parallel;
  struct part *second; /* run at once, when the parallel ones have stopped */
  unsigned n_second;
  struct part *serial; /* run one after another, after all others */
  unsigned n_serial;
  uint64_t watchdog_windows; /* windows without progress before a deadlock is reported */
  /* Called by the main thread between windows; returns false to stop the run. */
  bool (*between)(void *ctx, picos now);
  void *ctx;
};

enum engine_end { ENGINE_DONE, ENGINE_STOPPED, ENGINE_DEADLOCK };

struct engine *engine_new(const struct engine_config *);
void engine_free(struct engine *);

/* Runs until no part is busy (DONE), `between` says stop (STOPPED), or nothing progresses
 * (DEADLOCK: engine_dump tells why). *now is the start time on entry and the end of the last
 * window on return. */
enum engine_end engine_run(struct engine *, picos *now);

void engine_dump(const struct engine *, FILE *);

#endif
