/* Types of the source, as nvcc -G describes them: numbers, enumerations, pointers, arrays, structures. What a type
 * names is read with it; types that name each other are read once.
 */
#ifndef WS_LOAD_SOURCE_TYPE_H
#define WS_LOAD_SOURCE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct dwarf_reader; /* dwarf_entry.h */

enum source_kind {
  SOURCE_UNKNOWN, /* not described, or in a way that is not read */
  SOURCE_SIGNED,
  SOURCE_UNSIGNED,
  SOURCE_FLOAT,
  SOURCE_ENUM,
  SOURCE_POINTER,   /* to `target`; generic address of 8 bytes */
  SOURCE_REFERENCE, /* the same, and stands for what it points to */
  SOURCE_ARRAY,     /* of `count` elements of `target`, 0: it is not said how many; of several dimensions: of arrays */
  SOURCE_STRUCT,    /* class, structure or union */
};

/* Types are numbers: indices into source_types.type, 0 the unknown one. */
struct source_member {
  const char *name; /* NULL: of the members of its type */
  bool base;        /* a class that this one inherits from */
  uint32_t type;
  uint64_t offset;     /* bytes into the structure */
  uint8_t bits, shift; /* a field of bits: how many, from which bit of the word at `offset` on; 0 bits: none */
};

struct source_enumerator {
  const char *name;
  int64_t value;
};

struct source_type {
  uint8_t kind;     /* enum source_kind */
  const char *name; /* NULL: it has none */
  uint64_t bytes;
  uint64_t count;
  uint32_t target;    /* 0: unknown (void) */
  uint64_t target_at; /* where it is described; 0: nowhere, or `target` is read */
  uint32_t n_members, n_values;
  struct source_member *member;
  struct source_enumerator *value;
};

struct source_types {
  struct source_type *type;
  uint32_t n, room;
  struct source_slot *slot; /* types by where they are described */
  uint32_t n_slots, used;
  uint64_t children; /* members and enumerators read so far */
  struct arena arena;
};

/* The type described at `offset` of the reader's unit; 0: none, or it is malformed. */
uint32_t source_type_read(struct dwarf_reader *, struct source_types *, uint64_t offset);
void source_types_free(struct source_types *);

static inline const struct source_type *source_type_at(const struct source_types *t, uint32_t type)
{
  static const struct source_type unknown = {.kind = SOURCE_UNKNOWN};
  return type < t->n ? &t->type[type] : &unknown;
}

#endif
