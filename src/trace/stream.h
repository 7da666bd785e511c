/* Files that may be compressed with xz: a path that ends in ".xz" is, others are not. */
#ifndef WS_TRACE_STREAM_H
#define WS_TRACE_STREAM_H

#include <stdio.h>

#include "base/output.h"

/* NULL with e filled: the file cannot be opened. A damaged file gives a read error (ferror). */
FILE *stream_read(const char *path, struct err *e);
FILE *stream_write(struct output *, const char *path, struct err *e);
/* Closes what stream_write opened; output_place puts it in its place. False with e filled: not everything could be
 * written, and nothing is there. */
bool stream_seal(FILE *, struct output *, struct err *e);

#endif
