/* Commands for breakpoints and watchpoints. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "debug/console_commands.h"

static bool triple(const char *text, uint32_t out[3], struct err *e)
{
  char *end = (char *)(uintptr_t)text;
  for (unsigned k = 0; k < 3; k++) {
    const char *at = end;
    out[k] = 0;
    if (k && *end != ',') continue;
    out[k] = (uint32_t)strtoul(at + (k ? 1 : 0), &end, 10);
    if (end == at + (k ? 1 : 0)) return err_set(e, "'%.40s' is not X,Y,Z", text);
  }
  return !*end || err_set(e, "'%.40s' is not X,Y,Z", text);
}

static bool small(const char *text, unsigned *n, struct err *e)
{
  char *end;
  const unsigned long x = strtoul(text, &end, 10);
  *n = (unsigned)x;
  return (end > text && !*end && x < 1024) || err_set(e, "'%.40s' is not a number below 1024", text);
}

/* One of the words behind a place. False with e empty: another one. */
static bool filter_word(struct point_filter *f, const char *word, const char *value, struct err *e)
{
  if (strcmp(word, "cta") == 0) return f->of_cta = true, triple(value, f->cta, e);
  if (strcmp(word, "thread") == 0) return f->of_thread = true, triple(value, f->thread, e);
  if (strcmp(word, "warp") == 0) return f->of_warp = true, small(value, &f->warp, e);
  if (strcmp(word, "lane") == 0) return f->of_lane = true, small(value, &f->lane, e);
  return err_set(e, "'%.40s' is not every, cta, thread, warp, lane or if", word);
}

static char *copy(const char *s)
{
  const size_t n = strlen(s) + 1;
  return memcpy(mem_alloc(n), s, n);
}

static bool check_condition(struct console *c, const char *text, struct err *e)
{
  struct debug_value v;
  return expression_evaluate(text, NULL, c->d ? &c->d->names : NULL, &v, e);
}

/* The words behind the place; *condition points into args, NULL: none. */
static bool read_filter(struct console *c, char *args, struct debug_point *p, const char **condition, struct err *e)
{
  *condition = NULL;
  while (*args) {
    const char *word = console_word(&args);
    if (strcmp(word, "if") == 0) {
      *condition = args;
      return check_condition(c, args, e);
    }
    if (strcmp(word, "every") == 0)
      p->every = true;
    else if (!filter_word(&p->only, word, console_word(&args), e))
      return false;
  }
  return true;
}

static void show_places(struct console *c, const struct debug_point *p)
{
  char where[200];
  const size_t n = p->n_pcs < POINT_PCS ? p->n_pcs : POINT_PCS;
  fprintf(c->out, "breakpoint %u at", p->id);
  for (size_t i = 0; i < n; i++) {
    module_where(c->d->map.module, p->pc[i], where, sizeof where);
    fprintf(c->out, "%s 0x%" PRIx64 " <%s>", i ? "," : "", p->pc[i], where);
  }
  fputc('\n', c->out);
}

static bool place(struct console *c, struct debug_point *p, struct err *e)
{
  struct source_frame frame[SOURCE_FRAMES] = {0};
  const struct debugger *d = c->d;
  const uint64_t pc = d->target.slot[d->focus.slot] ? view_pc(&d->focus) : d->kernel->entry_pc;
  source_map_frames(&d->map, pc, frame);
  p->n_pcs = point_resolve(&d->map, &d->target.params.code, p->spec, frame[0].row, p->every, p->pc, POINT_PCS, e);
  points_mark(d->points, &d->target.params.code);
  return p->n_pcs != 0;
}

static bool add_break(struct console *c, char *args, bool once, struct err *e)
{
  const char *spec = console_word(&args), *condition;
  struct debug_points *l = &c->session->points;
  struct debug_point *p = points_add_code(l, spec, e);
  if (!p) return false;
  p->once = once;
  if (!read_filter(c, args, p, &condition, e) || (c->d && !place(c, p, e))) {
    points_delete(l, p->id);
    return false;
  }
  if (condition) p->condition = copy(condition);
  if (c->d) show_places(c, p);
  return true;
}

bool command_break(struct console *c, char *args, struct err *e)
{
  return add_break(c, args, false, e);
}

