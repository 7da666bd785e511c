/* Our own bugs: always-on assertions. A wrong cycle count is worse than a stop, so
 * BUG_ON stays on in release builds. Never use it for bad input (base/err.h) or for a
 * fault of the simulated program (isa/step.h, struct fault). */
#ifndef WS_BASE_BUG_H
#define WS_BASE_BUG_H

#include <stdbool.h>
#include <stddef.h>

/* Exit status of the process after a bug of ours (README, exit codes). */
#define BUG_EXIT_STATUS 4

/* Prints "warpstep: internal error: FILE:LINE: message" and exits with BUG_EXIT_STATUS. */
_Noreturn void bug_abort(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The host has no memory, or no thread, left: nobody's bug. One line on stderr, and the process ends with
 * NO_MEMORY_EXIT_STATUS at once: what it would do on its way out might want memory, too. */
#define NO_MEMORY_EXIT_STATUS 2
_Noreturn void memory_abort(void) __attribute__((cold));
#define NO_MEMORY_IF(cond)                                                                         \
  do {                                                                                             \
    if (__builtin_expect(!!(cond), 0)) memory_abort();                                             \
  } while (0)

/* What errno says, for the message of a call to the host that failed. Too little memory is no matter of the file or
 * folder in that message: memory_abort. */
const char *host_error(void);

/* For libraries that do not look whether they get memory (libconfig): goes on when there is room for so much of it. */
void memory_need(size_t bytes);
enum { MEMORY_OF_TEXT = 8 << 20 }; /* more than libconfig takes for a preset, a suite, a file of windows */

#define BUG(...) bug_abort(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(cond)                                                                               \
  do {                                                                                             \
    if (__builtin_expect(!!(cond), 0)) bug_abort(__FILE__, __LINE__, "%s", #cond);                 \
  } while (0)

#endif
