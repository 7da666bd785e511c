/* Checksum of stored bytes: 64-bit FNV-1a (Fowler, Noll, Vo; parameters from the authors' page). Every single
 * changed byte changes it, so damage is found; it is no protection against forgery. */
#ifndef WS_BASE_CHECKSUM_H
#define WS_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM64_EMPTY UINT64_C(0xcbf29ce484222325)

/* Of what `before` is the checksum of, with these bytes behind it. */
static inline uint64_t checksum64_more(uint64_t before, const void *data, size_t bytes)
{
  const uint8_t *p = data;
  uint64_t h = before;
  for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
  return h;
}

static inline uint64_t checksum64(const void *data, size_t bytes)
{
  return checksum64_more(CHECKSUM64_EMPTY, data, bytes);
}

#endif
