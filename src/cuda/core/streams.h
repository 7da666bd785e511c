/* Streams and events of the program: what they are. What the program gives to them and asks of them: enqueue.h,
 * synchronize.h. */
#ifndef WS_CUDA_STREAMS_H
#define WS_CUDA_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/core/api.h"
#include "cuda/core/stream_order.h"

struct board;
struct command;
struct context;
struct shim;
struct shared_event;
struct shim_part;
struct stream_capture;


/* Nodes of a graph that is being captured. */
struct node_set {
  CUgraphNode *node;
  size_t n;
};

struct stream {
  struct stream *next;
  struct board *board;
  struct context *context;
  struct green_context *green; /* NULL: its kernels run on all SMs */
  unsigned flags;
  int priority;
  CUaccessPolicyWindow window; /* of L2, for its launches */
  int sync_policy;             /* for the program to read back; 0: nothing was said */
  uint64_t id;
  struct stream_order order;
  struct stream_capture *capture; /* NULL: it does not capture */
  struct node_set tips;           /* what the next captured operation waits for */
};

struct event {
  struct event *next;
  const struct board *board;
  uint32_t id; /* of all events that there ever were */
  unsigned flags;
  struct command *command; /* held: with which it happens; NULL: it was never recorded */
  uint64_t capture;     /* id of the capture it was recorded in, 0: none */
  struct node_set tips; /* and its place there */
  struct shared_event *shared; /* what other processes know of it (ipc_event.h); NULL: nothing */
  uint64_t shared_at, shared_record; /* its place in its file; the last record of this process, 0: none */
};

struct streams {
  struct stream *first; /* the default ones are in board.h and shim.h */
  struct event *events;
  uint32_t events_made;
};

/* What cuCtxGetStreamPriorityRange says. */
enum { STREAM_PRIORITY_LEAST = 0, STREAM_PRIORITY_GREATEST = -5 };

/* What a handle stands for: also NULL, STREAM_LEGACY and STREAM_PER_THREAD, on the current device. NULL: no stream. */
struct stream *stream_of(struct shim *, CUstream);
CUresult stream_create(struct shim *, CUstream *, unsigned flags, int priority);
/* … in this context, not the current one. */
CUresult stream_create_in(struct shim *, CUstream *, struct context *, unsigned flags, int priority);
/* Nothing refers to it any more. */
void stream_free(struct shim *, struct stream *);
/* What the program asks for: where all are NULL it asked for nothing, CUDA_ERROR_INVALID_VALUE. */
CUresult stream_describe(struct shim *, CUstream, unsigned *flags, int *priority, unsigned long long *id, int *device);
/* Launch attributes of streams: priority and window of L2 of launches that follow; the way of waiting, which changes
 * nothing. */
CUresult stream_set_attribute(struct shim *, CUstream, int attribute, const CUlaunchAttributeValue *);
CUresult stream_attribute(struct shim *, CUstream, int attribute, CUlaunchAttributeValue *);
CUresult stream_copy_attributes(struct shim *, CUstream to, CUstream from);

/* NULL: no event. */
struct event *event_of(const struct shim *, CUevent);
CUresult event_create(struct shim *, CUevent *, unsigned flags);
bool event_flags(const struct shim *, CUevent, unsigned *flags); /* false: no event */
CUresult event_destroy(struct shim *, CUevent);

/* The event, one for several processes, gets a place in a file (ipc_event.h), if it has none: it may be recorded. */
CUresult event_export(struct shim *, CUevent, int *fd, uint64_t *at);
/* From now on the event stands for this command. No event: nothing. */
void event_attach(struct shim *, CUevent, struct command *);
/* The command, not yet given, comes behind what the event stands for now, also in another process. */
void event_follow(struct shim *, struct command *, CUevent);

extern const struct shim_part stream_part;

#endif
