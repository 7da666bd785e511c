/* Two columns of short lines beside each other, and the rankings that fill them. */
#ifndef WS_VIEW_COLUMNS_H
#define WS_VIEW_COLUMNS_H

#include <stdint.h>
#include <stdio.h>

enum { COLUMN_LINES = 10, COLUMN_WIDTH = 38 };

struct column {
  unsigned n;
  char line[COLUMN_LINES][COLUMN_WIDTH + 1];
};

/* Adds a line; what does not fit is cut off. Lines beyond COLUMN_LINES are dropped. */
void column_add(struct column *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes both side by side; nothing when both are empty. */
void columns_write(FILE *, const struct column *left, const struct column *right);

/* Adds the `most` largest of n values with name, count and share of `whole`; what remains is summed up as
 * "others". Zero values are left out; equal ones keep their order. */
void column_rank(struct column *, const uint64_t *value, const char *(*name)(const void *, unsigned),
                 const void *ctx, unsigned n, unsigned most, uint64_t whole);

/* "12,345,678" in buf (at least 28 bytes); returns buf. */
const char *with_commas(uint64_t v, char *buf);
/* "1.50 MB", "12.3 us": four significant characters and a unit. buf at least 16 bytes; returns buf. */
const char *with_bytes(uint64_t bytes, char *buf);
const char *with_seconds(double seconds, char *buf);
/* 100 * part / whole, 0 when whole is 0. */
double percent(uint64_t part, uint64_t whole);

#endif
