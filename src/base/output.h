/* Files that the program writes for its user. What is written goes to a temporary name beside the target, which takes
 * the target's place when all of it is on the disk: a file is there as a whole or as it was before, never empty or cut off.
 * Devices, pipes and stdout ("-") are written to directly, and what they do not take is an error, too.
 *
 *   struct output o;
 *   FILE *f = output_open(&o, path, e);       NULL: e says why
 *   … fprintf(f, …)
 *   return output_close(&o, ok, e);           ok false: the file is dropped, e is what the caller made it
 */
#ifndef WS_BASE_OUTPUT_H
#define WS_BASE_OUTPUT_H

#include <limits.h>
#include <stdio.h>

#include "base/err.h"

struct output {
  FILE *f;
  char path[PATH_MAX];           /* the target, links followed; for messages and to be replaced */
  char temporary[PATH_MAX + 16]; /* "": written to directly */
};

FILE *output_open(struct output *, const char *path, struct err *e);
bool output_close(struct output *, bool ok, struct err *e);
/* The second half of output_close for callers whose own stream lies around o.f and has closed it; `ok`: all went well,
 * else errno says why. */
bool output_commit(struct output *, bool ok, struct err *e);
/* The same, but a target that has come into being meanwhile stays: an error. */
bool output_close_new(struct output *, bool ok, struct err *e);
/* Whether output_open would succeed now; leaves nothing behind. */
bool output_check(const char *path, struct err *e);

#endif
