/* Tables in CSV files: a header line, then rows; fields with commas stand in double quotes, lines that begin
 * with # are comments, and so are lines of one field before the header. */
#ifndef WS_VALIDATE_CSV_H
#define WS_VALIDATE_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

struct csv {
  const char *path;
  const char **column;
  unsigned n_columns;
  const char **field; /* [row * n_columns + column] */
  unsigned *line;     /* of each row in the file */
  size_t n_rows;
};

/* Rows with another number of fields than the header are errors. */
bool csv_read(struct csv *, const char *path, struct arena *, struct err *e);

/* Field of a row by the name of its column; "" when there is no such column. */
const char *csv_get(const struct csv *, size_t row, const char *column);
/* The same as a number; an empty field is NAN. */
bool csv_number(const struct csv *, size_t row, const char *column, double *, struct err *e);

#endif
