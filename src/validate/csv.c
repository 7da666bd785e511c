#include "validate/csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/regular.h"
#include "base/text.h"

enum { MAX_COLUMNS = 4096 }; /* profilers write one for each metric */

/* Cuts a line in place; returns the number of fields, 0 for a quote that is not closed or too many. */
static unsigned split(char *s, const char *out[MAX_COLUMNS])
{
  unsigned n = 0;
  for (;;) {
    if (n == MAX_COLUMNS) return 0;
    bool quoted = *s == '"';
    char *from = s += quoted, *to = s;
    out[n++] = from;
    while (*s && (quoted || *s != ',')) {
      if (quoted && *s == '"' && s[1] != '"') break;
      if (quoted && *s == '"') s++;
      *to++ = *s++;
    }
    if (quoted && *s++ != '"') return 0;
    char end = *s;
    *to = '\0';
    if (!end) return n;
    if (end != ',') return 0;
    s++;
  }
}

static const char **keep(struct arena *a, const char **fields, unsigned n)
{
  const char **copy = ARENA_ARRAY(a, const char *, n);
  for (unsigned i = 0; i < n; i++) copy[i] = arena_strdup(a, fields[i]);
  return copy;
}

/* Rows are collected in blocks that double. */
static void add_row(struct csv *t, const char **fields, unsigned line, size_t *room, struct arena *a)
{
  if (t->n_rows == *room) {
    *room = *room ? 2 * *room : 64;
    const char **field = ARENA_ARRAY(a, const char *, *room * t->n_columns);
    unsigned *lines = ARENA_ARRAY(a, unsigned, *room);
    for (size_t i = 0; i < t->n_rows * t->n_columns; i++) field[i] = t->field[i];
    for (size_t i = 0; i < t->n_rows; i++) lines[i] = t->line[i];
    t->field = field;
    t->line = lines;
  }
  for (unsigned i = 0; i < t->n_columns; i++) t->field[t->n_rows * t->n_columns + i] = fields[i];
  t->line[t->n_rows++] = line;
}

static bool read_lines(struct csv *t, FILE *f, struct arena *a, struct err *e)
{
  const char *field[MAX_COLUMNS];
  char *text = NULL;
  size_t size = 0, room = 0;
  bool ok = true;
  for (unsigned line = 1; ok && getline(&text, &size, f) >= 0; line++) {
    text[strcspn(text, "\r\n")] = '\0';
    for (char *tab = text; (tab = strchr(tab, '\t')); tab++) *tab = ' ';
    if (!text_is_safe(text)) ok = err_set(e, "%s:%u: not printable text", t->path, line);
    if (!ok) break;
    if (!*text || *text == '#') continue;
    unsigned n = split(text, field);
    if (!t->column && n == 1) continue; /* what a profiler says before its table */
    if (!n || (t->column && n != t->n_columns))
      ok = err_set(e, "%s:%u: %u fields, the header has %u", t->path, line, n, t->n_columns);
    else if (t->column) add_row(t, keep(a, field, n), line, &room, a);
    else t->column = keep(a, field, t->n_columns = n);
  }
  free(text);
  return ok && (t->column || err_set(e, "%s: empty", t->path));
}

bool csv_read(struct csv *t, const char *path, struct arena *a, struct err *e)
{
  *t = (struct csv){.path = path};
  TRY(file_is_regular(path, e));
  FILE *f = fopen(path, "r");
  if (!f) return err_set(e, "%s: %s", path, host_error());
  bool ok = read_lines(t, f, a, e);
  fclose(f);
  return ok;
}

const char *csv_get(const struct csv *t, size_t row, const char *column)
{
  for (unsigned i = 0; i < t->n_columns; i++)
    if (!strcmp(t->column[i], column)) return t->field[row * t->n_columns + i];
  return "";
}

bool csv_number(const struct csv *t, size_t row, const char *column, double *v, struct err *e)
{
  const char *s = csv_get(t, row, column);
  char *end;
  *v = NAN;
  if (!*s) return true;
  *v = strtod(s, &end);
  return (!*end && isfinite(*v)) ||
         err_set(e, "%s:%u: %s: '%.60s' is not a number", t->path, t->line[row], column, s);
}
