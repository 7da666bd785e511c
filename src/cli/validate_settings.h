/* Several values of a parameter in `validate --set KEY=A,B,C`: every combination is a setting of its own. */
#ifndef WS_CLI_VALIDATE_SETTINGS_H
#define WS_CLI_VALIDATE_SETTINGS_H

#include "base/arena.h"
#include "validate/suite.h"

/* Combinations of all values, at least 1; above `limit`: limit + 1. A list in brackets is one value. */
unsigned long settings_count(const char *const *set, unsigned n, unsigned long limit);

/* Combination `which`: n assignments of one value each; the last key's values change first. */
void settings_pick(const char *const *set, unsigned n, unsigned long which, struct arena *, const char **out);

/* Errors of the comparable rows of all suites under one setting: held-out and fitted ones apart. */
struct setting_errors {
  double *measured[2], *simulated[2]; /* [1]: fitted */
  size_t n[2], room[2];
};
void setting_errors_add(struct setting_errors *, const struct suite *);
/* A line: n, mean, p90, bias and rank of both, and the assignments. */
void setting_errors_print(const struct setting_errors *, const char *const *set, unsigned n);
void setting_errors_head(void);
void setting_errors_free(struct setting_errors *);

#endif
