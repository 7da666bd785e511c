/* Functions of libcusolver that are not there: each says so and returns the documented status. */
#include "libs/cusolver/solver_types.h"

#define REFUSE(name) \
  PUBLIC solver_status name(void) { return solver_refuse(#name, "this function"); }
#include "libs/cusolver/solver_refused.def"
