/* Relocation types of cubins and how each patches its place. Source: comparison of relocatable
 * objects with linked output (CUDA 13.0).
 */
#ifndef WS_LOAD_RELOC_H
#define WS_LOAD_RELOC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* What is written: S = the symbol's value in that sense, plus the addend. */
enum reloc_value {
  RELOC_ADDRESS, /* address: of code, of a variable in guest memory */
  RELOC_SHARED,  /* offset in the kernel's shared memory */
  RELOC_BANK,    /* offset in the symbol's constant bank */
  RELOC_KEEP,    /* an offer to the linker, not taken: the place stays as it is */
};

struct reloc_field {
  uint8_t pos, width; /* bit field of the place, value bits from low to high */
};

struct reloc_row {
  uint16_t type;
  const char *what;
  uint8_t bytes;      /* size of the place: 4, 8 or 16 (an instruction) */
  uint8_t value;      /* enum reloc_value */
  uint8_t shift;      /* value >> shift goes into the fields */
  bool truncate;      /* high bits beyond the fields are another relocation's business */
  bool is_signed;     /* negative values fit, too */
  struct reloc_field field[2];
  struct reloc_field bank; /* width 0: none; else gets the bank number */
};

/* NULL: unknown type. */
const struct reloc_row *reloc_find(unsigned type);
/* Addend kept in the place itself (SHT_REL). */
int64_t reloc_addend(const struct reloc_row *, const uint8_t *place);
/* Patches the place. False: the value does not fit the field. */
bool reloc_apply(const struct reloc_row *, uint64_t value, unsigned bank, uint8_t *place);

#endif
