/* Raw data files: little-endian elements, nothing else. */
#ifndef WS_HOST_DATAFILE_H
#define WS_HOST_DATAFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Reads a file of any size; the caller frees *data. `where` (may be NULL) and the path go into
 * errors. */
bool datafile_read(const char *path, const char *where, uint8_t **data, size_t *bytes,
                   struct err *e);
/* As datafile_read; an error when the file has not exactly `bytes` bytes. */
bool datafile_read_exact(const char *path, const char *where, size_t bytes, uint8_t **data,
                         struct err *e);
bool datafile_write(const char *path, const void *data, size_t bytes, struct err *e);

#endif
