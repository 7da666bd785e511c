/* A run as JSON (docs/json.md). Everything outside "host" is the same for every run of
 * the same command, whatever the machine and the number of host threads.
 */
#ifndef WS_VIEW_JSON_H
#define WS_VIEW_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "base/json_out.h"
#include "view/report.h"

#define VIEW_JSON_SCHEMA "warpstep-run-1"

/* Writes the whole document and a newline; with_host adds "host". */
void view_json_write(FILE *, const struct report *, bool with_host);

/* The document as a value of another one. */
void view_json_run(struct json_out *, const char *key, const struct report *, bool with_host);

/* Its members "launch" and "checks", for other programs that write the same shape (tools/silicon). The launch case may
 * be NULL: not launched from files. */
void view_json_launch(struct json_out *, const struct launch_case *, const struct launch *,
                      const struct module_kernel *);
void view_json_checks(struct json_out *, const struct case_result *, unsigned n);

#endif
