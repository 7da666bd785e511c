/* Our own declarations of the interfaces against the toolkit's headers. Compiled twice, with and without
 * -DTOOLKIT; both programs must print the same: numbers of codes and attributes, and where the fields of
 * structures lie.
 */
#include <stddef.h>
#include <stdio.h>

#ifdef TOOLKIT
#include <cuda.h>
#include <cuda_runtime_api.h>
#define NUMBER(name, number) printf("%s %d\n", #name, (int)name)
#define FIELD(type, ours, theirs) printf("%s %zu\n", #type "." #theirs, offsetof(type, theirs))
#define SIZE(ours, theirs) printf("%s %zu\n", #theirs, sizeof(theirs))
#define PROP_OFFSET(name) offsetof(struct cudaDeviceProp, name)
#else
#include "cuda/core/attributes.h"
#define NUMBER(name, number) printf("%s %d\n", #name, number)
#define FIELD(type, ours, theirs) printf("%s %zu\n", #type "." #theirs, offsetof(type, ours))
#define SIZE(ours, theirs) printf("%s %zu\n", #theirs, sizeof(ours))
#define PROP_OFFSET(name) offsetof(struct device_prop_13, name)
#endif

static void codes(void)
{
/* A code that one interface lacks has the name NONE there. */
#define NONE 0
#define ERROR(number, driver, runtime, text)                                                       \
  if (#driver[0] == 'C') NUMBER(driver, number);                                                   \
  if (#runtime[0] == 'c') NUMBER(runtime, number);
#include "../../src/cuda/core/errors.def"
#define ATTRIBUTE(number, name, value) NUMBER(CU_DEVICE_ATTRIBUTE_##name, number);
#include "../../src/cuda/core/attributes.def"
}

static void properties(void)
{
#define PROP(type, name, count, attribute) printf("%s %zu\n", #name, PROP_OFFSET(name));
#define PROP_BOTH PROP
#define PROP_ONLY13 PROP
#define PROP_ONLY12(type, name, count, attribute)
#include "../../src/cuda/core/properties.def"
}

static void structures(void)
{
  SIZE(struct device_prop_13, struct cudaDeviceProp);
  SIZE(CUDA_MEMCPY2D, CUDA_MEMCPY2D);
  SIZE(CUDA_RESOURCE_VIEW_DESC, CUDA_RESOURCE_VIEW_DESC);
  FIELD(CUDA_RESOURCE_VIEW_DESC, first_level, firstMipmapLevel);
  SIZE(CUDA_MEMCPY3D, CUDA_MEMCPY3D);
  SIZE(CUstreamBatchMemOpParams, CUstreamBatchMemOpParams);
  FIELD(CUstreamBatchMemOpParams, word.value64, waitValue.value64);
  FIELD(CUstreamBatchMemOpParams, word.flags, writeValue.flags);
  FIELD(CUstreamBatchMemOpParams, other.flags, memoryBarrier.flags);
  SIZE(CUDA_BATCH_MEM_OP_NODE_PARAMS, CUDA_BATCH_MEM_OP_NODE_PARAMS);
  FIELD(CUDA_BATCH_MEM_OP_NODE_PARAMS, op, paramArray);
  SIZE(CUmemcpyAttributes, CUmemcpyAttributes);
  FIELD(CUmemcpyAttributes, flags, flags);
  SIZE(CUDA_MEMCPY3D_BATCH_OP, CUDA_MEMCPY3D_BATCH_OP);
  FIELD(CUDA_MEMCPY3D_BATCH_OP, extent, extent);
  FIELD(CUDA_MEMCPY3D_BATCH_OP, flags, flags);
  FIELD(CUmemcpy3DOperand, pointer.layer, op.ptr.layerHeight);
  FIELD(CUmemcpy3DOperand, array.offset, op.array.offset);
  SIZE(CUlaunchAttribute, CUlaunchAttribute);
  SIZE(CUaccessPolicyWindow, CUaccessPolicyWindow);
  FIELD(CUaccessPolicyWindow, miss, missProp);
  SIZE(CUlaunchConfig, CUlaunchConfig);
  SIZE(cudaLaunchConfig_t, cudaLaunchConfig_t);
  SIZE(cudaMemcpy3DParms, struct cudaMemcpy3DParms);
  SIZE(cudaMemcpy3DPeerParms, struct cudaMemcpy3DPeerParms);
  SIZE(cudaFuncAttributes, struct cudaFuncAttributes);
  SIZE(cudaPointerAttributes, struct cudaPointerAttributes);
  SIZE(CUmemPoolProps, CUmemPoolProps);
  SIZE(CUmemAccessDesc, CUmemAccessDesc);
  SIZE(CUgraphNodeParams, CUgraphNodeParams);
  FIELD(CUgraphNodeParams, kernel, kernel);
  SIZE(CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS);
  FIELD(CUDA_MEM_ALLOC_NODE_PARAMS, p, dptr);
  SIZE(CUDA_CONDITIONAL_NODE_PARAMS, CUDA_CONDITIONAL_NODE_PARAMS);
  FIELD(CUDA_CONDITIONAL_NODE_PARAMS, body, phGraph_out);
  SIZE(CUmemAllocationProp, CUmemAllocationProp);
  SIZE(CUmulticastObjectProp, CUmulticastObjectProp);
  FIELD(CUmulticastObjectProp, flags, flags);
  FIELD(CUmemAllocationProp, usage, allocFlags.usage);
  SIZE(CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS);
  SIZE(CUgraphExecUpdateResultInfo, CUgraphExecUpdateResultInfo);
  SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS, CUDA_GRAPH_INSTANTIATE_PARAMS);
  SIZE(CUgraphEdgeData, CUgraphEdgeData);
  FIELD(CUDA_KERNEL_NODE_PARAMS, params, kernelParams);
  FIELD(CUmemPoolProps, max_bytes, maxSize);
  FIELD(CUDA_MEMCPY2D, src_device, srcDevice);
  FIELD(CUDA_MEMCPY2D, dst_array, dstArray);
  FIELD(CUDA_MEMCPY2D, height, Height);
  FIELD(CUDA_MEMCPY3D, src_pitch, srcPitch);
  FIELD(CUDA_MEMCPY3D, dst_type, dstMemoryType);
  FIELD(CUDA_MEMCPY3D, dst_height, dstHeight);
  FIELD(CUDA_MEMCPY3D, depth, Depth);
  FIELD(CUlaunchAttribute, value, value);
  FIELD(CUlaunchConfig, shared, sharedMemBytes);
  FIELD(CUlaunchConfig, n_attrs, numAttrs);
  FIELD(cudaLaunchConfig_t, shared, dynamicSmemBytes);
  FIELD(cudaLaunchConfig_t, n_attrs, numAttrs);
}

int main(void)
{
  codes();
  properties();
  structures();
  return 0;
}
