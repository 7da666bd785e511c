/* The listing of a timed launch: what each instruction and each source line cost. Nothing is sampled: the cycles of all
 * resident warps are charged to the instruction they were at, by state (time/sm/ledger.h), so the sums are the counters
 * of the launch.
 */
#ifndef WS_VIEW_ANNOTATE_H
#define WS_VIEW_ANNOTATE_H

#include <stdio.h>

#include "load/line_table.h"
#include "view/report.h"

/* Writes the source lines, the most expensive first, when the module has line tables; then all code that ran, in order,
 * with its lines. r->profile must be there. */
void view_annotate_write(FILE *, const struct report *, const struct line_table *);

#endif
