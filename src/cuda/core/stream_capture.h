/* Stream capture: operations given to a capturing stream become nodes of a graph. A stream joins the
 * capture of another by waiting for an event that was recorded there. */
#ifndef WS_CUDA_STREAM_CAPTURE_H
#define WS_CUDA_STREAM_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/core/api.h"

struct event;
struct graph_op;
struct shim;
struct shim_part;
struct stream;

/* CUstreamCaptureMode, CUstreamCaptureStatus */
enum { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED };
enum { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALIDATED };

/* g NULL: into a graph of its own. deps: what the first operation waits for. */
CUresult capture_begin(struct shim *, CUstream, CUgraph g, const CUgraphNode *deps, size_t n, int mode);
CUresult capture_end(struct shim *, CUstream, CUgraph *);
/* True: the operation was not to be run; *r: it became a node, or why not. */
bool capture_records(struct shim *, struct stream *, const struct graph_op *, CUresult *r);
/* The same for operations that cannot be captured: a capture they touch is spoilt. */
bool capture_forbids(struct shim *, const struct stream *, CUresult *r);
/* The same for calls that no stream orders: the host waits for the whole device, or memory is made or given back. */
bool capture_forbids_unsafe(struct shim *, CUresult *r);

/* An event recorded in a capturing stream stands for the stream's place in the graph. */
void capture_event(struct stream *, struct event *);
/* Whether the event belongs to a capture that is still going on. */
bool capture_has_event(const struct shim *, const struct event *);
CUresult capture_join(struct shim *, struct stream *, const struct event *);

/* *id, *g, *deps are written while a capture is active; each may be NULL. */
CUresult capture_info(struct shim *, CUstream, int *status, uint64_t *id, CUgraph *g,
                      const CUgraphNode **deps, size_t *n);
/* replace: instead of the stream's place in the graph, else besides. */
CUresult capture_set_deps(struct shim *, CUstream, const CUgraphNode *deps, size_t n, bool replace);
/* The stream or the event goes away. */
void capture_forget_stream(struct shim *, struct stream *);

extern const struct shim_part capture_part;

#endif
