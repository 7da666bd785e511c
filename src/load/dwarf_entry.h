/* Entries of DWARF 2 to 4 as nvcc writes them (.debug_info, .debug_abbrev): one at a time, as far as debug_info.h and
 * source_type.h need them. Bytes are a guest's: what ends too early is bad, and reads as 0.
 */
#ifndef WS_LOAD_DWARF_ENTRY_H
#define WS_LOAD_DWARF_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "load/load_internal.h"

enum dwarf_tag {
  TAG_ARRAY = 0x01,
  TAG_CLASS = 0x02,
  TAG_ENUMERATION = 0x04,
  TAG_PARAMETER = 0x05,
  TAG_BLOCK = 0x0b,
  TAG_MEMBER = 0x0d,
  TAG_POINTER = 0x0f,
  TAG_REFERENCE = 0x10,
  TAG_STRUCTURE = 0x13,
  TAG_TYPEDEF = 0x16,
  TAG_UNION = 0x17,
  TAG_INHERITANCE = 0x1c,
  TAG_INLINED = 0x1d,
  TAG_SUBRANGE = 0x21,
  TAG_BASE = 0x24,
  TAG_CONST = 0x26,
  TAG_ENUMERATOR = 0x28,
  TAG_SUBPROGRAM = 0x2e,
  TAG_VARIABLE = 0x34,
  TAG_VOLATILE = 0x35,
  TAG_RESTRICT = 0x37,
  TAG_RVALUE_REFERENCE = 0x42,
};

struct dwarf_cursor {
  const uint8_t *start, *at, *end;
  bool bad;
};

uint64_t dwarf_fixed(struct dwarf_cursor *, unsigned bytes);
uint64_t dwarf_uleb(struct dwarf_cursor *);
int64_t dwarf_sleb(struct dwarf_cursor *);
const char *dwarf_text(struct dwarf_cursor *);
/* The next n bytes, which are passed over. */
struct dwarf_cursor dwarf_block(struct dwarf_cursor *, uint64_t n);

/* What is read of an entry. */
struct dwarf_entry {
  unsigned tag; /* enum dwarf_tag; 0: the end of a list of children */
  bool children;
  const char *name, *linkage;
  uint64_t low, high, size, encoding, type, class, count;
  struct dwarf_cursor block; /* location; empty: none, or a list at `list` */
  uint64_t list;
  uint64_t member_at;            /* bytes into the structure */
  uint64_t bit_size, bit_offset; /* of a field of bits: how many, and from the highest bit of its word … */
  uint64_t bit_from_start;       /* … or from the structure's start, of DWARF 4 */
  int64_t value;                 /* of an enumerator */
  bool has_list, has_low, has_high, has_count, has_bit_from_start;
};

struct dwarf_reader {
  const struct elf_section *abbrev, *entries, *lists;
  uint64_t unit, abbrev_at; /* offsets */
  uint32_t work;            /* done so far */
};

const struct elf_section *dwarf_section(const struct module *, const char *name); /* NULL: there is none */
/* From an offset of a section on; bad where it has no such. */
struct dwarf_cursor dwarf_at(const struct elf_section *, uint64_t offset);
/* The entry at the cursor. False: malformed. */
bool dwarf_read(struct dwarf_reader *, struct dwarf_cursor *, struct dwarf_entry *);
/* Passes over the children of an entry that has just been read. False: malformed. */
bool dwarf_pass_children(struct dwarf_reader *, struct dwarf_cursor *, const struct dwarf_entry *);

#endif
