/* Streams and events of the program: what they are, and what is done with them when the time has come.
 * What the program asks of them may have to wait or is captured first: enqueue.h, synchronize.h. */
#ifndef WS_CUDA_STREAMS_H
#define WS_CUDA_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/core/api.h"
#include "host/timeline.h"

struct context;
struct held;
struct shim;
struct shim_part;
struct stream_capture;


/* Nodes of a graph that is being captured. */
struct node_set {
  CUgraphNode *node;
  size_t n;
};

struct stream {
  struct stream *next;
  struct context *context;
  unsigned flags;
  int priority;
  CUaccessPolicyWindow window; /* of L2; for the program to read back */
  int sync_policy;             /* likewise; 0: nothing was said */
  uint64_t id;
  struct stream_clock clock;
  bool graph;                     /* stands for a stream while a graph runs */
  struct stream_capture *capture; /* NULL: it does not capture */
  struct node_set tips;           /* what the next captured operation waits for */
  struct held *hold, *hold_last;  /* hold.h; NULL: it does not wait */
};

struct event {
  struct event *next;
  unsigned flags;
  bool recorded;
  uint64_t when;        /* ps: when it happens */
  uint64_t capture;     /* id of the capture it was recorded in, 0: none */
  struct node_set tips; /* and its place there */
};

struct streams {
  struct stream *first, legacy;
  struct event *events;
};

/* What cuCtxGetStreamPriorityRange says. */
enum { STREAM_PRIORITY_LEAST = 0, STREAM_PRIORITY_GREATEST = -5 };

/* What a handle stands for: also NULL, STREAM_LEGACY and STREAM_PER_THREAD. NULL: no stream. */
struct stream *stream_of(struct shim *, CUstream);
CUresult stream_create(struct shim *, CUstream *, unsigned flags, int priority);
/* Nothing refers to it any more. */
void stream_free(struct shim *, struct stream *);
/* What the program asks for: where all are NULL it asked for nothing, CUDA_ERROR_INVALID_VALUE. */
CUresult stream_describe(struct shim *, CUstream, unsigned *flags, int *priority, unsigned long long *id, int *device);
/* Launch attributes of streams: the window of L2, the way of waiting and the priority, which change
 * nothing. */
CUresult stream_set_attribute(struct shim *, CUstream, int attribute, const CUlaunchAttributeValue *);
CUresult stream_attribute(struct shim *, CUstream, int attribute, CUlaunchAttributeValue *);
CUresult stream_copy_attributes(struct shim *, CUstream to, CUstream from);

/* NULL: no event. */
struct event *event_of(const struct shim *, CUevent);
CUresult event_create(struct shim *, CUevent *, unsigned flags);
bool event_flags(const struct shim *, CUevent, unsigned *flags); /* false: no event */
CUresult event_destroy(struct shim *, CUevent);

/* What these do when the time has come: for a stream that may stand for another (graph_run.c). The host
 * function runs without the lock. */
void stream_host(struct shim *, struct stream *, void (*fn)(void *), void *data);
CUresult stream_wait_event_now(struct shim *, struct stream *, CUevent);
CUresult event_record_now(struct shim *, CUevent, struct stream *);

extern const struct shim_part stream_part;

#endif
