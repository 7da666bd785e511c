/* Resolving instructions to prepared operations, once per launch. */
#ifndef WS_FUNC_SASS_PREPARE_H
#define WS_FUNC_SASS_PREPARE_H

#include "func/sass/func_launch.h"

/* Whether the instruction, with these modifiers and operand kinds, executes. Static: the kernel's registers and
 * constant banks can still forbid it. */
bool func_executes(const struct sass_inst *, const struct inst *);

/* Fills l->uop and l->pool for what the launch reaches; on demand only from the entry on. prepare_end frees what that
 * needs. */
void prepare_launch(struct func_launch *l);
void prepare_end(struct func_launch *l);
/* Code from instruction i on, up to where it surely leaves; all in reach that is not prepared yet. While one host
 * thread runs the launch. */
void prepare_from(struct func_launch *l, uint64_t i);
void prepare_reach(struct func_launch *l);
/* Instruction i alone, where several threads may come: code that no launch of the kernel reaches but through an address
 * that it has made up. What it does is the same whoever prepares it when. */
void prepare_late(struct func_launch *l, uint64_t i);
/* Fills l->clear: registers that all threads write before anything reads them need not be cleared for a CTA where
 * every instruction reads registers when its turn comes. */
void prepare_stale(struct func_launch *l);

#endif
