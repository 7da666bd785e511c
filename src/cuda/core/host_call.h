/* Functions of the program that a stream calls: cudaLaunchHostFunc, cudaStreamAddCallback, host nodes of graphs. A
 * thread of their own calls them, one after the other, as a driver does. Simulated time stands meanwhile; a function
 * that does not return soon only holds up its own stream, since it may wait for what another thread of the program
 * does. One that polls (poll_trap.h) does so from its first poll on.
 */
#ifndef WS_CUDA_HOST_CALL_H
#define WS_CUDA_HOST_CALL_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/front.h"

struct shim;
struct task;

struct host_calls {
  pthread_t thread;
  bool started;
  bool calls; /* a function has begun and not returned */
  sigset_t signals; /* blocked while a function runs */
  pthread_cond_t posted, returned;
  struct task **queue; /* the first one is being called */
  uint32_t n, room;
};

/* A function's time has come. */
enum command_way host_call_begin(struct task *, uint64_t now);
/* Of a program on a simulated CPU, which calls it itself: the function has returned. */
void host_call_returned(struct task *);
/* Whether the thread that asks is the one that calls them. */
bool host_call_is_mine(const struct shim *);

#endif
