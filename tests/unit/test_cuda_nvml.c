/* NVML beside CUDA (src/cuda/nvml): a DGX A100, of which CUDA sees two GPUs. Expected: the DGX A100 user guide (eight GPUs
 * in pairs behind PCI Express switches, two sockets, twelve NVLinks of 25 GB/s to six switches), the NVML API reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "cuda/nvml/nvml_types.h"
#include "cuda_rig.h"

nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlShutdown(void);
const char *nvmlErrorString(nvmlReturn_t);
nvmlReturn_t nvmlSystemGetDriverVersion(char *, unsigned);
nvmlReturn_t nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_t *);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned, nvmlDevice_t *);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *, nvmlDevice_t *);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *, nvmlDevice_t *);
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t, char *, unsigned);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t, char *, unsigned);
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t, int *, int *);
nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t *);
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t, int *);
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t, unsigned *, unsigned *);
nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t, int, int, unsigned long long *);
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t, void *);
nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t, nvmlMemory_v2_t *);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t, nvmlPciInfo_t *);
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t, nvmlDevice_t, int, int *);
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t, nvmlDevice_t, int *);
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t, unsigned, int *);
nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t, unsigned, int, unsigned *);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t, unsigned, nvmlPciInfo_v2_t *);
nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t, unsigned, int *);
nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t, void *);
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t, int, nvmlFieldValue_t *);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t, unsigned *, nvmlProcessInfo_v1_t *);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned *, nvmlProcessInfo_t *);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t, unsigned *, nvmlProcessInfo_t *);
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t, unsigned *, unsigned *);
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t, unsigned, nvmlDevice_t *);
nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *);

CUresult cuDeviceGetCount(int *);
CUresult cuDeviceGetPCIBusId(char *, int, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);

enum { GPUS = 8, LINKS = 12, SWITCHES = 6, LINK_MBPS = 25000 };

static int dgx(void **state)
{
  (void)state;
  setenv("CUDA_VISIBLE_DEVICES", "3,0", 1);
  cuda_options("machine=dgx-a100\nquiet=1\nmode=functional");
  return 0;
}

static nvmlDevice_t gpu(unsigned i)
{
  nvmlDevice_t d = NULL;
  assert_int_equal(nvmlDeviceGetHandleByIndex_v2(i, &d), NVML_SUCCESS);
  return d;
}

static void starting(void **state)
{
  (void)state;
  unsigned n = 0;
  int visible;
  char text[80], tiny[2];
  nvmlDevice_t d;
  assert_int_equal(nvmlDeviceGetCount_v2(&n), NVML_ERROR_UNINITIALIZED);
  assert_int_equal(nvmlInit_v2(), NVML_SUCCESS);
  assert_int_equal(nvmlInit_v2(), NVML_SUCCESS);
  assert_int_equal(nvmlShutdown(), NVML_SUCCESS);
  assert_int_equal(nvmlDeviceGetCount_v2(&n), NVML_SUCCESS);
  assert_int_equal(n, GPUS);
  assert_int_equal(cuDeviceGetCount(&visible), CUDA_ERROR_NOT_INITIALIZED); /* that is NVML's GPUs alone */
  assert_int_equal(cuInit(0), CUDA_SUCCESS);
  assert_int_equal(cuDeviceGetCount(&visible), CUDA_SUCCESS);
  assert_int_equal(visible, 2);
  assert_int_equal(nvmlDeviceGetHandleByIndex_v2(GPUS, &d), NVML_ERROR_INVALID_ARGUMENT);
  assert_int_equal(nvmlDeviceGetIndex(NULL, &n), NVML_ERROR_INVALID_ARGUMENT);
  assert_int_equal(nvmlDeviceGetIndex((nvmlDevice_t)(uintptr_t)12345678, &n), NVML_ERROR_INVALID_ARGUMENT);
  assert_int_equal(nvmlSystemGetDriverVersion(text, sizeof text), NVML_SUCCESS);
  assert_int_equal(nvmlSystemGetDriverVersion(tiny, sizeof tiny), NVML_ERROR_INSUFFICIENT_SIZE);
  assert_string_equal(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "Not Supported");
  nvmlSystemConfComputeSettings_t cc = { .version = NVML_STRUCT_VERSION(nvmlSystemConfComputeSettings_t, 1), .cc_feature = 7 };
  assert_int_equal(nvmlSystemGetConfComputeSettings(&cc), NVML_SUCCESS);
  assert_int_equal(cc.cc_feature, 0);
  nvmlEventSet_t set;
  assert_int_equal(nvmlEventSetCreate(&set), NVML_ERROR_NOT_SUPPORTED);
}

