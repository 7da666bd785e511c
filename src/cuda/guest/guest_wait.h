/* What a call of one thread waits for, while the process's other threads go on. */
#ifndef WS_CUDA_GUEST_GUEST_WAIT_H
#define WS_CUDA_GUEST_GUEST_WAIT_H

#include "cuda/guest/guest_call.h"

/* Whether the thread is to make its call again later. Alone it never is: then the call itself waits. */
bool guest_wait(struct guest_call *, const struct guest_entry *);

#endif
