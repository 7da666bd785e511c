/* Progress line; see progress.h. */
#include "view/progress.h"

#include <time.h>
#include <unistd.h>

#include "view/columns.h"

/* Short runs show nothing; long ones are redrawn at a pace a reader can follow. */
static const double first_after = 0.5, redraw_after = 0.2;

double progress_now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_start(struct progress *p, FILE *f, bool wanted)
{
  *p = (struct progress){.f = wanted && isatty(fileno(f)) ? f : NULL};
  p->start = p->last = progress_now();
}

void progress_update(struct progress *p, const struct run_progress *run)
{
  char c[28], left[16] = "?";

  if (!p->f) return;
  double now = progress_now(), spent = now - p->start;
  if (spent < first_after || now - p->last < redraw_after) return;
  p->last = now;
  if (run->ctas_done)
    with_seconds(spent * (double)(run->ctas_total - run->ctas_done) / (double)run->ctas_done, left);
  fputs("\r\033[K", p->f);
  if (run->cycles) fprintf(p->f, "%s cycles  ", with_commas(run->cycles, c));
  fprintf(p->f, "CTAs %llu/%llu  %.2f M inst/s  %s left", (unsigned long long)run->ctas_done,
          (unsigned long long)run->ctas_total, (double)run->insts / spent * 1e-6, left);
  fflush(p->f);
  p->shown = true;
}

void progress_end(struct progress *p)
{
  if (p->f && p->shown) fputs("\r\033[K", p->f);
  p->shown = false;
}