static void devices(void **state)
{
  (void)state;
  char text[96], bus[32];
  int major, minor;
  unsigned index, speed, cores;
  nvmlDevice_t d;
  nvmlPciInfo_t pci;
  /* CUDA's device 0 is the machine's GPU 3: the address says so. */
  assert_int_equal(cuDeviceGetPCIBusId(bus, sizeof bus, 0), CUDA_SUCCESS);
  assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2(bus, &d), NVML_SUCCESS);
  assert_int_equal(nvmlDeviceGetIndex(d, &index), NVML_SUCCESS);
  assert_int_equal(index, 3);
  assert_int_equal(nvmlDeviceGetPciInfo_v3(d, &pci), NVML_SUCCESS);
  assert_string_equal(pci.bus_id_legacy, bus);
  assert_string_equal(pci.bus_id + 4, bus);
  assert_int_equal(pci.pci_device & 0xffff, 0x10de);
  assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2(pci.bus_id, &d), NVML_SUCCESS);
  assert_ptr_equal(d, gpu(3));
  assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2("0000:7f:00.0", &d), NVML_ERROR_NOT_FOUND);
  assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2("what", &d), NVML_ERROR_NOT_FOUND);
  assert_int_equal(nvmlDeviceGetUUID(gpu(5), text, sizeof text), NVML_SUCCESS);
  assert_int_equal(strlen(text), 40);
  assert_int_equal(nvmlDeviceGetHandleByUUID(text, &d), NVML_SUCCESS);
  assert_ptr_equal(d, gpu(5));
  assert_int_equal(nvmlDeviceGetCudaComputeCapability(gpu(7), &major, &minor), NVML_SUCCESS);
  assert_int_equal(major * 10 + minor, 80);
  assert_int_equal(nvmlDeviceGetNumGpuCores(gpu(0), &cores), NVML_SUCCESS);
  assert_int_equal(cores, 6912); /* NVIDIA A100 whitepaper: FP32 cores of a GPU */
  assert_int_equal(nvmlDeviceGetNumGpuCores(gpu(0), NULL), NVML_ERROR_INVALID_ARGUMENT);
  assert_int_equal(nvmlDeviceGetName(gpu(0), text, sizeof text), NVML_SUCCESS);
  assert_non_null(strstr(text, "A100"));
  assert_int_equal(nvmlDeviceGetCurrPcieLinkGeneration(gpu(0), &speed), NVML_SUCCESS);
  assert_int_equal(speed, 4);
  assert_int_equal(nvmlDeviceGetCurrPcieLinkWidth(gpu(0), &speed), NVML_SUCCESS);
  assert_int_equal(speed, 16);
}

/* HBM of an A100 has check bits of its own. */
static void check_bits(void **state)
{
  (void)state;
  unsigned now = 9, later = 9, usual = 9;
  unsigned long long errors = 9;
  assert_int_equal(nvmlDeviceGetEccMode(gpu(0), &now, &later), NVML_SUCCESS);
  assert_int_equal(nvmlDeviceGetDefaultEccMode(gpu(0), &usual), NVML_SUCCESS);
  assert_int_equal(now + later + usual, 3);
  assert_int_equal(nvmlDeviceGetTotalEccErrors(gpu(0), 1, 1, &errors), NVML_SUCCESS);
  assert_int_equal(errors, 0);
  assert_int_equal(nvmlDeviceGetTotalEccErrors(gpu(0), 2, 0, &errors), NVML_ERROR_INVALID_ARGUMENT);
  assert_int_equal(nvmlDeviceGetEccMode(gpu(0), NULL, &later), NVML_ERROR_INVALID_ARGUMENT);
}

