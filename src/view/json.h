/* A run as JSON (docs/json.md). Everything outside "host" is the same for every run of
 * the same command, whatever the machine and the number of host threads.
 */
#ifndef WS_VIEW_JSON_H
#define WS_VIEW_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "view/report.h"

struct json_t;

#define VIEW_JSON_SCHEMA "warpstep-run-1"

/* Writes the whole document and a newline; with_host adds "host". */
void view_json_write(FILE *, const struct report *, bool with_host);

/* The document. A new reference. */
struct json_t *view_json_run(const struct report *, bool with_host);

/* Text of any origin as a string: what is not UTF-8 as \xNN. NULL: null. */
struct json_t *view_json_text(const char *);

/* Parts, for other programs that write the same shape (tools/silicon). New references. The launch case may
 * be NULL: not launched from files. */
struct json_t *view_json_launch(const struct launch_case *, const struct launch *,
                                const struct module_kernel *);
struct json_t *view_json_checks(const struct case_result *, unsigned n);

#endif
