#include "load/dwarf_entry.h"

#include <string.h>

/* WORK: abbreviations passed over in all; a file of many entries and abbreviations would take their product. */
enum { MAX_ATTRIBUTES = 64, WORK = 1 << 26, MAX_DEPTH = 256 };
enum {
  AT_LOCATION = 0x02,
  AT_NAME = 0x03,
  AT_BYTE_SIZE = 0x0b,
  AT_BIT_OFFSET = 0x0c,
  AT_BIT_SIZE = 0x0d,
  AT_LOW_PC = 0x11,
  AT_HIGH_PC = 0x12,
  AT_CONST_VALUE = 0x1c,
  AT_UPPER_BOUND = 0x2f,
  AT_ADDRESS_CLASS = 0x33,
  AT_COUNT = 0x37,
  AT_MEMBER_LOCATION = 0x38,
  AT_ENCODING = 0x3e,
  AT_TYPE = 0x49,
  AT_DATA_BIT_OFFSET = 0x6b,
  AT_LINKAGE = 0x2007,
};

/* ---- bytes ---- */

uint64_t dwarf_fixed(struct dwarf_cursor *c, unsigned n)
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

uint64_t dwarf_uleb(struct dwarf_cursor *c)
{
  uint64_t v = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint64_t b = dwarf_fixed(c, 1);
    if (shift < 64) v |= (b & 127) << shift;
    if (!(b & 128)) return v;
  }
}

int64_t dwarf_sleb(struct dwarf_cursor *c)
{
  uint64_t v = 0, b;
  unsigned shift = 0;
  do {
    b = dwarf_fixed(c, 1);
    if (shift < 64) v |= (b & 127) << shift;
    shift += 7;
  } while (b & 128);
  return shift < 64 && b & 64 ? (int64_t)(v | ~UINT64_C(0) << shift) : (int64_t)v;
}

const char *dwarf_text(struct dwarf_cursor *c)
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

static void skip(struct dwarf_cursor *c, uint64_t n)
{
  if (n > (size_t)(c->end - c->at)) c->bad = true, n = (size_t)(c->end - c->at);
  c->at += n;
}

/* ---- entries ---- */

struct dwarf_value {
  uint64_t n;
  const char *s;
  struct dwarf_cursor block;
  bool is_block;
};

const struct elf_section *dwarf_section(const struct module *m, const char *name)
{
  for (uint32_t i = 0; i < m->elf.n_sections; i++)
    if (m->elf.section[i].data && strcmp(m->elf.section[i].name, name) == 0) return &m->elf.section[i];
  return NULL;
}

struct dwarf_cursor dwarf_at(const struct elf_section *s, uint64_t at)
{
  const uint64_t from = at < s->size ? at : s->size;
  return (struct dwarf_cursor){s->data, s->data + from, s->data + s->size, at > s->size};
}

struct dwarf_cursor dwarf_block(struct dwarf_cursor *c, uint64_t n)
{
  struct dwarf_cursor block = {c->at, c->at, c->at, false};
  skip(c, n);
  block.end = c->at;
  return block;
}

static struct dwarf_value block_value(struct dwarf_cursor *c, uint64_t n)
{
  return (struct dwarf_value){.block = dwarf_block(c, n), .is_block = true};
}

/* DWARF 2 to 4, 7.5.4; other forms end the reading. */
static struct dwarf_value value_of(struct dwarf_cursor *c, unsigned form)
{
  struct dwarf_value v = {0};
  switch (form) {
  case 0x01:
  case 0x07:
  case 0x10:
  case 0x14:
  case 0x20: v.n = dwarf_fixed(c, 8); break;
  case 0x0b:
  case 0x0c:
  case 0x11: v.n = dwarf_fixed(c, 1); break;
  case 0x05:
  case 0x12: v.n = dwarf_fixed(c, 2); break;
  case 0x06:
  case 0x0e:
  case 0x13:
  case 0x17: v.n = dwarf_fixed(c, 4); break;
  case 0x08: v.s = dwarf_text(c); break;
  case 0x0d: v.n = (uint64_t)dwarf_sleb(c); break;
  case 0x0f:
  case 0x15: v.n = dwarf_uleb(c); break;
  case 0x0a: v = block_value(c, dwarf_fixed(c, 1)); break;
  case 0x03: v = block_value(c, dwarf_fixed(c, 2)); break;
  case 0x04: v = block_value(c, dwarf_fixed(c, 4)); break;
  case 0x09:
  case 0x18: v = block_value(c, dwarf_uleb(c)); break;
  case 0x19: v.n = 1; break;
  default: c->bad = true;
  }
  return v;
}

/* Bytes into a structure: a number, or one to be added to its address. */
static uint64_t member_at(const struct dwarf_value *v)
{
  enum { OP_PLUS_UCONST = 0x23 };
  struct dwarf_cursor block = v->block;
  if (!v->is_block) return v->n;
  return block.at < block.end && dwarf_fixed(&block, 1) == OP_PLUS_UCONST ? dwarf_uleb(&block) : 0;
}

static void note(struct dwarf_entry *x, unsigned attribute, const struct dwarf_value *v)
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
  case AT_BIT_SIZE: x->bit_size = v->n; break;
  case AT_BIT_OFFSET: x->bit_offset = v->n; break;
  case AT_DATA_BIT_OFFSET: x->bit_from_start = v->n, x->has_bit_from_start = true; break;
  case AT_MEMBER_LOCATION: x->member_at = member_at(v); break;
  case AT_CONST_VALUE: x->value = (int64_t)v->n; break;
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
static bool find_abbreviation(struct dwarf_reader *r, uint64_t code, struct dwarf_cursor *a)
{
  *a = dwarf_at(r->abbrev, r->abbrev_at);
  while (!a->bad && a->at < a->end && r->work++ < WORK) {
    const uint64_t is = dwarf_uleb(a);
    if (!is) return false;
    if (is == code) return true;
    dwarf_uleb(a);
    dwarf_fixed(a, 1);
    for (uint64_t x = 1, f = 1; (x || f) && !a->bad;) x = dwarf_uleb(a), f = dwarf_uleb(a);
  }
  return false;
}

bool dwarf_read(struct dwarf_reader *r, struct dwarf_cursor *c, struct dwarf_entry *x)
{
  struct dwarf_cursor a;
  const uint64_t code = dwarf_uleb(c);
  *x = (struct dwarf_entry){0};
  if (!code) return !c->bad;
  if (!find_abbreviation(r, code, &a)) return false;
  x->tag = (unsigned)dwarf_uleb(&a);
  x->children = dwarf_fixed(&a, 1) != 0;
  for (unsigned i = 0; i < MAX_ATTRIBUTES && !c->bad && !a.bad; i++) {
    const unsigned attribute = (unsigned)dwarf_uleb(&a), form = (unsigned)dwarf_uleb(&a);
    if (!attribute && !form) return true;
    const struct dwarf_value v = value_of(c, form);
    note(x, attribute, &v);
  }
  return false;
}

bool dwarf_pass_children(struct dwarf_reader *r, struct dwarf_cursor *c, const struct dwarf_entry *of)
{
  struct dwarf_entry x;
  unsigned depth = of->children ? 1 : 0;
  while (depth) {
    if (!dwarf_read(r, c, &x)) return false;
    if (!x.tag)
      depth--;
    else if (x.children && ++depth > MAX_DEPTH)
      return false;
  }
  return true;
}
