/* Values of the source's variables, where the compiler tells (-G): parameters, locals in registers and in local memory,
 * shared memory, variables of the file. Of the function the lane is in, or of a caller that is looked at
 * (debugger_choose_frame), whose registers are those at its call.
 */
#ifndef WS_DEBUG_SOURCE_VARIABLE_H
#define WS_DEBUG_SOURCE_VARIABLE_H

#include "debug/debugger.h"

/* Of numbers and pointers the value, of arrays and structures the place. False with e filled: there is none, or it has
 * no value here. `d` is a struct debugger: for expression_names. */
bool source_variable_find(void *d, const struct lane_view *, const char *name, struct debug_value *, struct err *e);

/* Calls for each variable of the function that is seen at the focus; value NULL: it has none, for the reason in e. */
typedef void source_variable_visit(void *ctx, const char *name, const struct debug_value *value, const struct err *e);
void source_variables_each(const struct debugger *, source_variable_visit *, void *ctx);

#endif
