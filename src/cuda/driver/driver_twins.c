/* Entry points of the driver that the other interface has alike (twins.def). */
#include "cuda/core/twins.h"

#define ADDRESS CUdeviceptr

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
#include "cuda/core/twins.def"
