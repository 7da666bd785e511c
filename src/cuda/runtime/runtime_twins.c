/* Entry points of the runtime that the other interface has alike (twins.def). */
#include "cuda/core/twins.h"

#define ADDRESS void *

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
#include "cuda/core/twins.def"
