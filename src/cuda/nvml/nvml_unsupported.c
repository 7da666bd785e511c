/* NVML: what a simulated GPU has no answer for (nvml_unsupported.def). Their other arguments are left as they are. */
#include "cuda/nvml/nvml_call.h"

#define UNSUPPORTED(name)                                                                                              \
  nvmlReturn_t name(nvmlDevice_t);                                                                                     \
  nvmlReturn_t name(nvmlDevice_t device)                                                                               \
  {                                                                                                                    \
    ON_GPU(device, NVML_ERROR_NOT_SUPPORTED);                                                                          \
  }
#include "cuda/nvml/nvml_unsupported.def"
