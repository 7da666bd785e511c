/* What the program asks of streams and events from outside: whether and when their work is done, and to
 * wait for it. A stream that captures cannot be asked; one that waits (hold.h) keeps the host waiting.
 */
#ifndef WS_CUDA_SYNCHRONIZE_H
#define WS_CUDA_SYNCHRONIZE_H

#include "cuda/core/board.h"

struct shim;

/* What comes behind all that a stream, and these GPUs, have been given so far: held. NULL: no such stream. */
struct command *stream_point(struct shim *, CUstream);
struct command *boards_point(struct shim *, board_mask);

CUresult stream_wait(struct shim *, CUstream);
/* The host waits for all that was given to these GPUs so far; to any. */
CUresult stream_wait_boards(struct shim *, board_mask);
/* … to a green context, to all contexts of the GPU of another one (CUDA Driver API, cuCtxSynchronize). */
CUresult stream_wait_context(struct shim *, const struct context *);
/* … to the GPU whose memory it is, and those that see it. */
CUresult stream_wait_memory(struct shim *, uint64_t addr);
/* CUDA_ERROR_NOT_READY while work is outstanding. */
CUresult stream_query(struct shim *, CUstream);
/* The host waits for what the stream has put off, not for simulated time. */
CUresult stream_destroy(struct shim *, CUstream);

CUresult event_wait(struct shim *, CUevent);
CUresult event_query(struct shim *, CUevent);
/* Milliseconds between two recorded events. */
CUresult event_elapsed(struct shim *, float *ms, CUevent from, CUevent to);

/* An event behind all work of all streams of a GPU, or of a green context of it (NULL: of all); all wait for one.
 */
CUresult event_record_all(struct shim *, struct board *, const struct green_context *, CUevent);
CUresult stream_wait_event_all(struct shim *, struct board *, const struct green_context *, CUevent);

#endif
