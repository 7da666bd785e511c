/* Whether a path can be read as a file: pipes would be waited for, devices have no end. */
#ifndef WS_BASE_REGULAR_H
#define WS_BASE_REGULAR_H

#include <stdbool.h>

#include "base/err.h"

/* A regular file that may be read. False with e filled, one line with the path: there is none, no permission, a folder,
 * a pipe, a device. */
bool file_is_regular(const char *path, struct err *e);

#endif
