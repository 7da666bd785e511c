/* NVML as its reference documents it: the numbers and structures that programs pass. Own declarations. */
#ifndef WS_NVML_TYPES_H
#define WS_NVML_TYPES_H

#include <stdint.h>

typedef enum {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_ALREADY_INITIALIZED = 5,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_INSUFFICIENT_POWER = 8,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_IRQ_ISSUE = 11,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12,
  NVML_ERROR_FUNCTION_NOT_FOUND = 13,
  NVML_ERROR_CORRUPTED_INFOROM = 14,
  NVML_ERROR_GPU_IS_LOST = 15,
  NVML_ERROR_RESET_REQUIRED = 16,
  NVML_ERROR_OPERATING_SYSTEM = 17,
  NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
  NVML_ERROR_IN_USE = 19,
  NVML_ERROR_MEMORY = 20,
  NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_ERROR_UNKNOWN = 999,
} nvmlReturn_t;

typedef struct nvml_device_handle *nvmlDevice_t; /* of the machine's GPU, or of an instance (nvml_call.h) */
typedef void *nvmlEventSet_t;

/* What version fields hold: the size of the structure and its version. */
#define NVML_STRUCT_VERSION(type, version) ((unsigned)(sizeof(type) | ((unsigned)(version) << 24)))

enum { NVML_PCI_TEXT_V2 = 16, NVML_PCI_TEXT = 32 };
enum { NVML_VENDOR = 0x10de, NVML_CLASS_DISPLAY = 3, NVML_SUBCLASS_3D = 2 };

typedef struct {
  char bus_id[NVML_PCI_TEXT_V2];
  unsigned domain, bus, device, pci_device, pci_subsystem, reserved[4];
} nvmlPciInfo_v2_t;

typedef struct {
  char bus_id_legacy[NVML_PCI_TEXT_V2];
  unsigned domain, bus, device, pci_device, pci_subsystem;
  char bus_id[NVML_PCI_TEXT];
} nvmlPciInfo_t;

typedef struct {
  unsigned version, domain, bus, device, pci_device, pci_subsystem, base_class, sub_class;
  char bus_id[NVML_PCI_TEXT];
} nvmlPciInfoExt_t;

typedef struct {
  unsigned long long total, free, used;
} nvmlMemory_t;

typedef struct {
  unsigned version;
  unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;

typedef struct {
  unsigned multiprocessor_count, shared_copy_engines, shared_decoders, shared_encoders, shared_jpeg, shared_ofa;
  unsigned gpu_instance_slices, compute_instance_slices;
  unsigned long long memory_mb;
} nvmlDeviceAttributes_t;

/* Of memory: all ones, when nobody knows; of instances likewise, where the GPU is whole. */
typedef struct {
  unsigned pid;
  unsigned long long used;
} nvmlProcessInfo_v1_t;
typedef struct {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
} nvmlProcessInfo_t;

/* nvmlClockType_t */
enum { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_CLOCK_VIDEO };

/* nvmlGpuP2PStatus_t, nvmlGpuP2PCapsIndex_t */
enum { NVML_P2P_STATUS_OK, NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED, NVML_P2P_STATUS_NOT_SUPPORTED = 5 };
enum { NVML_P2P_CAPS_READ, NVML_P2P_CAPS_WRITE, NVML_P2P_CAPS_NVLINK, NVML_P2P_CAPS_ATOMICS, NVML_P2P_CAPS_PROP };

/* nvmlGpuTopologyLevel_t */
enum {
  NVML_TOPOLOGY_INTERNAL = 0, NVML_TOPOLOGY_SINGLE = 10, NVML_TOPOLOGY_MULTIPLE = 20, NVML_TOPOLOGY_HOSTBRIDGE = 30,
  NVML_TOPOLOGY_NODE = 40, NVML_TOPOLOGY_SYSTEM = 50,
};

/* nvmlNvLinkCapability_t, nvmlIntNvLinkDeviceType_t */
enum {
  NVML_NVLINK_CAP_P2P_SUPPORTED, NVML_NVLINK_CAP_SYSMEM_ACCESS, NVML_NVLINK_CAP_P2P_ATOMICS,
  NVML_NVLINK_CAP_SYSMEM_ATOMICS, NVML_NVLINK_CAP_SLI_BRIDGE, NVML_NVLINK_CAP_VALID, NVML_NVLINK_CAPS,
};
enum { NVML_NVLINK_DEVICE_GPU = 0, NVML_NVLINK_DEVICE_SWITCH = 2 };

/* Fields that are served; values and their types. */
enum {
  NVML_FI_NVLINK_SPEED_MBPS_COMMON = 90,
  NVML_FI_NVLINK_LINK_COUNT = 91,
  NVML_FI_NVLINK_GET_SPEED = 164,
  NVML_FI_NVLINK_GET_STATE = 165,
  NVML_FI_NVLINK_GET_VERSION = 166,
  NVML_FI_C2C_LINK_COUNT = 170,
  NVML_FI_C2C_LINK_GET_STATUS = 171,
  NVML_FI_C2C_LINK_GET_MAX_BW = 172,
};
enum { NVML_VALUE_UNSIGNED_INT = 1 };

typedef struct {
  unsigned field, scope;
  long long timestamp, latency_us; /* us since 1970; taken to find out */
  int type;
  nvmlReturn_t result;
  union {
    double d;
    unsigned u;
    unsigned long long ull;
  } value;
} nvmlFieldValue_t;

typedef struct {
  unsigned environment, cc_feature, dev_tools;
} nvmlConfComputeSystemState_t;

typedef struct {
  unsigned version, environment, cc_feature, dev_tools, multi_gpu;
} nvmlSystemConfComputeSettings_t;

#endif
