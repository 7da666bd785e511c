/* What `warpstep validate` prints and writes of a suite that ran. */
#ifndef WS_CLI_VALIDATE_REPORT_H
#define WS_CLI_VALIDATE_REPORT_H

#include <stdio.h>

#include "validate/suite.h"

/* Rows, then statistics by group, split and counter. */
void validate_print(const struct suite *, const bool *wanted, bool rows);

/* One line per row that was wanted, with counters. */
void validate_write_csv(FILE *, const struct suite *, const bool *wanted);

/* Prints rows that are worse than recorded; returns how many. */
unsigned validate_count_worse(const struct suite *);

#endif
