/* The published CUDA driver and runtime interfaces, as far as the shims need them: own declarations
 * of types, layouts and numbers, from the CUDA Driver API and CUDA Runtime API references (13.0).
 * tests/exec/layouts.c compares them with the toolkit's headers where these are installed.
 *
 * Driver and runtime share error numbers, handles and device attributes, so there is one type each:
 * CUresult also stands for cudaError_t, CUstream for cudaStream_t, and so on.
 */
#ifndef WS_CUDA_API_H
#define WS_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

/* One enumerator per code: the driver's name, and the runtime's where the driver has none. */
typedef enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidChannelDescriptor = 20,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorMissingConfiguration = 52,
  cudaErrorLaunchMaxDepthExceeded = 65,
  cudaErrorLaunchPendingCountExceeded = 69,
  cudaErrorInvalidDeviceFunction = 98,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_UNSUPPORTED_LIMIT = 215,
  CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
  CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY = 224,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
  CUDA_ERROR_FILE_NOT_FOUND = 301,
  CUDA_ERROR_OPERATING_SYSTEM = 304,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_ILLEGAL_STATE = 401,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
  CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
  CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
  CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_MPS_CONNECTION_FAILED = 805,
  CUDA_ERROR_MPS_RPC_FAILURE = 806,
  CUDA_ERROR_MPS_SERVER_NOT_READY = 807,
  CUDA_ERROR_MPS_MAX_CLIENTS_REACHED = 808,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_INVALID_PC = 718,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_NOT_PERMITTED = 800,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_STREAM_CAPTURE_MERGE = 902,
  CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
  CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
  CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
  CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
  CUDA_ERROR_CAPTURED_EVENT = 907,
  CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
  CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
  CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
  CUDA_ERROR_INVALID_RESOURCE_TYPE = 914,
  CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION = 915,
  CUDA_ERROR_UNKNOWN = 999,
} CUresult;

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef unsigned long long CUgraphConditionalHandle;
typedef struct context *CUcontext;
typedef struct loaded_module *CUmodule, *CUlibrary;
typedef struct function *CUfunction, *CUkernel;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct array *CUarray;
typedef struct mipmap *CUmipmappedArray;
typedef struct pool *CUmemoryPool;
typedef struct link_state *CUlinkState;
typedef struct graph *CUgraph;
typedef struct graph_node *CUgraphNode;
typedef struct graph_exec *CUgraphExec;
typedef struct user_object *CUuserObject;
typedef struct green_context *CUgreenCtx;
typedef struct sm_group *CUdevResourceDesc;

/* Handles with a meaning of their own. */
#define STREAM_LEGACY     ((CUstream)0x1)
#define STREAM_PER_THREAD ((CUstream)0x2)

typedef struct {
  char bytes[16];
} CUuuid;

typedef struct {
  unsigned x, y, z;
} dim3;

enum { STREAM_NON_BLOCKING = 1, EVENT_DISABLE_TIMING = 2, EVENT_INTERPROCESS = 4 };

typedef struct {
  char reserved[64];
} CUipcMemHandle, CUipcEventHandle;

typedef struct {
  unsigned char reserved[64];
} CUmemPoolPtrExportData;

enum { MEM_HOST = 1, MEM_DEVICE = 2, MEM_ARRAY = 3, MEM_UNIFIED = 4 }; /* CUmemorytype */
enum { HOST_ALLOC_PORTABLE = 1, HOST_ALLOC_MAPPED = 2, HOST_ALLOC_WRITE_COMBINED = 4 };
enum { MANAGED_GLOBAL = 1, MANAGED_HOST = 2 };
/* cudaMemcpyKind */
enum { COPY_HOST_TO_HOST, COPY_HOST_TO_DEVICE, COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_DEVICE,
       COPY_DEFAULT };
/* CUfunction_attribute; cudaFuncAttribute has the last two under the same numbers. */
enum { FUNC_MAX_THREADS, FUNC_SHARED_SIZE, FUNC_CONST_SIZE, FUNC_LOCAL_SIZE, FUNC_NUM_REGS,
       FUNC_PTX_VERSION, FUNC_BINARY_VERSION, FUNC_CACHE_MODE_CA, FUNC_MAX_DYNAMIC_SHARED,
       FUNC_CARVEOUT, FUNC_CLUSTER_MUST_BE_SET, FUNC_CLUSTER_WIDTH, FUNC_CLUSTER_HEIGHT,
       FUNC_CLUSTER_DEPTH, FUNC_NON_PORTABLE_CLUSTER, FUNC_CLUSTER_POLICY, FUNC__N };
