/* What those who show results know of an instruction set: the names of its instructions, their text, the work that they
 * do. Timing does not look here. A code view (isa/inst.h) says which one its instructions are of.
 */
#ifndef WS_ISA_ISA_H
#define WS_ISA_ISA_H

#include <stddef.h>
#include <stdint.h>

#include "isa/inst.h"
#include "isa/work.h"

struct isa {
  const char *name;
  /* struct inst's mnemonic: a number below n_mnemonics(). */
  unsigned (*n_mnemonics)(void);
  const char *(*mnemonic)(unsigned id);
  /* Text of instruction i of code_view.decoded, as it stands at `at`: branch targets count from there. Returns the
   * number of characters, as snprintf. */
  int (*print)(const void *decoded, uint64_t i, const struct inst *at, char *buf, size_t size);
  /* Operations in `threads`: executed thread instructions (lanes with a true guard) by mnemonic. */
  struct work (*work)(const uint64_t *threads);
};

/* Text of an instruction of the view, with the pc of `at`; empty when the view has nothing to print it from. */
static inline void code_print(const struct code_view *c, uint64_t i, const struct inst *at, char *buf, size_t size)
{
  if (size) buf[0] = '\0';
  if (c->isa && c->decoded) c->isa->print(c->decoded, i, at, buf, size);
}

#endif
