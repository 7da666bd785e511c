#include "debug/source_variable.h"

#include <inttypes.h>
#include <string.h>

#include "debug/source_value.h"
#include "isa/hazard_role.h"

enum { FILE_PREDICATE = 2, FILE_VECTOR = 5 };

/* Where a lane is, or a frame of it that is looked at: the function, how far into it, how many calls led there, and
 * whether it waits for one that it called. */
struct here {
  const struct source_function *function;
  uint64_t offset;
  uint32_t depth;
  bool called;
};

static const struct lane_calls *calls_of(const struct debugger *d, const struct lane_view *v)
{
  return &target_calls(&d->target, v->slot, v->warp)->lane[v->lane];
}

static bool is_focus(const struct debugger *d, const struct lane_view *v)
{
  return v->slot == d->focus.slot && v->warp == d->focus.warp && v->lane == d->focus.lane;
}

static struct here here_of(const struct debugger *d, const struct lane_view *v)
{
  struct debug_frame frame = {.at = view_pc(v), .depth = calls_of(d, v)->depth};
  unsigned number;
  if (is_focus(d, v)) debugger_frame(d, &frame, &number);
  const struct source_function *f = source_map_function_at(&d->map, frame.at);
  return (struct here){f, f ? frame.at - f->pc : 0, frame.depth, frame.called};
}

static bool no_value(const struct debug_variable *v, struct err *e)
{
  return err_set(e, "'%.60s' has no value here: the compiler keeps it nowhere", v->name);
}

/* ---- registers ---- */

/* A register of the function, or of one that waits for another as it was when it called. */
static bool read_register(const struct debugger *d, const struct lane_view *v, const struct here *h,
                          const struct debug_register *r, const char *name, uint32_t *word, struct err *e)
{
  const struct warp_calls *calls = target_calls(&d->target, v->slot, v->warp);
  const uint32_t *kept = h->called ? call_stack_registers(calls, v->lane, h->depth) : NULL;
  if (kept && r->file == FILE_VECTOR && r->number < calls->n_regs) return *word = kept[r->number], true;
  if (h->called)
    return err_set(e, "'%.60s' is in a %s, which the functions called since may have changed", name,
                   r->file == FILE_VECTOR ? "register of a deep call" : "predicate");
  return view_register(v, (r->file == FILE_PREDICATE ? HAZARD_P : 0) + r->number, word) ||
         err_set(e, "'%.60s' is in a register that the kernel has not", name);
}

static bool read_registers(const struct debugger *d, const struct lane_view *v, const struct here *h,
                           const struct debug_variable *x, uint64_t regx, unsigned bytes, uint32_t word[2],
                           struct err *e)
{
  for (uint32_t k = 0; k < (bytes > 4 ? 2u : 1u); k++) {
    const struct debug_register *r = debug_info_register(&d->variables, h->function->symbol, h->offset, regx, k);
    const bool known =
        r && ((r->file == FILE_VECTOR && r->number < HAZARD_UR) || (r->file == FILE_PREDICATE && r->number < 7));
    if (!known) return no_value(x, e);
    if (!read_register(d, v, h, r, x->name, &word[k], e)) return false;
  }
  return true;
}

static bool value_in_registers(const struct debugger *d, const struct lane_view *v, const struct debug_variable *x,
                               const struct debug_place *p, const struct here *h, struct debug_value *out,
                               struct err *e)
{
  const struct source_type *t = source_type_at(&d->variables.types, x->type);
  struct debug_type number = {DEBUG_INT, 8, false}; /* a reference's */
  uint32_t word[2] = {0};
  if (t->kind != SOURCE_REFERENCE && !source_value_number(t, &number)) return no_value(x, e);
  if (!read_registers(d, v, h, x, p->at, number.bytes, word, e)) return false;
  *out = debug_value_from(&number, word);
  out->type = x->type;
  return t->kind != SOURCE_REFERENCE || source_value_load(d, v, t->target, VIEW_GENERIC, (uint64_t)out->i, out, e);
}

/* ---- memory ---- */