static void memory(void **state)
{
  (void)state;
  enum { BYTES = 64 << 20 };
  nvmlMemory_t before, after;
  nvmlMemory_v2_t v2 = { .version = 1 };
  CUcontext c;
  CUdeviceptr p;
  assert_int_equal(cuDevicePrimaryCtxRetain(&c, 0), CUDA_SUCCESS);
  assert_int_equal(cuCtxSetCurrent(c), CUDA_SUCCESS);
  assert_int_equal(nvmlDeviceGetMemoryInfo(gpu(3), &before), NVML_SUCCESS);
  assert_int_equal(before.total >> 30, 80);
  assert_int_equal(cuMemAlloc_v2(&p, BYTES), CUDA_SUCCESS);
  assert_int_equal(nvmlDeviceGetMemoryInfo(gpu(3), &after), NVML_SUCCESS);
  assert_int_equal(after.used - before.used, BYTES);
  assert_int_equal(after.used + after.free, after.total);
  /* This process computes there, and nobody elsewhere. */
  unsigned n = 0;
  nvmlProcessInfo_t list[2];
  nvmlProcessInfo_v1_t old[2];
  assert_int_equal(nvmlDeviceGetComputeRunningProcesses_v3(gpu(3), &n, NULL), NVML_ERROR_INSUFFICIENT_SIZE);
  assert_int_equal(n, 1);
  n = 2;
  assert_int_equal(nvmlDeviceGetComputeRunningProcesses_v3(gpu(3), &n, list), NVML_SUCCESS);
  assert_int_equal(n, 1);
  assert_int_equal(list[0].pid, getpid());
  assert_int_equal(list[0].used, after.used);
  assert_int_equal(list[0].gpu_instance, UINT32_MAX);
  n = 2;
  assert_int_equal(nvmlDeviceGetComputeRunningProcesses(gpu(3), &n, old), NVML_SUCCESS);
  assert_int_equal(old[0].used, after.used);
  n = 0;
  assert_int_equal(nvmlDeviceGetComputeRunningProcesses_v3(gpu(4), &n, NULL), NVML_SUCCESS);
  assert_int_equal(nvmlDeviceGetMPSComputeRunningProcesses_v3(gpu(3), &n, NULL), NVML_SUCCESS);
  assert_int_equal(n, 0);
  /* It could be cut into instances, and is not. */
  unsigned now = 7, pending = 7;
  nvmlDevice_t none;
  assert_int_equal(nvmlDeviceGetMigMode(gpu(3), &now, &pending), NVML_SUCCESS);
  assert_int_equal(now | pending, 0);
  assert_int_equal(nvmlDeviceGetMigDeviceHandleByIndex(gpu(3), 0, &none), NVML_ERROR_NOT_FOUND);
  assert_int_equal(nvmlDeviceGetMemoryInfo(gpu(4), &after), NVML_SUCCESS);
  assert_int_equal(after.used, 0);
  assert_int_equal(nvmlDeviceGetMemoryInfo_v2(gpu(3), &v2), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  v2.version = NVML_STRUCT_VERSION(nvmlMemory_v2_t, 2);
  assert_int_equal(nvmlDeviceGetMemoryInfo_v2(gpu(3), &v2), NVML_SUCCESS);
  assert_int_equal(v2.total, before.total);
  assert_int_equal(cuMemFree_v2(p), CUDA_SUCCESS);
}

static int ancestor(unsigned a, unsigned b)
{
  int level = -1;
  assert_int_equal(nvmlDeviceGetTopologyCommonAncestor(gpu(a), gpu(b), &level), NVML_SUCCESS);
  return level;
}

static void ways(void **state)
{
  (void)state;
  int status;
  for (unsigned i = 0; i < GPUS; i++)
    for (unsigned k = 0; k < GPUS; k++)
      for (int index = NVML_P2P_CAPS_READ; index <= NVML_P2P_CAPS_ATOMICS; index++) {
        assert_int_equal(nvmlDeviceGetP2PStatus(gpu(i), gpu(k), index, &status), NVML_SUCCESS);
        assert_int_equal(status, NVML_P2P_STATUS_OK);
      }
  assert_int_equal(nvmlDeviceGetP2PStatus(gpu(0), NULL, 0, &status), NVML_ERROR_INVALID_ARGUMENT);
  assert_int_equal(nvmlDeviceGetP2PStatus(gpu(0), gpu(1), 17, &status), NVML_ERROR_INVALID_ARGUMENT);
  assert_int_equal(ancestor(2, 2), NVML_TOPOLOGY_INTERNAL);
  assert_int_equal(ancestor(2, 3), NVML_TOPOLOGY_SINGLE);
  assert_int_equal(ancestor(1, 3), NVML_TOPOLOGY_HOSTBRIDGE);
  assert_int_equal(ancestor(3, 4), NVML_TOPOLOGY_SYSTEM);
}

static void links(void **state)
{
  (void)state;
  unsigned seen[256] = {0}, switches = 0, has;
  int on, type;
  nvmlPciInfo_v2_t far;
  for (unsigned l = 0; l < LINKS; l++) {
    assert_int_equal(nvmlDeviceGetNvLinkState(gpu(6), l, &on), NVML_SUCCESS);
    assert_int_equal(on, 1);
    assert_int_equal(nvmlDeviceGetNvLinkCapability(gpu(6), l, NVML_NVLINK_CAP_P2P_SUPPORTED, &has), NVML_SUCCESS);
    assert_int_equal(has, 1);
    assert_int_equal(nvmlDeviceGetNvLinkRemoteDeviceType(gpu(6), l, &type), NVML_SUCCESS);
    assert_int_equal(type, NVML_NVLINK_DEVICE_SWITCH);
    assert_int_equal(nvmlDeviceGetNvLinkRemotePciInfo(gpu(6), l, &far), NVML_SUCCESS);
    assert_true(far.bus < 256 && far.bus > GPUS);
    if (!seen[far.bus]++) switches++;
    assert_true(seen[far.bus] <= LINKS / SWITCHES);
  }
  assert_int_equal(switches, SWITCHES);
  assert_int_equal(nvmlDeviceGetNvLinkState(gpu(6), LINKS, &on), NVML_ERROR_INVALID_ARGUMENT);
  char info[64] = {0};
  assert_int_equal(nvmlDeviceGetGpuFabricInfoV(gpu(0), info), NVML_ERROR_NOT_SUPPORTED);
}

/* An A100 is of nvmlDeviceArchitecture_t's number 7. What a simulated GPU does not have is "not supported", not a missing function. */
static void unsupported(void **state)
{
  unsigned number = 0, fan = 77;
  int mode = 77;
  char bar1[64] = {0};
  (void)state;
  assert_int_equal(nvmlDeviceGetArchitecture(gpu(0), &number), NVML_SUCCESS);
  assert_int_equal(number, 7);
  assert_int_equal(nvmlDeviceGetComputeMode(gpu(0), &mode), NVML_SUCCESS);
  assert_int_equal(mode, 0);
  assert_int_equal(nvmlDeviceGetBAR1MemoryInfo(gpu(0), bar1), NVML_ERROR_NOT_SUPPORTED);
  assert_int_equal(nvmlDeviceGetFanSpeed(gpu(0), &fan), NVML_ERROR_NOT_SUPPORTED);
  assert_int_equal(fan, 77);
  assert_int_equal(nvmlDeviceGetFanSpeed(NULL, &fan), NVML_ERROR_INVALID_ARGUMENT);
}

static void field_values(void **state)
{
  (void)state;
  nvmlFieldValue_t f[] = { { .field = NVML_FI_NVLINK_LINK_COUNT }, { .field = NVML_FI_NVLINK_GET_SPEED, .scope = 11 },
                           { .field = NVML_FI_NVLINK_GET_STATE, .scope = 12 }, { .field = NVML_FI_C2C_LINK_COUNT },
                           { .field = 5 } };
  assert_int_equal(nvmlDeviceGetFieldValues(gpu(0), 5, f), NVML_SUCCESS);
  assert_int_equal(f[0].result, NVML_SUCCESS);
  assert_int_equal(f[0].value.u, LINKS);
  assert_int_equal(f[1].value.u, LINK_MBPS);
  assert_int_equal(f[2].result, NVML_ERROR_INVALID_ARGUMENT);
  assert_int_equal(f[3].value.u, 0);
  assert_int_equal(f[4].result, NVML_ERROR_NOT_SUPPORTED);
  assert_int_equal(nvmlDeviceGetFieldValues(gpu(0), 0, f), NVML_ERROR_INVALID_ARGUMENT);
}

static void ending(void **state)
{
  (void)state;
  unsigned n;
  assert_int_equal(nvmlShutdown(), NVML_SUCCESS);
  assert_int_equal(nvmlDeviceGetCount_v2(&n), NVML_ERROR_UNINITIALIZED);
  assert_int_equal(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(starting), cmocka_unit_test(devices),      cmocka_unit_test(memory), cmocka_unit_test(check_bits), cmocka_unit_test(ways),
    cmocka_unit_test(links),    cmocka_unit_test(field_values), cmocka_unit_test(unsupported), cmocka_unit_test(ending),
  };
  return cmocka_run_group_tests(tests, dgx, NULL);
}
