#include "load/source_type.h"

#include <string.h>

#include "base/host_memory.h"
#include "load/dwarf_entry.h"

/* MAX_CHAIN: of typedefs, arrays of arrays and members that contain each other. */
enum { MAX_CHAIN = 64, MAX_DIMENSIONS = 16, FIRST_SLOTS = 256 };

struct source_slot {
  uint64_t at; /* 0: empty */
  uint32_t type;
};

/* ---- types by place ---- */

static struct source_slot *slot_of(const struct source_types *t, uint64_t at)
{
  uint32_t i = (uint32_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->n_slots - 1);
  while (t->slot[i].at && t->slot[i].at != at) i = (i + 1) & (t->n_slots - 1);
  return &t->slot[i];
}

static void grow_slots(struct source_types *t)
{
  struct source_slot *old = t->slot;
  const uint32_t n = t->n_slots;
  t->n_slots = n ? 2 * n : FIRST_SLOTS;
  t->slot = mem_zeroed(t->n_slots, sizeof *t->slot);
  for (uint32_t i = 0; i < n; i++)
    if (old[i].at) *slot_of(t, old[i].at) = old[i];
  mem_free(old);
}

static void keep(struct source_types *t, uint64_t at, uint32_t type)
{
  if (2 * (t->used + 1) > t->n_slots) grow_slots(t);
  struct source_slot *s = slot_of(t, at);
  t->used += s->at == 0;
  *s = (struct source_slot){at, type};
}

static uint32_t new_type(struct source_types *t)
{
  if (t->n == t->room) t->type = mem_resize(t->type, t->room = t->room ? 2 * t->room : 64, sizeof *t->type);
  if (!t->n) t->type[t->n++] = (struct source_type){.kind = SOURCE_UNKNOWN};
  if (t->n == t->room) t->type = mem_resize(t->type, t->room *= 2, sizeof *t->type);
  t->type[t->n] = (struct source_type){.kind = SOURCE_UNKNOWN};
  return t->n++;
}

/* ---- kinds ---- */

static uint32_t read_type(struct dwarf_reader *, struct source_types *, uint64_t offset, unsigned chain);

static enum source_kind number_kind(const struct dwarf_entry *x)
{
  enum { BOOLEAN = 2, FLOAT = 4, SIGNED = 5, SIGNED_CHAR = 6, UNSIGNED = 7, UNSIGNED_CHAR = 8, UTF = 16 };
  switch (x->encoding) {
  case FLOAT: return SOURCE_FLOAT;
  case SIGNED:
  case SIGNED_CHAR: return SOURCE_SIGNED;
  case BOOLEAN:
  case UNSIGNED:
  case UNSIGNED_CHAR:
  case UTF: return SOURCE_UNSIGNED;
  default: return SOURCE_UNKNOWN;
  }
}

/* How many children of one of two tags there are to be read. In all not more than the section has bytes: types of a
 * damaged file may begin inside each other. */
static uint32_t count_children(struct dwarf_reader *r, struct source_types *t, struct dwarf_cursor c, unsigned tag,
                               unsigned other)
{
  struct dwarf_entry x;
  uint32_t n = 0;
  while (t->children < r->entries->size && dwarf_read(r, &c, &x) && x.tag) {
    if (x.tag == tag || x.tag == other) n++, t->children++;
    if (!dwarf_pass_children(r, &c, &x)) break;
  }
  return n;
}

/* Of a field of bits where it lies: words are little-endian, DWARF 2 counts from the highest bit. */
static void place_bits(const struct dwarf_entry *x, const struct source_type *of, struct source_member *m)
{
  const uint64_t word = 8 * (x->size ? x->size : of->bytes);
  if (!x->bit_size || x->bit_size > 64) return;
  if (x->has_bit_from_start) {
    m->offset = x->bit_from_start / 8;
    m->shift = (uint8_t)(x->bit_from_start % 8);
  } else {
    if (word > 64 || x->bit_offset > word - x->bit_size) return;
    m->shift = (uint8_t)(word - x->bit_size - x->bit_offset);
  }
  m->bits = (uint8_t)x->bit_size;
}

static bool is_base(const struct dwarf_entry *x)
{
  static const char nvcc[] = "__b_"; /* "__b_4Base": nvcc has classes inherited from as members */
  return x->tag == TAG_INHERITANCE || (x->name && strncmp(x->name, nvcc, strlen(nvcc)) == 0);
}

static void read_members(struct dwarf_reader *r, struct source_types *t, uint32_t of, struct dwarf_cursor c,
                         unsigned chain)
{
  const uint32_t most = count_children(r, t, c, TAG_MEMBER, TAG_INHERITANCE);
  struct source_member *member = ARENA_ARRAY(&t->arena, struct source_member, most + 1);
  struct dwarf_entry x;
  uint32_t n = 0;
  while (n < most && dwarf_read(r, &c, &x) && x.tag) {
    if (x.tag == TAG_MEMBER || x.tag == TAG_INHERITANCE) {
      const uint32_t type = read_type(r, t, x.type, chain);
      struct source_member m = {.name = x.name, .base = is_base(&x), .type = type, .offset = x.member_at};
      place_bits(&x, source_type_at(t, type), &m);
      member[n++] = m;
    }
    if (!dwarf_pass_children(r, &c, &x)) break;
  }
  t->type[of].member = member;
  t->type[of].n_members = n;
}

