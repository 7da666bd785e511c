/* Control flow of SASS: isa/code_flow.h of one instruction. */
#ifndef WS_ISA_SASS_SASS_FLOW_H
#define WS_ISA_SASS_SASS_FLOW_H

#include "isa/code_flow.h"
#include "isa/sass/sass.h"

/* Where control goes behind the instruction at t->pc; t is its timing view, decoded with it. Words that do not decode:
 * to the next. The target of WARPSYNC.COLLECTIVE is where the ENDCOLLECTIVE behind it leads: the way there is through
 * the code. */
struct code_flow sass_flow(const struct sass_inst *s, const struct inst *t);

#endif
