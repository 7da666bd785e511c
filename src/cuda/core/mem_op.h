/* Memory operations of streams: a stream writes a word, or waits until a word has a value (CUDA Driver API, "Stream
 * Memory Operations"). A wait whose value is there costs nothing; else the command asks (host/front.h).
 */
#ifndef WS_CUDA_MEM_OP_H
#define WS_CUDA_MEM_OP_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/core/api.h"

struct shim;

enum { MEM_OPS_MAX = 255 }; /* of a batch (CUDA Driver API, cuStreamBatchMemOp) */

/* Whether all of them can be done; CUDA_ERROR_NOT_SUPPORTED: flushes of remote writes. */
CUresult mem_op_check(struct shim *, const CUstreamBatchMemOpParams *, unsigned n, unsigned flags);
/* Whether the operation is none that would have to wait now. */
bool mem_op_is_ready(struct shim *, const CUstreamBatchMemOpParams *);
/* When its time has come. False: it has to wait. */
bool mem_op_run(struct shim *, const CUstreamBatchMemOpParams *);
/* "the 32 bits at 0x10 >= 1 (they are 0)" */
void mem_op_describe(struct shim *, const CUstreamBatchMemOpParams *, char *text, size_t size);

#endif
