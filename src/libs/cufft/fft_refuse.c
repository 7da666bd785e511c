/* Functions of libcufft that are not there: each says so and returns the documented status. */
#include "libs/cufft/fft_types.h"

#define REFUSE(name, what) \
  PUBLIC fft_status name(void) { return fft_refuse(#name, what); }
#define CALLBACKS "callbacks"
#define GPUS      "transforms over several GPUs"

REFUSE(cufftXtSetCallback, CALLBACKS)
REFUSE(cufftXtClearCallback, CALLBACKS)
REFUSE(cufftXtSetCallbackSharedSize, CALLBACKS)
REFUSE(cufftXtSetJITCallback, CALLBACKS)
REFUSE(cufftXtSetGPUs, GPUS)
REFUSE(cufftXtMalloc, GPUS)
REFUSE(cufftXtMemcpy, GPUS)
REFUSE(cufftXtFree, GPUS)
REFUSE(cufftXtExecDescriptor, GPUS)
REFUSE(cufftXtExecDescriptorC2C, GPUS)
REFUSE(cufftXtExecDescriptorC2R, GPUS)
REFUSE(cufftXtExecDescriptorD2Z, GPUS)
REFUSE(cufftXtExecDescriptorR2C, GPUS)
REFUSE(cufftXtExecDescriptorZ2D, GPUS)
REFUSE(cufftXtExecDescriptorZ2Z, GPUS)
REFUSE(cufftXtQueryPlan, GPUS)
REFUSE(cufftXtSetWorkAreaPolicy, "policies of work areas")
REFUSE(cufftXtMakePlanGuru64, "this function")
REFUSE(cufftDebug, "this function")
REFUSE(cufftGetPlanPropertyInt64, "properties of plans")
REFUSE(cufftSetPlanPropertyInt64, "properties of plans")
REFUSE(cufftResetPlanProperty, "properties of plans")
