/* Files that may be compressed with xz: a path that ends in ".xz" is, others are not. */
#ifndef WS_TRACE_STREAM_H
#define WS_TRACE_STREAM_H

#include <stdio.h>

#include "base/err.h"

/* NULL with e filled: the file cannot be opened. A damaged file gives a read error (ferror). */
FILE *stream_read(const char *path, struct err *e);
FILE *stream_write(const char *path, struct err *e);
/* Closes what stream_write opened. False with e filled: not everything could be written. */
bool stream_finish(FILE *, const char *path, struct err *e);

#endif
