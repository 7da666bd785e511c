/* Entry points in the forms that earlier versions of the driver interface gave them, for programs made with those:
 * most only have another name now, some lack an argument that came later (cudaTypedefs.h has the forms).
 * The forms of before 3.2 whose addresses are 32 bits wide are not here.
 */
#include "cuda/core/api.h"

/* The entry points these stand for. */
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
CUresult cuCtxDestroy_v2(CUcontext);
CUresult cuCtxPushCurrent_v2(CUcontext);
CUresult cuCtxPopCurrent_v2(CUcontext *);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice, unsigned);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamWaitValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);
CUresult cuStreamWaitValue64_v2(CUstream, CUdeviceptr, uint64_t, unsigned);
CUresult cuStreamWriteValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);
CUresult cuStreamWriteValue64_v2(CUstream, CUdeviceptr, uint64_t, unsigned);
CUresult cuStreamBatchMemOp_v2(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned);
CUresult cuEventDestroy_v2(CUevent);
CUresult cuEventElapsedTime_v2(float *, CUevent, CUevent);
CUresult cuMemHostRegister_v2(void *, size_t, unsigned);
CUresult cuLinkCreate_v2(unsigned, int *, void **, CUlinkState *);
CUresult cuLinkAddData_v2(CUlinkState, int, void *, size_t, const char *, unsigned, int *, void **);
CUresult cuLinkAddFile_v2(CUlinkState, int, const char *, unsigned, int *, void **);
CUresult cuMemAdvise_v2(CUdeviceptr, size_t, int, CUmemLocation);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream);
CUresult cuStreamBeginCapture_v2(CUstream, int);
CUresult cuStreamGetCaptureInfo_v3(CUstream, int *, uint64_t *, CUgraph *, const CUgraphNode **,
                                   const CUgraphEdgeData **, size_t *);
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream, CUgraphNode *, const CUgraphEdgeData *, size_t,
                                              unsigned);
CUresult cuGraphAddDependencies_v2(CUgraph, const CUgraphNode *, const CUgraphNode *,
                                   const CUgraphEdgeData *, size_t);
CUresult cuGraphRemoveDependencies_v2(CUgraph, const CUgraphNode *, const CUgraphNode *,
                                      const CUgraphEdgeData *, size_t);
CUresult cuGraphGetEdges_v2(CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *);
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *);
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *);
CUresult cuGraphExecUpdate_v2(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
                                 const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);

/* name(params) for the program, call(arguments) for us. */
#define EARLIER(name, params, call, arguments)                                                     \
  CUresult name params                                                                             \
  {                                                                                                \
    return call arguments;                                                                         \
  }

EARLIER(cuCtxCreate, (CUcontext *c, unsigned flags, CUdevice d), cuCtxCreate_v2, (c, flags, d))
EARLIER(cuCtxDestroy, (CUcontext c), cuCtxDestroy_v2, (c))
EARLIER(cuCtxPushCurrent, (CUcontext c), cuCtxPushCurrent_v2, (c))
EARLIER(cuCtxPopCurrent, (CUcontext *c), cuCtxPopCurrent_v2, (c))
EARLIER(cuDevicePrimaryCtxRelease, (CUdevice d), cuDevicePrimaryCtxRelease_v2, (d))
EARLIER(cuDevicePrimaryCtxReset, (CUdevice d), cuDevicePrimaryCtxReset_v2, (d))
EARLIER(cuDevicePrimaryCtxSetFlags, (CUdevice d, unsigned flags), cuDevicePrimaryCtxSetFlags_v2,
        (d, flags))
EARLIER(cuStreamDestroy, (CUstream st), cuStreamDestroy_v2, (st))
EARLIER(cuStreamWaitValue32, (CUstream st, CUdeviceptr p, uint32_t v, unsigned flags), cuStreamWaitValue32_v2,
        (st, p, v, flags))
EARLIER(cuStreamWaitValue64, (CUstream st, CUdeviceptr p, uint64_t v, unsigned flags), cuStreamWaitValue64_v2,
        (st, p, v, flags))
EARLIER(cuStreamWriteValue32, (CUstream st, CUdeviceptr p, uint32_t v, unsigned flags), cuStreamWriteValue32_v2,
        (st, p, v, flags))
EARLIER(cuStreamWriteValue64, (CUstream st, CUdeviceptr p, uint64_t v, unsigned flags), cuStreamWriteValue64_v2,
        (st, p, v, flags))
EARLIER(cuStreamBatchMemOp, (CUstream st, unsigned n, CUstreamBatchMemOpParams *op, unsigned flags),
        cuStreamBatchMemOp_v2, (st, n, op, flags))
EARLIER(cuEventDestroy, (CUevent e), cuEventDestroy_v2, (e))
EARLIER(cuEventElapsedTime, (float *ms, CUevent from, CUevent to), cuEventElapsedTime_v2, (ms, from, to))
EARLIER(cuMemHostRegister, (void *p, size_t n, unsigned flags), cuMemHostRegister_v2, (p, n, flags))
EARLIER(cuLinkCreate, (unsigned n, int *options, void **values, CUlinkState *link), cuLinkCreate_v2,
        (n, options, values, link))
