/* NVML: which GPUs there are, what they are, where they are on the bus. NVML API reference, "Device queries". */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cuda/core/device_name.h"
#include "cuda/core/mps.h"
#include "cuda/core/visible_boards.h"
#include "cuda/nvml/nvml_call.h"
#include "host/speed.h"

enum { KHZ = 1000 };

/* Handles ---------------------------------------------------------------------------------------- */

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count)
{
  NVML(ANSWER(count, s->boards.machine.n_gpus));
}

nvmlReturn_t nvmlDeviceGetCount(unsigned *count)
{
  return nvmlDeviceGetCount_v2(count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
  NVML(nvml_is_gpu(s, index) ? ANSWER(device, nvml_handle(index)) : NVML_ERROR_INVALID_ARGUMENT);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device)
{
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

static nvmlReturn_t by_pci(const struct shim *s, const char *text, nvmlDevice_t *device)
{
  if (!text || !device) return NVML_ERROR_INVALID_ARGUMENT;
  const int node = machine_pci_node(&s->boards.machine, text);
  if (node < 0 || !nvml_is_gpu(s, (unsigned)node)) return NVML_ERROR_NOT_FOUND;
  return ANSWER(device, nvml_handle((unsigned)node));
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *text, nvmlDevice_t *device)
{
  NVML(by_pci(s, text, device));
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *text, nvmlDevice_t *device)
{
  return nvmlDeviceGetHandleByPciBusId_v2(text, device);
}

static void uuid_of(const struct shim *s, unsigned gpu, char text[BOARD_UUID_TEXT])
{
  board_uuid_text(s->boards.machine.params[gpu].name, gpu, text);
}

static nvmlReturn_t by_uuid(const struct shim *s, const char *text, nvmlDevice_t *device)
{
  char uuid[BOARD_UUID_TEXT];
  if (!text || !device) return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned i = 0; i < s->boards.machine.n_gpus; i++) {
    uuid_of(s, i, uuid);
    if (strcasecmp(uuid, text) == 0) return ANSWER(device, nvml_handle(i));
  }
  return nvml_instance_by_uuid(s, text, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *text, nvmlDevice_t *device)
{
  NVML(by_uuid(s, text, device));
}

/* What it is ------------------------------------------------------------------------------------- */

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index)
{
  ON_GPU(device, ANSWER(index, gpu));
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *minor)
{
  ON_GPU(device, ANSWER(minor, gpu));
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *text, unsigned bytes)
{
  const unsigned gpu = nvml_node(device);
  char name[DEVICE_NAME_TEXT];
  NVML(nvml_is_gpu(s, gpu) ? nvml_text(text, bytes, device_name(nvml_params(s, gpu)->name, name))
                           : nvml_instance_name(s, device, text, bytes));
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *text, unsigned bytes)
{
  char uuid[BOARD_UUID_TEXT];
  const unsigned gpu = nvml_node(device);
  NVML(nvml_is_gpu(s, gpu) ? (uuid_of(s, gpu, uuid), nvml_text(text, bytes, uuid))
                           : nvml_instance_uuid(s, device, text, bytes));
}

static nvmlReturn_t capability(const struct params *p, int *major, int *minor)
{
  if (!major || !minor) return NVML_ERROR_INVALID_ARGUMENT;
  *major = (int)p->arch_sm / 10;
  *minor = (int)p->arch_sm % 10;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
  ON_GPU(device, capability(nvml_params(s, gpu), major, minor));
}

/* nvmlDeviceArchitecture_t by compute capability, the newest first. */
static nvmlReturn_t architecture(const struct params *p, unsigned *number)
{
  static const struct { unsigned sm, number; } rows[] = {{100, 10}, {90, 9}, {89, 8}, {80, 7}, {75, 6}, {70, 5}};
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (p->arch_sm >= rows[i].sm) return ANSWER(number, rows[i].number);
  return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned *number)
{
  ON_GPU(device, architecture(nvml_params(s, gpu), number));
}

/* NVML_COMPUTEMODE_DEFAULT: any number of contexts. */
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, int *mode)
{
  ON_GPU(device, ANSWER(mode, 0));
}

