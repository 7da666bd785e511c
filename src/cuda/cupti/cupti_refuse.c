/* Functions of CUPTI that are not there: each says so and returns the documented status, so that programs load and
 * those that call one of them know. */
#include "cuda/cupti/cupti_state.h"

#define REFUSE(name)                                                                               \
  cupti_result name(void);                                                                         \
  cupti_result name(void) { return cupti_refuse(#name); }
#include "cuda/cupti/cupti_refused.def"
