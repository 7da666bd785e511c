#include "cuda/core/calling_program.h"

#include <string.h>

#include "cuda/core/host_image.h"
#include "cuda/core/shim.h"

enum { CHUNK = 16 << 10 };

bool program_is_guest(const struct shim *s)
{
  return s->program.memory != NULL;
}

bool program_shows(const struct shim *s, uint64_t addr)
{
  return s->program.shared && addr < s->program.end;
}

bool program_read(const struct shim *s, void *to, uint64_t from, uint64_t bytes)
{
  const struct program_memory *m = s->program.memory;
  if (m) return m->read(m->ctx, from, to, bytes);
  memcpy(to, (const void *)(uintptr_t)host_image(s, from), bytes);
  return true;
}

bool program_write(const struct shim *s, uint64_t to, const void *from, uint64_t bytes)
{
  const struct program_memory *m = s->program.memory;
  if (m) return m->write(m->ctx, to, from, bytes);
  memcpy((void *)(uintptr_t)host_image(s, to), from, bytes);
  return true;
}

bool program_move(const struct shim *s, uint64_t to, uint64_t from, uint64_t bytes)
{
  const struct program_memory *m = s->program.memory;
  uint8_t part[CHUNK];
  if (!m) {
    memmove((void *)(uintptr_t)host_image(s, to), (const void *)(uintptr_t)host_image(s, from), bytes);
    return true;
  }
  const bool down = to > from; /* from the end on */
  for (uint64_t left = bytes, n; left; left -= n) {
    n = left < CHUNK ? left : CHUNK;
    const uint64_t at = down ? left - n : bytes - left;
    if (!m->read(m->ctx, from + at, part, n) || !m->write(m->ctx, to + at, part, n)) return false;
  }
  return true;
}

bool program_reaches(const struct shim *s, uint64_t addr, uint64_t bytes, bool writes)
{
  const struct program_memory *m = s->program.memory;
  return !m || (addr + bytes >= addr && m->reaches(m->ctx, addr, bytes, writes));
}
