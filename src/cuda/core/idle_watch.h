/* What goes on while the program makes no calls. Kernels on the timing model only go on in calls of the program; one
 * that waits in its own code for what a kernel or a stream's function does (it reads a flag in pinned memory, it
 * sleeps on a condition) would wait for ever. So a thread lets simulated time pass when there is work and the thread
 * that called last has since then taken 20 ms of processor time, or sleeps. The next call stops it.
 *
 * Simulated times do not depend on it, unless the program gives further work to other streams while kernels are still
 * on the GPU: then that comes when the GPU has gone so far (docs/exec-time.md).
 */
#ifndef WS_CUDA_IDLE_WATCH_H
#define WS_CUDA_IDLE_WATCH_H

struct shim;

/* A call ends, and there is work: somebody should look after it. */
void idle_watch(struct shim *);

#endif
