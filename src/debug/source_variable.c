#include "debug/source_variable.h"

#include <inttypes.h>
#include <string.h>

#include "isa/hazard_role.h"

enum { FILE_PREDICATE = 2, FILE_VECTOR = 5 };

/* Where a lane is, or a frame of it that is looked at: the function, how far into it, and whether it waits for one that
 * it called. */
struct here {
  const struct source_function *function;
  uint64_t offset;
  bool called;
};

static bool is_focus(const struct debugger *d, const struct lane_view *v)
{
  return v->slot == d->focus.slot && v->warp == d->focus.warp && v->lane == d->focus.lane;
}

static struct here here_of(const struct debugger *d, const struct lane_view *v)
{
  struct debug_frame frame = {.at = view_pc(v)};
  unsigned number;
  if (is_focus(d, v)) debugger_frame(d, &frame, &number);
  const struct source_function *f = source_map_function_at(&d->map, frame.at);
  return (struct here){f, f ? frame.at - f->pc : 0, frame.called};
}

static bool no_value(const struct debug_variable *v, struct err *e)
{
  return err_set(e, "'%.60s' has no value here: the compiler keeps it nowhere", v->name);
}

static bool read_registers(const struct debugger *d, const struct lane_view *v, const struct here *h,
                           const struct debug_variable *x, uint64_t regx, uint32_t word[2], struct err *e)
{
  if (h->called)
    return err_set(e, "'%.60s' is in a register, which the functions called since may have changed", x->name);
  for (uint32_t k = 0; k < (x->bytes > 4 ? 2u : 1u); k++) {
    const struct debug_register *r = debug_info_register(&d->variables, h->function->symbol, h->offset, regx, k);
    const bool known = r && (r->file == FILE_VECTOR || (r->file == FILE_PREDICATE && r->number < 7));
    const unsigned base = known && r->file == FILE_PREDICATE ? HAZARD_P : 0;
    if (!known || r->number >= HAZARD_UR || !view_register(v, base + r->number, &word[k])) return no_value(x, e);
  }
  return true;
}

/* The stack pointer with which the kernel was called: constant bank 0 holds it. That of functions is not kept. */
static bool frame_of(const struct debugger *d, const struct lane_view *v, const struct here *h, uint64_t *frame,
                     struct err *e)
{
  enum { STACK_POINTER = 0x28 };
  uint32_t word;
  if (h->function->pc != d->kernel->entry_pc)
    return err_set(e, "variables on the stack are known in kernels alone, not in the functions they call");
  if (!view_read(v, VIEW_CONST, STACK_POINTER, &word, sizeof word, e)) return false;
  *frame = word;
  return true;
}

static struct debug_type type_of(const struct debug_variable *x)
{
  return (struct debug_type){x->encoding == DEBUG_TYPE_FLOAT ? DEBUG_FLOAT : DEBUG_INT, x->bytes,
                             x->encoding == DEBUG_TYPE_SIGNED};
}

/* Where in memory a variable is that is no register. */
static bool address_of(const struct debugger *d, const struct lane_view *v, const struct debug_place *p,
                       const struct here *h, enum view_space *space, uint64_t *addr, struct err *e)
{
  uint64_t frame = 0;
  *addr = p->at;
  *space = p->kind == DEBUG_PLACE_SHARED ? VIEW_SHARED : VIEW_CONST;
  if (p->kind != DEBUG_PLACE_FRAME) return true;
  if (!frame_of(d, v, h, &frame, e)) return false;
  *addr = (frame + p->at) & UINT32_MAX;
  *space = VIEW_LOCAL;
  return true;
}

static bool value_at(const struct debugger *d, const struct lane_view *v, const struct debug_variable *x,
                     const struct debug_place *p, const struct here *h, struct debug_value *out, struct err *e)
{
  const struct debug_type type = type_of(x);
  uint32_t word[2] = {0};
  uint64_t addr;
  enum view_space space;
  if (!address_of(d, v, p, h, &space, &addr, e)) return false;
  if (x->count) {
    *out = (struct debug_value){.kind = DEBUG_INT, .bytes = 8, .i = (int64_t)addr};
    return p->kind != DEBUG_PLACE_REGISTER || no_value(x, e);
  }
  const bool ok = p->kind == DEBUG_PLACE_REGISTER ? read_registers(d, v, h, x, p->at, word, e)
                                                  : view_read(v, space, addr, word, x->bytes, e);
  if (ok) *out = debug_value_from(&type, word);
  return ok;
}

