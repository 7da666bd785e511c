/* Which streams an operation of a stream comes behind: CUDA programming guide, "Default Stream" and "Per-thread
 * Default Stream". A stream is a chain of commands of the front end. The legacy default stream and the blocking ones
 * wait for each other, a non-blocking one for nobody. Each GPU has its own.
 */
#ifndef WS_CUDA_STREAM_ORDER_H
#define WS_CUDA_STREAM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct command;
struct shim;
struct stream;

/* A stream's place in the order. Zeroed: a blocking stream without work. */
struct stream_order {
  struct command *last; /* held; NULL: none yet */
  bool legacy;          /* the legacy default stream */
  bool non_blocking;    /* takes no part in the legacy stream's ordering */
  unsigned queue;       /* hardware queue of its kernels, from 1; 0: none yet */
};

/* The command, not yet given, comes behind what a new operation of the stream must wait for. */
void stream_follow(struct shim *, struct command *, const struct stream *);
/* … and later operations of the stream come behind it. */
void stream_append(struct shim *, struct command *, struct stream *);
/* Calls fn for all commands that a new operation of the stream comes behind, until it says false. */
bool stream_each_before(struct shim *, const struct stream *, bool (*fn)(struct shim *, struct command *, void *ctx),
                        void *ctx);
/* The hardware queue of its kernels: streams get one in turn, when they are given the first. */
unsigned stream_queue(struct stream *);
/* The stream goes away; what was given to it does not. */
void stream_order_end(struct shim *, struct stream *);

#endif
