/* Entry points of the driver that the other interface has alike (twins.def). */
#include "cuda/core/twins.h"
#include "cuda/driver/driver_forms.h"

#define ADDRESS     CUdeviceptr
#define SOURCE      CUdeviceptr
#define ADDRESS_OUT CUdeviceptr *
#define OF_CONTEXT  , UNUSED CUcontext context
#define COPY_3D     CUDA_MEMCPY3D
#define RESOURCE    CUDA_RESOURCE_DESC
#define TEXTURE     CUDA_TEXTURE_DESC
#define PEER        CUcontext
#define PEERS_3D    CUDA_MEMCPY3D
#define FORM(name)  driver_##name

#define TWIN(driver, runtime, params, need, what)                                                  \
  CUresult driver params                                                                           \
  {                                                                                                \
    DRIVER(NEED_##need, what);                                                                     \
  }
#define STREAM_TWIN(driver, runtime, params, need, what)                                           \
  TWIN(driver, runtime, params, need, what)                                                        \
  CUresult driver##_ptsz params                                                                    \
  {                                                                                                \
    if (!stream) stream = STREAM_PER_THREAD;                                                       \
    DRIVER(NEED_##need, what);                                                                     \
  }
#define TOLD_TWIN(driver, runtime, params, args, need, what)                                       \
  CUresult driver params                                                                          \
  {                                                                                                \
    DRIVER_OF(args, NEED_##need, what);                                                            \
  }
#define TOLD_STREAM_TWIN(driver, runtime, params, args, need, what)                                \
  TOLD_TWIN(driver, runtime, params, args, need, what)                                             \
  CUresult driver##_ptsz params                                                                   \
  {                                                                                                \
    if (!stream) stream = STREAM_PER_THREAD;                                                       \
    DRIVER_OF(args, NEED_##need, what);                                                            \
  }
#include "cuda/core/twins.def"
