/* Threads of ours in the process of a program: by their name others know that it is not the program that runs
 * (cuda/core/host_turns.h).
 */
#ifndef WS_BASE_OWN_THREAD_H
#define WS_BASE_OWN_THREAD_H

#include <sys/prctl.h>

#define OWN_THREAD_NAME "warpstep-helper" /* as long as Linux takes */

/* The calling thread is one. */
static inline void own_thread(void)
{
  prctl(PR_SET_NAME, OWN_THREAD_NAME);
}

#endif
