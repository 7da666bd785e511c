/* Checkpoints of a command: it runs on a stack of its own in a region (cli/region.h), which is written to a file when
 * it asks for that, and in which another process of the same build goes on from there (docs/checkpoints.md).
 *
 *   checkpoint_run(command, argc, argv, &status, &e)    the command runs, with all its memory in a region
 *     checkpoint_save(c, "FILE", &restored, &e)         somewhere in it: saved; or it goes on from a file
 *   checkpoint_restore("FILE", threads, &status, &e)    elsewhere, later: that call of checkpoint_save returns
 */
#ifndef WS_CLI_CHECKPOINT_H
#define WS_CLI_CHECKPOINT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct checkpoint;

/* Runs command(c, argc, argv), *status what it returns; argv is a copy. False: this host cannot. */
bool checkpoint_run(int (*command)(struct checkpoint *, int argc, char **argv), int argc, char **argv, int *status,
                    struct err *e);

/* What a process that goes on from a file finds otherwise than the one that saved. */
struct restored {
  bool here;        /* it is one: threads, streams and files of that one are not there */
  unsigned threads; /* asked for now; 0: as then */
};

/* By the command's thread, while its other threads have nothing to do. What it has printed is written out before.
 * False: nothing was saved; it can go on all the same. */
bool checkpoint_save(struct checkpoint *, const char *path, struct restored *, struct err *e);

/* stdout and stderr, for functions that a save may find under way: in the process that goes on the variables of the C
 * library lie elsewhere, and compilers keep the address of a variable in a register over a call. */
FILE *checkpoint_stdout(void);
FILE *checkpoint_stderr(void);

/* The command in the file goes on to its end. False: it cannot. */
bool checkpoint_restore(const char *path, unsigned threads, int *status, struct err *e);

/* "N,N,...": numbers from 1, each larger than the one before. A list for mem_free, or NULL: it is none. */
unsigned long *checkpoint_list(const char *text, unsigned *n);

#endif
