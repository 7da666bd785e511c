/* Values of the source's variables, where the compiler tells (-G): parameters, locals in registers and in local
 * memory of a kernel, shared memory. Of the function the lane is in, or of a caller that is looked at
 * (debugger_choose_frame), of which registers are not known.
 */
#ifndef WS_DEBUG_SOURCE_VARIABLE_H
#define WS_DEBUG_SOURCE_VARIABLE_H

#include "debug/debugger.h"

/* Of numbers and pointers the value, of arrays the address in their space. False with e filled: there is none, or it
 * has no value here. `d` is a struct debugger: for expression_names. */
bool source_variable_find(void *d, const struct lane_view *, const char *name, struct debug_value *, struct err *e);

/* Element `index` of an array, in the order of memory. False with e filled: there is no such array or element. */
bool source_variable_element(void *d, const struct lane_view *, const char *name, int64_t index, struct debug_value *,
                             struct err *e);

/* A line for each variable that is seen at the focus: "name = value", or why not. */
void source_variables_print(const struct debugger *, FILE *);

#endif
