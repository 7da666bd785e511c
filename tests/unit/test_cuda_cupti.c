/* CUPTI without a toolkit: records, external correlation, callbacks, buffers of any size. Layouts are those of
 * cuda/cupti/cupti_types.h, which tests/libs/profiler.cu holds against NVIDIA's headers; numbers of calls are those of the
 * CUPTI reference (CUpti_driver_api_trace_cbid). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda/cupti/cupti_types.h"
#include "cuda_rig.h"

typedef struct subscriber *subscriber;

cupti_result cuptiActivityEnable(int kind);
cupti_result cuptiActivityDisable(int kind);
cupti_result cuptiActivityRegisterCallbacks(cupti_buffer_wanted, cupti_buffer_full);
cupti_result cuptiActivityFlushAll(uint32_t flag);
cupti_result cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record);
cupti_result cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t stream, size_t *n);
cupti_result cuptiActivityPushExternalCorrelationId(int kind, uint64_t id);
cupti_result cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id);
cupti_result cuptiSubscribe(subscriber *, cupti_callback, void *user);
cupti_result cuptiUnsubscribe(subscriber);
cupti_result cuptiEnableCallback(uint32_t on, subscriber, int domain, uint32_t id);
cupti_result cuptiGetCallbackName(int domain, uint32_t id, const char **name);
cupti_result cuptiFinalize(void);
cupti_result cuptiActivityEnableAllSyncRecords(uint8_t on);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
cupti_result cuptiEnableDomain(uint32_t on, subscriber, int domain);

enum { CUSTOM = 3, CBID_CU_LAUNCH_KERNEL = 307, CBID_CU_MEMSET_D32 = 251, MOST = 64 };

/* What came in the last flush. */
static struct {
  struct cupti_kernel_record kernel[MOST];
  struct cupti_api_record call[MOST];
  struct cupti_copy_record copy[MOST];
  struct cupti_fill_record fill[MOST];
  struct cupti_external_record external[MOST];
  struct cupti_sync_record sync[MOST];
  unsigned kernels, calls, copies, fills, externals, syncs, buffers;
} came;
static size_t room = 4096;

static void want(uint8_t **buffer, size_t *bytes, size_t *records)
{
  *buffer = malloc(room);
  *bytes = room;
  *records = 0;
}

static void take(const uint8_t *r)
{
  int32_t kind;
  memcpy(&kind, r, sizeof kind);
#define TAKE(of, n) memcpy(&came.of[came.n++], r, sizeof came.of[0])
  switch (kind) {
  case KIND_CONCURRENT_KERNEL: TAKE(kernel, kernels); break;
  case KIND_DRIVER: TAKE(call, calls); break;
  case KIND_MEMCPY: TAKE(copy, copies); break;
  case KIND_MEMSET: TAKE(fill, fills); break;
  case KIND_EXTERNAL: TAKE(external, externals); break;
  case KIND_SYNCHRONIZATION: TAKE(sync, syncs); break;
  default: fail_msg("kind %d", kind);
  }
}

static void full(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
  uint8_t *r = NULL;
  (void)context, (void)stream, (void)bytes;
  came.buffers++;
  while (cuptiActivityGetNextRecord(buffer, valid, &r) == CUPTI_SUCCESS) take(r);
  free(buffer);
}

static void flush(void)
{
  memset(&came, 0, sizeof came);
  assert_int_equal(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
}

static int follow(void **state)
{
  static const int kinds[] = {KIND_CONCURRENT_KERNEL, KIND_DRIVER, KIND_MEMCPY, KIND_MEMSET, KIND_EXTERNAL};
  int bad = cuda_setup(state) || cuptiActivityRegisterCallbacks(want, full) != CUPTI_SUCCESS;
  for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) bad |= cuptiActivityEnable(kinds[i]) != CUPTI_SUCCESS;
  return bad;
}

static void launch(CUfunction f, CUdeviceptr p, unsigned grid)
{
  unsigned n = 64;
  OK(cuLaunchKernel(f, grid, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p, &p, &p, &n}, NULL));
}

