/* What results depend on besides the sweep's own file: the program and its presets. */
#ifndef WS_STUDY_SWEEP_BUILD_H
#define WS_STUDY_SWEEP_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A checksum of both, 16 hexadecimal digits. */
bool sweep_build(const char *program, const char *presets, char *text, size_t size, struct err *e);

#endif
