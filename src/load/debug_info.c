#include "load/debug_info.h"

#include <string.h>

#include "base/host_memory.h"
#include "load/load_internal.h"

/* WORK: abbreviations passed over in all; a file of many entries and abbreviations would take their product. */
enum { MAX_ATTRIBUTES = 64, MAX_DEPTH = 64, MAX_TYPES = 16, WORK = 1 << 26, LIST_ENTRY_BYTES = 18 };
enum {
  TAG_PARAMETER = 0x05,
  TAG_BLOCK = 0x0b,
  TAG_POINTER = 0x0f,
  TAG_TYPEDEF = 0x16,
  TAG_ARRAY = 0x01,
  TAG_INLINED = 0x1d,
  TAG_SUBRANGE = 0x21,
  TAG_BASE = 0x24,
  TAG_CONST = 0x26,
  TAG_SUBPROGRAM = 0x2e,
  TAG_VARIABLE = 0x34,
  TAG_VOLATILE = 0x35,
  TAG_ENUMERATION = 0x04,
};
enum {
  AT_LOCATION = 0x02,
  AT_NAME = 0x03,
  AT_BYTE_SIZE = 0x0b,
  AT_LOW_PC = 0x11,
  AT_HIGH_PC = 0x12,
  AT_COUNT = 0x37,
  AT_ENCODING = 0x3e,
  AT_TYPE = 0x49,
  AT_ADDRESS_CLASS = 0x33,
  AT_LINKAGE = 0x2007,
  AT_UPPER_BOUND = 0x2f,
};
enum { OP_ADDR = 0x03, OP_REGX = 0x90, OP_FBREG = 0x91 };
enum { CLASS_REGISTER = 2, CLASS_LOCAL = 6, CLASS_PARAM = 7, CLASS_SHARED = 8 };

/* ---- bytes ---- */

struct cursor {
  const uint8_t *start, *at, *end;
  bool bad;
};

static uint64_t fixed(struct cursor *c, unsigned n)
{
  uint64_t v = 0;
  if ((size_t)(c->end - c->at) < n) {
    c->bad = true;
    c->at = c->end;
    return 0;
  }
  memcpy(&v, c->at, n);
  c->at += n;
  return v;
}

static uint64_t uleb(struct cursor *c)
{
  uint64_t v = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint64_t b = fixed(c, 1);
    if (shift < 64) v |= (b & 127) << shift;
    if (!(b & 128)) return v;
  }
}

static int64_t sleb(struct cursor *c)
{
  uint64_t v = 0, b;
  unsigned shift = 0;
  do {
    b = fixed(c, 1);
    if (shift < 64) v |= (b & 127) << shift;
    shift += 7;
  } while (b & 128);
  return shift < 64 && b & 64 ? (int64_t)(v | ~UINT64_C(0) << shift) : (int64_t)v;
}

static const char *text(struct cursor *c)
{
  const uint8_t *end = memchr(c->at, 0, (size_t)(c->end - c->at));
  const char *s = (const char *)c->at;
  if (!end) {
    c->bad = true;
    return "";
  }
  c->at = end + 1;
  return s;
}

static void skip(struct cursor *c, uint64_t n)
{
  if (n > (size_t)(c->end - c->at)) c->bad = true, n = (size_t)(c->end - c->at);
  c->at += n;
}

/* ---- entries ---- */

/* What is read of an entry. */
struct entry {
  unsigned tag;
  bool children;
  const char *name, *linkage;
  uint64_t low, high, size, encoding, type, class, count;
  struct cursor block; /* location; empty: none, or a list at `list` */
  uint64_t list;
  bool has_list, has_low, has_high, has_count;
};

struct value {
  uint64_t n;
  const char *s;
  struct cursor block;
  bool is_block;
};

struct reader {
  const struct module *m;
  struct debug_info *info;
  const struct elf_section *abbrev, *entries, *lists;
  uint64_t unit, abbrev_at; /* offsets */
  uint32_t room;
  uint32_t work;        /* done so far */
  uint64_t places_left; /* of lists: several variables may name one, but not all of them all */
};

static const struct elf_section *section_of(const struct module *m, const char *name)
{
  for (uint32_t i = 0; i < m->elf.n_sections; i++)
    if (m->elf.section[i].data && strcmp(m->elf.section[i].name, name) == 0) return &m->elf.section[i];
  return NULL;
}

static struct cursor cursor_of(const struct elf_section *s, uint64_t at)
{
  const uint64_t from = at < s->size ? at : s->size;
  return (struct cursor){s->data, s->data + from, s->data + s->size, at > s->size};
}