static void test_records(void **state)
{
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr p = cuda_floats(64, 0, 1);
  (void)state;
  flush();
  assert_int_equal(came.copies, 1);
  assert_int_equal(came.copy[0].bytes, 256);
  assert_int_equal(came.copy[0].copy_kind, COPY_HTOD);
  assert_int_equal(cuptiActivityPushExternalCorrelationId(CUSTOM, 11), CUPTI_SUCCESS);
  launch(f, p, 2);
  assert_int_equal(cuptiActivityPopExternalCorrelationId(CUSTOM, NULL), CUPTI_SUCCESS);
  OK(cuMemsetD32_v2(p, 5, 16));
  OK(cuCtxSynchronize());
  flush();
  assert_int_equal(came.kernels, 1);
  assert_int_equal(came.fills, 1);
  assert_int_equal(came.calls, 3);
  assert_int_equal(came.externals, 1);
  const struct cupti_kernel_record *k = &came.kernel[0];
  assert_string_equal(k->name, "vecadd");
  assert_int_equal(k->grid[0], 2);
  assert_int_equal(k->block[0], 64);
  assert_true(k->end > k->start);
  assert_int_equal(came.call[0].cbid, CBID_CU_LAUNCH_KERNEL);
  assert_int_equal(came.call[0].correlation, k->correlation);
  assert_int_equal(came.external[0].correlation, k->correlation);
  assert_int_equal(came.external[0].id, 11);
  assert_int_equal(came.fill[0].bytes, 64);
  assert_int_equal(came.fill[0].value, 5);
  assert_true(came.fill[0].start >= k->end);
  OK(cuMemFree_v2(p));
  OK(cuModuleUnload(m));
  assert_string_equal(k->name, "vecadd"); /* also when its module is gone */
}

static void test_buffers(void **state)
{
  CUdeviceptr p;
  size_t lost;
  (void)state;
  OK(cuMemAlloc_v2(&p, 64));
  flush();
  room = sizeof(struct cupti_fill_record);
  OK(cuCtxSynchronize()); /* asks for a buffer */
  for (int i = 0; i < 3; i++) OK(cuMemsetD32_v2(p, 1, 1));
  flush();
  assert_int_equal(came.fills, 3);
  assert_true(came.buffers >= 3);
  room = 8;
  OK(cuMemsetD32_v2(p, 1, 1));
  flush();
  assert_int_equal(came.fills, 0);
  assert_int_equal(cuptiActivityGetNumDroppedRecords(NULL, 0, &lost), CUPTI_SUCCESS);
  assert_int_equal(lost, 2);
  room = 4096;
  uint8_t nothing, *r = NULL;
  assert_int_equal(cuptiActivityGetNextRecord(&nothing, 0, &r), CUPTI_ERROR_MAX_LIMIT_REACHED);
  OK(cuMemFree_v2(p));
  flush();
}

static unsigned heard[2];
static void hear(void *user, int domain, uint32_t id, const struct cupti_callback_data *d)
{
  assert_ptr_equal(user, heard);
  assert_int_equal(domain, DOMAIN_DRIVER);
  assert_int_equal(id, CBID_CU_MEMSET_D32);
  assert_string_equal(d->function, "cuMemsetD32_v2");
  heard[d->site]++;
  if (d->site == SITE_EXIT) assert_int_equal(*(const int *)d->result, CUDA_SUCCESS);
}

