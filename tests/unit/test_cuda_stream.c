/* Streams and events of the driver interface, host functions in them, memory operations of streams. Expected values: CUDA
 * Driver API reference, sections Stream Management, Event Management, Stream Memory Operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_rig.h"

CUresult cuStreamCreateWithPriority(CUstream *, unsigned, int);
CUresult cuStreamGetFlags(CUstream, unsigned *);
CUresult cuStreamGetPriority(CUstream, int *);
CUresult cuStreamGetCtx(CUstream, CUcontext *);
CUresult cuStreamGetId(CUstream, unsigned long long *);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cuStreamSetAttribute(CUstream, int, const CUlaunchAttributeValue *);
CUresult cuStreamGetAttribute(CUstream, int, CUlaunchAttributeValue *);
CUresult cuStreamCopyAttributes(CUstream, CUstream);
CUresult cuStreamAddCallback(CUstream, void (*)(CUstream, CUresult, void *), void *, unsigned);
CUresult cuLaunchHostFunc(CUstream, void (*)(void *), void *);
CUresult cuStreamWaitValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);
CUresult cuStreamWriteValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);
CUresult cuStreamWaitValue64_v2(CUstream, CUdeviceptr, uint64_t, unsigned);
CUresult cuStreamWriteValue64_v2(CUstream, CUdeviceptr, uint64_t, unsigned);
CUresult cuStreamBatchMemOp_v2(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned);
CUresult cuEventElapsedTime(float *, CUevent, CUevent);
CUresult cuEventRecordWithFlags(CUevent, CUstream, unsigned);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, CUstream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, CUstream);
CUresult cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream);
CUresult cuStreamBeginCapture_v2(CUstream, int);
CUresult cuStreamEndCapture(CUstream, CUgraph *);
CUresult cuGraphGetNodes(CUgraph, CUgraphNode *, size_t *);
CUresult cuGraphDestroy(CUgraph);
CUresult cuMemHostAlloc(void **, size_t, unsigned);
CUresult cuMemFreeHost(void *);

static void what_a_stream_says(void **state)
{
  CUstream a, b;
  CUcontext mine, of;
  unsigned flags = 9;
  int priority = 9;
  unsigned long long id_a, id_b;
  (void)state;
  OK(cuCtxGetCurrent(&mine));
  OK(cuStreamCreate(&a, STREAM_NON_BLOCKING));
  OK(cuStreamCreateWithPriority(&b, 0, -1));
  OK(cuStreamGetFlags(a, &flags));
  assert_int_equal(flags, STREAM_NON_BLOCKING);
  OK(cuStreamGetFlags(b, &flags));
  assert_int_equal(flags, 0);
  OK(cuStreamGetPriority(a, &priority));
  assert_int_equal(priority, 0);
  OK(cuStreamGetPriority(b, &priority));
  assert_int_equal(priority, -1);
  OK(cuStreamGetCtx(a, &of));
  assert_ptr_equal(of, mine);
  OK(cuStreamGetId(a, &id_a));
  OK(cuStreamGetId(b, &id_b));
  assert_true(id_a != id_b);
  assert_int_equal(cuStreamGetFlags(a, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamCreate(&b, 2), CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamDestroy_v2(a));
  assert_int_equal(cuStreamQuery(a), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuStreamSynchronize(a), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuStreamDestroy_v2(a), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuStreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* Priorities outside of the range of the context are brought into it. */
static void priorities(void **state)
{
  CUresult cuCtxGetStreamPriorityRange(int *, int *);
  int least, greatest, got;
  CUstream s;
  (void)state;
  OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  const int asked[] = {100, 1, 0, greatest, greatest - 1, -100};
  for (unsigned i = 0; i < sizeof asked / sizeof asked[0]; i++) {
    OK(cuStreamCreateWithPriority(&s, 0, asked[i]));
    OK(cuStreamGetPriority(s, &got));
    assert_int_equal(got, asked[i] > least ? least : asked[i] < greatest ? greatest : asked[i]);
    OK(cuStreamDestroy_v2(s));
  }
}

