#include "host/host_time.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

#define TITLE "warpstep-host-time 1"

enum { MOST_GAPS = 1 << 26, MOST_THREADS = 1 << 16, MOST_SCALE = 1000 };
static const uint64_t MOST_NS = UINT64_C(1000000000) * 3600; /* an hour: the timing model's clock has no more */

static const char *behind(const char *text, const char *word)
{
  const size_t n = strlen(word);
  return strncmp(text, word, n) == 0 && text[n] ? text + n : NULL;
}

static bool parse_scale(const char *text, double *scale)
{
  char *end;
  *scale = strtod(text, &end);
  return end != text && !*end && isfinite(*scale) && *scale > 0 && *scale <= MOST_SCALE;
}

bool host_time_parse(struct host_time_choice *c, const char *text, struct err *e)
{
  const char *scale = behind(text, "measured,");
  *c = (struct host_time_choice){.mode = HOST_TIME_CALLS, .scale = 1};
  if (strcmp(text, "calls") == 0) return true;
  c->mode = HOST_TIME_MEASURED;
  if (strcmp(text, "measured") == 0) return true;
  if (scale)
    return parse_scale(scale, &c->scale) ||
           err_set(e, "--host-time measured,%.60s: not a number up to %d", scale, MOST_SCALE);
  c->mode = HOST_TIME_RECORD;
  if ((c->file = behind(text, "record="))) return true;
  c->mode = HOST_TIME_REPLAY;
  if ((c->file = behind(text, "replay="))) return true;
  return err_set(e, "--host-time %.60s: choose calls, measured, measured,SCALE, record=FILE or replay=FILE", text);
}

/* --- what was recorded ---------------------------------------------------------------------------- */

void host_gaps_add(struct host_gaps *g, uint32_t thread, uint64_t ns)
{
  g->gap = mem_more(g->gap, g->n, &g->room, sizeof *g->gap);
  g->gap[g->n++] = (struct host_gap){thread, ns};
}

static void know_thread(struct host_gaps *g, uint32_t thread)
{
  while (g->n_threads <= thread) {
    uint32_t *more = mem_zeroed(2 * (size_t)thread + 2, sizeof *more);
    if (g->n_threads) memcpy(more, g->next, g->n_threads * sizeof *more);
    mem_free(g->next);
    g->next = more;
    g->n_threads = 2 * thread + 2;
  }
}

bool host_gaps_next(struct host_gaps *g, uint32_t thread, uint64_t *ns)
{
  if (thread >= MOST_THREADS) return false;
  know_thread(g, thread);
  uint32_t *at = &g->next[thread];
  while (*at < g->n && g->gap[*at].thread != thread) ++*at;
  if (*at == g->n) return false;
  *ns = g->gap[(*at)++].ns;
  return true;
}

void host_gaps_write(const struct host_gaps *g, FILE *f)
{
  fputs(TITLE "\n", f);
  for (uint32_t i = 0; i < g->n; i++) fprintf(f, "%" PRIu32 " %" PRIu64 "\n", g->gap[i].thread, g->gap[i].ns);
}

static bool take_number(const char **at, uint64_t most, uint64_t *n)
{
  char *end;
  if (**at < '0' || **at > '9') return false;
  errno = 0;
  *n = strtoull(*at, &end, 10);
  *at = end;
  return !errno && *n <= most;
}

static bool take_line(struct host_gaps *g, const char *line)
{
  uint64_t thread, ns;
  if (!take_number(&line, MOST_THREADS - 1, &thread) || *line++ != ' ' || !take_number(&line, MOST_NS, &ns) ||
      *line != '\n' || g->n == MOST_GAPS)
    return false;
  host_gaps_add(g, (uint32_t)thread, ns);
  return true;
}

static bool read_lines(struct host_gaps *g, FILE *f, const char *path, struct err *e)
{
  char line[80];
  if (!fgets(line, sizeof line, f) || strcmp(line, TITLE "\n") != 0)
    return err_set(e, "%.200s: not a file of --host-time record", path);
  for (unsigned long n = 2; fgets(line, sizeof line, f); n++)
    if (!take_line(g, line)) return err_set(e, "%.200s:%lu: not 'THREAD NS'", path, n);
  return !ferror(f) || err_set(e, "%.200s: %s", path, strerror(errno));
}

bool host_gaps_read(struct host_gaps *g, const char *path, struct err *e)
{
  FILE *f = fopen(path, "r");
  *g = (struct host_gaps){0};
  if (!f) return err_set(e, "%.200s: %s", path, strerror(errno));
  const bool ok = read_lines(g, f, path, e);
  fclose(f);
  if (!ok) host_gaps_free(g);
  return ok;
}

void host_gaps_free(struct host_gaps *g)
{
  mem_free(g->gap);
  mem_free(g->next);
  *g = (struct host_gaps){0};
}