static void block_of(struct cursor *c, uint64_t n, struct value *v)
{
  v->is_block = true;
  v->block = (struct cursor){c->at, c->at, c->at, false};
  skip(c, n);
  v->block.end = c->at;
}

/* DWARF 2 to 4, 7.5.4; other forms end the reading. */
static struct value value_of(struct cursor *c, unsigned form)
{
  struct value v = {0};
  switch (form) {
  case 0x01:
  case 0x07:
  case 0x10:
  case 0x14:
  case 0x20: v.n = fixed(c, 8); break;
  case 0x0b:
  case 0x0c:
  case 0x11: v.n = fixed(c, 1); break;
  case 0x05:
  case 0x12: v.n = fixed(c, 2); break;
  case 0x06:
  case 0x0e:
  case 0x13:
  case 0x17: v.n = fixed(c, 4); break;
  case 0x08: v.s = text(c); break;
  case 0x0d: v.n = (uint64_t)sleb(c); break;
  case 0x0f:
  case 0x15: v.n = uleb(c); break;
  case 0x0a: block_of(c, fixed(c, 1), &v); break;
  case 0x03: block_of(c, fixed(c, 2), &v); break;
  case 0x04: block_of(c, fixed(c, 4), &v); break;
  case 0x09:
  case 0x18: block_of(c, uleb(c), &v); break;
  case 0x19: v.n = 1; break;
  default: c->bad = true;
  }
  return v;
}

static void note(struct entry *x, unsigned attribute, const struct value *v)
{
  switch (attribute) {
  case AT_NAME: x->name = v->s; break;
  case AT_LINKAGE: x->linkage = v->s; break;
  case AT_LOW_PC: x->low = v->n, x->has_low = true; break;
  case AT_HIGH_PC: x->high = v->n, x->has_high = true; break;
  case AT_BYTE_SIZE: x->size = v->n; break;
  case AT_ENCODING: x->encoding = v->n; break;
  case AT_TYPE: x->type = v->n; break;
  case AT_ADDRESS_CLASS: x->class = v->n; break;
  case AT_COUNT: x->count = v->n, x->has_count = true; break;
  case AT_UPPER_BOUND: x->count = v->n + 1, x->has_count = true; break;
  case AT_LOCATION:
    if (v->is_block)
      x->block = v->block;
    else
      x->list = v->n, x->has_list = true;
    break;
  default: break;
  }
}

/* The abbreviation's attributes, from behind its code on; false: there is none. */
static bool find_abbreviation(struct reader *r, uint64_t code, struct cursor *a)
{
  *a = cursor_of(r->abbrev, r->abbrev_at);
  while (!a->bad && a->at < a->end && r->work++ < WORK) {
    const uint64_t is = uleb(a);
    if (!is) return false;
    if (is == code) return true;
    uleb(a);
    fixed(a, 1);
    for (uint64_t x = 1, f = 1; (x || f) && !a->bad;) x = uleb(a), f = uleb(a);
  }
  return false;
}

/* The entry at c; tag 0: the end of a list of children. False: malformed. */
static bool read_entry(struct reader *r, struct cursor *c, struct entry *x)
{
  struct cursor a;
  const uint64_t code = uleb(c);
  *x = (struct entry){0};
  if (!code) return !c->bad;
  if (!find_abbreviation(r, code, &a)) return false;
  x->tag = (unsigned)uleb(&a);
  x->children = fixed(&a, 1) != 0;
  for (unsigned i = 0; i < MAX_ATTRIBUTES && !c->bad && !a.bad; i++) {
    const unsigned attribute = (unsigned)uleb(&a), form = (unsigned)uleb(&a);
    if (!attribute && !form) return true;
    const struct value v = value_of(c, form);
    note(x, attribute, &v);
  }
  return false;
}

/* ---- types ---- */

static void number_type(const struct entry *x, struct debug_variable *v)
{
  enum { BOOLEAN = 2, FLOAT = 4, SIGNED = 5, SIGNED_CHAR = 6, UNSIGNED = 7, UNSIGNED_CHAR = 8 };
  v->bytes = x->size <= 8 ? (uint32_t)x->size : 0;
  v->encoding = x->encoding == FLOAT                                  ? DEBUG_TYPE_FLOAT
                : x->encoding == SIGNED || x->encoding == SIGNED_CHAR ? DEBUG_TYPE_SIGNED
                : x->encoding == UNSIGNED || x->encoding == UNSIGNED_CHAR || x->encoding == BOOLEAN
                    ? DEBUG_TYPE_UNSIGNED
                    : DEBUG_TYPE_OTHER;
}

