/* NVML: instances that a GPU is cut into (exec --mig). NVML API reference, "Multi Instance GPU Management". Handles of
 * instances are good for what is here, for names, UUIDs and memory; elsewhere they are invalid arguments.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cuda/core/device_name.h"
#include "cuda/core/visible_boards.h"
#include "cuda/nvml/nvml_call.h"

static const struct board_instance *instance_of(const struct shim *s, nvmlDevice_t device)
{
  const unsigned i = nvml_instance(device);
  return i < s->boards.n_mig ? &s->boards.mig[i] : NULL;
}

static nvmlReturn_t mode_of(const struct shim *s, unsigned gpu, unsigned *current, unsigned *pending)
{
  if (!current || !pending) return NVML_ERROR_INVALID_ARGUMENT;
  if (!mig_gpu_slices(nvml_params(s, gpu))) return NVML_ERROR_NOT_SUPPORTED;
  *current = *pending = board_first_instance(&s->boards, gpu) >= 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *current, unsigned *pending)
{
  ON_GPU(device, mode_of(s, gpu, current, pending));
}

/* 0 of a GPU that has none. */
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned *count)
{
  ON_GPU(device, ANSWER(count, mig_gpu_slices(nvml_params(s, gpu))));
}

static nvmlReturn_t by_index(const struct shim *s, unsigned gpu, unsigned index, nvmlDevice_t *instance)
{
  const unsigned most = mig_gpu_slices(nvml_params(s, gpu));
  if (!most) return NVML_ERROR_NOT_SUPPORTED;
  if (index >= most || !instance) return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned i = 0; i < s->boards.n_mig; i++)
    if (s->boards.mig[i].node == gpu && s->boards.mig[i].number == index)
      return ANSWER(instance, nvml_instance_handle(i));
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned index, nvmlDevice_t *instance)
{
  ON_GPU(device, by_index(s, gpu, index, instance));
}

static nvmlReturn_t gpu_of(const struct board_instance *x, nvmlDevice_t *device)
{
  return x ? ANSWER(device, nvml_handle(x->node)) : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t instance, nvmlDevice_t *device)
{
  NVML(gpu_of(instance_of(s, instance), device));
}

static nvmlReturn_t id_of(const struct board_instance *x, unsigned *id)
{
  return x ? ANSWER(id, instance_id(x->number)) : NVML_ERROR_INVALID_ARGUMENT;
}

static nvmlReturn_t kind_of(const struct shim *s, nvmlDevice_t device, unsigned *is)
{
  const bool instance = instance_of(s, device);
  if (!instance && !nvml_is_gpu(s, nvml_node(device))) return NVML_ERROR_INVALID_ARGUMENT;
  return ANSWER(is, instance);
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned *is)
{
  NVML(kind_of(s, device, is));
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t instance, unsigned *id)
{
  NVML(id_of(instance_of(s, instance), id));
}

/* All of a GPU instance is one compute instance. */
nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t instance, unsigned *id)
{
  NVML(instance_of(s, instance) ? ANSWER(id, 0) : NVML_ERROR_INVALID_ARGUMENT);
}

static nvmlReturn_t attributes_of(const struct board_instance *of, nvmlDeviceAttributes_t *to)
{
  if (!of || !to) return NVML_ERROR_INVALID_ARGUMENT;
  const struct mig_instance *x = &of->is;
  *to = (nvmlDeviceAttributes_t){.multiprocessor_count = x->sms, .shared_copy_engines = x->engines,
                                 .gpu_instance_slices = x->gpu_slices, .compute_instance_slices = x->gpu_slices,
                                 .memory_mb = x->memory_mib};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t instance, nvmlDeviceAttributes_t *to)
{
  NVML(attributes_of(instance_of(s, instance), to));
}

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t instance, nvmlDeviceAttributes_t *to)
{
  return nvmlDeviceGetAttributes_v2(instance, to);
}

/* What other calls say of an instance --------------------------------------------------------------- */

nvmlReturn_t nvml_instance_name(const struct shim *s, nvmlDevice_t instance, char *text, unsigned bytes)
{
  char gpu[DEVICE_NAME_TEXT], name[DEVICE_NAME_TEXT + MIG_PROFILE_TEXT + 8];
  const struct board_instance *x = instance_of(s, instance);
  if (!x) return NVML_ERROR_INVALID_ARGUMENT;
  device_name(s->boards.machine.params[x->node].name, gpu);
  snprintf(name, sizeof name, "%s MIG %s", gpu, x->is.profile);
  return nvml_text(text, bytes, name);
}

nvmlReturn_t nvml_instance_uuid(const struct shim *s, nvmlDevice_t instance, char *text, unsigned bytes)
{
  char uuid[BOARD_UUID_TEXT];
  if (!instance_of(s, instance)) return NVML_ERROR_INVALID_ARGUMENT;
  instance_uuid_text(&s->boards, nvml_instance(instance), uuid);
  return nvml_text(text, bytes, uuid);
}

nvmlReturn_t nvml_instance_by_uuid(const struct shim *s, const char *text, nvmlDevice_t *device)
{
  char uuid[BOARD_UUID_TEXT];
  for (unsigned i = 0; i < s->boards.n_mig; i++) {
    instance_uuid_text(&s->boards, i, uuid);
    if (strcasecmp(uuid, text) == 0) return ANSWER(device, nvml_instance_handle(i));
  }
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvml_instance_memory(const struct shim *s, nvmlDevice_t instance, nvmlMemory_t *to)
{
  const struct board_instance *x = instance_of(s, instance);
  const struct board *own = s->boards.instance == (int)nvml_instance(instance) ? &s->boards.of[0] : NULL;
  if (!x || !to) return NVML_ERROR_INVALID_ARGUMENT;
  *to = (nvmlMemory_t){.total = x->is.memory_mib << 20, .used = own ? own->bytes : 0};
  to->free = to->used < to->total ? to->total - to->used : 0;
  return NVML_SUCCESS;
}