/* CUlaunchAttributeID */
enum { LAUNCH_ATTR_IGNORE = 0, LAUNCH_ATTR_WINDOW = 1, LAUNCH_ATTR_COOPERATIVE = 2, LAUNCH_ATTR_SYNC_POLICY = 3,
       LAUNCH_ATTR_CLUSTER = 4, LAUNCH_ATTR_CLUSTER_POLICY = 5, LAUNCH_ATTR_PRIORITY = 8, LAUNCH_ATTR_CARVEOUT = 14 };
/* Keys of cuLaunchKernel's `extra`. */
#define LAUNCH_PARAM_END         ((void *)0)
#define LAUNCH_PARAM_BUFFER      ((void *)1)
#define LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
/* CUlimit */
enum { LIMIT_STACK_SIZE, LIMIT_PRINTF_FIFO, LIMIT_MALLOC_HEAP, LIMIT_DEV_SYNC_DEPTH,
       LIMIT_PENDING_LAUNCHES, LIMIT_L2_GRANULARITY, LIMIT_PERSISTING_L2, LIMIT__N };

typedef struct {
  void *base;
  size_t bytes;
  float hit_ratio;
  int hit, miss;
} CUaccessPolicyWindow;

typedef union {
  char pad[64];
  int cooperative, priority, sync_policy, cluster_policy;
  unsigned carveout;
  struct {
    unsigned x, y, z;
  } cluster;
  CUaccessPolicyWindow window;
} CUlaunchAttributeValue;

