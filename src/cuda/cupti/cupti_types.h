/* CUPTI as its reference documents it: the numbers that programs pass and the records that they read (CUPTI reference,
 * "CUPTI Activity API", "CUPTI Callback API"). Own declarations; tests/libs/profiler.cu, compiled with a toolkit's
 * headers, reads what is written here. Records have the members of CUDA 13.2; older ones lack the last ones.
 */
#ifndef WS_CUPTI_TYPES_H
#define WS_CUPTI_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/core/api.h"

enum { CUPTI_VERSION = 130000 };

typedef enum {
  CUPTI_SUCCESS = 0,
  CUPTI_ERROR_INVALID_PARAMETER = 1,
  CUPTI_ERROR_INVALID_DEVICE = 2,
  CUPTI_ERROR_INVALID_CONTEXT = 3,
  CUPTI_ERROR_OUT_OF_MEMORY = 8,
  CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT = 10,
  CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
  CUPTI_ERROR_NOT_INITIALIZED = 15,
  CUPTI_ERROR_QUEUE_EMPTY = 18,
  CUPTI_ERROR_INVALID_STREAM = 20,
  CUPTI_ERROR_INVALID_KIND = 21,
  CUPTI_ERROR_NOT_SUPPORTED = 27,
  CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
  CUPTI_ERROR_UNKNOWN = 999,
} cupti_result;

/* CUpti_ActivityKind */
enum {
  KIND_MEMCPY = 1, KIND_MEMSET = 2, KIND_KERNEL = 3, KIND_DRIVER = 4, KIND_RUNTIME = 5, KIND_CONCURRENT_KERNEL = 10,
  KIND_OVERHEAD = 17, KIND_SYNCHRONIZATION = 38, KIND_EXTERNAL = 39, KINDS = 64,
};
/* CUpti_CallbackDomain, CUpti_ApiCallbackSite */
enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2, DOMAIN_RESOURCE = 3, DOMAIN_SYNCHRONIZE = 4, DOMAINS = 8 };
/* CUpti_CallbackIdResource and CUpti_CallbackIdSync: those that come. */
enum {
  RESOURCE_CONTEXT_CREATED = 1, RESOURCE_CONTEXT_DESTROYED = 2, RESOURCE_STREAM_CREATED = 3,
  RESOURCE_STREAM_DESTROYED = 4, RESOURCE_MODULE_LOADED = 6, RESOURCE_MODULE_UNLOADED = 7,
};
enum { STREAM_SYNCHRONIZED = 1, CONTEXT_SYNCHRONIZED = 2 };
/* CUpti_ActivitySynchronizationType */
enum { SYNC_EVENT = 1, SYNC_WAIT_EVENT = 2, SYNC_STREAM = 3, SYNC_CONTEXT = 4 };
/* CUPTI_SYNCHRONIZATION_INVALID_VALUE: the field says nothing about this kind of synchronisation. */
#define SYNC_NOTHING UINT32_MAX
enum { SITE_ENTER, SITE_EXIT };
/* CUpti_ExternalCorrelationKind */
enum { EXTERNAL_KINDS = 8 };
/* CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind, CUpti_ActivityFlag */
enum { COPY_HTOD = 1, COPY_DTOH = 2, COPY_DTOD = 8, COPY_HTOH = 9 };
enum { MEMORY_PAGEABLE = 1, MEMORY_PINNED = 2, MEMORY_DEVICE = 3 };
enum { FLAG_ASYNC = 1 };

/* Every record begins with its kind. */
struct cupti_api_record {
  int32_t kind;
  uint32_t cbid;
  uint64_t start, end;
  uint32_t process, thread, correlation, result;
};

struct cupti_external_record {
  int32_t kind, external_kind;
  uint64_t id;
  uint32_t correlation, reserved;
};

struct cupti_sync_record {
  int32_t kind, type;
  uint64_t start, end;
  uint32_t correlation, context, stream, event;
  uint64_t event_sync;
  uint32_t result, pad;
};

struct cupti_copy_record {
  int32_t kind;
  uint8_t copy_kind, src_kind, dst_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation, runtime_correlation, pad;
  void *reserved;
  uint64_t graph_node;
  uint32_t graph, channel;
  int32_t channel_type;
  uint8_t by_device, pad2[3];
  uint64_t copies;
};

struct cupti_fill_record {
  int32_t kind;
  uint32_t value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint16_t flags, memory_kind;
  uint32_t pad;
  void *reserved;
  uint64_t graph_node;
  uint32_t graph, channel;
  int32_t channel_type;
  uint8_t by_device, pad2[3];
};

struct cupti_kernel_record {
  int32_t kind;
  uint8_t cache_config, shared_config;
  uint16_t registers;
  int32_t cache_requested, cache_executed;
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3], shared_static, shared_dynamic;
  uint32_t local_thread, local_total, correlation;
  int64_t grid_id;
  const char *name;
  void *reserved;
  uint64_t queued, submitted;
  uint8_t launch_type, carveout_requested, carveout, pad;
  uint32_t shared_executed;
  uint64_t graph_node;
  int32_t shared_limit;
  uint32_t graph;
  void *window;
  uint32_t channel;
  int32_t channel_type;
  uint32_t cluster[3], cluster_policy;
  uint64_t local_total_64;
  uint32_t cluster_max, clusters_max;
  uint8_t by_device, pad3[7];
  int32_t priority;
  uint32_t pad4;
};

_Static_assert(sizeof(struct cupti_api_record) == 40 && sizeof(struct cupti_external_record) == 24, "as documented");
_Static_assert(sizeof(struct cupti_copy_record) == 96 && sizeof(struct cupti_fill_record) == 88, "as documented");
_Static_assert(sizeof(struct cupti_sync_record) == 56, "as documented");
_Static_assert(offsetof(struct cupti_kernel_record, priority) == 216, "the end of what CUDA 13.0 has");

/* What a callback is given. */
struct cupti_callback_data {
  int32_t site;
  const char *function;
  const void *params; /* arguments.h; NULL: of this function they are not told */
  void *result;       /* at the exit */
  const char *symbol; /* of launches the kernel's name, else NULL */
  CUcontext context;
  uint32_t context_id;
  uint64_t *data;
  uint32_t correlation;
};

/* What callbacks of other domains are given in its place. */
struct cupti_module_data {
  uint32_t id;
  size_t bytes;      /* 0 here */
  const char *cubin; /* NULL here: what was loaded is not kept */
};
struct cupti_resource_data {
  CUcontext context;
  CUstream stream;
  const struct cupti_module_data *module;
};
struct cupti_sync_data {
  CUcontext context;
  CUstream stream;
};

typedef void (*cupti_callback)(void *user, int domain, uint32_t cbid, const struct cupti_callback_data *);
typedef void (*cupti_buffer_wanted)(uint8_t **buffer, size_t *bytes, size_t *records);
typedef void (*cupti_buffer_full)(CUcontext, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
typedef uint64_t (*cupti_clock)(void);

#endif
