/* Loading of the CUDA driver and of NVML at run time; see driver.h. */
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ISO C has no conversion from object to function pointer; POSIX's dlsym requires it to work. */
static void set_symbol(void *slot, void *lib, const char *name)
{
  void *sym = dlsym(lib, name);
  memcpy(slot, &sym, sizeof sym);
}

bool driver_load(struct driver *d, struct err *e)
{
  memset(d, 0, sizeof *d);
  d->lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!d->lib)
    return err_set(e, "no NVIDIA driver on this machine (libcuda.so.1: %s); "
                      "run this tool on a machine with an NVIDIA GPU", dlerror());
#define X(name, params)                                                                            \
  set_symbol(&d->name, d->lib, #name);                                                             \
  if (!d->name) {                                                                                  \
    driver_unload(d);                                                                              \
    return err_set(e, "libcuda.so.1 lacks %s: the driver is too old", #name);                      \
  }
  DRIVER_LIST(X)
#undef X
  if (!driver_ok(d, d->cuInit(0), "cuInit", e)) {
    driver_unload(d);
    return false;
  }
  return true;
}

void driver_unload(struct driver *d)
{
  if (d->lib) dlclose(d->lib);
  d->lib = NULL;
}

bool driver_ok(const struct driver *d, int result, const char *call, struct err *e)
{
  const char *name = NULL, *text = NULL;

  if (result == 0) return true;
  if (d->cuGetErrorName(result, &name) != 0 || !name) name = "unknown error";
  if (d->cuGetErrorString(result, &text) != 0 || !text) text = "no description";
  return err_set(e, "%s: %s (%d): %s", call, name, result, text);
}

/* NVML: loaded for each reading, because a reading is rare and the state is not worth keeping. */
struct nvml_device;

struct nvml {
  void *lib;
  int (*init)(void);
  int (*shutdown)(void);
  int (*by_pci)(const char *, struct nvml_device **);
  int (*clock)(struct nvml_device *, int type, unsigned *mhz);
  int (*version)(char *, unsigned len);
};

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

static bool nvml_open(struct nvml *n)
{
  memset(n, 0, sizeof *n);
  n->lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!n->lib) return false;
  set_symbol(&n->init, n->lib, "nvmlInit_v2");
  set_symbol(&n->shutdown, n->lib, "nvmlShutdown");
  set_symbol(&n->by_pci, n->lib, "nvmlDeviceGetHandleByPciBusId_v2");
  set_symbol(&n->clock, n->lib, "nvmlDeviceGetClockInfo");
  set_symbol(&n->version, n->lib, "nvmlSystemGetDriverVersion");
  if (n->init && n->shutdown && n->by_pci && n->clock && n->version && n->init() == 0) return true;
  dlclose(n->lib);
  return false;
}

static void nvml_close(struct nvml *n)
{
  n->shutdown();
  dlclose(n->lib);
}

void board_clocks(struct board *b)
{
  struct nvml n;
  struct nvml_device *dev = NULL;

  if (!nvml_open(&n)) return;
  if (n.by_pci(b->pci, &dev) == 0) {
    if (n.clock(dev, NVML_CLOCK_SM, &b->sm_mhz) != 0) b->sm_mhz = 0;
    if (n.clock(dev, NVML_CLOCK_MEM, &b->mem_mhz) != 0) b->mem_mhz = 0;
  }
  if (n.version(b->driver_version, sizeof b->driver_version) != 0) b->driver_version[0] = '\0';
  nvml_close(&n);
}

bool board_read(const struct driver *d, cu_device device, struct board *b, struct err *e)
{
  const struct {
    int attribute, *value;
  } wanted[] = {
    {CU_ATTR_CC_MAJOR, &b->cc_major},     {CU_ATTR_CC_MINOR, &b->cc_minor},
    {CU_ATTR_SM_COUNT, &b->sm_count},     {CU_ATTR_L2_BYTES, &b->l2_bytes},
    {CU_ATTR_MEMORY_BUS_BITS, &b->bus_bits}, {CU_ATTR_ECC, &b->ecc},
    {CU_ATTR_CLOCK_KHZ, &b->clock_khz},   {CU_ATTR_MEMORY_CLOCK_KHZ, &b->mem_clock_khz},
  };
  size_t bytes = 0;

  memset(b, 0, sizeof *b);
  CU_TRY(d, e, cuDeviceGetName, b->name, (int)sizeof b->name, device);
  CU_TRY(d, e, cuDeviceGetPCIBusId, b->pci, (int)sizeof b->pci, device);
  CU_TRY(d, e, cuDriverGetVersion, &b->cuda_version);
  CU_TRY(d, e, cuDeviceTotalMem_v2, &bytes, device);
  b->mem_bytes = bytes;
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
    CU_TRY(d, e, cuDeviceGetAttribute, wanted[i].value, wanted[i].attribute, device);
  board_clocks(b);
  return true;
}
