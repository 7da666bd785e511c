/* Initial contents of buffers, made from a rule instead of a file. */
#ifndef WS_HOST_FILL_H
#define WS_HOST_FILL_H

#include <stdint.h>

#include "base/err.h"
#include "host/value.h"

enum fill_kind { FILL_ZERO, FILL_CONST, FILL_IOTA, FILL_UNIFORM };

struct fill {
  enum fill_kind kind;
  uint64_t seed;            /* uniform */
  struct number value;      /* const */
  struct number start, step; /* iota: element i = start + i * step */
  struct number min, max;   /* uniform: reals [min, max), integers [min, max] */
};

/* Defaults: zero; value 0, start 0, step 1, seed 0, min 0, max 1. */
struct fill fill_default(void);
/* Names: zero const iota uniform. */
bool fill_kind_parse(const char *name, enum fill_kind *kind);
/* Reals in integer types, numbers out of the type's range, min > max. */
bool fill_check(const struct fill *, enum value_type, uint64_t count, struct err *e);
/* Writes elements [first, first + n) to `to`; the fill has passed fill_check. uniform: element i
 * comes from the SplitMix64 output function (Steele, Lea, Flood, OOPSLA 2014) of seed + (i + 1) *
 * golden gamma: reals min + u * (max - min) with u of 53 bits, integers min + z mod (max - min +
 * 1). */
void fill_write(const struct fill *, enum value_type, uint64_t first, uint64_t n, void *to);

#endif
