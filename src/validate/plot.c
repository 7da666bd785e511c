#include "validate/plot.h"

#include <math.h>

/* Pixels. */
enum { SIZE = 480, LEFT = 60, TOP = 40 };

struct axis {
  double low, high; /* decades */
};

/* Has it a place on a logarithmic plot? A simulated time may be 0. */
static bool has_place(const struct suite_row *r)
{
  return r->ran && r->simulated > 0 && isfinite(r->simulated);
}

static struct axis axis_of(const struct suite *s)
{
  struct axis a = {INFINITY, -INFINITY};
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct suite_row *r = &s->row[i];
    if (!has_place(r)) continue;
    a.low = fmin(a.low, log10(fmin(r->measured, r->simulated)));
    a.high = fmax(a.high, log10(fmax(r->measured, r->simulated)));
  }
  if (a.low > a.high) a.low = a.high = 0;
  a.low = floor(a.low * 2 - 0.01) / 2;
  a.high = ceil(a.high * 2 + 0.01) / 2;
  return a;
}

static double pixel(struct axis a, double value)
{
  return (log10(value) - a.low) / (a.high - a.low) * SIZE;
}

static double px(struct axis a, double v)
{
  return LEFT + pixel(a, v);
}

static double py(struct axis a, double v)
{
  return TOP + SIZE - pixel(a, v);
}

/* simulated = ratio * measured, inside the frame. */
static void line(FILE *f, struct axis a, double ratio, const char *style)
{
  double x0 = pow(10, a.low), x1 = pow(10, a.high);
  double from = ratio < 1 ? x0 / ratio : x0, to = ratio > 1 ? x1 / ratio : x1;
  fprintf(f, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' %s/>\n", px(a, from), py(a, from * ratio),
          px(a, to), py(a, to * ratio), style);
}

static void ticks(FILE *f, struct axis a)
{
  for (double d = ceil(a.low); d <= a.high; d++) {
    double v = pow(10, d);
    fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%g</text>\n", px(a, v), TOP + SIZE + 16, v);
    fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>%g</text>\n", LEFT - 6, py(a, v) + 4, v);
    fprintf(f, "<path d='M%.1f %dV%dM%d %.1fH%d' stroke='#ddd'/>\n", px(a, v), TOP, TOP + SIZE, LEFT,
            py(a, v), LEFT + SIZE);
  }
}

/* & and < have a meaning in XML. */
static void put_text(FILE *f, const char *s)
{
  for (; *s; s++)
    if (*s == '&') fputs("&amp;", f);
    else if (*s == '<') fputs("&lt;", f);
    else fputc(*s, f);
}

static void point(FILE *f, struct axis a, const struct suite_row *r)
{
  const char *colour = r->fitted ? "#d62728" : "#1f77b4";
  fprintf(f, "<circle cx='%.1f' cy='%.1f' r='3.5' stroke='%s' fill='%s'><title>", px(a, r->measured),
          py(a, r->simulated), colour, r->comparable ? colour : "none");
  put_text(f, r->id);
  fprintf(f, ": %.1f %%</title></circle>\n", suite_error(r));
}

void plot_write(FILE *f, const struct suite *s)
{
  struct axis a = axis_of(s);
  fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' "
          "font-size='12'>\n<rect width='100%%' height='100%%' fill='white'/>\n", SIZE + LEFT + 20,
          SIZE + TOP + 60);
  fprintf(f, "<text x='%d' y='20' font-size='14'>", LEFT);
  put_text(f, s->title);
  fprintf(f, "</text>\n");
  ticks(f, a);
  fprintf(f, "<rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='black'/>\n", LEFT, TOP, SIZE, SIZE);
  line(f, a, 1, "stroke='black'");
  line(f, a, 1.25, "stroke='#999' stroke-dasharray='4'");
  line(f, a, 0.75, "stroke='#999' stroke-dasharray='4'");
  for (size_t i = 0; i < s->n_rows; i++)
    if (has_place(&s->row[i])) point(f, a, &s->row[i]);
  fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>measured, %s (blue: held out, red: fitted; hollow: "
          "other code)</text>\n", LEFT + SIZE / 2, TOP + SIZE + 38, s->unit);
  fprintf(f, "<text transform='translate(16 %d) rotate(-90)' text-anchor='middle'>simulated, %s</text>\n"
          "</svg>\n", TOP + SIZE / 2, s->unit);
}