/* An array's elements: the product of its dimensions. */
static uint64_t elements(struct reader *r, struct cursor *c)
{
  struct entry x;
  uint64_t n = 1;
  while (read_entry(r, c, &x) && x.tag == TAG_SUBRANGE)
    if (!x.has_count || __builtin_mul_overflow(n, x.count, &n)) return 0;
  return n;
}

static void resolve_type(struct reader *r, uint64_t type, struct debug_variable *v)
{
  for (unsigned i = 0; type && i < MAX_TYPES; i++) {
    struct cursor c = cursor_of(r->entries, r->unit + type);
    struct entry x;
    if (!read_entry(r, &c, &x)) return;
    switch (x.tag) {
    case TAG_BASE: number_type(&x, v); return;
    case TAG_ENUMERATION: v->bytes = x.size <= 8 ? (uint32_t)x.size : 0, v->encoding = DEBUG_TYPE_SIGNED; return;
    case TAG_POINTER: v->bytes = 8, v->encoding = DEBUG_TYPE_POINTER; return;
    case TAG_ARRAY:
      v->count = x.children ? elements(r, &c) : 0;
      if (!v->count) return;
      break;
    case TAG_TYPEDEF:
    case TAG_CONST:
    case TAG_VOLATILE: break;
    default: return;
    }
    type = x.type;
  }
}

/* ---- places ---- */

static struct debug_place place_of(struct cursor block, uint64_t class, uint64_t from, uint64_t to)
{
  struct debug_place p = {.from = from, .to = to};
  if (block.at == block.end) return p;
  switch (fixed(&block, 1)) {
  case OP_REGX:
    p.at = uleb(&block);
    p.kind = DEBUG_PLACE_REGISTER;
    break;
  case OP_FBREG:
    p.at = (uint64_t)sleb(&block);
    p.kind = class == CLASS_LOCAL ? DEBUG_PLACE_FRAME : DEBUG_PLACE_NONE;
    break;
  case OP_ADDR:
    p.at = fixed(&block, 8);
    p.kind = class == CLASS_PARAM ? DEBUG_PLACE_PARAM : class == CLASS_SHARED ? DEBUG_PLACE_SHARED : DEBUG_PLACE_NONE;
    break;
  default: break;
  }
  if (block.bad) p.kind = DEBUG_PLACE_NONE;
  return p;
}

/* Places of a location list; only counts where out is NULL. */
static uint32_t list_places(const struct reader *r, const struct entry *x, struct debug_place *out)
{
  struct cursor c = cursor_of(r->lists, x->list);
  uint32_t n = 0;
  while (!c.bad && n < r->places_left) {
    const uint64_t from = fixed(&c, 8), to = fixed(&c, 8);
    struct value v;
    if (c.bad || (!from && !to)) break;
    block_of(&c, fixed(&c, 2), &v);
    if (out) out[n] = place_of(v.block, x->class, from, to);
    n++;
  }
  return n;
}

struct scope {
  const char *function;
  uint64_t from, to;
};

static void add_variable(struct reader *r, const struct entry *x, const struct scope *s)
{
  struct debug_info *d = r->info;
  if (!x->name || !s->function || (x->has_list && !r->lists)) return;
  if (d->n_variables == r->room) {
    r->room = r->room ? 2 * r->room : 64;
    d->variable = mem_resize(d->variable, r->room, sizeof *d->variable);
  }
  struct debug_variable v = {.function = s->function, .name = x->name, .from = s->from, .to = s->to};
  v.n_places = x->has_list ? list_places(r, x, NULL) : 1;
  v.place = ARENA_ARRAY(&d->arena, struct debug_place, v.n_places + 1);
  if (x->has_list)
    r->places_left -= list_places(r, x, v.place);
  else
    v.place[0] = place_of(x->block, x->class, 0, UINT64_MAX);
  resolve_type(r, x->type, &v);
  d->variable[d->n_variables++] = v;
}

static struct scope scope_of(const struct entry *x, const struct scope *outer)
{
  struct scope s = *outer;
  if (x->tag == TAG_SUBPROGRAM)
    s = (struct scope){x->linkage ? x->linkage : x->name, 0, UINT64_MAX};
  else if ((x->tag == TAG_BLOCK || x->tag == TAG_INLINED) && x->has_low && x->has_high)
    s.from = x->low, s.to = x->high;
  return s;
}

