/* The plot of a sweep (sweep_table.h): one SVG file, readable without colours, too (lines are named). */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "study/sweep_table.h"

/* Pixels. */
enum { WIDTH = 640, HEIGHT = 360, LEFT = 60, TOP = 40, NAMES = 220, BELOW = 140 };

struct range {
  double low, high;
};

static double speed_of(const struct sweep *w, struct sweep_store *s, unsigned gpu, unsigned run, uint32_t c)
{
  struct sweep_result first, this;
  const struct sweep_point p = sweep_point_of(w, gpu, run, 0), q = sweep_point_of(w, gpu, run, c);
  if (!sweep_store_get(s, w, &p, &first) || !sweep_store_get(s, w, &q, &this) || first.cycles <= 0 || this.cycles <= 0)
    return NAN;
  return first.cycles / this.cycles;
}

static struct range range_of(const struct sweep *w, struct sweep_store *s)
{
  struct range r = {1, 1};
  for (unsigned g = 0; g < w->gpu.n; g++)
    for (unsigned run = 0; run < w->run.n; run++)
      for (uint32_t c = 0; c < sweep_combinations(w); c++) {
        const double v = speed_of(w, s, g, run, c);
        if (v < r.low) r.low = v; /* false for NAN */
        if (v > r.high) r.high = v;
      }
  const double margin = (r.high - r.low) * 0.05 + 0.005;
  return (struct range){r.low - margin, r.high + margin};
}

static double x_of(const struct sweep *w, uint32_t c)
{
  const uint32_t n = sweep_combinations(w);
  return LEFT + (n > 1 ? (double)c / (n - 1) : 0.5) * WIDTH;
}

static double y_of(struct range r, double v)
{
  return TOP + HEIGHT - (v - r.low) / (r.high - r.low) * HEIGHT;
}

static void write_text(FILE *f, const char *text, int n)
{
  for (; n > 0 && *text; text++, n--) {
    if (*text == '<') fputs("&lt;", f);
    else if (*text == '>') fputs("&gt;", f);
    else if (*text == '&') fputs("&amp;", f);
    else fputc(*text, f);
  }
}

static void write_axes(FILE *f, const struct sweep *w, struct range r)
{
  char text[SWEEP_SETTINGS];
  fprintf(f, "<rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='#888'/>\n", LEFT, TOP, WIDTH, HEIGHT);
  for (int i = 0; i <= 4; i++) {
    const double v = r.low + (r.high - r.low) * i / 4;
    fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>%.3f</text>\n", LEFT - 6, y_of(r, v) + 4, v);
  }
  fprintf(f, "<path d='M%d %.1fh%d' stroke='#ccc'/>\n", LEFT, y_of(r, 1), WIDTH);
  for (uint32_t c = 0; c < sweep_combinations(w); c++) {
    const struct sweep_point p = sweep_point_of(w, 0, 0, c);
    sweep_settings(w, &p, text);
    fprintf(f, "<text transform='translate(%.1f %d) rotate(-35)' text-anchor='end'>", x_of(w, c), TOP + HEIGHT + 16);
    write_text(f, text, INT_MAX);
    fprintf(f, "</text>\n");
  }
}

/* Points that are missing leave a gap. The name stands at the end of the line, moved down where others stand. */
static void write_line(FILE *f, const struct sweep *w, struct sweep_store *s, struct range r, unsigned gpu,
                       unsigned run, unsigned number)
{
  static const char *const dash[] = {"none", "6 3", "2 3", "8 3 2 3"};
  static const char *const colour[] = {"#0b6", "#06c", "#c40", "#808", "#660", "#077"};
  bool pen = false;
  fprintf(f, "<path fill='none' stroke='%s' stroke-dasharray='%s' d='", colour[number % 6], dash[number / 6 % 4]);
  for (uint32_t c = 0; c < sweep_combinations(w); c++) {
    const double v = speed_of(w, s, gpu, run, c);
    if (!isnan(v)) fprintf(f, "%c%.1f %.1f", pen ? 'L' : 'M', x_of(w, c), y_of(r, v));
    pen = !isnan(v);
  }
  fprintf(f, "'/>\n<text x='%d' y='%u' fill='%s'>", LEFT + WIDTH + 8, TOP + 12 + 14 * number, colour[number % 6]);
  write_text(f, w->gpu.text[gpu], INT_MAX);
  fputc(' ', f);
  int n;
  const char *name = sweep_short_name(w->run.text[run], &n);
  write_text(f, name, n);
  fprintf(f, "</text>\n");
}

static void write_mean(FILE *f, const struct sweep *w, struct sweep_store *s, struct range r, unsigned gpu)
{
  bool pen = false;
  unsigned n;
  fprintf(f, "<path fill='none' stroke='#000' stroke-width='2.5' d='");
  for (uint32_t c = 0; c < sweep_combinations(w); c++) {
    const double v = sweep_mean_speed(w, s, gpu, c, &n);
    if (n) fprintf(f, "%c%.1f %.1f", pen ? 'L' : 'M', x_of(w, c), y_of(r, v));
    pen = n != 0;
  }
  fprintf(f, "'><title>geometric mean, ");
  write_text(f, w->gpu.text[gpu], INT_MAX);
  fprintf(f, "</title></path>\n");
}

void sweep_plot_write(FILE *f, const struct sweep *w, struct sweep_store *s)
{
  const struct range r = range_of(w, s);
  fprintf(f,
          "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' font-size='12'>\n",
          LEFT + WIDTH + NAMES, TOP + HEIGHT + BELOW);
  fprintf(f, "<rect width='100%%' height='100%%' fill='#fff'/>\n<text x='%d' y='22' font-size='15'>", LEFT);
  write_text(f, w->name, INT_MAX);
  fprintf(f, ": speed relative to the first setting (thick: geometric mean)</text>\n");
  write_axes(f, w, r);
  for (unsigned g = 0, n = 0; g < w->gpu.n; g++)
    for (unsigned run = 0; run < w->run.n; run++) write_line(f, w, s, r, g, run, n++);
  for (unsigned g = 0; g < w->gpu.n; g++) write_mean(f, w, s, r, g);
  fprintf(f, "</svg>\n");
}
