/* What a kernel would gain without each of its costs (host/what_if.h), as a table. */
#ifndef WS_VIEW_WHAT_IF_TABLE_H
#define WS_VIEW_WHAT_IF_TABLE_H

#include <stdio.h>

#include "view/report.h"

/* Nothing when the report has none. */
void view_what_if_write(FILE *, const struct report *);

#endif