EARLIER(cuLinkAddData,
        (CUlinkState link, int type, void *data, size_t bytes, const char *name, unsigned n,
         int *options, void **values),
        cuLinkAddData_v2, (link, type, data, bytes, name, n, options, values))
EARLIER(cuLinkAddFile,
        (CUlinkState link, int type, const char *path, unsigned n, int *options, void **values),
        cuLinkAddFile_v2, (link, type, path, n, options, values))

/* A device, or CU_DEVICE_CPU. */
static CUmemLocation location(CUdevice d)
{
  return (CUmemLocation){ d < 0 ? LOCATION_HOST : LOCATION_DEVICE, d < 0 ? 0 : d };
}

EARLIER(cuMemAdvise, (CUdeviceptr p, size_t n, int advice, CUdevice d), cuMemAdvise_v2,
        (p, n, advice, location(d)))
EARLIER(cuMemPrefetchAsync, (CUdeviceptr p, size_t n, CUdevice d, CUstream st), cuMemPrefetchAsync_v2,
        (p, n, location(d), 0, st))

/* Capture: without a mode it was global. */
EARLIER(cuStreamBeginCapture, (CUstream st), cuStreamBeginCapture_v2, (st, 0))
EARLIER(cuStreamGetCaptureInfo, (CUstream st, int *status, uint64_t *id), cuStreamGetCaptureInfo_v3,
        (st, status, id, NULL, NULL, NULL, NULL))
EARLIER(cuStreamGetCaptureInfo_v2,
        (CUstream st, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **deps, size_t *n),
        cuStreamGetCaptureInfo_v3, (st, status, id, g, deps, NULL, n))
EARLIER(cuStreamUpdateCaptureDependencies, (CUstream st, CUgraphNode *deps, size_t n, unsigned flags),
        cuStreamUpdateCaptureDependencies_v2, (st, deps, NULL, n, flags))

/* Graphs: edges without data. */
EARLIER(cuGraphAddDependencies,
        (CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n),
        cuGraphAddDependencies_v2, (g, from, to, NULL, n))
EARLIER(cuGraphRemoveDependencies,
        (CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n),
        cuGraphRemoveDependencies_v2, (g, from, to, NULL, n))
EARLIER(cuGraphGetEdges, (CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n), cuGraphGetEdges_v2,
        (g, from, to, NULL, n))
EARLIER(cuGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *deps, size_t *n),
        cuGraphNodeGetDependencies_v2, (node, deps, NULL, n))
EARLIER(cuGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode *deps, size_t *n),
        cuGraphNodeGetDependentNodes_v2, (node, deps, NULL, n))

/* The node and the buffer for a text tell what failed; there is no text. */
CUresult cuGraphInstantiate_v2(CUgraphExec *x, CUgraph g, CUgraphNode *failed, char *text, size_t bytes)
{
  if (failed) *failed = NULL;
  if (text && bytes) *text = '\0';
  return cuGraphInstantiateWithFlags(x, g, 0);
}

EARLIER(cuGraphInstantiate, (CUgraphExec *x, CUgraph g, CUgraphNode *failed, char *text, size_t bytes),
        cuGraphInstantiate_v2, (x, g, failed, text, bytes))

CUresult cuGraphExecUpdate(CUgraphExec x, CUgraph g, CUgraphNode *failed, int *result)
{
  CUgraphExecUpdateResultInfo info = {0};
  CUresult r = cuGraphExecUpdate_v2(x, g, &info);
  if (failed) *failed = info.node;
  if (result) *result = info.result;
  return r;
}

/* Kernel nodes: the parameters end before `kernel`. */
static CUDA_KERNEL_NODE_PARAMS now(const CUDA_KERNEL_NODE_PARAMS *earlier)
{
  CUDA_KERNEL_NODE_PARAMS p = {0};
  p.function = earlier->function, p.shared = earlier->shared;
  for (int i = 0; i < 3; i++) p.grid[i] = earlier->grid[i], p.block[i] = earlier->block[i];
  p.params = earlier->params, p.extra = earlier->extra;
  return p;
}

CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                              const CUDA_KERNEL_NODE_PARAMS *earlier)
{
  if (!earlier) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS p = now(earlier);
  return cuGraphAddKernelNode_v2(out, g, deps, n, &p);
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *earlier)
{
  CUDA_KERNEL_NODE_PARAMS p;
  if (!earlier) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = cuGraphKernelNodeGetParams_v2(node, &p);
  if (r != CUDA_SUCCESS) return r;
  earlier->function = p.function, earlier->shared = p.shared;
  for (int i = 0; i < 3; i++) earlier->grid[i] = p.grid[i], earlier->block[i] = p.block[i];
  earlier->params = p.params, earlier->extra = p.extra;
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *earlier)
{
  if (!earlier) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS p = now(earlier);
  return cuGraphKernelNodeSetParams_v2(node, &p);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *earlier)
{
  if (!earlier) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS p = now(earlier);
  return cuGraphExecKernelNodeSetParams_v2(x, node, &p);
}