/* The stack pointer with which the function was called: of a kernel constant bank 0 holds it. */
static bool frame_of(const struct debugger *d, const struct lane_view *v, const struct here *h, uint64_t *frame,
                     struct err *e)
{
  enum { STACK_POINTER = 0x28 };
  uint32_t word;
  if (h->depth > CALL_STACK_DEPTH) return err_set(e, "the stack of calls deeper than %d is not kept", CALL_STACK_DEPTH);
  if (h->depth) return *frame = calls_of(d, v)->stack[h->depth - 1], true;
  if (h->function->pc != d->kernel->entry_pc)
    return err_set(e, "where this function's stack is was not seen: nothing called it");
  if (!view_read(v, VIEW_CONST, STACK_POINTER, &word, sizeof word, e)) return false;
  *frame = word;
  return true;
}

/* Of a variable of the file the copy in global memory that loads see. */
static bool file_address(const struct debugger *d, const struct debug_variable *x, uint64_t *addr, struct err *e)
{
  const struct module *m = module_of(d->target.code);
  const struct module_symbol *s = x->linkage ? module_variable(m, x->linkage) : NULL;
  if (!s) s = module_variable(m, x->name);
  *addr = s ? module_address(d->target.code, s) : 0;
  return *addr || err_set(e, "'%.60s' has no address: the code does not use it", x->name);
}

/* Where in memory a variable is that is no register. */
static bool address_of(const struct debugger *d, const struct lane_view *v, const struct debug_variable *x,
                       const struct debug_place *p, const struct here *h, enum view_space *space, uint64_t *addr,
                       struct err *e)
{
  uint64_t frame = 0;
  *addr = p->at;
  switch (p->kind) {
  case DEBUG_PLACE_VARIABLE: *space = VIEW_GLOBAL; return file_address(d, x, addr, e);
  case DEBUG_PLACE_SHARED: *space = VIEW_SHARED; return true;
  case DEBUG_PLACE_FRAME:
    *space = VIEW_LOCAL;
    if (!frame_of(d, v, h, &frame, e)) return false;
    *addr = (frame + p->at) & UINT32_MAX;
    return true;
  default: *space = VIEW_CONST; return true;
  }
}

static bool value_in_memory(const struct debugger *d, const struct lane_view *v, const struct debug_variable *x,
                            const struct debug_place *p, const struct here *h, struct debug_value *out, struct err *e)
{
  uint64_t addr;
  enum view_space space;
  return address_of(d, v, x, p, h, &space, &addr, e) && source_value_load(d, v, x->type, space, addr, out, e);
}

/* ---- variables ---- */

static bool evaluate(const struct debugger *d, const struct lane_view *v, const struct debug_variable *x,
                     const struct here *h, struct debug_value *out, struct err *e)
{
  const struct debug_place *p = debug_variable_place(x, h->offset);
  if (source_type_at(&d->variables.types, x->type)->kind == SOURCE_UNKNOWN)
    return err_set(e, "'%.60s' is of a type that is not read", x->name);
  if (!p) return no_value(x, e);
  return p->kind == DEBUG_PLACE_REGISTER ? value_in_registers(d, v, x, p, h, out, e)
                                         : value_in_memory(d, v, x, p, h, out, e);
}

static const struct debug_variable *variable_called(const struct debugger *d, const struct here *h, const char *name)
{
  return debug_info_find(&d->variables, h->function ? h->function->symbol : NULL, h->offset, name);
}

bool source_variable_find(void *ctx, const struct lane_view *v, const char *name, struct debug_value *out,
                          struct err *e)
{
  const struct debugger *d = ctx;
  const struct here h = here_of(d, v);
  const struct debug_variable *x = variable_called(d, &h, name);
  if (x) return evaluate(d, v, x, &h, out, e);
  return err_set(e, "'%.60s' is no register, special value or variable here%s", name,
                 d->variables.n_variables ? "" : "; variables are known in code compiled with -G");
}

void source_variables_each(const struct debugger *d, source_variable_visit *visit, void *ctx)
{
  const struct here h = here_of(d, &d->focus);
  for (uint32_t i = 0; h.function && i < d->variables.n_variables; i++) {
    const struct debug_variable *x = &d->variables.variable[i];
    struct debug_value v;
    struct err e = {""};
    if (!x->function || variable_called(d, &h, x->name) != x) continue;
    const bool there = evaluate(d, &d->focus, x, &h, &v, &e);
    visit(ctx, x->name, there ? &v : NULL, &e);
  }
}
