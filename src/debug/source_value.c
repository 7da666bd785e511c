#include "debug/source_value.h"

#include <inttypes.h>
#include <string.h>

/* Of what is printed: elements and members in all, structures in each other. Of what is searched for a name: types of a
 * damaged file may contain themselves, many times over. */
enum { MOST_PARTS = 200, MOST_NESTED = 16, MOST_LOOKED_AT = 1 << 16 };

static const struct source_type *type_at(const struct debugger *d, uint32_t type)
{
  return source_type_at(&d->variables.types, type);
}

bool source_value_number(const struct source_type *t, struct debug_type *out)
{
  const bool real = t->kind == SOURCE_FLOAT;
  const bool number = real || t->kind == SOURCE_SIGNED || t->kind == SOURCE_UNSIGNED || t->kind == SOURCE_ENUM ||
                      t->kind == SOURCE_POINTER;
  if (!number || (t->bytes != 1 && t->bytes != 2 && t->bytes != 4 && t->bytes != 8)) return false;
  *out = (struct debug_type){real ? DEBUG_FLOAT : DEBUG_INT, (unsigned)t->bytes,
                             t->kind == SOURCE_SIGNED || t->kind == SOURCE_ENUM};
  return !real || t->bytes > 1;
}

static bool load_number(const struct lane_view *v, const struct source_type *t, enum view_space space, uint64_t addr,
                        struct debug_value *out, struct err *e)
{
  struct debug_type number;
  uint8_t data[8];
  if (!source_value_number(t, &number)) return err_set(e, "it is of a type that is not read");
  if (!view_read(v, space, addr, data, number.bytes, e)) return false;
  *out = debug_value_from(&number, data);
  return true;
}

/* As above, of a type that is no reference. */
static bool load(const struct debugger *d, const struct lane_view *v, uint32_t type, enum view_space space,
                 uint64_t addr, struct debug_value *out, struct err *e)
{
  const struct source_type *t = type_at(d, type);
  *out = (struct debug_value){.kind = t->kind == SOURCE_STRUCT ? DEBUG_OBJECT : DEBUG_INT, .bytes = 8};
  if (t->kind == SOURCE_STRUCT || t->kind == SOURCE_ARRAY)
    out->i = (int64_t)addr;
  else if (!load_number(v, t, space, addr, out, e))
    return false;
  out->type = type;
  out->space = space;
  return true;
}

bool source_value_load(const struct debugger *d, const struct lane_view *v, uint32_t type, enum view_space space,
                       uint64_t addr, struct debug_value *out, struct err *e)
{
  const struct source_type *t = type_at(d, type);
  uint64_t target;
  if (t->kind != SOURCE_REFERENCE) return load(d, v, type, space, addr, out, e);
  if (!view_read(v, space, addr, &target, sizeof target, e)) return false;
  return load(d, v, t->target, VIEW_GENERIC, target, out, e);
}

/* ---- parts ---- */

/* Of a word the bits of a field. */
static void take_bits(const struct source_member *m, struct debug_value *v)
{
  const unsigned above = 64u - m->bits;
  const uint64_t bits = (uint64_t)v->i >> m->shift << above;
  v->i = v->is_signed ? (int64_t)bits >> above : (int64_t)(bits >> above);
}

static bool load_member(const struct debugger *d, const struct lane_view *v, const struct debug_value *of,
                        const struct source_member *m, struct debug_value *out, struct err *e)
{
  if (!source_value_load(d, v, m->type, of->space, (uint64_t)of->i + m->offset, out, e)) return false;
  if (m->bits && out->kind == DEBUG_INT) take_bits(m, out);
  return true;
}

/* The member of that name; where it is one of a member without a name, or of a class inherited from, `at` becomes
 * that one. *left: members that may still be looked at. NULL: none. */
static const struct source_member *member_called(const struct debugger *d, struct debug_value *at, const char *name,
                                                 unsigned depth, uint32_t *left)
{
  const struct source_type *t = type_at(d, at->type);
  if (t->kind != SOURCE_STRUCT || depth == MOST_NESTED || *left <= t->n_members) return NULL;
  *left -= t->n_members + 1;
  for (uint32_t i = 0; i < t->n_members; i++)
    if (t->member[i].name && !t->member[i].base && strcmp(t->member[i].name, name) == 0) return &t->member[i];
  for (uint32_t i = 0; i < t->n_members; i++) {
    const struct source_member *m = &t->member[i];
    struct debug_value inner = *at;
    if (m->name && !m->base) continue;
    inner.i = (int64_t)((uint64_t)at->i + m->offset);
    inner.type = m->type;
    const struct source_member *found = member_called(d, &inner, name, depth + 1, left);
    if (!found) continue;
    *at = inner;
    return found;
  }
  return NULL;
}

