/* Two reports beside each other (warpstep diff): what differs in the machine, in the code and in the results, what
 * differs most first. Reads the JSON of `run` and of `exec`; a file is hostile input like any other.
 */
#ifndef WS_VIEW_RUN_DIFF_H
#define WS_VIEW_RUN_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct json_t;

/* One report. */
struct run_doc {
  const char *path;
  struct json_t *root;
  bool program; /* of `exec`: a list of launches; else of one run */
};

/* False with e filled: the file cannot be read, or holds no such report. */
bool run_doc_read(struct run_doc *, const char *path, struct err *e);
void run_doc_free(struct run_doc *);

/* SM cycles of the run, or of all timed launches of the program; 0: nothing was timed. */
double run_doc_cycles(const struct run_doc *);
/* 1 of a run. */
size_t run_doc_launches(const struct run_doc *);
/* Whether the run ended, with the expected results or with none to compare with. Of programs: no launch faulted. */
bool run_doc_good(const struct run_doc *);

/* Writes the comparison. Both are runs, or both are programs. At most `rows` lines of each table of many. */
void run_diff_write(FILE *, const struct run_doc *a, const struct run_doc *b, unsigned rows);

#endif
