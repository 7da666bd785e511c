/* Variables that an editor shows: registers, predicates, the thread's place, variables of the source and what they are
 * made of. The scopes of a frame are its number times SCOPES plus theirs. What a value is made of is asked for by the
 * expression that names the value, of which each stop makes a new list: its number is the place in that times SCOPES
 * plus SCOPE_PARTS.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "debug/dap_private.h"
#include "debug/source_value.h"
#include "debug/source_variable.h"
#include "isa/hazard_role.h"

enum scope { SCOPE_REGISTERS = 1, SCOPE_PREDICATES, SCOPE_THREAD, SCOPE_LOCALS, SCOPE_PARTS, SCOPES = 8 };
enum { MOST_PARTS = 1 << 16, MOST_ELEMENTS = 256, MOST_PATH = 400, MOST_NESTED = 16 };

bool dap_thread_there(struct dap *p, uint64_t thread, struct err *e)
{
  return debugger_focus_thread(p->d, thread) || err_set(e, "thread %" PRIu64 " is not there any more", thread);
}

bool dap_frame_there(struct dap *p, int64_t frame, struct err *e)
{
  return dap_thread_there(p, (uint64_t)frame / DAP_FRAMES, e) &&
         debugger_choose_frame(p->d, (uint64_t)frame % DAP_FRAMES, e);
}

bool dap_scopes(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  const int64_t frame = dap_number(a, "frameId");
  char registers[64];
  if (!dap_frame_there(p, frame, e)) return false;
  snprintf(registers, sizeof registers, "Registers of lane %u", p->d->focus.lane);
  const struct {
    const char *name;
    enum scope scope;
  } scopes[] = {{"Locals", SCOPE_LOCALS},
                {registers, SCOPE_REGISTERS},
                {"Predicates", SCOPE_PREDICATES},
                {"Thread", SCOPE_THREAD}};
  json_t *list = json_array();
  for (unsigned i = p->d->variables.n_variables ? 0 : 1; i < sizeof scopes / sizeof scopes[0]; i++)
    json_array_append_new(list, json_pack("{s:s, s:I, s:b}", "name", scopes[i].name, "variablesReference",
                                          (json_int_t)(frame * SCOPES + scopes[i].scope), "expensive", 0));
  *body = json_pack("{s:o}", "scopes", list);
  return true;
}

/* ---- parts of values ---- */

void dap_forget_parts(struct dap *p)
{
  for (uint32_t i = 0; i < p->n_parts; i++) mem_free(p->part[i].path);
  mem_free(p->part);
  p->part = NULL;
  p->n_parts = p->room_parts = 0;
}

char *dap_value_text(struct dap *p, const struct debug_value *v)
{
  char *text;
  size_t n;
  FILE *f = open_memstream(&text, &n);
  NO_MEMORY_IF(!f);
  source_value_print(p->d, &p->d->focus, v, f);
  fclose(f);
  return text;
}

static bool has_parts(const struct dap *p, const struct debug_value *v)
{
  const struct source_types *types = &p->d->variables.types;
  const struct source_type *t = source_type_at(types, v->type);
  return (t->kind == SOURCE_STRUCT && t->n_members) || (t->kind == SOURCE_ARRAY && t->count) ||
         (t->kind == SOURCE_POINTER && source_type_at(types, t->target)->kind != SOURCE_UNKNOWN);
}

int64_t dap_parts_of(struct dap *p, int64_t frame, const char *path, const struct debug_value *v)
{
  const size_t n = strlen(path) + 1;
  if (!frame || !has_parts(p, v) || p->n_parts == MOST_PARTS || n > MOST_PATH) return 0;
  if (p->n_parts == p->room_parts)
    p->part = mem_resize(p->part, p->room_parts = p->room_parts ? 2 * p->room_parts : 64, sizeof *p->part);
  struct dap_part *part = &p->part[p->n_parts++];
  part->frame = frame;
  part->path = mem_alloc(n);
  memcpy(part->path, path, n);
  return (int64_t)p->n_parts * SCOPES + SCOPE_PARTS;
}

struct listing {
  struct dap *p;
  json_t *list;
  int64_t frame;
  uint32_t members; /* looked at: types of a damaged file may contain themselves */
};

/* A value under its name; `path` is the expression for it. NULL: there is none, for the reason in e. */
static void add_value(struct listing *l, const char *name, const char *path, const struct debug_value *v,
                      const struct err *e)
{
  char *text = v ? dap_value_text(l->p, v) : NULL;
  const int64_t parts = v ? dap_parts_of(l->p, l->frame, path, v) : 0;
  json_array_append_new(l->list, json_pack("{s:s, s:s, s:s, s:I}", "name", name, "value", text ? text : e->msg,
                                           "evaluateName", path, "variablesReference", (json_int_t)parts));
  free(text);
}

static void add_local(void *ctx, const char *name, const struct debug_value *v, const struct err *e)
{
  add_value(ctx, name, name, v, e);
}

