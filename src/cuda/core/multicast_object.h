/* Multicast objects: addresses that stand for memory of several GPUs behind switches that send to several
 * (cuMulticastCreate; multimem instructions of kernels).
 *
 *   handle    an object is a handle of virtual memory management (vmm.h) without memory: mapped, shown and released as
 *             such
 *   binding   memory of one of its GPUs for a part of it. It keeps the memory: a mapping for that GPU alone, at
 *             addresses that the program does not know. Where the program has a mapping of its own for that GPU,
 *             requests go there: caches know memory by its address
 *   kernels   see parts for which each GPU has memory (base/multicast.h); the others are no memory
 *   granules  the page, the least and the recommended one (guess: 2 MiB on an H100)
 *   not there objects of one GPU; of other processes; fabric handles
 */
#ifndef WS_CUDA_MULTICAST_OBJECT_H
#define WS_CUDA_MULTICAST_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/core/api.h"
#include "cuda/core/board.h"

struct multicast_object;
struct stat;
struct vmm_mapping;

CUresult multicast_granularity(struct shim *, size_t *bytes, const CUmulticastObjectProp *);
CUresult multicast_create(struct shim *, CUmemGenericAllocationHandle *, const CUmulticastObjectProp *);
CUresult multicast_add_device(struct shim *, CUmemGenericAllocationHandle, int device);
CUresult multicast_bind_memory(struct shim *, CUmemGenericAllocationHandle, uint64_t at,
                               CUmemGenericAllocationHandle memory, uint64_t offset, uint64_t bytes);
/* Memory that is mapped there, or of a pool. */
CUresult multicast_bind_address(struct shim *, CUmemGenericAllocationHandle, uint64_t at, uint64_t addr,
                                uint64_t bytes);
CUresult multicast_unbind(struct shim *, CUmemGenericAllocationHandle, int device, uint64_t at, uint64_t bytes);

/* For vmm.c: all GPUs have been added; this is one of them; kernels of the GPUs that a mapping of an object is shown to
 * see it from now on; mappings of memory have changed; the last handle and mapping have gone. */
bool multicast_is_complete(const struct multicast_object *);
bool multicast_has(const struct multicast_object *, const struct board *);
void multicast_show(struct shim *, const struct vmm_mapping *);
void multicast_refresh(struct shim *);
void multicast_free(struct shim *, struct multicast_object *);
/* Another handle to the object that was exported as this file; false: none was. */
bool multicast_import(struct shim *, CUmemGenericAllocationHandle *, const struct stat *);

#endif
