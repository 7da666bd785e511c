/* What all processes of a program have found, counted while they run, in memory that they share with the one that
 * started them: a process may end without a last word (_exit, exec, a signal), and the status of a child may get lost
 * in a script.
 *
 *   struct sanitize_tally *t = sanitize_tally_new(name, e);   in the starting process; the others get the name
 *   struct sanitize_tally *t = sanitize_tally_open(name);     in the others, while that one lives
 */
#ifndef WS_SANITIZE_TALLY_H
#define WS_SANITIZE_TALLY_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"

struct sanitize_tally {
  _Atomic uint64_t began, ended; /* processes with a sanitizer; those that have printed their summary */
  _Atomic uint64_t launches;     /* that were watched */
  _Atomic uint64_t errors;
  _Atomic uint64_t unstarted;    /* the program could not be started */
};

enum { SANITIZE_TALLY_NAME = 64 };

/* NULL with *e filled: the system has no such memory. It lasts until the process ends. */
struct sanitize_tally *sanitize_tally_new(char name[SANITIZE_TALLY_NAME], struct err *e);
/* NULL: it cannot be reached, as from another container; the process then counts for itself. */
struct sanitize_tally *sanitize_tally_open(const char *name);
void sanitize_tally_close(struct sanitize_tally *);

#endif
