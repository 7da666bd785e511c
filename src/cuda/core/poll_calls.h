/* System calls of a program with `exec --spin strict`. The kernel does not reach pages that are closed (poll_trap.h): a
 * filter of the process (seccomp) stops each call with an argument that points there, and its handler does it with the
 * simulator's mapping instead. Calls whose buffers are named by a list (writev, sendmsg …) are all stopped, as a filter
 * cannot look there.
 */
#ifndef WS_CUDA_POLL_CALLS_H
#define WS_CUDA_POLL_CALLS_H

#include <stdbool.h>

/* Once. False: the system gives no filter. */
bool poll_calls_start(void);

#endif
