/* What a program gives to a stream. In a stream that captures an operation becomes a node of the graph
 * (stream_capture.h), else a command of the front end (task.h).
 */
#ifndef WS_CUDA_ENQUEUE_H
#define WS_CUDA_ENQUEUE_H

#include "cuda/core/copy.h"
#include "cuda/core/kernel.h"

enum { EVENT_EXTERNAL = 1 };

/* Bad configurations are errors of the call, as kernel_check has them; a fault of the kernel shows later
 * (shim.h). */
CUresult enqueue_kernel(struct shim *, const struct launch_request *);
CUresult enqueue_graph(struct shim *, CUgraphExec, CUstream);
/* blocking: the host waits (copy_host_waits). CUDA_ERROR_INVALID_VALUE: outside of what is allocated; nothing is
 * copied then. */
CUresult enqueue_copy(struct shim *, const struct copy *, struct stream *, bool blocking);
/* blocking: the host waits where it sees the memory itself (CUDA Driver API, "API synchronization behavior"). */
CUresult enqueue_fill(struct shim *, const struct fill *, struct stream *, bool blocking);
CUresult enqueue_mem_ops(struct shim *, CUstream, const CUstreamBatchMemOpParams *, unsigned n, unsigned flags);

/* Calls fn when the stream's work so far is done (host_call.h). */
CUresult enqueue_host(struct shim *, CUstream, void (*fn)(void *), void *data);
/* The same, but cannot be captured. */
CUresult enqueue_callback(struct shim *, CUstream, void (*fn)(CUstream, CUresult, void *), void *data,
                          unsigned flags);

/* flags: EVENT_EXTERNAL makes a node of it when the stream captures; else the event stands for the
 * stream's place in the graph, and a wait for one joins its capture. */
CUresult enqueue_record(struct shim *, CUevent, CUstream, unsigned flags);
CUresult enqueue_wait_event(struct shim *, CUstream, CUevent, unsigned flags);

/* Memory of a pool; takes effect at once: everything issued before has run. While the stream captures the
 * graph will allocate, at the address that it says now. */
CUresult enqueue_alloc(struct shim *, CUmemoryPool, uint64_t *addr, uint64_t bytes, CUstream);
CUresult enqueue_free(struct shim *, uint64_t addr, CUstream);

#endif
