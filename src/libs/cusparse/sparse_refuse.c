/* Functions of libcusparse that are not there: each says so and returns the documented status. */
#include "libs/cusparse/sparse_types.h"

#define REFUSE(name) \
  PUBLIC sparse_status name(void) { return sparse_refuse(#name, "this function"); }
#include "libs/cusparse/sparse_refused.def"
