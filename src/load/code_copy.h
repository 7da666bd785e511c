/* Decoded code as bytes that mean the same in another process of the same build: all that a launch there needs of a
 * module. */
#ifndef WS_LOAD_CODE_COPY_H
#define WS_LOAD_CODE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/inst.h"

struct code_copy; /* code that was taken from bytes */

/* Differs between builds that do not understand each other's bytes. */
uint64_t code_copy_build(void);
size_t code_copy_bytes(const struct code_view *);
void code_copy_put(const struct code_view *, uint8_t *to);
/* NULL: these bytes are no code. Their place may be any. */
struct code_copy *code_copy_take(const uint8_t *, size_t bytes);
void code_copy_free(struct code_copy *);
const struct code_view *code_copy_view(const struct code_copy *);

#endif