typedef struct {
  unsigned id;
  char pad[4];
  CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct {
  unsigned grid[3], block[3], shared;
  CUstream stream;
  CUlaunchAttribute *attr;
  unsigned n_attrs;
} CUlaunchConfig;

typedef struct {
  dim3 grid, block;
  size_t shared;
  CUstream stream;
  CUlaunchAttribute *attr;
  unsigned n_attrs;
} cudaLaunchConfig_t;

typedef struct {
  size_t src_x, src_y;
  unsigned src_type;
  const void *src_host;
  CUdeviceptr src_device;
  CUarray src_array;
  size_t src_pitch;
  size_t dst_x, dst_y;
  unsigned dst_type;
  void *dst_host;
  CUdeviceptr dst_device;
  CUarray dst_array;
  size_t dst_pitch;
  size_t width, height;
} CUDA_MEMCPY2D;

typedef struct {
  size_t src_x, src_y, src_z, src_lod;
  unsigned src_type;
  const void *src_host;
  CUdeviceptr src_device;
  CUarray src_array;
  void *reserved0;
  size_t src_pitch, src_height;
  size_t dst_x, dst_y, dst_z, dst_lod;
  unsigned dst_type;
  void *dst_host;
  CUdeviceptr dst_device;
  CUarray dst_array;
  void *reserved1;
  size_t dst_pitch, dst_height;
  size_t width, height, depth;
} CUDA_MEMCPY3D;

/* CUarray_format */
enum { FORMAT_U8 = 1, FORMAT_U16 = 2, FORMAT_U32 = 3, FORMAT_S8 = 8, FORMAT_S16 = 9, FORMAT_S32 = 10,
       FORMAT_HALF = 16, FORMAT_FLOAT = 32 };

typedef struct {
  size_t width, height;
  int format;
  unsigned channels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
} CUDA_ARRAY3D_DESCRIPTOR;

/* CUresourcetype */
enum { RESOURCE_ARRAY, RESOURCE_MIPMAP, RESOURCE_LINEAR, RESOURCE_PITCHED };

typedef struct {
  int type;
  union {
    CUarray array;
    CUmipmappedArray mipmap;
    struct {
      CUdeviceptr p;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      CUdeviceptr p;
      int format;
      unsigned channels;
      size_t width, height, pitch;
    } pitched;
    int reserved[32];
  } of;
  unsigned flags;
} CUDA_RESOURCE_DESC;

/* Also cudaResourceViewDesc. */
typedef struct {
  int format;
  size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer, reserved[16];
} CUDA_RESOURCE_VIEW_DESC;

/* Flags of a texture. */
enum { TEXTURE_READ_AS_INTEGER = 1, TEXTURE_NORMALIZED = 2, TEXTURE_SRGB = 16, TEXTURE_SEAMLESS = 64 };

typedef struct {
  int address[3];
  int filter;
  unsigned flags;
  unsigned max_anisotropy;
  int mip_filter;
  float mip_bias, mip_min, mip_max;
  float border[4];
  int reserved[12];
} CUDA_TEXTURE_DESC;

typedef struct {
  void *ptr;
  size_t pitch, xsize, ysize;
} cudaPitchedPtr;

typedef struct {
  size_t width, height, depth;
} cudaExtent;

typedef struct {
  size_t x, y, z;
} cudaPos;

enum { LOCATION_DEVICE = 1, LOCATION_HOST, LOCATION_HOST_NUMA, LOCATION_HOST_NUMA_CURRENT }; /* CUmemLocationType */

typedef struct {
  int type, id;
} CUmemLocation;

/* CUstreamBatchMemOpType */
enum { MEM_OP_WAIT_32 = 1, MEM_OP_WRITE_32 = 2, MEM_OP_FLUSH_REMOTE = 3, MEM_OP_WAIT_64 = 4, MEM_OP_WRITE_64 = 5,
       MEM_OP_BARRIER = 6 };
/* CUstreamWaitValue_flags */
enum { MEM_WAIT_GEQ = 0, MEM_WAIT_EQ = 1, MEM_WAIT_AND = 2, MEM_WAIT_NOR = 3, MEM_WAIT_FLUSH = 1 << 30 };

typedef union {
  int operation;
  struct {
    int operation;
    CUdeviceptr address;
    union {
      uint32_t value;
      uint64_t value64;
    };
    unsigned flags;
    CUdeviceptr alias;
  } word; /* waits and writes */
  struct {
    int operation;
    unsigned flags;
  } other;
  uint64_t pad[6];
} CUstreamBatchMemOpParams;

typedef struct {
  CUcontext context;
  unsigned n;
  CUstreamBatchMemOpParams *op;
  unsigned flags;
} CUDA_BATCH_MEM_OP_NODE_PARAMS;

/* Also cudaMemcpyAttributes. */
typedef struct {
  int order; /* CUmemcpySrcAccessOrder */
  CUmemLocation src_hint, dst_hint;
  unsigned flags;
} CUmemcpyAttributes;

enum { OPERAND_POINTER = 1, OPERAND_ARRAY = 2 }; /* CUmemcpy3DOperandType */

typedef struct {
  int type;
  union {
    struct {
      CUdeviceptr p;
      size_t row, layer; /* texels, rows; 0: as the extent */
      CUmemLocation hint;
    } pointer;
    struct {
      CUarray array;
      cudaPos offset;
    } array;
  };
} CUmemcpy3DOperand;

/* Also cudaMemcpy3DBatchOp. */
typedef struct {
  CUmemcpy3DOperand src, dst;
  cudaExtent extent; /* texels, rows, slices */
  int order;
  unsigned flags;
} CUDA_MEMCPY3D_BATCH_OP;

typedef struct {
  CUarray src_array;
  cudaPos src_pos;
  cudaPitchedPtr src;
  CUarray dst_array;
  cudaPos dst_pos;
  cudaPitchedPtr dst;
  cudaExtent extent;
  int kind;
} cudaMemcpy3DParms;

typedef struct {
  CUarray src_array;
  cudaPos src_pos;
  cudaPitchedPtr src;
  int src_device;
  CUarray dst_array;
  cudaPos dst_pos;
  cudaPitchedPtr dst;
  int dst_device;
  cudaExtent extent;
} cudaMemcpy3DPeerParms;

typedef struct {
  size_t shared, constant, local;
  int max_threads, regs, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared, carveout;
  int cluster_must_be_set, cluster[3], cluster_policy, non_portable_cluster;
  int reserved[16];
} cudaFuncAttributes;

typedef struct {
  int type; /* 0 unregistered, 1 host, 2 device, 3 managed */
  int device;
  void *device_pointer, *host_pointer;
  long reserved[8]; /* CUDA 13 only: not written for programs of CUDA 12 */
} cudaPointerAttributes;

typedef struct {
  int alloc_type, handle_types; /* 1: pinned; 0: none */
  CUmemLocation location;
  void *security;
  size_t max_bytes;
  unsigned short usage;
  char reserved[54];
} CUmemPoolProps;

typedef struct {
  CUmemLocation location;
  int flags;
} CUmemAccessDesc;

typedef struct {
  int type, handle_types; /* 1: pinned; 0: none */
  CUmemLocation location;
  void *security;
  unsigned char compression, rdma;
  unsigned short usage;
  unsigned char reserved[4];
} CUmemAllocationProp;

typedef struct {
  unsigned numDevices;
  size_t size;
  unsigned long long handleTypes, flags;
} CUmulticastObjectProp;

/* Parameters of graph nodes. cudaKernelNodeParams is the first part of the driver's, cudaMemsetParams and
 * cudaHostNodeParams are the driver's. */
typedef struct {
  const void *function; /* CUfunction; runtime: also a host function */
  unsigned grid[3], block[3], shared;
  void **params, **extra;
  CUkernel kernel;      /* from here on the driver's only */
  CUcontext context;
} CUDA_KERNEL_NODE_PARAMS;

typedef struct {
  CUdeviceptr dst;
  size_t pitch;
  unsigned value, element; /* bytes: 1, 2, 4 */
  size_t width, height;    /* elements, rows */
} CUDA_MEMSET_NODE_PARAMS;

typedef struct {
  void (*fn)(void *);
  void *data;
} CUDA_HOST_NODE_PARAMS;

typedef struct {
  CUmemPoolProps pool;
  const CUmemAccessDesc *access;
  size_t n_access, bytes;
  CUdeviceptr p; /* out */
} CUDA_MEM_ALLOC_NODE_PARAMS;

typedef struct {
  CUgraphConditionalHandle handle;
  int type;
  unsigned n;
  CUgraph *body;     /* out: n graphs, which belong to the node */
  CUcontext context; /* the driver's only */
} CUDA_CONDITIONAL_NODE_PARAMS;

/* Parameters of any node: CUgraphNodeParams and cudaGraphNodeParams differ in their copies. */
typedef struct {
  int type, reserved0[3];
  union {
    long long size[29];
    CUDA_KERNEL_NODE_PARAMS kernel;
    struct {
      int flags, reserved;
      CUcontext context;
      CUDA_MEMCPY3D params;
    } copy;
    struct {
      int flags, reserved[3];
      cudaMemcpy3DParms params;
    } runtime_copy;
    CUDA_MEMSET_NODE_PARAMS memset;
    CUDA_HOST_NODE_PARAMS host;
    CUgraph graph;
    CUevent event;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUdeviceptr free;
    CUDA_CONDITIONAL_NODE_PARAMS condition;
    CUDA_BATCH_MEM_OP_NODE_PARAMS memory_ops;
  };
  long long reserved2;
} CUgraphNodeParams;

typedef struct {
  int result;
  CUgraphNode node, from;
} CUgraphExecUpdateResultInfo;

typedef struct {
  uint64_t flags;
  CUstream upload;
  CUgraphNode failed;
  int result;
} CUDA_GRAPH_INSTANTIATE_PARAMS;

typedef struct {
  unsigned char from_port, to_port, type, reserved[5];
} CUgraphEdgeData;

typedef struct {
  int x, y, z, w; /* bits */
  int kind;       /* 0 signed, 1 unsigned, 2 float */
} cudaChannelFormatDesc;

typedef struct {
  int type; /* cudaResourceType */
  union {
    CUarray array;
    CUmipmappedArray mipmap;
    struct {
      void *p;
      cudaChannelFormatDesc desc;
      size_t width_or_bytes; /* texels of a pitched resource, bytes of a linear one */
      size_t height, pitch;
    } memory;
    int reserved[32];
  };
  unsigned flags;
} cudaResourceDesc;

typedef struct {
  int address[3], filter, read_normalized, srgb;
  float border[4];
  int normalized;
  unsigned max_anisotropy;
  int mip_filter;
  float mip_bias, mip_min, mip_max;
  int no_trilinear, seamless_cube;
} cudaTextureDesc;

/* Of a context: how many SMs it may use. */
enum { EXEC_AFFINITY_SM_COUNT = 0 };
typedef struct {
  int type;
  unsigned sm_count;
} CUexecAffinityParam;

typedef struct {
  const CUexecAffinityParam *affinity;
  int n_affinity;
  const void *graphics;
} CUctxCreateParams;

/* SMs of a GPU, or a part of them. What is the driver's own says which (sm_resource.c). */
typedef struct {
  unsigned count, least, alignment, flags;
} CUdevSmResource;

/* How many streams of a context are expected to have work at once, and whether their hardware queues are its own. */
typedef struct {
  int device;
  unsigned concurrency;
  int scope;
} CUdevWorkqueueConfigResource;

/* A group that cuDevSmResourceSplit makes. */
typedef struct {
  unsigned count, coscheduled, preferred, flags;
  unsigned reserved[12];
} CU_DEV_SM_RESOURCE_GROUP_PARAMS;

typedef struct {
  int type;
  unsigned char own[92];
  union {
    CUdevSmResource sm;
    CUdevWorkqueueConfigResource queues;
    unsigned char room[48];
  };
} CUdevResource;

#endif
