/* Entry points of the runtime in the forms that CUDA 11 and 12 gave them, for programs made with those: under names of
 * their own (with _v2, _v3), or under a name that CUDA 13 has with other arguments (runtime_earlier.def says which of
 * these a program gets; they are called NAME_of_11, NAME_of_12 here).
 */
#include "cuda/runtime/runtime_earlier.h"

#include <string.h>

#include "cuda/core/attributes.h"
#include "cuda/core/per_thread.h"

/* The entry points these stand for. */
CUresult cudaCreateTextureObject(unsigned long long *, const cudaResourceDesc *, const cudaTextureDesc *,
                                 const CUDA_RESOURCE_VIEW_DESC *);
CUresult cudaDeviceGetCacheConfig(int *);
CUresult cudaDeviceGetLimit(size_t *, int);
CUresult cudaDeviceReset(void);
CUresult cudaDeviceSetCacheConfig(int);
CUresult cudaDeviceSetLimit(int, size_t);
CUresult cudaDeviceSynchronize(void);
CUresult cudaEventElapsedTime(float *, CUevent, CUevent);
CUresult cudaFuncGetAttributes(cudaFuncAttributes *, const void *);
CUresult cudaGetDeviceProperties_v2(struct device_prop_12 *, int);
CUresult cudaGetDriverEntryPointByVersion(const char *, void **, unsigned, unsigned long long, int *);
CUresult cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *, unsigned long long);
CUresult cudaGetTextureObjectResourceDesc(cudaResourceDesc *, unsigned long long);
CUresult cudaGetTextureObjectResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *, unsigned long long);
CUresult cudaGetTextureObjectTextureDesc(cudaTextureDesc *, unsigned long long);
CUresult cudaGraphAddDependencies(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t);
CUresult cudaGraphAddNode(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
                          CUgraphNodeParams *);
CUresult cudaGraphExecUpdate(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *);
CUresult cudaGraphGetEdges(CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *);
CUresult cudaGraphInstantiate(CUgraphExec *, CUgraph, unsigned long long);
CUresult cudaGraphNodeGetDependencies(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *);
CUresult cudaGraphNodeGetDependentNodes(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *);
CUresult cudaGraphRemoveDependencies(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *,
                                     size_t);
CUresult cudaMemAdvise(const void *, size_t, int, uint64_t);
CUresult cudaMemPrefetchAsync(const void *, size_t, uint64_t, uint64_t, uint64_t);
CUresult cudaMemcpy3DBatchAsync(size_t, const CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream);
CUresult cudaMemcpyBatchAsync(void *const *, const void *const *, const size_t *, size_t, const CUmemcpyAttributes *,
                              const size_t *, size_t, CUstream);
CUresult cudaStreamGetCaptureInfo(CUstream, int *, uint64_t *, CUgraph *, const CUgraphNode **,
                                  const CUgraphEdgeData **, size_t *);
CUresult cudaStreamUpdateCaptureDependencies(CUstream, CUgraphNode *, const CUgraphEdgeData *, size_t, unsigned);

/* name(params) for the program, call(arguments) for us. */
#define AS(name, params, call, arguments)                                                          \
  CUresult name params;                                                                            \
  CUresult name params                                                                             \
  {                                                                                                \
    return call arguments;                                                                         \
  }
/* The same, and with _ptsz, where stream 0, `st`, is the thread's own. */
#define AS_STREAM(name, params, call, arguments)                                                   \
  AS(name, params, call, arguments)                                                                \
  CUresult name##_ptsz params;                                                                     \
  CUresult name##_ptsz params                                                                      \
  {                                                                                                \
    st = own(st);                                                                                  \
    return call arguments;                                                                         \
  }

/* Threads, before they were devices; modes that do nothing since compute capability 2. */
AS(cudaThreadExit, (void), cudaDeviceReset, ())
AS(cudaThreadSynchronize, (void), cudaDeviceSynchronize, ())
AS(cudaThreadGetLimit, (size_t *value, int limit), cudaDeviceGetLimit, (value, limit))
AS(cudaThreadSetLimit, (int limit, size_t value), cudaDeviceSetLimit, (limit, value))
AS(cudaThreadGetCacheConfig, (int *config), cudaDeviceGetCacheConfig, (config))
AS(cudaThreadSetCacheConfig, (int config), cudaDeviceSetCacheConfig, (config))

