// NVML's functions about GPUs and their instances, by name: the toolkit has no library to link with everywhere.
#pragma once
#include "check.h"
#include <dlfcn.h>

typedef void *nvmlDevice_t;
#define NVML_CALLS(X)                                                                              \
  X(nvmlInit_v2, (void))                                                                           \
  X(nvmlDeviceGetCount_v2, (unsigned *))                                                           \
  X(nvmlDeviceGetHandleByIndex_v2, (unsigned, nvmlDevice_t *))                                     \
  X(nvmlDeviceGetHandleByUUID, (const char *, nvmlDevice_t *))                                     \
  X(nvmlDeviceGetName, (nvmlDevice_t, char *, unsigned))                                           \
  X(nvmlDeviceGetUUID, (nvmlDevice_t, char *, unsigned))                                           \
  X(nvmlDeviceGetMemoryInfo, (nvmlDevice_t, unsigned long long[3]))                                \
  X(nvmlDeviceGetMigMode, (nvmlDevice_t, unsigned *, unsigned *))                                  \
  X(nvmlDeviceGetMaxMigDeviceCount, (nvmlDevice_t, unsigned *))                                    \
  X(nvmlDeviceGetMigDeviceHandleByIndex, (nvmlDevice_t, unsigned, nvmlDevice_t *))                 \
  X(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, (nvmlDevice_t, nvmlDevice_t *))                  \
  X(nvmlDeviceIsMigDeviceHandle, (nvmlDevice_t, unsigned *))                                       \
  X(nvmlDeviceGetGpuInstanceId, (nvmlDevice_t, unsigned *))                                        \
  X(nvmlDeviceGetComputeInstanceId, (nvmlDevice_t, unsigned *))                                    \
  X(nvmlDeviceGetAttributes_v2, (nvmlDevice_t, void *))                                            \
  X(nvmlDeviceGetCurrPcieLinkWidth, (nvmlDevice_t, unsigned *))
#define X(name, arguments) [[maybe_unused]] static int(*name) arguments;
NVML_CALLS(X)
#undef X

static void nvml_load()
{
  void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  CHECK(library);
#define X(name, arguments) CHECK(name = (int(*) arguments)dlsym(library, #name));
  NVML_CALLS(X)
#undef X
}