static void add_part(struct listing *l, const char *name, const char *path)
{
  struct debug_value v;
  struct err e = {""};
  const struct debugger *d = l->p->d;
  const bool there = expression_evaluate(path, &d->focus, &d->names, &v, &e);
  add_value(l, name, path, there ? &v : NULL, &e);
}

/* Members of classes inherited from, and of members without a name, are the structure's own. */
static void add_members(struct listing *l, const char *path, uint32_t type, unsigned depth)
{
  const struct source_type *t = source_type_at(&l->p->d->variables.types, type);
  char part[MOST_PATH];
  for (uint32_t i = 0; i < t->n_members && depth < MOST_NESTED && l->members++ < MOST_PARTS; i++) {
    const struct source_member *m = &t->member[i];
    if (!m->name || m->base)
      add_members(l, path, m->type, depth + 1);
    else if ((size_t)snprintf(part, sizeof part, "%s.%s", path, m->name) < sizeof part)
      add_part(l, m->name, part);
  }
}

static void add_elements(struct listing *l, const char *path, uint64_t count)
{
  char part[MOST_PATH], name[32];
  for (uint64_t i = 0; i < count && i < MOST_ELEMENTS; i++) {
    snprintf(name, sizeof name, "[%" PRIu64 "]", i);
    if ((size_t)snprintf(part, sizeof part, "%s%s", path, name) < sizeof part) add_part(l, name, part);
  }
}

static bool add_parts(struct listing *l, const char *expression, struct err *e)
{
  const struct debugger *d = l->p->d;
  struct debug_value v;
  char path[MOST_PATH + 4];
  if (!expression_evaluate(expression, &d->focus, &d->names, &v, e)) return false;
  const struct source_type *t = source_type_at(&d->variables.types, v.type);
  snprintf(path, sizeof path, t->kind == SOURCE_POINTER ? "*(%s)" : "(%s)", expression);
  if (t->kind == SOURCE_STRUCT)
    add_members(l, path, v.type, 0);
  else if (t->kind == SOURCE_ARRAY)
    add_elements(l, path, t->count);
  else if (t->kind == SOURCE_POINTER)
    add_part(l, path, path);
  return true;
}

/* ---- registers, the thread ---- */

static void add_variable(json_t *list, const char *name, const char *value)
{
  json_array_append_new(list, json_pack("{s:s, s:s, s:i}", "name", name, "value", value, "variablesReference", 0));
}

static void add_registers(struct dap *p, json_t *list, const char *prefix, unsigned first, unsigned end)
{
  for (unsigned reg = first; reg < end; reg++) {
    char name[16], text[64];
    uint32_t value;
    if (!view_register(&p->d->focus, reg, &value)) return;
    snprintf(name, sizeof name, "%s%u", prefix, reg - first);
    if (first >= HAZARD_P)
      snprintf(text, sizeof text, "%u", value);
    else
      snprintf(text, sizeof text, "0x%08x", value);
    add_variable(list, name, text);
  }
}

static void add_special(struct dap *p, json_t *list)
{
  static const char *const names[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x", "blockIdx.y",
                                      "blockIdx.z",  "lane",        "warp",        "position"};
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
    uint64_t value;
    char text[32];
    if (!view_special(&p->d->focus, names[i], &value)) continue;
    snprintf(text, sizeof text, "%" PRIu64, value);
    add_variable(list, names[i], text);
  }
}

static bool parts_of(struct dap *p, int64_t number, json_t *list, struct err *e)
{
  if (number < 1 || (uint64_t)number > p->n_parts) return err_set(e, "the value is not there any more");
  const struct dap_part part = p->part[number - 1]; /* the list grows below */
  struct listing l = {p, list, part.frame, 0};
  return dap_frame_there(p, part.frame, e) && add_parts(&l, part.path, e);
}

static bool scope_of(struct dap *p, int64_t frame, int64_t scope, json_t *list, struct err *e)
{
  struct listing l = {p, list, frame, 0};
  if (!dap_frame_there(p, frame, e)) return false;
  switch (scope) {
  case SCOPE_LOCALS: source_variables_each(p->d, add_local, &l); break;
  case SCOPE_REGISTERS:
    add_registers(p, list, "R", 0, HAZARD_UR);
    add_registers(p, list, "UR", HAZARD_UR, HAZARD_P);
    break;
  case SCOPE_PREDICATES:
    add_registers(p, list, "P", HAZARD_P, HAZARD_UP - 1);
    add_registers(p, list, "UP", HAZARD_UP, HAZARD_REGS - 1);
    break;
  default: add_special(p, list);
  }
  return true;
}

bool dap_variables(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  const int64_t reference = dap_number(a, "variablesReference");
  json_t *list = json_array();
  const bool ok = reference % SCOPES == SCOPE_PARTS ? parts_of(p, reference / SCOPES, list, e)
                                                    : scope_of(p, reference / SCOPES, reference % SCOPES, list, e);
  if (!ok) return json_decref(list), false;
  *body = json_pack("{s:o}", "variables", list);
  return true;
}
