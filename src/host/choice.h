/* Launches of a program that an option chooses: by number, or by the name of their kernel. */
#ifndef WS_HOST_CHOICE_H
#define WS_HOST_CHOICE_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct choice_range {
  uint64_t first, last; /* launches, from 1; last UINT64_MAX: no end */
};

/* All zeros: every launch. */
struct choice {
  bool by_name;
  regex_t name;
  struct choice_range *range; /* owned */
  unsigned n_ranges;
  uint64_t last; /* of all ranges; UINT64_MAX: none is known */
};

/* "N", "N..M", "N..", several with commas; anything else is an extended regular expression, but not a text of
 * digits, points and commas alone: that is a mistaken range. `option` is for the message. Call choice_free
 * even after a failure. */
bool choice_parse(struct choice *, const char *option, const char *text, struct err *e);
void choice_free(struct choice *);

/* Whether launch `number` (from 1) of this kernel is chosen: by its symbol, or the name in it without namespaces
 * and parameters, as reports show it. */
bool choice_has(const struct choice *, uint64_t number, const char *kernel);

#endif
