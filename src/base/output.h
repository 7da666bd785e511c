/* Files that the program writes for its user. What is written goes to a file without a name (where the file system has
 * none such: with a temporary name) in the target's folder, which takes the target's place when all of it was written:
 * a file is there as a whole or as it was before, never empty or cut off, however the process ends. It is not forced
 * to the disk (fsync): after a power failure it may be empty.
 * Devices, pipes and stdout ("-", and every other name of an open descriptor, even where that is a file) are written to
 * directly, and what they do not take is an error, too. So are files whose folder does not let them be replaced: those
 * can be cut off.
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
  int keep;                      /* a second descriptor of the file that is to take the target's place; -1: none */
  char path[PATH_MAX];           /* the target, links followed; for messages and to be replaced */
  char temporary[PATH_MAX + 32]; /* the name it has until then; "": none */
};

FILE *output_open(struct output *, const char *path, struct err *e);
bool output_close(struct output *, bool ok, struct err *e);
/* For logs that several processes write while they run, each line behind what is there: what a process has flushed
 * stays, however it ends. `first`: what the file had before goes. "-", devices and pipes as above. */
FILE *output_log_open(const char *path, bool first, struct err *e);
bool output_log_close(FILE *, const char *path, struct err *e);
/* Whether both are stdout or would end in one regular file, so that one would be lost. NULL: none. */
bool output_same(const char *, const char *);
/* For several files that are to be there together or not at all. Seal: everything is written (o.f NULL: the caller has
 * closed its stream; `ok`: all went well, else errno says why), the target is as it was. False: the file is dropped.
 * Many sealed files are kept under temporary names, which stay when the process is killed; few have none. */
bool output_seal(struct output *, bool ok, struct err *e);
/* A sealed file takes its target's place. output_drop: it does not. */
bool output_place(struct output *, struct err *e);
/* As output_close, but a target that has come into being meanwhile stays: an error, and *taken is set. */
bool output_close_new(struct output *, bool *taken, struct err *e);
/* Closes it without a trace; o.f NULL: the caller has closed it. */
void output_drop(struct output *);
/* Whether the path is another name of an open descriptor: what others write there, too. */
bool output_is_open(const char *path);
/* Whether output_open would succeed now; opens nothing that is there and leaves nothing behind. */
bool output_check(const char *path, struct err *e);

#endif
