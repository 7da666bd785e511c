/* Runs memory instructions against ref_mem.c. */
#ifndef WS_TESTS_SEMANTICS_MEM_RIG_H
#define WS_TESTS_SEMANTICS_MEM_RIG_H

#include "mem.h"

/* Every row of a memory instruction, `sets` operand sets of each form on the row's first target. */
void mem_rig_all(unsigned long sets, struct tally *t);

#endif
