#include "view/what_if_table.h"

#include <string.h>

#include "view/columns.h"

enum { LINE = 92 };

static void write_row(FILE *f, const struct what_if_result *w, uint64_t base)
{
  char cycles[28];
  if (!w->cycles) {
    fprintf(f, "  %-18s%12s %22s %s\n", w->what->name, "n/a", "", w->why ? w->why : "");
    return;
  }
  double gain = 100.0 * ((double)base - (double)w->cycles) / (double)base;
  fprintf(f, "  %-18s%12s %8.1f %% %8.2f x  %s\n", w->what->name, with_commas(w->cycles, cycles), gain,
          (double)base / (double)w->cycles, w->what->text);
}

/* A cost that is worth a row: it gains or loses more than half a percent, or nobody knows. */
static bool matters(const struct what_if_result *w, uint64_t base)
{
  uint64_t apart = w->cycles > base ? w->cycles - base : base - w->cycles;
  return w->seen && (!w->cycles || apart * 200 >= base);
}

/* "  no gain: a, b, …", in lines, of the rows without one that were seen, or were not. */
static void write_names(FILE *f, const struct report *r, bool seen, const char *head)
{
  int at = 0;
  for (unsigned i = 0; i < r->n_what_if; i++) {
    if (r->what_if[i].seen != seen || matters(&r->what_if[i], r->cycles)) continue;
    const char *name = r->what_if[i].what->name;
    if (!at)
      at = fprintf(f, "  %s: ", head);
    else if (at + (int)strlen(name) + 2 > LINE)
      at = fprintf(f, ",\n    ") - 2;
    else
      at += fprintf(f, ", ");
    at += fprintf(f, "%s", name);
  }
  if (at) fputc('\n', f);
}

void view_what_if_write(FILE *f, const struct report *r)
{
  char cycles[28];
  if (!r->n_what_if) return;
  fprintf(f, "%-20s%12s %10s %10s\n", "What if there were", "cycles", "saved", "speed-up");
  fprintf(f, "  %-18s%12s\n", "all costs", with_commas(r->cycles, cycles));
  for (unsigned i = 0; i < r->n_what_if; i++)
    if (matters(&r->what_if[i], r->cycles)) write_row(f, &r->what_if[i], r->cycles);
  write_names(f, r, true, "no gain");
  write_names(f, r, false, "not in this kernel");
}