static void attributes(void **state)
{
  CUstream a, b;
  CUlaunchAttributeValue v = {0}, got = {0};
  (void)state;
  OK(cuStreamCreate(&a, 0));
  OK(cuStreamCreate(&b, 0));
  v.window = (CUaccessPolicyWindow){.base = (void *)0x1000, .bytes = 4096, .hit_ratio = 0.5f, .hit = 2, .miss = 1};
  OK(cuStreamSetAttribute(a, LAUNCH_ATTR_WINDOW, &v));
  OK(cuStreamGetAttribute(a, LAUNCH_ATTR_WINDOW, &got));
  assert_int_equal(got.window.bytes, 4096);
  assert_int_equal(got.window.hit, 2);
  OK(cuStreamGetAttribute(b, LAUNCH_ATTR_WINDOW, &got));
  assert_int_equal(got.window.bytes, 0);
  OK(cuStreamCopyAttributes(b, a));
  OK(cuStreamGetAttribute(b, LAUNCH_ATTR_WINDOW, &got));
  assert_int_equal(got.window.bytes, 4096);
  v.sync_policy = 3;
  OK(cuStreamSetAttribute(a, LAUNCH_ATTR_SYNC_POLICY, &v));
  OK(cuStreamGetAttribute(a, LAUNCH_ATTR_SYNC_POLICY, &got));
  assert_int_equal(got.sync_policy, 3);
  assert_int_equal(cuStreamSetAttribute(a, LAUNCH_ATTR_CLUSTER, &v), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamGetAttribute(a, LAUNCH_ATTR_WINDOW, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamDestroy_v2(a));
  OK(cuStreamDestroy_v2(b));
}

static void event_states(void **state)
{
  CUevent e, f, quiet;
  float ms = -1;
  (void)state;
  OK(cuEventCreate(&e, 0));
  OK(cuEventCreate(&f, 0));
  OK(cuEventCreate(&quiet, EVENT_DISABLE_TIMING));
  OK(cuEventQuery(e)); /* not recorded: "returns CUDA_SUCCESS" */
  OK(cuEventSynchronize(e));
  assert_int_equal(cuEventElapsedTime(&ms, e, f), CUDA_ERROR_INVALID_HANDLE);
  OK(cuEventRecord(e, NULL));
  assert_int_equal(cuEventElapsedTime(&ms, e, f), CUDA_ERROR_INVALID_HANDLE);
  OK(cuEventRecord(f, NULL));
  OK(cuEventRecord(quiet, NULL));
  OK(cuEventSynchronize(f));
  OK(cuEventElapsedTime(&ms, e, f));
  assert_true(ms >= 0 && ms < 1000);
  float back;
  OK(cuEventElapsedTime(&back, f, e));
  assert_true(back == -ms);
  assert_int_equal(cuEventElapsedTime(&ms, e, quiet), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuEventElapsedTime(&ms, quiet, f), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuEventElapsedTime(NULL, e, f), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuEventRecordWithFlags(e, NULL, 2), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuEventCreate(&e, 1 << 10), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuEventCreate(&e, EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE); /* needs DISABLE_TIMING, too */
  assert_int_equal(cuEventCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuEventDestroy_v2(f));
  assert_int_equal(cuEventQuery(f), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuEventRecord(f, NULL), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuEventDestroy_v2(f), CUDA_ERROR_INVALID_HANDLE);
}

enum { BYTES = 4 << 20 };

/* A copy of 4 MiB takes 4 MiB over the memory of the board twice: at least 18.7 us at 448 GB/s. The stream is busy
 * meanwhile, the event behind it not ready. */
static void work_takes_time(void **state)
{
  CUstream a, b;
  CUevent before, after, other;
  CUdeviceptr p, q;
  float ms, both;
  (void)state;
  OK(cuMemAlloc_v2(&p, BYTES));
  OK(cuMemAlloc_v2(&q, BYTES));
  OK(cuStreamCreate(&a, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&before, 0));
  OK(cuEventCreate(&after, 0));
  OK(cuEventCreate(&other, 0));
  OK(cuEventRecord(before, a));
  OK(cuMemcpyDtoDAsync_v2(p, q, BYTES, a));
  OK(cuEventRecord(after, a));
  assert_int_equal(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
  assert_int_equal(cuEventQuery(after), CUDA_ERROR_NOT_READY);
  assert_int_equal(cuEventElapsedTime(&ms, before, after), CUDA_ERROR_NOT_READY);
  OK(cuStreamQuery(b));
  OK(cuStreamWaitEvent(b, after, 0)); /* b goes on no sooner */
  OK(cuEventRecord(other, b));
  assert_int_equal(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
  OK(cuStreamSynchronize(b));
  OK(cuStreamQuery(a));
  OK(cuEventQuery(after));
  OK(cuEventElapsedTime(&ms, before, after));
  assert_true(ms > 2.0 * BYTES / 448e9 * 1e3 * 0.9 && ms < 1);
  OK(cuEventElapsedTime(&both, before, other));
  assert_true(both >= ms && both < ms + 0.1);
  assert_int_equal(cuStreamWaitEvent(b, after, 2), CUDA_ERROR_INVALID_VALUE);
  OK(cuEventDestroy_v2(after));
  assert_int_equal(cuStreamWaitEvent(b, after, 0), CUDA_ERROR_INVALID_HANDLE);
  OK(cuStreamDestroy_v2(a));
  OK(cuStreamDestroy_v2(b));
  OK(cuMemFree_v2(p));
  OK(cuMemFree_v2(q));
}

/* The stream NULL waits for blocking streams and they for it; not for non-blocking ones. */
static void legacy_stream(void **state)
{
  CUstream s;
  CUdeviceptr p, q;
  (void)state;
  OK(cuMemAlloc_v2(&p, BYTES));
  OK(cuMemAlloc_v2(&q, BYTES));
  for (unsigned flags = 0; flags < 2; flags++) {
    OK(cuStreamCreate(&s, flags));
    OK(cuMemcpyDtoDAsync_v2(p, q, BYTES, s));
    OK(cuMemcpyDtoDAsync_v2(p, q, 4, NULL)); /* behind it, or at once */
    OK(cuStreamSynchronize(NULL));
    assert_int_equal(cuStreamQuery(s), flags ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
    OK(cuCtxSynchronize());
    OK(cuStreamQuery(s));
    OK(cuStreamDestroy_v2(s));
  }
  OK(cuMemFree_v2(p));
  OK(cuMemFree_v2(q));
}

struct calls {
  unsigned n;
  CUstream stream;
  CUresult status;
};

static void note(void *data)
{
  ((struct calls *)data)->n++;
}

static void note_status(CUstream stream, CUresult status, void *data)
{
  struct calls *c = data;
  c->n++;
  c->stream = stream;
  c->status = status;
}

static void host_functions(void **state)
{
  struct calls c = {0};
  CUstream s;
  (void)state;
  OK(cuStreamCreate(&s, 0));
  OK(cuLaunchHostFunc(s, note, &c));
  OK(cuLaunchHostFunc(s, note, &c));
  OK(cuStreamSynchronize(s));
  assert_int_equal(c.n, 2);
  c = (struct calls){.status = CUDA_ERROR_UNKNOWN};
  OK(cuStreamAddCallback(s, note_status, &c, 0));
  OK(cuStreamSynchronize(s));
  assert_int_equal(c.n, 1);
  assert_ptr_equal(c.stream, s);
  assert_int_equal(c.status, CUDA_SUCCESS);
  assert_int_equal(cuStreamAddCallback(s, note_status, &c, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamAddCallback(s, NULL, &c, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuLaunchHostFunc(s, NULL, &c), CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamDestroy_v2(s));
  assert_int_equal(cuLaunchHostFunc(s, note, &c), CUDA_ERROR_INVALID_HANDLE);
}

static uint32_t word(CUdeviceptr p)
{
  uint32_t v;
  OK(cuMemcpyDtoH_v2(&v, p, sizeof v));
  return v;
}

/* A stream that waits for a value goes on when another writes it: >= cyclically, ==, any bit of, none of the bits. */
static void values(void **state)
{
  static const struct {
    unsigned how;
    uint32_t want, first, last; /* not met by first, by last */
  } row[] = {{MEM_WAIT_GEQ, 5, 4, 5}, {MEM_WAIT_GEQ, 5, 4, 6}, {MEM_WAIT_GEQ, 2, 0xfffffff0u, 3}, {MEM_WAIT_EQ, 7, 8, 7},
             {MEM_WAIT_AND, 6, 9, 2}, {MEM_WAIT_NOR, 0xf0u, 0xffu, 0x0fu}};
  CUstream waits, writes;
  CUdeviceptr p, done;
  (void)state;
  OK(cuMemAlloc_v2(&p, 8));
  OK(cuMemAlloc_v2(&done, 8));
  OK(cuStreamCreate(&waits, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&writes, STREAM_NON_BLOCKING));
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {

    OK(cuMemsetD32_v2(p, row[i].how == MEM_WAIT_NOR ? 0xffffffffu : row[i].first, 1));
    OK(cuMemsetD32_v2(done, 0, 1));
    OK(cuCtxSynchronize());
    OK(cuStreamWaitValue32_v2(waits, p, row[i].want, row[i].how));
    OK(cuStreamWriteValue32_v2(waits, done, 1, 0));
    assert_int_equal(cuStreamQuery(waits), CUDA_ERROR_NOT_READY);
    OK(cuStreamWriteValue32_v2(writes, p, row[i].how == MEM_WAIT_NOR ? 0xffffff00u : row[i].last, 0));
    OK(cuStreamSynchronize(writes));
    OK(cuStreamSynchronize(waits));
    assert_int_equal(word(done), 1);
  }
  OK(cuStreamWriteValue64_v2(writes, p, 0x123456789abcdef0ull, 0));
  OK(cuStreamWaitValue64_v2(waits, p, 0x123456789abcdef0ull, MEM_WAIT_EQ));
  OK(cuStreamSynchronize(waits));
  assert_int_equal(word(p), 0x9abcdef0u);
  assert_int_equal(word(p + 4), 0x12345678u);
  assert_int_equal(cuStreamWriteValue32_v2(writes, p + 2, 1, 0), CUDA_ERROR_INVALID_VALUE); /* "must be 4-byte aligned" */
  assert_int_equal(cuStreamWriteValue64_v2(writes, p + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamWriteValue32_v2(writes, 0x10, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams op[2] = {{.word = {.operation = MEM_OP_WRITE_32, .address = p, .value = 11}},
                                    {.word = {.operation = MEM_OP_WRITE_32, .address = done, .value = 12}}};
  OK(cuStreamBatchMemOp_v2(writes, 2, op, 0));
  OK(cuStreamSynchronize(writes));
  assert_int_equal(word(p), 11);
  assert_int_equal(word(done), 12);
  assert_int_equal(cuStreamBatchMemOp_v2(writes, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE);
  op[0].operation = 99;
  assert_int_equal(cuStreamBatchMemOp_v2(writes, 1, op, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamDestroy_v2(waits));
  OK(cuStreamDestroy_v2(writes));
}

/* What is given to a stream that waits for a value waits with it, in order, and so does what waits for that: through an event,
 * and through the order between the stream NULL and blocking streams. */
static void work_behind_a_value(void **state)
{
  CUstream a, b, writes;
  CUevent e;
  CUdeviceptr p, done;
  struct calls c = {0};
  (void)state;
  OK(cuMemAlloc_v2(&p, 8));
  OK(cuMemAlloc_v2(&done, 8));
  OK(cuStreamCreate(&writes, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&e, EVENT_DISABLE_TIMING));
  for (unsigned blocking = 0; blocking < 2; blocking++) {
    OK(cuStreamCreate(&a, blocking ? 0 : STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, STREAM_NON_BLOCKING));
    OK(cuMemsetD32_v2(p, 0, 2));
    OK(cuMemsetD32_v2(done, 0, 2));
    OK(cuCtxSynchronize());
    c.n = 0;
    OK(cuStreamWaitValue32_v2(a, p, 1, MEM_WAIT_EQ));
    OK(cuMemcpyDtoDAsync_v2(done + 4, p, 4, a)); /* 1, not what p has now */
    OK(cuLaunchHostFunc(a, note, &c));
    OK(cuEventRecord(e, a));
    OK(cuStreamWaitEvent(b, e, 0));
    OK(cuStreamWriteValue32_v2(b, done, 7, 0));
    assert_int_equal(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    assert_int_equal(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
    assert_int_equal(cuEventQuery(e), CUDA_ERROR_NOT_READY);
    assert_int_equal(c.n, 0);
    if (blocking) {
      OK(cuStreamWriteValue32_v2(NULL, done + 4, 9, 0)); /* behind a */
      assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    } else {
      assert_int_equal(word(done), 0); /* the stream NULL does not wait */
    }
    OK(cuStreamWriteValue32_v2(writes, p, 1, 0));
    OK(cuStreamSynchronize(writes));
    OK(cuStreamSynchronize(b));
    OK(cuStreamQuery(a));
    OK(cuEventQuery(e));
    assert_int_equal(c.n, 1);
    OK(cuCtxSynchronize());
    assert_int_equal(word(done), 7);
    assert_int_equal(word(done + 4), blocking ? 9 : 1);
    OK(cuStreamDestroy_v2(a));
    OK(cuStreamDestroy_v2(b));
  }
  OK(cuStreamDestroy_v2(writes));
  OK(cuEventDestroy_v2(e));
}

/* What came before a capture is no part of it, also when it could only be done while the stream captures. */
static void work_put_off_before_a_capture(void **state)
{
  CUstream a, writes;
  CUgraph g;
  CUdeviceptr p, done;
  size_t nodes = 9;
  (void)state;
  OK(cuMemAlloc_v2(&p, 4));
  OK(cuMemAlloc_v2(&done, 8));
  OK(cuMemsetD32_v2(p, 0, 1));
  OK(cuMemsetD32_v2(done, 0, 2));
  OK(cuStreamCreate(&a, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&writes, STREAM_NON_BLOCKING));
  OK(cuStreamWaitValue32_v2(a, p, 1, MEM_WAIT_EQ));
  OK(cuMemsetD32Async(done, 5, 1, a));
  OK(cuMemcpyDtoDAsync_v2(done + 4, p, 4, a));
  OK(cuStreamBeginCapture_v2(a, 1)); /* CU_STREAM_CAPTURE_MODE_THREAD_LOCAL */
  OK(cuStreamWriteValue32_v2(writes, p, 1, 0));
  OK(cuStreamSynchronize(writes));
  OK(cuStreamEndCapture(a, &g));
  OK(cuGraphGetNodes(g, NULL, &nodes));
  assert_int_equal(nodes, 0);
  OK(cuStreamSynchronize(a));
  assert_int_equal(word(done), 5);
  assert_int_equal(word(done + 4), 1);
  OK(cuGraphDestroy(g));
  OK(cuStreamDestroy_v2(a));
  OK(cuStreamDestroy_v2(writes));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_stream_says), cmocka_unit_test(priorities),    cmocka_unit_test(attributes),
      cmocka_unit_test(event_states),       cmocka_unit_test(work_takes_time), cmocka_unit_test(legacy_stream),
      cmocka_unit_test(host_functions),     cmocka_unit_test(values),
      cmocka_unit_test(work_behind_a_value), cmocka_unit_test(work_put_off_before_a_capture),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
