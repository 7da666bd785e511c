#include "load/debug_info.h"

#include <string.h>

#include "base/host_memory.h"
#include "load/dwarf_entry.h"

enum { MAX_DEPTH = 64, LIST_ENTRY_BYTES = 18 };
enum { OP_ADDR = 0x03, OP_PLUS_UCONST = 0x23, OP_REGX = 0x90, OP_FBREG = 0x91, OP_NOP = 0x96 };
enum { CLASS_REGISTER = 2, CLASS_CONST = 4, CLASS_GLOBAL = 5, CLASS_LOCAL = 6, CLASS_PARAM = 7, CLASS_SHARED = 8 };

struct reader {
  struct dwarf_reader dwarf;
  struct debug_info *info;
  uint32_t room;
  uint64_t places_left; /* of lists: several variables may name one, but not all of them all */
};

/* ---- places ---- */

/* What an address means is the variable's class. */
static enum debug_place_kind kind_of(uint64_t class)
{
  switch (class) {
  case CLASS_CONST:
  case CLASS_GLOBAL: return DEBUG_PLACE_VARIABLE;
  case CLASS_PARAM: return DEBUG_PLACE_PARAM;
  case CLASS_SHARED: return DEBUG_PLACE_SHARED;
  default: return DEBUG_PLACE_NONE;
  }
}

/* A register, an address, or the stack pointer and what is added to it one by one (nvcc leaves DW_OP_nop between). */
static struct debug_place place_of(struct dwarf_cursor block, uint64_t class, uint64_t from, uint64_t to)
{
  struct debug_place p = {.from = from, .to = to};
  while (block.at < block.end) {
    switch (dwarf_fixed(&block, 1)) {
    case OP_NOP: break;
    case OP_PLUS_UCONST: p.at += dwarf_uleb(&block); break;
    case OP_REGX:
      p.at = dwarf_uleb(&block);
      p.kind = DEBUG_PLACE_REGISTER;
      break;
    case OP_FBREG:
      p.at = (uint64_t)dwarf_sleb(&block);
      p.kind = class == CLASS_LOCAL ? DEBUG_PLACE_FRAME : DEBUG_PLACE_NONE;
      break;
    case OP_ADDR:
      p.at = dwarf_fixed(&block, 8);
      p.kind = (uint8_t)kind_of(class);
      break;
    default: block.bad = true;
    }
    if (!block.bad) continue;
    p.kind = DEBUG_PLACE_NONE;
    return p;
  }
  return p;
}

/* Places of a location list; only counts where out is NULL. */
static uint32_t list_places(const struct reader *r, const struct dwarf_entry *x, struct debug_place *out)
{
  struct dwarf_cursor c = dwarf_at(r->dwarf.lists, x->list);
  uint32_t n = 0;
  while (!c.bad && n < r->places_left) {
    const uint64_t from = dwarf_fixed(&c, 8), to = dwarf_fixed(&c, 8);
    if (c.bad || (!from && !to)) break;
    const struct dwarf_cursor block = dwarf_block(&c, dwarf_fixed(&c, 2));
    if (out) out[n] = place_of(block, x->class, from, to);
    n++;
  }
  return n;
}

struct scope {
  const char *function;
  uint64_t from, to;
};

static void add_variable(struct reader *r, const struct dwarf_entry *x, const struct scope *s)
{
  struct debug_info *d = r->info;
  if (!x->name || (x->has_list && !r->dwarf.lists)) return;
  if (d->n_variables == r->room) {
    r->room = r->room ? 2 * r->room : 64;
    d->variable = mem_resize(d->variable, r->room, sizeof *d->variable);
  }
  struct debug_variable v = {.function = s->function, .name = x->name, .linkage = x->linkage};
  v.from = s->from, v.to = s->to;
  v.n_places = x->has_list ? list_places(r, x, NULL) : 1;
  v.place = ARENA_ARRAY(&d->arena, struct debug_place, v.n_places + 1);
  if (x->has_list)
    r->places_left -= list_places(r, x, v.place);
  else
    v.place[0] = place_of(x->block, x->class, 0, UINT64_MAX);
  v.type = source_type_read(&r->dwarf, &d->types, x->type);
  d->variable[d->n_variables++] = v;
}

