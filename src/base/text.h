/* Text from files on its way to a terminal or into a report. Names in a cubin, a trace or a launch file are any bytes:
 * control characters move the cursor, change colours or titles, and JSON must be UTF-8. */
#ifndef WS_BASE_TEXT_H
#define WS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* s with each byte that is a control character (C0, DEL, C1) or no part of valid UTF-8 (RFC 3629) as \xNN; whole
 * characters and escapes as far as they fit into size, always terminated. Returns out. */
char *text_safe(const char *s, char *out, size_t size);

/* Whether text_safe would leave all strings in these bytes as they are: of a table, with a 0 behind each. */
bool text_table_is_safe(const void *table, size_t bytes);
/* The same of one string. */
bool text_is_safe(const char *s);

/* Valid UTF-8, control characters and all. */
bool text_is_utf8(const char *s);

#endif
