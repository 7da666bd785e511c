/* Files in libconfig's syntax. What the library would do beyond reading the file is refused: @include reads any other
 * one, however long. */
#ifndef WS_BASE_SETTINGS_H
#define WS_BASE_SETTINGS_H

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { SETTINGS_MAX_BYTES = 16 << 20 };

/* Whether a name is that of a file, not of something that comes with the program: it has a slash or ends in ".cfg". */
bool settings_is_path(const char *name);

/* Calls use(ctx, c) with a configuration of its own, which is freed behind it, also where memory runs out. Returns
 * what it returns. */
bool settings_with(bool (*use)(void *ctx, config_t *c), void *ctx);

/* Reads a regular file into c, which config_init has made. False with e filled: "FILE: why" or "FILE:LINE: why". */
bool settings_read(config_t *c, const char *path, struct err *e);

/* The text of a regular file, with a 0 behind it, for mem_free. NULL with e filled in the same way: it cannot be read,
 * is binary, has SETTINGS_MAX_BYTES or more, or an @include. */
char *settings_text(const char *path, size_t *bytes, struct err *e);

#endif
