#include "study/sweep_table.h"

#include <math.h>
#include <string.h>

enum { CYCLES = 12, SPEED = 8 };

/* --- points -------------------------------------------------------------------------------------- */

uint32_t sweep_combinations(const struct sweep *w)
{
  return w->n_points / w->gpu.n / w->run.n;
}

/* In the order of sweep_point_at: GPU, run, then values would be natural, but values vary fastest there. */
struct sweep_point sweep_point_of(const struct sweep *w, unsigned gpu, unsigned run, uint32_t combination)
{
  return sweep_point_at(w, (gpu * w->run.n + run) * sweep_combinations(w) + combination);
}

double sweep_mean_speed(const struct sweep *w, struct sweep_store *s, unsigned gpu, uint32_t combination,
                        unsigned *n_runs)
{
  double sum = 0;
  *n_runs = 0;
  for (unsigned run = 0; run < w->run.n; run++) {
    struct sweep_result first, this;
    const struct sweep_point p = sweep_point_of(w, gpu, run, 0), q = sweep_point_of(w, gpu, run, combination);
    if (!sweep_store_get(s, w, &p, &first) || !sweep_store_get(s, w, &q, &this) || first.cycles <= 0 ||
        this.cycles <= 0)
      continue;
    sum += log(first.cycles / this.cycles);
    ++*n_runs;
  }
  return *n_runs ? exp(sum / *n_runs) : 0;
}

/* --- table --------------------------------------------------------------------------------------- */

/* The last part of the path of what is run. */
const char *sweep_short_name(const char *run, int *n)
{
  if (strncmp(run, "exec ", 5) == 0) run += 5;
  const char *from = run;
  for (const char *p = run; *p && *p != ' '; p++)
    if (*p == '/') from = p + 1;
  *n = (int)strcspn(from, " ");
  return from;
}

static int width_of_names(const struct sweep *w)
{
  int width = (int)strlen("geometric mean");
  for (unsigned run = 0; run < w->run.n; run++) {
    int n;
    (void)sweep_short_name(w->run.text[run], &n);
    if (n > width) width = n;
  }
  return width;
}

static void write_legend(FILE *f, const struct sweep *w)
{
  char text[SWEEP_SETTINGS];
  for (uint32_t c = 0; c < sweep_combinations(w); c++) {
    const struct sweep_point p = sweep_point_of(w, 0, 0, c);
    sweep_settings(w, &p, text);
    fprintf(f, "  [%u] %s\n", c + 1, text);
  }
}

/* What stands in the place of a number. NULL: there is a number. */
static const char *why_none(const struct sweep *w, struct sweep_store *s, const struct sweep_point *p,
                            struct sweep_result *r)
{
  if (!sweep_store_get(s, w, p, r)) return "-";
  if (r->status < 0) return "too long";
  if (r->status > 0) return "failed";
  return r->timed && r->cycles > 0 ? NULL : "untimed";
}

/* Cycles of the first combination, and how much faster the others are. */
static void write_run(FILE *f, const struct sweep *w, struct sweep_store *s, unsigned gpu, unsigned run, int width)
{
  struct sweep_result first, r;
  int n;
  const char *name = sweep_short_name(w->run.text[run], &n);
  const struct sweep_point p = sweep_point_of(w, gpu, run, 0);
  const char *why = why_none(w, s, &p, &first);
  fprintf(f, "  %-*.*s", width, n, name);
  if (why) fprintf(f, " %*s", CYCLES, why);
  else fprintf(f, " %*.0f", CYCLES, first.cycles);
  for (uint32_t c = 1; c < sweep_combinations(w); c++) {
    const struct sweep_point q = sweep_point_of(w, gpu, run, c);
    const char *none = why_none(w, s, &q, &r);
    if (none || why) fprintf(f, " %*s", SPEED, none ? none : "-");
    else fprintf(f, " %*.4f", SPEED, first.cycles / r.cycles);
  }
  fputc('\n', f);
}

static void write_means(FILE *f, const struct sweep *w, struct sweep_store *s, unsigned gpu, int width)
{
  unsigned n, least = w->run.n;
  fprintf(f, "  %-*s %*s", width, "geometric mean", CYCLES, "");
  for (uint32_t c = 1; c < sweep_combinations(w); c++) {
    const double speed = sweep_mean_speed(w, s, gpu, c, &n);
    if (n < least) least = n;
    if (n) fprintf(f, " %*.4f", SPEED, speed);
    else fprintf(f, " %*s", SPEED, "-");
  }
  fprintf(f, least < w->run.n ? "  (of those that have both)\n" : "\n");
}

static void write_gpu(FILE *f, const struct sweep *w, struct sweep_store *s, unsigned gpu)
{
  const int width = width_of_names(w);
  fprintf(f, "%-*s %*s", width + 2, w->gpu.text[gpu], CYCLES, "[1] cycles");
  for (uint32_t c = 1; c < sweep_combinations(w); c++)
    fprintf(f, " %*s%u]", SPEED - (c + 1 < 10 ? 2 : c + 1 < 100 ? 3 : 4), "[", c + 1);
  fputc('\n', f);
  for (unsigned run = 0; run < w->run.n; run++) write_run(f, w, s, gpu, run, width);
  if (w->run.n > 1) write_means(f, w, s, gpu, width);
}

void sweep_table_write(FILE *f, const struct sweep *w, struct sweep_store *s)
{
  fprintf(f, "%s: cycles of [1], and how many times as fast the others are\n", w->name);
  write_legend(f, w);
  for (unsigned g = 0; g < w->gpu.n; g++) write_gpu(f, w, s, g);
}
