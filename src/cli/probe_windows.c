#include "cli/probe_windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "probe/emit.h"

enum { CELL_TEXT = 13, LINE_TEXT = WINDOW_MAX_WARPS * WINDOW_MAX_CLOCKS * CELL_TEXT };

struct run {
  const struct probe_options *o;
  const char *path;
  struct arena arena;
  struct window_file f;
  struct probe_model model;
  int64_t *cycles; /* of each window's first cell */
  struct probe_count count;
};

/* What a window gave, beside what is stated. */
struct outcome {
  bool stated;
  int64_t off;       /* of the cell that is farthest away */
  bool value_differs, stale_differs;
  char want[LINE_TEXT], got[LINE_TEXT];
};

static void put_clocks(const struct window *w, const struct window_result *r)
{
  uint32_t first = r->clock[0][0];
  for (unsigned k = 0; k < w->warps; k++)
    if ((int32_t)(r->clock[k][0] - first) < 0) first = r->clock[k][0];
  for (unsigned k = 0; k < w->warps; k++) {
    printf("    warp %2u:", k);
    for (unsigned i = 0; i < r->n_clocks; i++) printf(" %" PRIu32, r->clock[k][i] - first);
    putchar('\n');
  }
}

static void add_number(char *line, const char *separator, int64_t v)
{
  size_t n = strlen(line);
  snprintf(line + n, LINE_TEXT - n, "%s%" PRId64, n ? separator : "", v);
}

static const char *separator(const struct window *w, unsigned i)
{
  return i && w->cell[i].warp == w->cell[i - 1].warp ? " " : w->cell[0].clock < 0 ? "/" : " | ";
}

static void compare(const struct run *u, const struct window *w, const struct window_result *r,
                    struct outcome *c)
{
  int64_t cycles[WINDOW_MAX_CELLS], model = 0, source = 0; /* of w->minus */
  if (w->minus) {
    model = u->cycles[w->minus - u->f.window];
    source = w->minus->cell[0].cycles < 0 ? 0 : w->minus->cell[0].cycles;
  }
  window_cycles(w, r, cycles);
  *c = (struct outcome){.stated = w->cell[0].cycles >= 0};
  for (unsigned i = 0; i < w->n_cells; i++) {
    int64_t want = w->cell[i].cycles - source, got = cycles[i] - model;
    if (c->stated) add_number(c->want, separator(w, i), want);
    add_number(c->got, separator(w, i), got);
    if (c->stated && llabs(got - want) > llabs(c->off)) c->off = got - want;
  }
  c->stale_differs = (w->has_stale && r->stale != w->stale) || (w->has_wrong && r->wrong != w->wrong);
  c->value_differs = w->has_value && r->value[0] != w->value;
}

static float fp32(uint32_t bits)
{
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* Counts the verdict and prints the line when it is to be seen. */
static void put_window(struct run *u, const struct window *w, const struct window_result *r)
{
  struct outcome c;
  compare(u, w, r, &c);
  bool stated = c.stated || w->has_value || w->has_stale || w->has_wrong;
  bool close = llabs(c.off) <= (int64_t)w->slack && !c.value_differs && !c.stale_differs;
  const char *verdict = !stated ? "" : close ? (w->gap ? "the gap is closed" : "same") :
                        w->gap ? w->gap : "DIFFERS";
  if (!close && w->gap) u->count.gaps++;
  else if (!close) u->count.differ++;
  else if (stated && w->gap) u->count.closed++;
  else u->count.same += stated;
  if (!u->o->all && close && !w->gap && stated) return;
  bool wide = strlen(c.want) > 12 || strlen(c.got) > 12;
  printf("%-32.32s", w->name);
  if (wide)
    printf("\n    stated %s\n    model  %s\n%-32s %12s %12s", c.stated ? c.want : "-", c.got, "", "", "");
  else
    printf(" %12s %12s", c.stated ? c.want : "-", c.got);
  printf(c.stated ? " %+6" PRId64 "  %s" : " %6.0" PRId64 "  %s", c.off, verdict);
  if (w->has_value)
    printf("%s R12 = %g, stated %g", c.value_differs ? ":" : ",", (double)fp32(r->value[0]),
           (double)fp32(w->value));
  if (w->has_stale)
    printf("; %s results, stated %s", r->stale ? "wrong" : "right", w->stale ? "wrong" : "right");
  if (w->has_wrong)
    printf("; R12 is %s, stated %s", r->wrong ? "wrong" : "right", w->wrong ? "wrong" : "right");
  putchar('\n');
  if (u->o->clocks) put_clocks(w, r);
}

static bool run_windows(struct run *u, struct err *e)
{
  const struct window_file *f = &u->f;
  u->cycles = ARENA_ARRAY(&u->arena, int64_t, f->n);
  printf("source: %s; model: %s\n\n", f->source, u->model.preset.params.name);
  printf("%-32s %12s %12s %6s\n", "window", "stated", "model", "off");
  for (unsigned i = 0; i < f->n; i++) {
    struct window_result r;
    struct err why = {0};
    const struct window *w = &f->window[i];
    bool ok = window_run(u->model.bench, w, &r, &why) &&
              (!u->o->emit ||
               emit_window(u->o->emit, w, u->model.preset.params.arch_sm, &why));
    for (unsigned k = 0; ok && k < w->n_cells; k++)
      if (w->cell[k].clock >= (int)r.n_clocks) ok = err_set(&why, "it states more clock reads than it has");
    if (!ok) return err_set(e, "%s: window %.60s: %.300s", u->path, w->name, why.msg);
    int64_t cycles[WINDOW_MAX_CELLS];
    window_cycles(w, &r, cycles);
    u->cycles[i] = cycles[0];
    put_window(u, w, &r);
  }
  printf("\n%u windows: %u same, %u known gaps, %u differ, %u gaps closed\n", f->n, u->count.same,
         u->count.gaps, u->count.differ, u->count.closed);
  return true;
}

bool probe_model_open(struct probe_model *m, const struct probe_options *o, const char *gpu,
                      struct err *e)
{
  char dir[4096];
  if (!presets_dir(o->presets, dir, sizeof dir, e) || !preset_load(gpu, dir, &m->preset, e))
    return false;
  m->has_preset = true;
  if (o->set && !preset_override(&m->preset, o->set, e)) return false;
  if (!params_check(&m->preset.params, e)) return false;
  m->bench = bench_new(&m->preset.params);
  NO_MEMORY_IF(!m->bench);
  return true;
}

void probe_model_close(struct probe_model *m)
{
  bench_free(m->bench);
  if (m->has_preset) preset_free(&m->preset);
}

bool probe_windows(const struct probe_options *o, const char *path, struct probe_count *count,
                   struct err *e)
{
  struct run u = {.o = o, .path = path};
  bool ok = window_file_read(&u.f, &u.arena, path, e) &&
            probe_model_open(&u.model, o, o->gpu ? o->gpu : u.f.gpu, e) && run_windows(&u, e);
  probe_model_close(&u.model);
  arena_free(&u.arena);
  count->same += u.count.same;
  count->gaps += u.count.gaps;
  count->differ += u.count.differ;
  count->closed += u.count.closed;
  return ok;
}
