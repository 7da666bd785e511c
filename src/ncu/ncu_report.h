/* Report files of `warpstep ncu` (R.ncu-rep; our own format, not NVIDIA's): what was asked for and every profiled
 * launch, so that any page can be printed later. One JSON object a line, behind the checksum of its text; the first
 * line is the header. docs/ncu.md says what is in it.
 *
 * Files are hostile: damage is found by checksums, and numbers that a forged file gives are only computed with as
 * doubles.
 */
#ifndef WS_NCU_REPORT_H
#define WS_NCU_REPORT_H

#include <stdio.h>

#include "base/err.h"
#include "base/text_out.h"
#include "ncu/ncu_action.h"
#include "ncu/ncu_choice.h"

struct ncu_report {
  struct ncu_choice choice;
  struct ncu_action *action;
  size_t n, cap;
};

/* The line of a launch, for appending to a stream of launches with one write(2): in memory, with its newline. The
 * caller closes it. */
struct text_out ncu_report_line(const struct ncu_action *);

bool ncu_report_write(FILE *, const struct ncu_report *);
/* A whole file with its header; `path` is for messages. False with *e filled: none of ours, damaged. The caller frees
 * the report in either case. */
bool ncu_report_read(FILE *, const char *path, struct ncu_report *, struct err *e);
/* The same of a stream of launches, which has no header. */
bool ncu_report_read_launches(FILE *, const char *path, struct ncu_report *, struct err *e);
void ncu_report_free(struct ncu_report *);

#endif
