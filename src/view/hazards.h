/* What the hazard checker found, in words: which instructions, which register, what is missing. */
#ifndef WS_VIEW_HAZARDS_H
#define WS_VIEW_HAZARDS_H

#include <stdio.h>

#include "view/report.h"

/* Prints the findings of r->hazards (not NULL), most frequent first; with_distances: also the smallest
 * distance seen from each producer class to each consumer role, beside the preset's gap. */
void view_hazards_write(FILE *, const struct report *r, bool with_distances);

#endif