bool source_value_member(void *ctx, const struct lane_view *v, const struct debug_value *of, const char *name,
                         bool through, struct debug_value *out, struct err *e)
{
  const struct debugger *d = ctx;
  const struct source_type *t = type_at(d, of->type);
  struct debug_value at = *of;
  uint32_t left = MOST_LOOKED_AT;
  if (through && t->kind != SOURCE_POINTER) return err_set(e, "what is before '->%.60s' is no pointer", name);
  if (through) {
    at = (struct debug_value){.i = of->i, .type = t->target, .space = VIEW_GENERIC};
    t = type_at(d, at.type);
  }
  if (t->kind != SOURCE_STRUCT) return err_set(e, "what is before '%.60s' is no structure", name);
  const struct source_member *m = member_called(d, &at, name, 0, &left);
  if (!m) return err_set(e, "'%.60s' has no member '%.60s'", t->name ? t->name : "the structure", name);
  return load_member(d, v, &at, m, out, e);
}

bool source_value_element(void *ctx, const struct lane_view *v, const struct debug_value *of, int64_t index,
                          struct debug_value *out, struct err *e)
{
  const struct debugger *d = ctx;
  const struct source_type *t = type_at(d, of->type);
  const bool array = t->kind == SOURCE_ARRAY;
  if (!array && t->kind != SOURCE_POINTER)
    return err_set(e, "it is no array or pointer; what lies at an address: s32 global[…]");
  if (array && t->count && (index < 0 || (uint64_t)index >= t->count))
    return err_set(e, "the array has %" PRIu64 " elements, from 0 on", t->count);
  const uint64_t addr = (uint64_t)of->i + (uint64_t)index * type_at(d, t->target)->bytes;
  return source_value_load(d, v, t->target, array ? of->space : VIEW_GENERIC, addr, out, e);
}

/* ---- text ---- */

struct printer {
  const struct debugger *d;
  const struct lane_view *v;
  FILE *out;
  unsigned parts_left;
};

static void print_value(struct printer *, const struct debug_value *, unsigned depth);

static const char *enumerator_of(const struct source_type *t, int64_t value)
{
  for (uint32_t i = 0; i < t->n_values; i++)
    if (t->value[i].value == value) return t->value[i].name;
  return NULL;
}

static void print_number(const struct printer *p, const struct debug_value *v)
{
  const struct source_type *t = type_at(p->d, v->type);
  const char *name = t->kind == SOURCE_ENUM ? enumerator_of(t, v->i) : NULL;
  char text[96];
  if (name)
    fprintf(p->out, "%s (%" PRId64 ")", name, v->i);
  else if (t->kind == SOURCE_POINTER)
    fprintf(p->out, "0x%" PRIx64, (uint64_t)v->i);
  else
    fputs(debug_value_text(v, text, sizeof text), p->out);
}

static void print_part(struct printer *p, bool there, const struct debug_value *v, const struct err *e, unsigned depth)
{
  if (there)
    print_value(p, v, depth + 1);
  else
    fprintf(p->out, "<%s>", e->msg);
}

/* Whether another part may be printed; the one behind the last is "...". */
static bool next_part(struct printer *p, uint64_t i, unsigned depth)
{
  if (i) fputs(", ", p->out);
  if (depth < MOST_NESTED && p->parts_left) return p->parts_left--, true;
  fputs("...", p->out);
  return false;
}

static void print_struct(struct printer *p, const struct debug_value *v, unsigned depth)
{
  const struct source_type *t = type_at(p->d, v->type);
  for (uint32_t i = 0; i < t->n_members && next_part(p, i, depth); i++) {
    const struct source_member *m = &t->member[i];
    const char *base = type_at(p->d, m->type)->name;
    struct debug_value part;
    struct err e = {""};
    if (m->base)
      fprintf(p->out, "<%s> = ", base ? base : "?");
    else if (m->name)
      fprintf(p->out, "%s = ", m->name);
    const bool there = load_member(p->d, p->v, v, m, &part, &e);
    print_part(p, there, &part, &e, depth);
  }
}

static void print_array(struct printer *p, const struct debug_value *v, unsigned depth)
{
  const struct source_type *t = type_at(p->d, v->type);
  const uint64_t bytes = type_at(p->d, t->target)->bytes;
  if (!t->count) fprintf(p->out, "... at %s 0x%" PRIx64, view_space_name[v->space], (uint64_t)v->i);
  for (uint64_t i = 0; i < t->count && next_part(p, i, depth); i++) {
    struct debug_value part;
    struct err e = {""};
    const bool there = source_value_load(p->d, p->v, t->target, v->space, (uint64_t)v->i + i * bytes, &part, &e);
    print_part(p, there, &part, &e, depth);
    if (!there) break; /* nor are those behind it */
  }
}

static void print_value(struct printer *p, const struct debug_value *v, unsigned depth)
{
  const enum source_kind kind = type_at(p->d, v->type)->kind;
  if (kind != SOURCE_ARRAY && kind != SOURCE_STRUCT) {
    print_number(p, v);
    return;
  }
  fputc('{', p->out);
  if (kind == SOURCE_ARRAY)
    print_array(p, v, depth);
  else
    print_struct(p, v, depth);
  fputc('}', p->out);
}

void source_value_print(const struct debugger *d, const struct lane_view *v, const struct debug_value *value, FILE *out)
{
  struct printer p = {d, v, out, MOST_PARTS};
  print_value(&p, value, 0);
}