/* Whether its type is one that is read. */
static bool is_plain(const struct debug_variable *x, struct err *e)
{
  const bool plain =
      x->encoding != DEBUG_TYPE_OTHER && (x->bytes == 1 || x->bytes == 2 || x->bytes == 4 || x->bytes == 8);
  if (!plain) return err_set(e, "'%.60s' is no number, pointer or array of these", x->name);
  if (x->encoding == DEBUG_TYPE_FLOAT && x->bytes == 1)
    return err_set(e, "'%.60s' is of a type that is not read", x->name);
  return true;
}

static bool evaluate(const struct debugger *d, const struct lane_view *v, const struct debug_variable *x,
                     const struct here *h, struct debug_value *out, struct err *e)
{
  const struct debug_place *p = debug_variable_place(x, h->offset);
  if (!is_plain(x, e)) return false;
  return p ? value_at(d, v, x, p, h, out, e) : no_value(x, e);
}

static const struct debug_variable *variable_called(const struct debugger *d, const struct here *h, const char *name,
                                                    struct err *e)
{
  const struct debug_variable *x =
      h->function ? debug_info_find(&d->variables, h->function->symbol, h->offset, name) : NULL;
  if (!x)
    err_set(e, "'%.60s' is no register, special value or variable here%s", name,
            d->variables.n_variables ? "" : "; variables are known in code compiled with -G");
  return x;
}

bool source_variable_find(void *ctx, const struct lane_view *v, const char *name, struct debug_value *out,
                          struct err *e)
{
  const struct debugger *d = ctx;
  const struct here h = here_of(d, v);
  const struct debug_variable *x = variable_called(d, &h, name, e);
  return x && evaluate(d, v, x, &h, out, e);
}

bool source_variable_element(void *ctx, const struct lane_view *v, const char *name, int64_t index,
                             struct debug_value *out, struct err *e)
{
  const struct debugger *d = ctx;
  const struct here h = here_of(d, v);
  const struct debug_variable *x = variable_called(d, &h, name, e);
  if (!x || !is_plain(x, e)) return false;
  const struct debug_place *p = debug_variable_place(x, h.offset);
  const struct debug_type type = type_of(x);
  uint64_t addr, data = 0;
  enum view_space space;
  if (!x->count) return err_set(e, "'%.60s' is no array; what lies at an address: s32 global[…]", name);
  if (index < 0 || (uint64_t)index >= x->count)
    return err_set(e, "'%.60s' has %" PRIu64 " elements, from 0 on", name, x->count);
  if (!p || p->kind == DEBUG_PLACE_REGISTER) return no_value(x, e);
  if (!address_of(d, v, p, &h, &space, &addr, e)) return false;
  if (!view_read(v, space, addr + (uint64_t)index * x->bytes, &data, x->bytes, e)) return false;
  *out = debug_value_from(&type, &data);
  return true;
}

static const char *const type_name[] = {"", "signed", "unsigned", "float", "pointer"};

void source_variables_print(const struct debugger *d, FILE *out)
{
  const struct here h = here_of(d, &d->focus);
  for (uint32_t i = 0; h.function && i < d->variables.n_variables; i++) {
    const struct debug_variable *x = &d->variables.variable[i];
    struct debug_value v;
    struct err e = {""};
    char text[96];
    if (debug_info_find(&d->variables, h.function->symbol, h.offset, x->name) != x) continue;
    const bool ok = evaluate(d, &d->focus, x, &h, &v, &e);
    if (ok && x->count)
      fprintf(out, "%s: array of %" PRIu64 " %s of %u bytes at %s\n", x->name, x->count, type_name[x->encoding],
              x->bytes, debug_value_text(&v, text, sizeof text));
    else if (ok)
      fprintf(out, "%s = %s\n", x->name, debug_value_text(&v, text, sizeof text));
    else
      fprintf(out, "%s: %s\n", x->name, e.msg);
  }
}
