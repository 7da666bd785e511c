/* Integer literals of libconfig files. Some libconfig versions cut integers without an L suffix to
 * 32 bits without a word, and none reads decimals above 2^63 - 1; rewriting them beforehand makes
 * every integer exact.
 */
#ifndef WS_HOST_LITERALS_H
#define WS_HOST_LITERALS_H

#include <libconfig.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "host/value.h"

/* A copy of the text in which integers beyond 31 bits are written as 64-bit hexadecimal (negative
 * ones as 64-bit decimal) literals; line numbers do not change. NULL: an integer of more than 64
 * bits, or an @include (whose text we would not see); *line says where. */
char *literals_widen(struct arena *a, const char *text, size_t bytes, int *line, struct err *e);

/* The number in a setting read from widened text. False: not a number. */
bool literals_number(const config_setting_t *s, struct number *n);

#endif
