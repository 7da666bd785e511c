#include "cuda/core/launch_watch.h"

#include <time.h>
#include <unistd.h>

#include "cuda/core/shim.h"

/* Short launches show nothing; the line of long ones changes at a pace a reader can follow. */
static const double first_after = 1.0, redraw_after = 0.5;

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void launch_watch_start(struct launch_watch *w, struct shim *s, const char *kernel, uint64_t number)
{
  bool wanted = s->options.progress || (!s->options.quiet && isatty(STDERR_FILENO));
  *w = (struct launch_watch){ .shim = s, .kernel = kernel, .number = number, .wanted = wanted };
  if (wanted) w->start = w->last = seconds();
}

static void show(struct launch_watch *w, const struct run_progress *p)
{
  double now = seconds(), spent = now - w->start;
  if (spent < first_after || now - w->last < redraw_after) return;
  w->last = now;
  fprintf(stderr, "\r\033[Klaunch %llu %.40s: CTAs %llu of %llu, %.2f M inst/s",
          (unsigned long long)w->number, w->kernel, (unsigned long long)p->ctas_done,
          (unsigned long long)p->ctas_total, (double)p->insts / spent * 1e-6);
  if (p->ctas_done)
    fprintf(stderr, ", %.0f s left",
            spent * (double)(p->ctas_total - p->ctas_done) / (double)p->ctas_done);
  fflush(stderr);
  w->shown = true;
}

bool launch_watch_poll(void *ctx, const struct run_progress *p)
{
  struct launch_watch *w = ctx;
  if (w->wanted) show(w, p);
  return !interrupt_wanted(&w->shim->interrupt);
}

void launch_watch_end(struct launch_watch *w)
{
  if (w->shown) fputs("\r\033[K", stderr);
  w->shown = false;
}
