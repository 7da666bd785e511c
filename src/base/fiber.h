/* A function with a stack of its own, which stops in its middle and goes on later: several long ones take turns on one
 * thread at a time, in an order that their caller decides.
 *
 * Whoever resumes it may be another thread than before, so it keeps nothing of its thread. When memory runs out in it,
 * it has ended, and its caller runs out of memory (base/host_memory.h).
 */
#ifndef WS_BASE_FIBER_H
#define WS_BASE_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct fiber;

/* It has not begun. Its memory belongs to the heap of the thread that makes it. */
struct fiber *fiber_new(void (*fn)(void *ctx), void *ctx);
/* With another stack than one of 1 MiB. */
struct fiber *fiber_new_sized(void (*fn)(void *ctx), void *ctx, size_t stack_bytes);
/* Also of one that has not ended, whose stack is then gone. NULL: nothing. */
void fiber_free(struct fiber *);
/* One that has ended is a new one, on its stack. */
void fiber_renew(struct fiber *, void (*fn)(void *ctx), void *ctx);
/* Goes on until it stops or ends. False: it has ended; it is not resumed any more. */
bool fiber_resume(struct fiber *);
/* From inside: fiber_resume is back. */
void fiber_stop(struct fiber *);

#endif
