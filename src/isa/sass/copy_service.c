#include "isa/sass/copy_service.h"

#include <stdio.h>
#include <string.h>

enum { OPCODE_BULK = 0x13ba /* UBLKCP */, OPCODE_TENSOR = 0x13b4 /* UTMALDG */, ALWAYS = 7, WAY_SHARED_GLOBAL = 1,
       NO_COUNTER = 7, STALL = 12 };

/* Kinds in order: copies of bytes, tiles of 1 to 5 dimensions, im2col of 3 to 5; of each to one CTA, to several. */
struct copy_service copy_service(unsigned kind)
{
  const unsigned shape = kind / 2;
  const bool im2col = shape > COPY_DIMS;
  return (struct copy_service){.dims = im2col ? shape - COPY_DIMS - 1 + COPY_IM2COL_FIRST : shape,
                               .im2col = im2col,
                               .multicast = kind % 2};
}

unsigned copy_service_named(const char *name)
{
  unsigned kind = 0;
  for (; kind < COPY_KINDS; kind++) {
    const struct copy_service c = copy_service(kind);
    const char *cast = c.multicast ? "multicast" : "unicast";
    char own[64];
    if (c.dims) snprintf(own, sizeof own, "cp_async_bulk_tensor_%ud_%s_%s", c.dims, c.im2col ? "im2col" : "tile", cast);
    else snprintf(own, sizeof own, "cp_async_bulk_%s", cast);
    if (strcmp(own, name) == 0) break;
  }
  return kind;
}

/* Where the fields are: fields.def. */
struct word128 copy_service_word(unsigned kind)
{
  const struct copy_service c = copy_service(kind);
  struct word128 w = {0};
  bits_or(&w, 0, 12, c.dims ? OPCODE_TENSOR & 0xfff : OPCODE_BULK & 0xfff);
  bits_or(&w, 12, 3, ALWAYS);
  bits_or(&w, 24, 8, COPY_UR_FROM);
  bits_or(&w, 32, 8, COPY_UR_TO);
  bits_or(&w, 64, 8, COPY_UR_EXTRA);
  bits_or(&w, 75, 1, c.multicast);
  bits_or(&w, 91, 1, 1);
  if (!c.dims) bits_or(&w, 73, 2, WAY_SHARED_GLOBAL);
  if (c.dims) bits_or(&w, 79, 3, c.dims - 1);
  bits_or(&w, 82, 1, c.im2col);
  bits_or(&w, 105, 4, STALL);
  bits_or(&w, 110, 3, NO_COUNTER);
  bits_or(&w, 113, 3, NO_COUNTER);
  return w;
}