static CUresult keeps(const double *value)
{
  return value ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
AS(cudaSetDoubleForDevice, (double *value), keeps, (value))
AS(cudaSetDoubleForHost, (double *value), keeps, (value))

/* Structures that grew since: only the part that there was is written, or read. --------------------------- */

enum {
  PROPERTIES_OF_11 = 728, FUNCTION_OF_11 = 56, TEXTURE_OF_11 = 68, RESOURCE_OF_12 = 64, VIEW_OF_12 = 48 /* bytes */
};

/* The first `bytes` of what call(arguments) finds, there named `whole`. */
#define AS_PART(name, type, bytes, params, call, arguments)                                        \
  CUresult name params;                                                                            \
  CUresult name params                                                                             \
  {                                                                                                \
    type whole;                                                                                    \
    if (!out) return CUDA_ERROR_INVALID_VALUE;                                                     \
    const CUresult r = call arguments;                                                             \
    if (r == CUDA_SUCCESS) memcpy(out, &whole, bytes);                                             \
    return r;                                                                                      \
  }

AS_PART(cudaGetDeviceProperties_of_11, struct device_prop_12, PROPERTIES_OF_11, (void *out, int device),
        cudaGetDeviceProperties_v2, (&whole, device))
AS_PART(cudaFuncGetAttributes_of_11, cudaFuncAttributes, FUNCTION_OF_11, (void *out, const void *f),
        cudaFuncGetAttributes, (&whole, f))
AS_PART(cudaGetTextureObjectTextureDesc_of_11, cudaTextureDesc, TEXTURE_OF_11, (void *out, unsigned long long object),
        cudaGetTextureObjectTextureDesc, (&whole, object))
AS_PART(cudaGetTextureObjectResourceDesc_of_12, cudaResourceDesc, RESOURCE_OF_12,
        (void *out, unsigned long long object), cudaGetTextureObjectResourceDesc, (&whole, object))
AS_PART(cudaGetSurfaceObjectResourceDesc_of_12, cudaResourceDesc, RESOURCE_OF_12,
        (void *out, unsigned long long object), cudaGetSurfaceObjectResourceDesc, (&whole, object))
AS_PART(cudaGetTextureObjectResourceViewDesc_of_12, CUDA_RESOURCE_VIEW_DESC, VIEW_OF_12,
        (void *out, unsigned long long object), cudaGetTextureObjectResourceViewDesc, (&whole, object))

AS(cudaFuncGetAttributes_of_12, (cudaFuncAttributes *out, const void *f), cudaFuncGetAttributes, (out, f))
AS(cudaGetTextureObjectTextureDesc_v2, (cudaTextureDesc *out, unsigned long long object),
   cudaGetTextureObjectTextureDesc, (out, object))

static CUresult make_texture(unsigned long long *out, const void *r, const void *d, size_t texture_bytes, const void *v)
{
  cudaResourceDesc resource = {0};
  cudaTextureDesc texture = {0};
  CUDA_RESOURCE_VIEW_DESC view = {0};
  if (!r || !d) return CUDA_ERROR_INVALID_VALUE;
  memcpy(&resource, r, RESOURCE_OF_12);
  memcpy(&texture, d, texture_bytes);
  if (v) memcpy(&view, v, VIEW_OF_12);
  return cudaCreateTextureObject(out, &resource, &texture, v ? &view : NULL);
}

AS(cudaCreateTextureObject_of_11, (unsigned long long *out, const void *r, const void *d, const void *v),
   make_texture, (out, r, d, TEXTURE_OF_11, v))
AS(cudaCreateTextureObject_v2, (unsigned long long *out, const void *r, const void *d, const void *v),
   make_texture, (out, r, d, sizeof(cudaTextureDesc), v))

/* The last ones of those versions. */
enum { VERSION_OF_11 = 11080, VERSION_OF_12 = 12090 };

static CUresult tell(int *out, int version)
{
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = version;
  return CUDA_SUCCESS;
}
AS(cudaRuntimeGetVersion_of_11, (int *version), tell, (version, VERSION_OF_11))
AS(cudaRuntimeGetVersion_of_12, (int *version), tell, (version, VERSION_OF_12))

/* The driver's entry points ------------------------------------------------------------------------------------- */

/* In the forms that all versions of a toolkit's header have under the plain name. */
enum { DRIVER_OF_11 = 11000, DRIVER_OF_12 = 12000, FLAGS_PER_THREAD = 2 };

AS(cudaGetDriverEntryPoint_of_11, (const char *name, void **f, unsigned long long flags),
   cudaGetDriverEntryPointByVersion, (name, f, DRIVER_OF_11, flags, NULL))
AS(cudaGetDriverEntryPoint_of_11_ptsz, (const char *name, void **f, unsigned long long flags),
   cudaGetDriverEntryPointByVersion, (name, f, DRIVER_OF_11, flags ? flags : FLAGS_PER_THREAD, NULL))
AS(cudaGetDriverEntryPoint_of_12, (const char *name, void **f, unsigned long long flags, int *status),
   cudaGetDriverEntryPointByVersion, (name, f, DRIVER_OF_12, flags, status))
AS(cudaGetDriverEntryPoint_of_12_ptsz, (const char *name, void **f, unsigned long long flags, int *status),
   cudaGetDriverEntryPointByVersion, (name, f, DRIVER_OF_12, flags ? flags : FLAGS_PER_THREAD, status))

/* Events, managed memory, batches --------------------------------------------------------------------------------- */

AS(cudaEventElapsedTime_v2, (float *ms, CUevent from, CUevent to), cudaEventElapsedTime, (ms, from, to))
AS(cudaMemAdvise_v2, (const void *p, size_t n, int advice, uint64_t location), cudaMemAdvise, (p, n, advice, location))
AS_STREAM(cudaMemPrefetchAsync_v2, (const void *p, size_t n, uint64_t location, unsigned flags, CUstream st),
          cudaMemPrefetchAsync, (p, n, location, flags, (uint64_t)(uintptr_t)st))

/* Which copy failed was told; here all were looked at before the first one is made. */
static CUresult told(CUresult r, size_t *failed)
{
  if (r != CUDA_SUCCESS && failed) *failed = SIZE_MAX;
  return r;
}
AS_STREAM(cudaMemcpyBatchAsync_of_12,
          (void *const *dst, const void *const *src, const size_t *bytes, size_t n, const CUmemcpyAttributes *a,
           const size_t *first, size_t n_attributes, size_t *failed, CUstream st),
          told, (cudaMemcpyBatchAsync(dst, src, bytes, n, a, first, n_attributes, st), failed))
AS_STREAM(cudaMemcpy3DBatchAsync_of_12,
          (size_t n, const CUDA_MEMCPY3D_BATCH_OP *op, size_t *failed, unsigned long long flags, CUstream st),
          told, (cudaMemcpy3DBatchAsync(n, op, flags, st), failed))

/* Capture and graphs: edges without data, then with data under another name ------------------------------- */

AS_STREAM(cudaStreamGetCaptureInfo_of_11, (CUstream st, int *status, uint64_t *id), cudaStreamGetCaptureInfo,
          (st, status, id, NULL, NULL, NULL, NULL))
AS_STREAM(cudaStreamGetCaptureInfo_v2,
          (CUstream st, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **deps, size_t *n),
          cudaStreamGetCaptureInfo, (st, status, id, g, deps, NULL, n))
AS_STREAM(cudaStreamGetCaptureInfo_v3,
          (CUstream st, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **deps, const CUgraphEdgeData **data,
           size_t *n), cudaStreamGetCaptureInfo, (st, status, id, g, deps, data, n))
AS_STREAM(cudaStreamUpdateCaptureDependencies_of_12, (CUstream st, CUgraphNode *deps, size_t n, unsigned flags),
          cudaStreamUpdateCaptureDependencies, (st, deps, NULL, n, flags))
AS_STREAM(cudaStreamUpdateCaptureDependencies_v2,
          (CUstream st, CUgraphNode *deps, const CUgraphEdgeData *data, size_t n, unsigned flags),
          cudaStreamUpdateCaptureDependencies, (st, deps, data, n, flags))

AS(cudaGraphAddDependencies_of_12, (CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n),
   cudaGraphAddDependencies, (g, from, to, NULL, n))
AS(cudaGraphAddDependencies_v2,
   (CUgraph g, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data, size_t n),
   cudaGraphAddDependencies, (g, from, to, data, n))
AS(cudaGraphRemoveDependencies_of_12, (CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n),
   cudaGraphRemoveDependencies, (g, from, to, NULL, n))
AS(cudaGraphRemoveDependencies_v2,
   (CUgraph g, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data, size_t n),
   cudaGraphRemoveDependencies, (g, from, to, data, n))
AS(cudaGraphGetEdges_of_12, (CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n), cudaGraphGetEdges,
   (g, from, to, NULL, n))
AS(cudaGraphGetEdges_v2, (CUgraph g, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *n),
   cudaGraphGetEdges, (g, from, to, data, n))
AS(cudaGraphNodeGetDependencies_of_12, (CUgraphNode node, CUgraphNode *deps, size_t *n), cudaGraphNodeGetDependencies,
   (node, deps, NULL, n))
AS(cudaGraphNodeGetDependencies_v2, (CUgraphNode node, CUgraphNode *deps, CUgraphEdgeData *data, size_t *n),
   cudaGraphNodeGetDependencies, (node, deps, data, n))
AS(cudaGraphNodeGetDependentNodes_of_12, (CUgraphNode node, CUgraphNode *deps, size_t *n),
   cudaGraphNodeGetDependentNodes, (node, deps, NULL, n))
AS(cudaGraphNodeGetDependentNodes_v2, (CUgraphNode node, CUgraphNode *deps, CUgraphEdgeData *data, size_t *n),
   cudaGraphNodeGetDependentNodes, (node, deps, data, n))
AS(cudaGraphAddNode_of_12, (CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, CUgraphNodeParams *p),
   cudaGraphAddNode, (out, g, deps, NULL, n, p))
AS(cudaGraphAddNode_v2,
   (CUgraphNode *out, CUgraph g, const CUgraphNode *deps, const CUgraphEdgeData *data, size_t n, CUgraphNodeParams *p),
   cudaGraphAddNode, (out, g, deps, data, n, p))

/* The node and the buffer for a text tell what failed; there is no text. */
static CUresult instantiate(CUgraphExec *x, CUgraph g, CUgraphNode *failed, char *text, size_t bytes)
{
  if (failed) *failed = NULL;
  if (text && bytes) *text = '\0';
  return cudaGraphInstantiate(x, g, 0);
}
AS(cudaGraphInstantiate_of_11, (CUgraphExec *x, CUgraph g, CUgraphNode *failed, char *text, size_t bytes), instantiate,
   (x, g, failed, text, bytes))
AS(cudaGraphInstantiate_of_12, (CUgraphExec *x, CUgraph g, unsigned long long flags), cudaGraphInstantiate,
   (x, g, flags))

static CUresult update(CUgraphExec x, CUgraph g, CUgraphNode *failed, int *result)
{
  CUgraphExecUpdateResultInfo info = {0};
  const CUresult r = cudaGraphExecUpdate(x, g, &info);
  if (failed) *failed = info.node;
  if (result) *result = info.result;
  return r;
}
AS(cudaGraphExecUpdate_of_11, (CUgraphExec x, CUgraph g, CUgraphNode *failed, int *result), update,
   (x, g, failed, result))
AS(cudaGraphExecUpdate_of_12, (CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info), cudaGraphExecUpdate,
   (x, g, info))

/* The table ------------------------------------------------------------------------------------------------ */

struct earlier {
  const char *name;
  void (*of_11)(void), (*of_12)(void);
};

static const struct earlier earlier[] = {
#define EARLIER(name, of_11, of_12) { #name, (void (*)(void))of_11, (void (*)(void))of_12 },
#include "cuda/runtime/runtime_earlier.def"
#undef EARLIER
};

void (*runtime_earlier(const char *name, enum cudart cudart))(void)
{
  for (size_t i = 0; cudart < CUDART_13 && i < sizeof earlier / sizeof earlier[0]; i++)
    if (strcmp(earlier[i].name, name) == 0) return cudart == CUDART_11 ? earlier[i].of_11 : earlier[i].of_12;
  return NULL;
}