static void test_callbacks(void **state)
{
  CUdeviceptr p;
  subscriber s, other;
  const char *name;
  (void)state;
  OK(cuMemAlloc_v2(&p, 64));
  assert_int_equal(cuptiSubscribe(&s, hear, heard), CUPTI_SUCCESS);
  assert_int_equal(cuptiSubscribe(&other, hear, NULL), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  assert_int_equal(cuptiEnableCallback(1, s, DOMAIN_DRIVER, 100000), CUPTI_ERROR_INVALID_PARAMETER);
  assert_int_equal(cuptiEnableCallback(1, s, 1000, 1), CUPTI_ERROR_INVALID_PARAMETER);
  assert_int_equal(cuptiEnableCallback(1, s, DOMAIN_DRIVER, CBID_CU_MEMSET_D32), CUPTI_SUCCESS);
  OK(cuMemsetD32_v2(p, 1, 1));
  OK(cuCtxSynchronize());
  assert_int_equal(heard[SITE_ENTER], 1);
  assert_int_equal(heard[SITE_EXIT], 1);
  assert_int_equal(cuptiUnsubscribe(s), CUPTI_SUCCESS);
  OK(cuMemsetD32_v2(p, 1, 1));
  assert_int_equal(heard[SITE_ENTER], 1);
  assert_int_equal(cuptiGetCallbackName(DOMAIN_DRIVER, CBID_CU_LAUNCH_KERNEL, &name), CUPTI_SUCCESS);
  assert_string_equal(name, "cuLaunchKernel");
  assert_int_equal(cuptiGetCallbackName(DOMAIN_DRIVER, 1023, &name), CUPTI_ERROR_INVALID_PARAMETER);
  OK(cuMemFree_v2(p));
}

/* CUpti_ActivitySynchronization2: each kind says whom it waited for and leaves out what does not belong to it; those
 * that fail come when the program asks for them. */
static void test_synchronisation(void **state)
{
  CUdeviceptr p = cuda_floats(64, 0, 1);
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  CUstream st;
  CUevent e[2];
  (void)state;
  OK(cuStreamCreate(&st, 1));
  for (int i = 0; i < 2; i++) OK(cuEventCreate(&e[i], 0));
  assert_int_equal(cuptiActivityEnable(KIND_SYNCHRONIZATION), CUPTI_SUCCESS);
  flush();
  launch(f, p, 2);
  OK(cuCtxSynchronize());
  OK(cuEventRecord(e[1], st));
  OK(cuStreamWaitEvent(NULL, e[1], 0));
  OK(cuEventSynchronize(e[1]));
  OK(cuStreamSynchronize(st));
  assert_int_equal(cuStreamSynchronize((CUstream)&m), CUDA_ERROR_INVALID_HANDLE);
  OK(cuStreamWaitEvent(st, e[0], 0));
  flush();
  static const int type[] = {SYNC_CONTEXT, SYNC_WAIT_EVENT, SYNC_EVENT, SYNC_STREAM, SYNC_WAIT_EVENT};
  assert_int_equal(came.syncs, 5);
  const struct cupti_sync_record *r = came.sync;
  for (int i = 0; i < 5; i++) {
    assert_int_equal(r[i].type, type[i]);
    assert_int_equal(r[i].result, CUDA_SUCCESS);
    assert_int_equal(r[i].context, r[0].context);
    assert_int_equal(r[i].event_sync, SYNC_NOTHING);
    assert_int_equal(r[i].stream == SYNC_NOTHING, type[i] == SYNC_CONTEXT || type[i] == SYNC_EVENT);
    assert_int_equal(r[i].event == SYNC_NOTHING, type[i] == SYNC_CONTEXT || type[i] == SYNC_STREAM);
  }
  assert_true(r[0].end >= came.kernel[0].end && r[0].start < came.kernel[0].end);
  assert_int_equal(r[1].event, r[2].event);
  assert_int_not_equal(r[4].event, r[2].event);
  assert_int_equal(r[3].stream, r[4].stream);
  assert_int_not_equal(r[1].stream, r[4].stream);
  unsigned calls = 0;
  for (unsigned i = 0; i < came.calls; i++) calls += came.call[i].correlation == r[3].correlation;
  assert_int_equal(calls, 1);
  assert_int_equal(cuptiActivityEnableAllSyncRecords(1), CUPTI_SUCCESS);
  assert_int_equal(cuStreamSynchronize((CUstream)&m), CUDA_ERROR_INVALID_HANDLE);
  flush();
  assert_int_equal(came.syncs, 1);
  assert_int_equal(came.sync[0].result, CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(came.sync[0].stream, SYNC_NOTHING);
  assert_int_equal(cuptiActivityEnableAllSyncRecords(0), CUPTI_SUCCESS);
  assert_int_equal(cuptiActivityDisable(KIND_SYNCHRONIZATION), CUPTI_SUCCESS);
  for (int i = 0; i < 2; i++) OK(cuEventDestroy_v2(e[i]));
  OK(cuStreamDestroy_v2(st));
  OK(cuModuleUnload(m));
  OK(cuMemFree_v2(p));
}

/* What callbacks of other domains than calls said, in their order. */
static struct {
  int domain;
  uint32_t id, module;
  CUcontext context;
  CUstream stream;
} said[MOST];
static unsigned n_said;
static CUstream to_ask; /* a stream that a callback about its end may still use */

static void hear_resources(void *user, int domain, uint32_t id, const struct cupti_callback_data *data)
{
  const struct cupti_resource_data *d = (const void *)data;
  (void)user;
  assert_true(n_said < MOST);
  said[n_said].domain = domain;
  said[n_said].id = id;
  said[n_said].context = d->context;
  said[n_said].stream = d->stream; /* the same place in cupti_sync_data */
  if (domain == DOMAIN_RESOURCE && d->module) said[n_said].module = d->module->id;
  if (id == RESOURCE_STREAM_DESTROYED && domain == DOMAIN_RESOURCE) OK(cuStreamQuery(d->stream)), to_ask = NULL;
  n_said++;
}

static void test_resources(void **state)
{
  subscriber s;
  CUcontext mine, old;
  CUstream st;
  CUmodule m;
  (void)state;
  OK(cuCtxGetCurrent(&old));
  assert_int_equal(cuptiSubscribe(&s, hear_resources, NULL), CUPTI_SUCCESS);
  assert_int_equal(cuptiEnableDomain(1, s, DOMAIN_RESOURCE), CUPTI_SUCCESS);
  assert_int_equal(cuptiEnableDomain(1, s, DOMAIN_SYNCHRONIZE), CUPTI_SUCCESS);
  OK(cuCtxSynchronize());
  OK(cuStreamCreate(&st, 1));
  OK(cuStreamSynchronize(st));
  assert_int_equal(cuStreamDestroy_v2((CUstream)&m), CUDA_ERROR_INVALID_HANDLE); /* nothing that there is */
  to_ask = st;
  OK(cuStreamDestroy_v2(st));
  assert_null(to_ask);
  (void)cuda_vecadd(&m);
  OK(cuModuleUnload(m));
  OK(cuCtxCreate_v2(&mine, 0, 0));
  OK(cuCtxDestroy_v2(mine));
  const struct {
    int domain;
    uint32_t id;
    CUcontext context;
    CUstream stream;
  } want_said[] = {{DOMAIN_SYNCHRONIZE, CONTEXT_SYNCHRONIZED, old, NULL},
                   {DOMAIN_RESOURCE, RESOURCE_STREAM_CREATED, old, st},
                   {DOMAIN_SYNCHRONIZE, STREAM_SYNCHRONIZED, old, st},
                   {DOMAIN_RESOURCE, RESOURCE_STREAM_DESTROYED, old, st},
                   {DOMAIN_RESOURCE, RESOURCE_MODULE_LOADED, old, NULL},
                   {DOMAIN_RESOURCE, RESOURCE_MODULE_UNLOADED, old, NULL},
                   {DOMAIN_RESOURCE, RESOURCE_CONTEXT_CREATED, mine, NULL},
                   {DOMAIN_RESOURCE, RESOURCE_CONTEXT_DESTROYED, mine, NULL}};
  assert_int_equal(n_said, sizeof want_said / sizeof want_said[0]);
  for (unsigned i = 0; i < n_said; i++) {
    assert_int_equal(said[i].domain, want_said[i].domain);
    assert_int_equal(said[i].id, want_said[i].id);
    assert_ptr_equal(said[i].context, want_said[i].context);
    assert_ptr_equal(said[i].stream, want_said[i].stream);
  }
  assert_int_not_equal(said[4].module, 0);
  assert_int_equal(said[4].module, said[5].module);
  assert_int_equal(cuptiUnsubscribe(s), CUPTI_SUCCESS);
  OK(cuStreamCreate(&st, 1));
  OK(cuStreamDestroy_v2(st));
  assert_int_equal(n_said, sizeof want_said / sizeof want_said[0]);
}

/* functionParams as cuLaunchKernel_params and cuMemcpyHtoD_v2_params of generated_cuda_meta.h have them. */
struct launch_params {
  CUfunction f;
  unsigned grid[3], block[3], shared;
  CUstream stream;
  void **params, **extra;
};
struct copy_params {
  CUdeviceptr dst;
  const void *src;
  size_t bytes;
};
static struct launch_params launched;
static struct copy_params copied_with;
static const char *symbol;
static void hear_arguments(void *user, int domain, uint32_t id, const struct cupti_callback_data *d)
{
  (void)user;
  assert_int_equal(domain, DOMAIN_DRIVER);
  assert_non_null(d->params);
  if (id == CBID_CU_LAUNCH_KERNEL) launched = *(const struct launch_params *)d->params, symbol = d->symbol;
  else copied_with = *(const struct copy_params *)d->params, assert_null(d->symbol);
}

static void test_arguments(void **state)
{
  enum { CBID_CU_MEMCPY_HTOD_V2 = 276 };
  static const float four[4] = {1, 2, 3, 4};
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr p = cuda_floats(64, 0, 1);
  subscriber s;
  (void)state;
  assert_int_equal(cuptiSubscribe(&s, hear_arguments, NULL), CUPTI_SUCCESS);
  assert_int_equal(cuptiEnableCallback(1, s, DOMAIN_DRIVER, CBID_CU_LAUNCH_KERNEL), CUPTI_SUCCESS);
  assert_int_equal(cuptiEnableCallback(1, s, DOMAIN_DRIVER, CBID_CU_MEMCPY_HTOD_V2), CUPTI_SUCCESS);
  launch(f, p, 3);
  OK(cuMemcpyHtoD_v2(p, four, sizeof four));
  assert_ptr_equal(launched.f, f);
  assert_int_equal(launched.grid[0], 3);
  assert_int_equal(launched.grid[2], 1);
  assert_int_equal(launched.block[0], 64);
  assert_int_equal(launched.shared, 0);
  assert_null(launched.stream);
  assert_non_null(launched.params);
  assert_null(launched.extra);
  assert_string_equal(symbol, "vecadd");
  assert_int_equal(copied_with.dst, p);
  assert_ptr_equal(copied_with.src, four);
  assert_int_equal(copied_with.bytes, sizeof four);
  assert_int_equal(cuptiUnsubscribe(s), CUPTI_SUCCESS);
  OK(cuModuleUnload(m));
  OK(cuMemFree_v2(p));
}

static void test_end(void **state)
{
  CUdeviceptr p;
  (void)state;
  assert_int_equal(cuptiActivityEnable(0), CUPTI_ERROR_INVALID_KIND);
  assert_int_equal(cuptiActivityEnable(1000), CUPTI_ERROR_INVALID_KIND);
  assert_int_equal(cuptiActivityPopExternalCorrelationId(CUSTOM, NULL), CUPTI_ERROR_QUEUE_EMPTY);
  assert_int_equal(cuptiFinalize(), CUPTI_SUCCESS);
  OK(cuMemAlloc_v2(&p, 64));
  OK(cuMemsetD32_v2(p, 1, 1));
  flush();
  assert_int_equal(came.calls + came.fills, 0);
  OK(cuMemFree_v2(p));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_records),
    cmocka_unit_test(test_buffers),
    cmocka_unit_test(test_callbacks),
    cmocka_unit_test(test_synchronisation),
    cmocka_unit_test(test_resources),
    cmocka_unit_test(test_arguments),
    cmocka_unit_test(test_end),
  };
  return cmocka_run_group_tests(tests, follow, NULL);
}
