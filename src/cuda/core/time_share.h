/* The GPU in turns with other processes of the same `exec --share slices`, each of which simulates its own
 * (base/time_slices.h). Before its kernels go on, a process asks the one beside all of them (cli/share_hub.h).
 *
 *   time   processes have one time axis, which a page that all map carries: a process that has slept, or has just
 *          begun, goes on where the GPU is
 *   alone  when the other end is gone, the process has the GPU to itself
 */
#ifndef WS_CUDA_TIME_SHARE_H
#define WS_CUDA_TIME_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct params;
struct shim;
struct slice_hello;
struct time_share;

/* Behind the GPUs, when the options say so; NULL in s->share: nobody else has the GPU. */
bool time_share_join(struct shim *, struct err *e);
/* Slices and switches of contexts on this GPU. */
struct slice_hello time_share_hello(const struct params *);
/* To who gives it out, by a name in the abstract space of Unix sockets; type: SOCK_SEQPACKET, SOCK_STREAM. -1: nobody
 * is there. */
int share_connect(const char *name, int type);
/* Whether kernels that have come to `now` may go on, until *until; false: the GPU stands until then. In: so far the
 * caller wants to go. */
bool time_share_ask(struct shim *, uint64_t now, uint64_t *until);
/* So far the kernels have gone or stood, ps. */
uint64_t time_share_reached(const struct shim *);
/* There are no kernels any more; the last one ended then. Nothing, if that is known. */
void time_share_over(struct shim *, uint64_t end);
/* For the report: ps that kernels have waited for other processes, and how often they had to. */
struct time_share_stats {
  uint64_t stood, stands;
};
const struct time_share_stats *time_share_stats(const struct shim *);

#endif