/* --- check bits of memory ----------------------------------------------------------------------- */

static bool has_ecc(const struct shim *s, unsigned gpu)
{
  return nvml_params(s, gpu)->dram_ecc != DRAM_ECC_NONE;
}

/* 1: enabled, and after the next reboot as well. Boards whose preset says "none" count as without it. */
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, unsigned *current, unsigned *pending)
{
  ON_GPU(device, !current || !pending ? NVML_ERROR_INVALID_ARGUMENT
                 : !has_ecc(s, gpu)   ? NVML_ERROR_NOT_SUPPORTED
                                      : (*current = *pending = 1, NVML_SUCCESS));
}

nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, unsigned *mode)
{
  ON_GPU(device, has_ecc(s, gpu) ? ANSWER(mode, 1) : NVML_ERROR_NOT_SUPPORTED);
}

/* No error ever happens, corrected (0) or not (1), since the start (0) or in all (1). */
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, int type, int since, unsigned long long *n)
{
  ON_GPU(device, type < 0 || type > 1 || since < 0 || since > 1 ? NVML_ERROR_INVALID_ARGUMENT
                 : has_ecc(s, gpu)                              ? ANSWER(n, 0)
                                                                : NVML_ERROR_NOT_SUPPORTED);
}

/* --- memory --------------------------------------------------------------------------------------- */

/* Used: by this process, as others have GPUs of their own (docs/sharing.md, "Several processes"); by all clients of the
 * Multi-Process Service. */
static nvmlMemory_t memory_of(const struct shim *s, unsigned gpu)
{
  const struct board *b = board_at_node(s, (int)gpu);
  nvmlMemory_t m = { .total = params_memory_bytes(nvml_params(s, gpu)) };
  if (b) m.used = s->mps ? mps_taken(s) : b->bytes;
  m.free = m.used < m.total ? m.total - m.used : 0;
  return m;
}

static nvmlReturn_t any_memory(const struct shim *s, nvmlDevice_t device, nvmlMemory_t *to)
{
  const unsigned gpu = nvml_node(device);
  if (!nvml_is_gpu(s, gpu)) return nvml_instance_memory(s, device, to);
  return ANSWER(to, memory_of(s, gpu));
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
  NVML(any_memory(s, device, memory));
}

