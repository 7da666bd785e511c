/* What a debugger that steps a launch itself (isa/step.h) may look at and change beside registers: memory of CTAs and
 * threads, what a warp's lanes wait for. Warps and lanes are numbers that exist; CTAs are alive.
 */
#ifndef WS_FUNC_SASS_INSPECT_H
#define WS_FUNC_SASS_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/step.h"

/* Shared memory of the CTA, *bytes of it, and local memory of a lane: to be read and written. NULL: there is none. */
uint8_t *func_shared_memory(struct step_cta *, uint64_t *bytes);
uint8_t *func_local_memory(struct step_cta *, unsigned warp, unsigned lane, uint64_t *bytes);

/* Vector registers a thread has: R0 up to, without, this one. */
unsigned func_register_count(const struct step_cta *);

/* One line on what path i of the warp waits for. Returns as snprintf. */
int func_describe_path(const struct step_cta *, unsigned warp, unsigned i, char *buf, size_t size);

/* A number that follows from all architectural state of the CTA: registers, predicates, barriers, paths, shared and
 * local memory. `seed` is mixed in. */
uint64_t func_digest(struct step_cta *, uint64_t seed);

#endif
