/* NVML: starting and ending, versions, errors, what is not there (events). NVML API reference, "Initialization and
 * cleanup", "System queries", "Event handling". */
#include <string.h>

#include "cuda/core/version.h"
#include "cuda/nvml/nvml_call.h"

/* The driver that came with CUDA 13.0 is of branch 580 (release notes of CUDA 13.0). */
#define DRIVER_VERSION "580.00.00"
#define NVML_VERSION   "13.580.00.00"

nvmlReturn_t nvml_enter(struct call *c)
{
  call_enter(c, NEED_NOTHING);
  return c->s->nvml_users ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t nvml_leave(struct call *c, nvmlReturn_t r)
{
  call_leave(c, CUDA_SUCCESS);
  return r;
}

nvmlReturn_t nvml_starved(struct call *c)
{
  call_starved(c);
  return NVML_ERROR_MEMORY;
}

nvmlReturn_t nvml_text(char *to, unsigned bytes, const char *text)
{
  if (!to) return NVML_ERROR_INVALID_ARGUMENT;
  if (strlen(text) >= bytes) return NVML_ERROR_INSUFFICIENT_SIZE;
  strcpy(to, text);
  return NVML_SUCCESS;
}

/* A machine whose GPUs are all hidden from CUDA still has them. Of other clients of MPS the server knows. */
static nvmlReturn_t start(struct shim *s)
{
  struct err e;
  if (s->starved) return NVML_ERROR_MEMORY;
  if (shim_learn(s) == CUDA_SUCCESS && s->options.mps) shim_up(s);
  if (!s->boards.topology || !boards_learn_changes(s, &e)) return NVML_ERROR_DRIVER_NOT_LOADED;
  s->nvml_users++;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2(void)
{
  struct call c = {.s = NULL};
  memory_begin(&c.memory, NULL);
  if (setjmp(c.memory.at) != 0) return nvml_starved(&c);
  nvml_enter(&c);
  return nvml_leave(&c, start(c.s));
}

nvmlReturn_t nvmlInit(void)
{
  return nvmlInit_v2();
}

/* Flags: not to fail without GPUs, not to attach any (which happens at a first use anyway). */
nvmlReturn_t nvmlInitWithFlags(unsigned flags)
{
  return flags & ~3u ? NVML_ERROR_INVALID_ARGUMENT : nvmlInit_v2();
}

nvmlReturn_t nvmlShutdown(void)
{
  NVML((s->nvml_users--, NVML_SUCCESS));
}

const char *nvmlErrorString(nvmlReturn_t r)
{
  switch (r) {
  case NVML_SUCCESS: return "Success";
  case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
  case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
  case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
  case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
  case NVML_ERROR_ALREADY_INITIALIZED: return "Already Initialized";
  case NVML_ERROR_NOT_FOUND: return "Not Found";
  case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
  case NVML_ERROR_INSUFFICIENT_POWER: return "Insufficient External Power";
  case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
  case NVML_ERROR_TIMEOUT: return "Timeout";
  case NVML_ERROR_IRQ_ISSUE: return "Interrupt Request Issue";
  case NVML_ERROR_LIBRARY_NOT_FOUND: return "NVML Shared Library Not Found";
  case NVML_ERROR_FUNCTION_NOT_FOUND: return "Function Not Found";
  case NVML_ERROR_CORRUPTED_INFOROM: return "Corrupted infoROM";
  case NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
  case NVML_ERROR_RESET_REQUIRED: return "GPU requires restart";
  case NVML_ERROR_OPERATING_SYSTEM: return "The operating system has blocked the request";
  case NVML_ERROR_LIB_RM_VERSION_MISMATCH: return "RM has detected an NVML/RM version mismatch";
  case NVML_ERROR_IN_USE: return "GPU is currently in use";
  case NVML_ERROR_MEMORY: return "Insufficient Memory";
  case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "Argument version mismatch";
  default: return "Unknown Error";
  }
}

/* The system ------------------------------------------------------------------------------------- */

nvmlReturn_t nvmlSystemGetDriverVersion(char *text, unsigned bytes)
{
  NVML(((void)s, nvml_text(text, bytes, DRIVER_VERSION)));
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *text, unsigned bytes)
{
  return nvml_text(text, bytes, NVML_VERSION);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
  return ANSWER(version, CUDA_API_VERSION);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version)
{
  return ANSWER(version, CUDA_API_VERSION);
}

/* No confidential computing. */
nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t *state)
{
  NVML(((void)s, ANSWER(state, (nvmlConfComputeSystemState_t){0})));
}

static nvmlReturn_t settings(nvmlSystemConfComputeSettings_t *to)
{
  if (!to) return NVML_ERROR_INVALID_ARGUMENT;
  if (to->version != NVML_STRUCT_VERSION(nvmlSystemConfComputeSettings_t, 1))
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  *to = (nvmlSystemConfComputeSettings_t){ .version = to->version };
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_t *to)
{
  NVML(((void)s, settings(to)));
}

/* Nothing ever happens to a simulated GPU. */
nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
  NVML(((void)s, set ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT));
}

/* Threads stay where the system has them. */
nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t device)
{
  ON_GPU(device, NVML_ERROR_NOT_SUPPORTED);
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types)
{
  ON_GPU(device, ANSWER(types, 0));
}