static void read_unit(struct reader *r, struct cursor *c)
{
  struct scope scope[MAX_DEPTH] = {{NULL, 0, UINT64_MAX}};
  unsigned depth = 0;
  struct entry x;
  while (c->at < c->end && read_entry(r, c, &x)) {
    if (!x.tag) {
      if (!depth) return;
      depth--;
      continue;
    }
    if (x.tag == TAG_VARIABLE || x.tag == TAG_PARAMETER) add_variable(r, &x, &scope[depth]);
    if (!x.children) continue;
    if (depth + 1 == MAX_DEPTH) return;
    scope[depth + 1] = scope_of(&x, &scope[depth]);
    depth++;
  }
}

static void read_units(struct reader *r)
{
  struct cursor c = cursor_of(r->entries, 0);
  while (!c.bad && c.at < c.end) {
    r->unit = (uint64_t)(c.at - c.start);
    const uint64_t length = fixed(&c, 4);
    if (c.bad || length > (size_t)(c.end - c.at)) return;
    struct cursor unit = {c.start, c.at, c.at + length, false};
    const uint64_t version = fixed(&unit, 2);
    r->abbrev_at = fixed(&unit, 4);
    if (version < 2 || version > 4 || fixed(&unit, 1) != 8) return;
    read_unit(r, &unit);
    c.at += length;
  }
}

/* ---- registers ---- */

static void read_registers(struct reader *r, const struct elf_section *s)
{
  struct debug_info *d = r->info;
  struct cursor c = cursor_of(s, 0);
  uint32_t room = 0;
  while (!c.bad && c.at < c.end) {
    const char *function = text(&c);
    for (uint64_t n = fixed(&c, 4); n && !c.bad; n--) {
      struct debug_register x = {.function = function, .piece = (uint32_t)fixed(&c, 4)};
      x.name = text(&c);
      const uint64_t where = fixed(&c, 4);
      x.file = (uint8_t)(where >> 24), x.number = where & 0xffffff;
      x.from = fixed(&c, 4), x.to = fixed(&c, 4);
      if (c.bad) return;
      if (d->n_registers == room) d->reg = mem_resize(d->reg, room = room ? 2 * room : 256, sizeof *d->reg);
      d->reg[d->n_registers++] = x;
    }
  }
}

void debug_info_read(const struct module *m, struct debug_info *d)
{
  struct reader r = {.m = m,
                     .info = d,
                     .abbrev = section_of(m, ".debug_abbrev"),
                     .entries = section_of(m, ".debug_info"),
                     .lists = section_of(m, ".debug_loc")};
  const struct elf_section *registers = section_of(m, ".nv_debug_info_reg_sass");
  *d = (struct debug_info){0};
  if (r.lists) r.places_left = 4 * (r.lists->size / LIST_ENTRY_BYTES);
  if (r.abbrev && r.entries) read_units(&r);
  if (registers) read_registers(&r, registers);
}

void debug_info_free(struct debug_info *d)
{
  mem_free(d->variable);
  mem_free(d->reg);
  arena_free(&d->arena);
  *d = (struct debug_info){0};
}

/* ---- questions ---- */

const struct debug_variable *debug_info_find(const struct debug_info *d, const char *function, uint64_t offset,
                                             const char *name)
{
  const struct debug_variable *best = NULL;
  for (uint32_t i = 0; i < d->n_variables; i++) {
    const struct debug_variable *v = &d->variable[i];
    if (offset < v->from || offset >= v->to || strcmp(v->name, name) != 0 || strcmp(v->function, function) != 0)
      continue;
    if (!best || v->to - v->from <= best->to - best->from) best = v;
  }
  return best;
}

const struct debug_place *debug_variable_place(const struct debug_variable *v, uint64_t offset)
{
  for (uint32_t i = 0; i < v->n_places; i++)
    if (v->place[i].kind && offset >= v->place[i].from && offset < v->place[i].to) return &v->place[i];
  return NULL;
}

const struct debug_register *debug_info_register(const struct debug_info *d, const char *function, uint64_t offset,
                                                 uint64_t regx, uint32_t piece)
{
  char name[9] = "";
  for (unsigned i = 0, k = 0; i < 8; i++) {
    const char c = (char)(regx >> (56 - 8 * i));
    if (c || k) name[k++] = c;
  }
  for (uint32_t i = 0; i < d->n_registers; i++) {
    const struct debug_register *x = &d->reg[i];
    if (x->piece == piece && offset >= x->from && offset < x->to && strcmp(x->name, name) == 0 &&
        strcmp(x->function, function) == 0)
      return x;
  }
  return NULL;
}
