/* Entry points of a program on a simulated CPU that no row of guest_calls.def describes: registration of its code,
 * <<<…>>>, texts of errors. Each takes what it needs from the call. */
#ifndef WS_CUDA_GUEST_GUEST_OWN_H
#define WS_CUDA_GUEST_GUEST_OWN_H

#include "cuda/guest/guest_call.h"

#define CALL(waits, name, ...)
#define CALL_0(waits, name)
#define OWN(name) int64_t guest_own_##name(struct guest_call *);
#include "cuda/guest/guest_calls.def"
#undef CALL
#undef CALL_0
#undef OWN

#endif
