/* Entry points of the runtime that the other interface has alike (twins.def). */
#include "cuda/core/twins.h"
#include "cuda/runtime/runtime_forms.h"

#define ADDRESS     void *
#define SOURCE      const void *
#define ADDRESS_OUT void *
#define OF_CONTEXT
#define COPY_3D    cudaMemcpy3DParms
#define RESOURCE   cudaResourceDesc
#define TEXTURE    cudaTextureDesc
#define PEER       int
#define PEERS_3D   cudaMemcpy3DPeerParms
#define FORM(name) runtime_##name

#define TWIN(driver, runtime, params, need, what)                                                  \
  CUresult runtime params                                                                          \
  {                                                                                                \
    RUNTIME(NEED_##need, what);                                                                    \
  }
#define STREAM_TWIN(driver, runtime, params, need, what)                                           \
  TWIN(driver, runtime, params, need, what)                                                        \
  CUresult runtime##_ptsz params                                                                   \
  {                                                                                                \
    if (!stream) stream = STREAM_PER_THREAD;                                                       \
    RUNTIME(NEED_##need, what);                                                                    \
  }
#define TOLD_TWIN(driver, runtime, params, args, need, what)                                       \
  CUresult runtime params                                                                          \
  {                                                                                                \
    RUNTIME_OF(args, NEED_##need, what);                                                            \
  }
#define TOLD_STREAM_TWIN(driver, runtime, params, args, need, what)                                \
  TOLD_TWIN(driver, runtime, params, args, need, what)                                             \
  CUresult runtime##_ptsz params                                                                   \
  {                                                                                                \
    if (!stream) stream = STREAM_PER_THREAD;                                                       \
    RUNTIME_OF(args, NEED_##need, what);                                                            \
  }
#include "cuda/core/twins.def"