bool command_tbreak(struct console *c, char *args, struct err *e)
{
  return add_break(c, args, true, e);
}

/* "[TYPE] SPACE[ADDRESS]". */
static bool watch(struct console *c, const char *args, enum point_kind kind, struct err *e)
{
  char text[200], *at = text;
  struct debug_type t = {DEBUG_INT, 4, false};
  uint64_t addr;
  snprintf(text, sizeof text, "%s", args);
  char *open = strchr(text, '['), *close = strrchr(text, ']');
  if (!open || !close || close < open || close[1])
    return err_set(e, "watch what? [TYPE] SPACE[ADDRESS], as u32 shared[16]");
  *open = *close = '\0';
  const char *word = console_word(&at);
  if (debug_type_find(word, &t)) word = console_word(&at);
  const int space = view_space_find(word);
  if (space < 0) return err_set(e, "'%.40s' is not global, shared, local or generic", word);
  if (!c->d->target.slot[c->d->focus.slot]) return err_set(e, "the launch has ended");
  if (!console_number(c, open + 1, &addr, e)) return false;
  const struct debug_point *p =
      points_add_watch(c->d->points, kind, args, &c->d->focus, (enum view_space)space, addr, t.bytes, e);
  if (p)
    fprintf(c->out, "watchpoint %u: %s, %u bytes at %s 0x%" PRIx64 "\n", p->id, p->spec, p->bytes,
            view_space_name[p->space], p->addr);
  return p != NULL;
}

bool command_watch(struct console *c, char *args, struct err *e)
{
  return watch(c, args, POINT_WRITE, e);
}

bool command_rwatch(struct console *c, char *args, struct err *e)
{
  return watch(c, args, POINT_READ, e);
}

bool command_awatch(struct console *c, char *args, struct err *e)
{
  return watch(c, args, POINT_ACCESS, e);
}

static void mark(struct console *c)
{
  if (c->d) points_mark(c->d->points, &c->d->target.params.code);
}

static struct debug_point *numbered(struct console *c, const char *word, struct err *e)
{
  unsigned id;
  if (!small(word, &id, e)) return NULL;
  struct debug_point *p = points_find(&c->session->points, id);
  if (!p) err_fill(e, "there is no breakpoint or watchpoint %u", id);
  return p;
}

bool command_delete(struct console *c, char *args, struct err *e)
{
  struct debug_points *l = &c->session->points;
  const struct debug_point *p = *args ? numbered(c, args, e) : NULL;
  if (*args && !p) return false;
  if (p) points_delete(l, p->id);
  while (!*args && l->n) points_delete(l, l->point[0].id);
  mark(c);
  return true;
}

static bool enable(struct console *c, const char *args, bool on, struct err *e)
{
  struct debug_point *p = numbered(c, args, e);
  if (!p) return false;
  p->enabled = on;
  mark(c);
  return true;
}

bool command_enable(struct console *c, char *args, struct err *e)
{
  return enable(c, args, true, e);
}

bool command_disable(struct console *c, char *args, struct err *e)
{
  return enable(c, args, false, e);
}

bool command_condition(struct console *c, char *args, struct err *e)
{
  struct debug_point *p = numbered(c, console_word(&args), e);
  if (!p || (*args && !check_condition(c, args, e))) return false;
  mem_free(p->condition);
  p->condition = *args ? copy(args) : NULL;
  return true;
}

bool command_ignore(struct console *c, char *args, struct err *e)
{
  struct debug_point *p = numbered(c, console_word(&args), e);
  return p && console_number(c, args, &p->ignore, e);
}

bool command_info_breakpoints(struct console *c, char *args, struct err *e)
{
  static const char *const kind[] = {"breakpoint", "watch", "rwatch", "awatch"};
  (void)args, (void)e;
  for (unsigned i = 0; i < c->session->points.n; i++) {
    const struct debug_point *p = &c->session->points.point[i];
    fprintf(c->out, "%u  %s %s%s%s%s, %" PRIu64 " hits", p->id, kind[p->kind], p->spec, p->condition ? " if " : "",
            p->condition ? p->condition : "", p->enabled ? "" : " (disabled)", p->hits);
    if (p->kind == POINT_CODE) fprintf(c->out, ", %zu addresses", p->n_pcs);
    fputc('\n', c->out);
  }
  return true;
}
