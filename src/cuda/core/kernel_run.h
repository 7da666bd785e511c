/* Kernels whose time has come: from the start of a launch to its record. What a program gives to a stream: enqueue.h.
 */
#ifndef WS_CUDA_KERNEL_RUN_H
#define WS_CUDA_KERNEL_RUN_H

#include "cuda/core/kernel.h"
#include "host/front.h"
#include "isa/watch.h"

struct live_end;
struct task;

/* On the timing model among others, or alone: without time, sampled, captured, or watched by somebody. */
enum command_place kernel_place(struct shim *, const struct launch_request *);
/* One that runs alone has ended when this returns, but for what it has launched. */
enum command_way kernel_begin(struct task *, uint64_t now, uint64_t *end);
/* One that took turns has ended: how. cut: others' fault ended it. */
enum run_end kernel_turn_ended(struct task *, bool cut);
/* One that shares the GPU has ended. */
void kernel_ended(struct task *, const struct live_end *);

#endif
