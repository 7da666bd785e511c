/* Initial contents of buffers, made from a rule instead of a file. */
#ifndef WS_HOST_FILL_H
#define WS_HOST_FILL_H

#include <stdint.h>

#include "base/err.h"
#include "host/value.h"

enum fill_kind { FILL_ZERO, FILL_CONST, FILL_IOTA, FILL_UNIFORM, FILL_CHAIN };

struct buffer_fill {
  enum fill_kind kind;
  uint64_t seed;            /* uniform, chain */
  struct number value;      /* const */
  struct number start, step; /* iota: element i = start + i * step; chain: elements per line */
  struct number min, max;   /* uniform: reals [min, max), integers [min, max] */
};

/* Defaults: zero; value 0, start 0, step 1, seed 0, min 0, max 1. */
struct buffer_fill fill_default(void);
/* Names: zero const iota uniform chain. */
bool fill_kind_parse(const char *name, enum fill_kind *kind);
/* Reals in integer types, numbers out of the type's range, min > max. */
bool fill_check(const struct buffer_fill *, enum value_type, uint64_t count, struct err *e);
/* Writes elements [first, first + n) to `to`; the fill has passed fill_check. uniform: element i
 * comes from the SplitMix64 output function (Steele, Lea, Flood, OOPSLA 2014) of seed + (i + 1) *
 * golden gamma: reals min + u * (max - min) with u of 53 bits, integers min + z mod (max - min +
 * 1). */
void fill_write(const struct buffer_fill *, enum value_type, uint64_t first, uint64_t n, void *to);

/* A pointer chase (u64 only): the buffer at guest address `base` is seen as lines of `step` elements.
 * Starting at element 0, each element visited holds the address of the next one: all lines in a
 * random cyclic order (Fisher-Yates over SplitMix64 of the seed), then the same order one element
 * further on in each line, for the first min(step, 16) elements of the lines; the last one points back
 * to element 0. put(ctx, i, v) stores element i. */
void fill_chain(const struct buffer_fill *, uint64_t count, uint64_t base,
                void (*put)(void *ctx, uint64_t i, uint64_t value), void *ctx);

#endif
