/* Breakpoints of an editor: each request says all of a source, of instructions or of functions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "debug/dap_private.h"

static void forget(struct dap *p, const char *source)
{
  unsigned n = 0;
  for (unsigned i = 0; i < p->n_points; i++) {
    if (strcmp(p->point[i].source, source) == 0)
      points_delete(&p->session->points, p->point[i].id);
    else
      p->point[n++] = p->point[i];
  }
  p->n_points = n;
}

static char *copy(const char *s)
{
  const size_t n = strlen(s) + 1;
  return memcpy(mem_alloc(n), s, n);
}

static bool add(struct dap *p, const char *source, const char *spec, const char *condition, unsigned *id, struct err *e)
{
  struct debug_points *l = &p->session->points;
  const struct code_view *code = &p->d->target.params.code;
  struct debug_value unused;
  if (p->n_points == DAP_POINTS) return err_set(e, "more than %d breakpoints", DAP_POINTS);
  if (*condition && !expression_evaluate(condition, NULL, &p->d->names, &unused, e)) return false;
  struct debug_point *point = points_add_code(l, spec, e);
  if (!point) return false;
  *id = point->id;
  point->n_pcs = point_resolve(&p->d->map, code, spec, NULL, false, point->pc, POINT_PCS, e);
  if (*condition) point->condition = copy(condition);
  struct dap_point *d = &p->point[p->n_points++];
  d->id = point->id;
  snprintf(d->source, sizeof d->source, "%s", source);
  return point->n_pcs != 0;
}

static void report(json_t *list, const struct dap *p, bool ok, unsigned id, const struct err *e)
{
  const struct debug_point *point = ok ? points_find(&p->session->points, id) : NULL;
  json_t *b = json_pack("{s:b}", "verified", ok);
  NO_MEMORY_IF(!b);
  if (id) json_object_set_new(b, "id", json_integer(id));
  if (!ok) json_object_set_new(b, "message", json_string(e->msg));
  if (point) {
    const struct line_row *row = line_table_find(&p->d->map.lines, point->pc[0]);
    char pc[32];
    snprintf(pc, sizeof pc, "0x%" PRIx64, point->pc[0]);
    json_object_set_new(b, "instructionReference", json_string(pc));
    if (row && row->line) json_object_set_new(b, "line", json_integer(row->line));
  }
  json_array_append_new(list, b);
}

/* spec_of: what a breakpoint of the request says, as points_add_code takes it. */
static bool set_all(struct dap *p, const json_t *a, const char *source,
                    void (*spec_of)(const json_t *, const char *source, char *, size_t), json_t **body)
{
  const json_t *asked = json_object_get(a, "breakpoints");
  json_t *list = json_array();
  forget(p, source);
  for (size_t i = 0; i < json_array_size(asked); i++) {
    const json_t *b = json_array_get(asked, i);
    char spec[600];
    struct err e = {""};
    unsigned id = 0;
    spec_of(b, source, spec, sizeof spec);
    const bool ok = add(p, source, spec, dap_text(b, "condition"), &id, &e);
    report(list, p, ok, id, &e);
  }
  points_mark(&p->session->points, &p->d->target.params.code);
  *body = json_pack("{s:o}", "breakpoints", list);
  return true;
}

/* The editor's folder may be another one than the compiler's. */
static void line_spec(const json_t *b, const char *source, char *out, size_t size)
{
  const char *slash = strrchr(source, '/');
  snprintf(out, size, "%s:%" PRId64, slash ? slash + 1 : source, dap_number(b, "line"));
}

static void instruction_spec(const json_t *b, const char *source, char *out, size_t size)
{
  (void)source;
  const uint64_t at = strtoull(dap_text(b, "instructionReference"), NULL, 0);
  snprintf(out, size, "*0x%" PRIx64, at + (uint64_t)dap_number(b, "offset"));
}

static void function_spec(const json_t *b, const char *source, char *out, size_t size)
{
  (void)source;
  snprintf(out, size, "%.500s", dap_text(b, "name"));
}

bool dap_set_breakpoints(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  char source[sizeof p->point[0].source];
  const char *path = dap_text(json_object_get(a, "source"), "path");
  if (!*path) return err_set(e, "no source.path");
  snprintf(source, sizeof source, "%s", path);
  return set_all(p, a, source, line_spec, body);
}

bool dap_set_instructions(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  (void)e;
  return set_all(p, a, "*", instruction_spec, body);
}

bool dap_set_functions(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  (void)e;
  return set_all(p, a, "()", function_spec, body);
}
