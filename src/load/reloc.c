#include "load/reloc.h"

#include <stddef.h>
#include <string.h>

#include "base/bits.h"

/* A function descriptor (35, 62, 63: the address of a kernel) is only handed on, so any value that
 * tells functions apart will do: the code address. From sm_90 on objects keep function pointers (102,
 * 112, 113) apart from other addresses, for a function table that the linker may make; it makes
 * none for one module and rewrites them to 2, 56, 57, and the table's offset (114) is 0.
 * 68 and 69 would make a NOP of a YIELD; both do nothing to results. */
static const struct reloc_row rows[] = {
  { 1, "32-bit word", 4, RELOC_ADDRESS, 0, false, false, { { 0, 32 } }, { 0 } },
  { 2, "64-bit word", 8, RELOC_ADDRESS, 0, false, false, { { 0, 64 } }, { 0 } },
  { 4, "generic 64-bit word", 8, RELOC_ADDRESS, 0, false, false, { { 0, 64 } }, { 0 } },
  { 35, "function descriptor", 8, RELOC_ADDRESS, 0, false, false, { { 0, 64 } }, { 0 } },
  { 55, "shared-memory offset", 16, RELOC_SHARED, 0, false, false, { { 32, 32 } }, { 0 } },
  { 56, "low half of an address", 16, RELOC_ADDRESS, 0, true, false, { { 32, 32 } }, { 0 } },
  { 57, "high half of an address", 16, RELOC_ADDRESS, 32, true, false, { { 32, 32 } }, { 0 } },
  { 58, "call target", 16, RELOC_ADDRESS, 2, false, false, { { 34, 47 } }, { 0 } },
  { 59, "constant-bank offset", 16, RELOC_BANK, 0, false, false, { { 32, 32 } }, { 0 } },
  { 62, "low half of a descriptor", 16, RELOC_ADDRESS, 0, true, false, { { 32, 32 } }, { 0 } },
  { 63, "high half of a descriptor", 16, RELOC_ADDRESS, 32, true, false, { { 32, 32 } }, { 0 } },
  { 64, "constant operand", 16, RELOC_BANK, 2, false, false, { { 40, 14 } }, { 54, 5 } },
  { 66, "ULDC operand", 16, RELOC_BANK, 0, false, true, { { 38, 16 } }, { 54, 5 } },
  { 68, "YIELD to NOP", 16, RELOC_KEEP, 0, true, false, { { 0, 9 } }, { 0 } },
  { 69, "YIELD without predicate", 16, RELOC_KEEP, 0, true, false, { { 87, 4 } }, { 0 } },
  { 74, "shared-memory address", 16, RELOC_SHARED, 0, false, true, { { 40, 24 } }, { 0 } },
  { 75, "call target", 16, RELOC_ADDRESS, 2, false, false, { { 16, 8 }, { 34, 47 } }, { 0 } },
  { 100, "shared-memory address of LDGSTS", 16, RELOC_SHARED, 0, false, true, { { 44, 20 } }, { 0 } },
  { 102, "function pointer", 8, RELOC_ADDRESS, 0, false, false, { { 0, 64 } }, { 0 } },
  { 112, "low half of a function pointer", 16, RELOC_ADDRESS, 0, true, false, { { 32, 32 } },
    { 0 } },
  { 113, "high half of a function pointer", 16, RELOC_ADDRESS, 32, true, false, { { 32, 32 } },
    { 0 } },
  { 114, "function table offset", 16, RELOC_ADDRESS, 2, false, false, { { 16, 8 }, { 34, 47 } },
    { 0 } },
  { 115, "LDCU operand", 16, RELOC_BANK, 0, false, true, { { 37, 17 } }, { 54, 5 } },
};

const struct reloc_row *reloc_find(unsigned type)
{
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].type == type) return &rows[i];
  return NULL;
}

static struct word128 load_place(const struct reloc_row *r, const uint8_t *place)
{
  struct word128 w = { 0, 0 };
  memcpy(&w, place, r->bytes);
  return w;
}

static unsigned fields_width(const struct reloc_row *r)
{
  return (unsigned)r->field[0].width + r->field[1].width;
}

int64_t reloc_addend(const struct reloc_row *r, const uint8_t *place)
{
  struct word128 w = load_place(r, place);
  uint64_t v = bits_get(w, r->field[0].pos, r->field[0].width);
  if (r->field[1].width)
    v |= bits_get(w, r->field[1].pos, r->field[1].width) << r->field[0].width;
  if (r->is_signed) v = (uint64_t)bits_sext(v, fields_width(r));
  return (int64_t)(v << r->shift);
}

static void put(struct word128 *w, struct reloc_field f, uint64_t v)
{
  struct word128 mask = { 0, 0 };
  bits_or(&mask, f.pos, f.width, bits_ones(f.width));
  w->lo &= ~mask.lo;
  w->hi &= ~mask.hi;
  bits_or(w, f.pos, f.width, v);
}

static bool fits(const struct reloc_row *r, uint64_t value)
{
  unsigned width = fields_width(r);
  if (r->shift < 32 && (value & bits_ones(r->shift))) return false; /* misaligned target */
  if (r->truncate) return true;
  if (r->is_signed && bits_sext(value >> r->shift, width) == (int64_t)value >> r->shift)
    return true;
  return ((value >> r->shift) & ~bits_ones(width)) == 0;
}

bool reloc_apply(const struct reloc_row *r, uint64_t value, unsigned bank, uint8_t *place)
{
  if (!fits(r, value)) return false;
  struct word128 w = load_place(r, place);
  uint64_t v = value >> r->shift;
  put(&w, r->field[0], v);
  if (r->field[1].width) put(&w, r->field[1], v >> r->field[0].width);
  if (r->bank.width) put(&w, r->bank, bank);
  memcpy(place, &w, r->bytes);
  return true;
}