static void read_values(struct dwarf_reader *r, struct source_types *t, uint32_t of, struct dwarf_cursor c)
{
  const uint32_t most = count_children(r, t, c, TAG_ENUMERATOR, TAG_ENUMERATOR);
  struct source_enumerator *value = ARENA_ARRAY(&t->arena, struct source_enumerator, most + 1);
  struct dwarf_entry x;
  uint32_t n = 0;
  while (n < most && dwarf_read(r, &c, &x) && x.tag) {
    if (x.tag == TAG_ENUMERATOR && x.name) value[n++] = (struct source_enumerator){x.name, x.value};
    if (!dwarf_pass_children(r, &c, &x)) break;
  }
  t->type[of].value = value;
  t->type[of].n_values = n;
}

/* Arrays of arrays, from the last dimension outwards; the outermost is `of`. */
static void read_array(struct dwarf_reader *r, struct source_types *t, uint32_t of, uint32_t element,
                       struct dwarf_cursor c)
{
  uint64_t count[MAX_DIMENSIONS];
  unsigned n = 0;
  struct dwarf_entry x;
  while (n < MAX_DIMENSIONS && dwarf_read(r, &c, &x) && x.tag == TAG_SUBRANGE) count[n++] = x.has_count ? x.count : 0;
  for (uint32_t type = element; n-- > 0; element = type) {
    uint64_t bytes;
    if (__builtin_mul_overflow(count[n], source_type_at(t, element)->bytes, &bytes)) return;
    type = n ? new_type(t) : of;
    t->type[type] = (struct source_type){.kind = SOURCE_ARRAY, .bytes = bytes, .count = count[n], .target = element};
  }
}

static void describe(struct dwarf_reader *r, struct source_types *t, uint32_t of, const struct dwarf_entry *x,
                     struct dwarf_cursor c, unsigned chain)
{
  struct source_type *type = &t->type[of];
  type->name = x->name;
  type->bytes = x->size;
  switch (x->tag) {
  case TAG_BASE: type->kind = (uint8_t)number_kind(x); break;
  case TAG_ENUMERATION:
    type->kind = SOURCE_ENUM;
    if (x->children) read_values(r, t, of, c);
    break;
  case TAG_POINTER:
  case TAG_REFERENCE:
  case TAG_RVALUE_REFERENCE:
    type->kind = x->tag == TAG_POINTER ? SOURCE_POINTER : SOURCE_REFERENCE;
    type->bytes = 8;
    type->target_at = x->type;
    break;
  case TAG_CLASS:
  case TAG_STRUCTURE:
  case TAG_UNION:
    type->kind = SOURCE_STRUCT;
    if (x->children) read_members(r, t, of, c, chain);
    break;
  case TAG_ARRAY:
    if (x->children) read_array(r, t, of, read_type(r, t, x->type, chain), c);
    break;
  default: break;
  }
}

static uint32_t read_type(struct dwarf_reader *r, struct source_types *t, uint64_t offset, unsigned chain)
{
  struct dwarf_cursor c = dwarf_at(r->entries, r->unit + offset);
  struct dwarf_entry x;
  if (!offset || chain >= MAX_CHAIN) return 0;
  if (t->n_slots && slot_of(t, r->unit + offset)->at) return slot_of(t, r->unit + offset)->type;
  if (!dwarf_read(r, &c, &x)) return 0;
  if (x.tag == TAG_TYPEDEF || x.tag == TAG_CONST || x.tag == TAG_VOLATILE || x.tag == TAG_RESTRICT) {
    const uint32_t same = read_type(r, t, x.type, chain + 1);
    keep(t, r->unit + offset, same);
    return same;
  }
  const uint32_t type = new_type(t);
  keep(t, r->unit + offset, type); /* before what it contains, which may name it */
  describe(r, t, type, &x, c, chain + 1);
  return type;
}

uint32_t source_type_read(struct dwarf_reader *r, struct source_types *t, uint64_t offset)
{
  uint32_t pending = t->n;
  const uint32_t type = read_type(r, t, offset, 0);
  for (; pending < t->n; pending++) { /* what pointers point to, which may be more of them */
    const uint64_t at = t->type[pending].target_at;
    if (!at) continue;
    const uint32_t target = read_type(r, t, at, 0);
    t->type[pending].target = target;
    t->type[pending].target_at = 0;
  }
  return type;
}

void source_types_free(struct source_types *t)
{
  mem_free(t->type);
  mem_free(t->slot);
  arena_free(&t->arena);
  *t = (struct source_types){0};
}
