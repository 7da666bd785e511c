/* Streams and events of the program. */
#ifndef WS_CUDA_STREAMS_H
#define WS_CUDA_STREAMS_H

#include "cuda/core/shim.h"

enum { EVENT_EXTERNAL = 1 };
/* What cuCtxGetStreamPriorityRange says. */
enum { STREAM_PRIORITY_LEAST = 0, STREAM_PRIORITY_GREATEST = -5 };

/* What a handle stands for: also NULL, STREAM_LEGACY and STREAM_PER_THREAD. NULL: no stream. */
struct cu_stream *stream_of(struct shim *, CUstream);
CUresult stream_create(struct shim *, CUstream *, unsigned flags, int priority);
CUresult stream_destroy(struct shim *, CUstream);
CUresult stream_wait(struct shim *, CUstream);
/* CUDA_ERROR_NOT_READY while work is outstanding. */
CUresult stream_query(struct shim *, CUstream);
/* flags: EVENT_EXTERNAL makes a node of it when the stream captures. */
CUresult stream_wait_event(struct shim *, CUstream, CUevent, unsigned flags);
/* Launch attributes of streams: the window of L2, the way of waiting and the priority, which change nothing. */
CUresult stream_set_attribute(struct shim *, CUstream, int attribute, const CUlaunchAttributeValue *);
CUresult stream_attribute(struct shim *, CUstream, int attribute, CUlaunchAttributeValue *);
CUresult stream_copy_attributes(struct shim *, CUstream to, CUstream from);
/* The host waits for everything. */
CUresult stream_wait_all(struct shim *);
/* Calls fn when the stream's work so far is done; the host program waits for it. */
CUresult stream_call(struct shim *, CUstream, void (*fn)(void *), void *data);

/* The same, but cannot be captured. */
CUresult stream_callback(struct shim *, CUstream, void (*fn)(CUstream, CUresult, void *), void *data,
                         unsigned flags);

CUresult event_create(struct shim *, CUevent *, unsigned flags);
bool event_flags(const struct shim *, CUevent, unsigned *flags); /* false: no event */
CUresult event_destroy(struct shim *, CUevent);
CUresult event_record(struct shim *, CUevent, CUstream, unsigned flags);
CUresult event_query(struct shim *, CUevent);
CUresult event_wait(struct shim *, CUevent);
/* Milliseconds between two recorded events. */
CUresult event_elapsed(struct shim *, float *ms, CUevent from, CUevent to);

/* What these do when the time has come: for a stream that may stand for another (graph.c). */
void stream_host(struct shim *, struct cu_stream *, void (*fn)(void *), void *data);
CUresult stream_wait_event_now(struct shim *, struct cu_stream *, CUevent);
CUresult event_record_now(struct shim *, CUevent, struct cu_stream *);

/* An event behind all work of all streams; all streams wait for one. */
CUresult event_record_all(struct shim *, CUevent);
CUresult stream_wait_event_all(struct shim *, CUevent);

void stream_destroy_all(struct shim *);

#endif
