/* What tells one build of the program from another. */
#ifndef WS_STUDY_SWEEP_BUILD_H
#define WS_STUDY_SWEEP_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A checksum of its file, 16 hexadecimal digits. */
bool sweep_build(const char *program, char *text, size_t size, struct err *e);

#endif
