/* The listing of a timed launch as data: what annotate.h prints, for pages and programs (docs/json.md, `listing`). Each
 * instruction that ran with what it cost, its source line, and the lines of the sources around those. */
#ifndef WS_VIEW_LISTING_H
#define WS_VIEW_LISTING_H

#include "base/json_out.h"
#include "load/line_table.h"
#include "view/report.h"

/* r->profile must be there. */
void view_listing_json(struct json_out *, const char *key, const struct report *, const struct line_table *);

#endif
