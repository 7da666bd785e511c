/* Memory and events of one process in another (CUDA IPC).
 *
 * Each process simulates a GPU of its own. Memory that one exports moves to a file in memory (gmem_share),
 * which the other maps into its GPU's address space: the bytes are the same. Handles name the file by the
 * exporting process and its file descriptor, so they are good while that process has the memory. Events have
 * a file of their own (ipc_event.h). Times of processes are not related, but with exec --share.
 */
#ifndef WS_CUDA_IPC_H
#define WS_CUDA_IPC_H

#include <stdint.h>

#include "cuda/core/api.h"

struct shim;
struct shim_part;

CUresult ipc_export_memory(struct shim *, CUipcMemHandle *, uint64_t addr);
/* The same handle opened again gives the same address, once more to be closed. */
CUresult ipc_open_memory(struct shim *, CUdeviceptr *addr, const CUipcMemHandle *, unsigned flags);
CUresult ipc_close_memory(struct shim *, uint64_t addr);
CUresult ipc_export_event(struct shim *, CUipcEventHandle *, CUevent);
CUresult ipc_open_event(struct shim *, CUevent *, const CUipcEventHandle *);
/* Allocations of a pool that was exported as a file descriptor (pool.h). */
CUresult ipc_export_pointer(struct shim *, CUmemPoolPtrExportData *, uint64_t addr);
CUresult ipc_import_pointer(struct shim *, CUdeviceptr *addr, CUmemoryPool, const CUmemPoolPtrExportData *);

extern const struct shim_part ipc_part;

#endif
