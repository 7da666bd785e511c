/* What those who show results or write them down know of an instruction set: the names of its instructions, their text,
 * the work that they do. Timing does not look here. A code view (isa/inst.h) says which one its instructions are of.
 */
#ifndef WS_ISA_ISA_H
#define WS_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/code_flow.h"
#include "isa/inst.h"
#include "isa/work.h"

/* What an instruction of a CTA's barrier says itself. */
struct isa_barrier {
  bool waits;    /* false: its threads only arrive */
  bool known;    /* `id` is its number, not in a register */
  uint32_t id;
  uint32_t threads; /* that must arrive; 0: all of the CTA, or a register says it */
};

/* Registers that calls agree on. */
struct isa_abi {
  struct operand reserved;   /* kept for one purpose all the time: the stack pointer */
  struct operand parameters; /* those in registers, all of them */
  struct operand link;       /* the caller's address, of a function that is called */
};

struct isa {
  const char *name;
  /* struct inst's mnemonic: a number below n_mnemonics(). */
  unsigned (*n_mnemonics)(void);
  const char *(*mnemonic)(unsigned id);
  /* Text of instruction i of code_view.decoded, as it stands at `at`: branch targets count from there. Returns the
   * number of characters, as snprintf. */
  int (*print)(const void *decoded, uint64_t i, const struct inst *at, char *buf, size_t size);
  /* What traces tell of instruction i (trace/): its mnemonic with all modifiers, as snprintf; its last immediate
   * operand, 0: none; of an instruction with INST_BAR, its barrier. NULL: no traces of this set. */
  int (*form)(const void *decoded, uint64_t i, char *buf, size_t size);
  uint64_t (*immediate)(const void *decoded, uint64_t i);
  struct isa_barrier (*barrier)(const void *decoded, uint64_t i);
  /* The timing view of an instruction of which a trace without code tells no more than form and number of source
   * registers (a form with as many is preferred). Registers are numbered as they come. False: there is no such form. */
  bool (*like)(unsigned target, const char *form, unsigned n_sources, struct inst *);
  /* Where control goes behind instruction i of code_view.decoded, and what calls agree on. NULL: not told. */
  struct code_flow (*flow)(const void *decoded, uint64_t i, const struct inst *at);
  const struct isa_abi *abi;
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
