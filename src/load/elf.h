/* ELF64 sections and symbols of a cubin, bounds-checked: everything handed out lies inside the
 * image or is empty.
 */
#ifndef WS_LOAD_ELF_H
#define WS_LOAD_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/* The symbols of a file that was linked with others (link.h): its numbers, and ours. */
struct elf_numbers {
  uint32_t n;
  const uint32_t *ours; /* 0: the symbol went away with a function that another file has, too */
};

struct elf_section {
  const char *name;
  uint32_t type, link, info;
  uint64_t flags;
  uint64_t size;       /* bytes; NOBITS sections have a size and no data */
  uint64_t align;      /* power of two, at least 1 */
  const uint8_t *data; /* NULL: NOBITS */
  const struct elf_numbers *numbers; /* symbol numbers in its contents; NULL: they are ours */
};

struct elf_symbol {
  const char *name;
  uint64_t value, size;
  uint32_t section;    /* index; 0 = undefined; >= 0xff00: absolute, common … */
  uint8_t type, bind, other;
};

struct elf_file {
  unsigned sm;         /* from e_flags: 75, 80, … */
  bool relocatable;    /* ET_REL: not linked yet */
  uint32_t n_sections, n_symbols;
  struct elf_section *section;
  struct elf_symbol *symbol;
};

/* Reads headers, section table and symbol table. `image` must stay valid as long as f is used;
 * `name` is used in errors. Lists are allocated from a. */
bool elf_open(struct elf_file *f, struct arena *a, const uint8_t *image, size_t bytes,
              const char *name, struct err *e);

/* Whether this is an ELF file for the GPU; its SM number from the header alone. */
bool elf_is_cubin(const uint8_t *image, size_t bytes);
bool elf_target(const uint8_t *image, size_t bytes, const char *name, unsigned *sm, struct err *e);

/* The symbol that a section's contents call `number`; n_symbols or more: there is none. */
uint32_t elf_symbol_number(const struct elf_section *, uint32_t number);

/* A string of a string table; NULL when it does not end inside. */
const char *elf_string(const struct elf_section *, uint32_t at);

/* Little-endian reads from unaligned bytes. */
uint16_t elf_u16(const uint8_t *p);
uint32_t elf_u32(const uint8_t *p);
uint64_t elf_u64(const uint8_t *p);

#endif
