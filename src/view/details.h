/* What a person who tunes a kernel wants to know beside the summary: each unit's use against its peak, a point in the
 * roofline, what limits the CTAs of an SM and what less of it would give. What is not known prints as n/a. */
#ifndef WS_VIEW_DETAILS_H
#define WS_VIEW_DETAILS_H

#include <stdio.h>

#include "view/report.h"

/* Of a timed run that ended, with a preset; else nothing. */
void view_details_write(FILE *, const struct report *);

#endif
