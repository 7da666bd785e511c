/* Bytes of a program that is not this process: a simulated CPU's (cuda/core/calling_program.h). */
#ifndef WS_BASE_PROGRAM_MEMORY_H
#define WS_BASE_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct program_memory {
  void *ctx;
  /* False: the program may not touch all of [addr, addr + bytes); what came before is transferred. */
  bool (*read)(void *ctx, uint64_t addr, void *to, uint64_t bytes);
  bool (*write)(void *ctx, uint64_t addr, const void *from, uint64_t bytes);
  /* Whether it may read, or write, all of that. */
  bool (*reaches)(void *ctx, uint64_t addr, uint64_t bytes, bool writes);
};

#endif
