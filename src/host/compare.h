/* Compares a buffer with its expected contents. */
#ifndef WS_HOST_COMPARE_H
#define WS_HOST_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "host/value.h"

/* Floats match when |got - want| <= abs + rel * |want|, when both are NaN or when they are equal.
 * Not given (exact): the bits must be equal. Integers: bits must be equal. */
struct tolerance {
  bool given;
  double rel, abs;
};

enum { COMPARE_SHOWN = 5 };

struct compare_result {
  uint64_t count, mismatches;
  unsigned n_shown; /* the first mismatches */
  struct compare_mismatch {
    uint64_t index;
    uint8_t got[8], want[8];
  } shown[COMPARE_SHOWN];
  double worst; /* largest |got - want| of the mismatches, float types; NaN counts as infinite */
};

void compare_values(enum value_type, uint64_t count, const void *got, const void *want,
                    struct tolerance, struct compare_result *);
/* "[17] got 1.5, want 2": one mismatch as text. */
int compare_print(enum value_type, const struct compare_mismatch *, char *buf, size_t size);

/* Compares text by lines. `sorted`: as multisets of lines (device printf of several warps comes in
 * any order). On a difference writes one line saying which (line number when not sorted). */
bool compare_text(const char *got, size_t got_bytes, const char *want, size_t want_bytes,
                  bool sorted, char *why, size_t why_size);

#endif
