/* Checksum of stored bytes: 64-bit FNV-1a (Fowler, Noll, Vo; parameters from the authors' page). Every single
 * changed byte changes it, so damage is found; it is no protection against forgery. */
#ifndef WS_BASE_CHECKSUM_H
#define WS_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t checksum64(const void *data, size_t bytes)
{
  const uint8_t *p = data;
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
  return h;
}

#endif
