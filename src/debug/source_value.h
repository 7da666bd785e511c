/* Values of the source's types where they lie in memory: numbers, members of structures, elements of arrays, what
 * pointers and references name; and their text. Types and addresses are a guest's.
 */
#ifndef WS_DEBUG_SOURCE_VALUE_H
#define WS_DEBUG_SOURCE_VALUE_H

#include <stdio.h>

#include "debug/debugger.h"

/* How a number, an enumeration or a pointer is read. False: the type is none of these, or of a size that is not. */
bool source_value_number(const struct source_type *, struct debug_type *);

/* What lies at an address. Of arrays and structures it is the place alone; of a reference what it stands for. False
 * with e filled: there is no such memory, or the type is not known. */
bool source_value_load(const struct debugger *, const struct lane_view *, uint32_t type, enum view_space, uint64_t addr,
                       struct debug_value *, struct err *e);

/* For expression_names; `d` is a struct debugger. */
bool source_value_member(void *d, const struct lane_view *, const struct debug_value *of, const char *name,
                         bool through, struct debug_value *, struct err *e);
bool source_value_element(void *d, const struct lane_view *, const struct debug_value *of, int64_t index,
                          struct debug_value *, struct err *e);

/* "7", "GREEN (7)", "0x7f0012345600", "{x = 1, y = {2, 3}}"; of large ones the beginning. No line break. */
void source_value_print(const struct debugger *, const struct lane_view *, const struct debug_value *, FILE *);

#endif
