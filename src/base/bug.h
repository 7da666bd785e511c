/* Our own bugs: always-on assertions. A wrong cycle count is worse than a stop, so
 * BUG_ON stays on in release builds. Never use it for bad input (base/err.h) or for a
 * fault of the simulated program (isa/step.h, struct fault). */
#ifndef WS_BASE_BUG_H
#define WS_BASE_BUG_H

#include <stdbool.h>

/* Exit status of the process after a bug of ours (README, exit codes). */
#define BUG_EXIT_STATUS 4

/* Prints "warpstep: internal error: FILE:LINE: message" and exits with BUG_EXIT_STATUS. */
_Noreturn void bug_abort(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

#define BUG(...) bug_abort(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(cond)                                                                               \
  do {                                                                                             \
    if (__builtin_expect(!!(cond), 0)) bug_abort(__FILE__, __LINE__, "%s", #cond);                 \
  } while (0)

#endif