static nvmlReturn_t memory_v2(const struct shim *s, unsigned gpu, nvmlMemory_v2_t *to)
{
  if (!to) return NVML_ERROR_INVALID_ARGUMENT;
  if (to->version != NVML_STRUCT_VERSION(nvmlMemory_v2_t, 2)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  const nvmlMemory_t m = memory_of(s, gpu);
  *to = (nvmlMemory_v2_t){ .version = to->version, .total = m.total, .free = m.free, .used = m.used };
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
  ON_GPU(device, memory_v2(s, gpu, memory));
}

/* Clocks do not change: those of the preset. MHz. */
static nvmlReturn_t clock_of(const struct params *p, int type, unsigned *mhz)
{
  if (type < NVML_CLOCK_GRAPHICS || type > NVML_CLOCK_VIDEO) return NVML_ERROR_INVALID_ARGUMENT;
  if (type == NVML_CLOCK_MEM || type == NVML_CLOCK_VIDEO) return NVML_ERROR_NOT_SUPPORTED;
  return ANSWER(mhz, (unsigned)(p->gpu_clock_khz / KHZ));
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, int type, unsigned *mhz)
{
  ON_GPU(device, clock_of(nvml_params(s, gpu), type, mhz));
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int type, unsigned *mhz)
{
  ON_GPU(device, clock_of(nvml_params(s, gpu), type, mhz));
}

/* CUDA cores, as data sheets count them: lanes of FP32 in all SMs. */
static unsigned cores_of(const struct params *p)
{
  return (unsigned)(speed_flops_peak(p, WORK_FP32) / 2 * (double)params_clock_ps(p) / 1e12 + 0.5);
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *cores)
{
  ON_GPU(device, ANSWER(cores, cores_of(nvml_params(s, gpu))));
}

/* Where it is ------------------------------------------------------------------------------------ */

/* Presets have no number of a product: the vendor alone. */
static nvmlReturn_t pci_of(unsigned node, nvmlPciInfo_t *to)
{
  char text[MACHINE_PCI_TEXT];
  if (!to) return NVML_ERROR_INVALID_ARGUMENT;
  *to = (nvmlPciInfo_t){ .bus = machine_pci_bus(node), .pci_device = NVML_VENDOR };
  snprintf(to->bus_id_legacy, sizeof to->bus_id_legacy, "%s", machine_pci_address(node, text));
  snprintf(to->bus_id, sizeof to->bus_id, "0000%s", text);
  return NVML_SUCCESS;
}

static nvmlReturn_t pci_v2_of(unsigned node, nvmlPciInfo_v2_t *to)
{
  char text[MACHINE_PCI_TEXT];
  if (!to) return NVML_ERROR_INVALID_ARGUMENT;
  *to = (nvmlPciInfo_v2_t){ .bus = machine_pci_bus(node), .pci_device = NVML_VENDOR };
  snprintf(to->bus_id, sizeof to->bus_id, "%s", machine_pci_address(node, text));
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
  ON_GPU(device, pci_of(gpu, pci));
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_v2_t *pci)
{
  ON_GPU(device, pci_v2_of(gpu, pci));
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_v2_t *pci)
{
  return nvmlDeviceGetPciInfo_v2(device, pci);
}

static nvmlReturn_t pci_ext_of(unsigned node, nvmlPciInfoExt_t *to)
{
  nvmlPciInfo_t p;
  if (!to) return NVML_ERROR_INVALID_ARGUMENT;
  if (to->version != NVML_STRUCT_VERSION(nvmlPciInfoExt_t, 1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  pci_of(node, &p);
  *to = (nvmlPciInfoExt_t){ .version = to->version, .bus = p.bus, .pci_device = p.pci_device,
                            .base_class = NVML_CLASS_DISPLAY, .sub_class = NVML_SUBCLASS_3D };
  memcpy(to->bus_id, p.bus_id, sizeof to->bus_id);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci)
{
  ON_GPU(device, pci_ext_of(gpu, pci));
}

/* Of a far end, which is no device of ours when it is a switch. */
static nvmlReturn_t far_pci(const struct shim *s, unsigned gpu, unsigned link, nvmlPciInfo_t *to)
{
  struct machine_port p;
  if (!machine_port(&s->boards.machine, gpu, LINK_NVLINK, link, &p)) return NVML_ERROR_INVALID_ARGUMENT;
  return pci_of(p.far, to);
}

static nvmlReturn_t far_pci_v2(const struct shim *s, unsigned gpu, unsigned link, nvmlPciInfo_v2_t *to)
{
  struct machine_port p;
  if (!machine_port(&s->boards.machine, gpu, LINK_NVLINK, link, &p)) return NVML_ERROR_INVALID_ARGUMENT;
  return pci_v2_of(p.far, to);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link, nvmlPciInfo_t *pci)
{
  ON_GPU(device, far_pci(s, gpu, link, pci));
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned link, nvmlPciInfo_v2_t *pci)
{
  ON_GPU(device, far_pci_v2(s, gpu, link, pci));
}

/* The link by which it reaches the host. */
static struct pcie_speed host_speed_of(const struct shim *s, unsigned gpu)
{
  struct machine_port p;
  if (!machine_port(&s->boards.machine, gpu, LINK_PCIE, 0, &p)) return (struct pcie_speed){0};
  return pcie_speed_of(p.mbps);
}

static nvmlReturn_t give_speed(unsigned value, unsigned *to)
{
  return value ? ANSWER(to, value) : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned *generation)
{
  ON_GPU(device, give_speed(host_speed_of(s, gpu).generation, generation));
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned *generation)
{
  return nvmlDeviceGetCurrPcieLinkGeneration(device, generation);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned *width)
{
  ON_GPU(device, give_speed(host_speed_of(s, gpu).width, width));
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned *width)
{
  return nvmlDeviceGetCurrPcieLinkWidth(device, width);
}

/* NVML_PCIE_LINK_MAX_SPEED_...: the generation. */
nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned *speed)
{
  return nvmlDeviceGetCurrPcieLinkGeneration(device, speed);
}