static struct scope scope_of(const struct dwarf_entry *x, const struct scope *outer)
{
  struct scope s = *outer;
  if (x->tag == TAG_SUBPROGRAM)
    s = (struct scope){x->linkage ? x->linkage : x->name, 0, UINT64_MAX};
  else if ((x->tag == TAG_BLOCK || x->tag == TAG_INLINED) && x->has_low && x->has_high)
    s.from = x->low, s.to = x->high;
  return s;
}

static void read_unit(struct reader *r, struct dwarf_cursor *c)
{
  struct scope scope[MAX_DEPTH] = {{NULL, 0, UINT64_MAX}};
  unsigned depth = 0;
  struct dwarf_entry x;
  while (c->at < c->end && dwarf_read(&r->dwarf, c, &x)) {
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
  struct dwarf_cursor c = dwarf_at(r->dwarf.entries, 0);
  while (!c.bad && c.at < c.end) {
    r->dwarf.unit = (uint64_t)(c.at - c.start);
    const uint64_t length = dwarf_fixed(&c, 4);
    if (c.bad || length > (size_t)(c.end - c.at)) return;
    struct dwarf_cursor unit = {c.start, c.at, c.at + length, false};
    const uint64_t version = dwarf_fixed(&unit, 2);
    r->dwarf.abbrev_at = dwarf_fixed(&unit, 4);
    if (version < 2 || version > 4 || dwarf_fixed(&unit, 1) != 8) return;
    read_unit(r, &unit);
    c.at += length;
  }
}

/* ---- registers ---- */

static void read_registers(struct reader *r, const struct elf_section *s)
{
  struct debug_info *d = r->info;
  struct dwarf_cursor c = dwarf_at(s, 0);
  uint32_t room = 0;
  while (!c.bad && c.at < c.end) {
    const char *function = dwarf_text(&c);
    for (uint64_t n = dwarf_fixed(&c, 4); n && !c.bad; n--) {
      struct debug_register x = {.function = function, .piece = (uint32_t)dwarf_fixed(&c, 4)};
      x.name = dwarf_text(&c);
      const uint64_t where = dwarf_fixed(&c, 4);
      x.file = (uint8_t)(where >> 24), x.number = where & 0xffffff;
      x.from = dwarf_fixed(&c, 4), x.to = dwarf_fixed(&c, 4);
      if (c.bad) return;
      if (d->n_registers == room) d->reg = mem_resize(d->reg, room = room ? 2 * room : 256, sizeof *d->reg);
      d->reg[d->n_registers++] = x;
    }
  }
}

void debug_info_read(const struct module *m, struct debug_info *d)
{
  struct reader r = {.info = d,
                     .dwarf = {.abbrev = dwarf_section(m, ".debug_abbrev"),
                               .entries = dwarf_section(m, ".debug_info"),
                               .lists = dwarf_section(m, ".debug_loc")}};
  const struct elf_section *registers = dwarf_section(m, ".nv_debug_info_reg_sass");
  *d = (struct debug_info){0};
  if (r.dwarf.lists) r.places_left = 4 * (r.dwarf.lists->size / LIST_ENTRY_BYTES);
  if (r.dwarf.abbrev && r.dwarf.entries) read_units(&r);
  if (registers) read_registers(&r, registers);
}

void debug_info_free(struct debug_info *d)
{
  mem_free(d->variable);
  mem_free(d->reg);
  source_types_free(&d->types);
  arena_free(&d->arena);
  *d = (struct debug_info){0};
}

/* ---- questions ---- */

/* A variable of a function that is seen there, or one of the file. */
static bool is_seen(const struct debug_variable *v, const char *function, uint64_t offset)
{
  if (!v->function) return true;
  return offset >= v->from && offset < v->to && function && strcmp(v->function, function) == 0;
}

static bool is_nearer(const struct debug_variable *a, const struct debug_variable *b)
{
  if (!a->function || !b->function) return a->function != NULL;
  return a->to - a->from <= b->to - b->from;
}

const struct debug_variable *debug_info_find(const struct debug_info *d, const char *function, uint64_t offset,
                                             const char *name)
{
  const struct debug_variable *best = NULL;
  for (uint32_t i = 0; i < d->n_variables; i++) {
    const struct debug_variable *v = &d->variable[i];
    if (strcmp(v->name, name) != 0 || !is_seen(v, function, offset)) continue;
    if (!best || is_nearer(v, best)) best = v;
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
