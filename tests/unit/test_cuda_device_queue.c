/* What kernels queue (src/cuda/core/device_queue.h, device_work.h): calls of the device runtime by hand, as a kernel's threads
 * make them, and what comes of them. Errors and forms: CUDA programming guide, "CUDA Dynamic Parallelism", and
 * cuda_device_runtime_api.h. */
#include "func_rig.h"

#include <pthread.h>

#include "cuda/core/context.h"
#include "cuda/core/device_queue.h"
#include "cuda/core/device_work.h"
#include "cuda/core/shim.h"
#include "cuda_rig.h"
#include "func/sass/guest.h"

enum { NON_BLOCKING = 1, NO_TIMING = 2, MOST_DEPTH = 24, CTA = 7 };
enum { DEVICE_TO_DEVICE = 3, TO_DEFAULT = 4, HOST_TO_DEVICE = 1 };
enum { INVALID_RESOURCE_HANDLE = 400, NOT_SUPPORTED = 801 };

struct kernel {
  struct shim *s;
  struct device_grid *grid;
  struct rig *rig; /* the calling thread */
  struct func_heap *heap;
  CUmodule module;
  uint64_t function; /* as kernels name it */
  uint64_t out;      /* where answers go */
  uint16_t last_error;
};

static struct kernel start(unsigned depth)
{
  static const uint64_t exits[] = {W_EXIT};
  struct kernel k = {.s = shim_get()};
  cuda_vecadd(&k.module);
  struct context *c = context_current(k.s);
  k.grid = device_grid_new(device_family_new(k.s, c), k.module, depth);
  k.grid->context = c;
  k.function = module_kernel_at(k.module->code.module, 0)->entry_pc;
  k.rig = rig_new(exits, 1, 32);
  k.out = k.rig->buf;
  k.heap = func_heap_new(0x100000, 4096);
  return k;
}

/* What the end of the kernel would let go: the commands its clocks point at, and the one behind all of its work. */
static void let_go(struct kernel *k)
{
  pthread_mutex_lock(&k->s->lock);
  for (size_t i = 0; i < k->grid->n_clocks; i++) {
    command_drop(k->grid->clocks[i].last);
    k->grid->clocks[i].last = NULL;
  }
  if (k->grid->family) {
    front_give(&k->s->front, k->grid->family);
    command_drop(k->grid->family);
    k->grid->family = NULL;
  }
  pthread_mutex_unlock(&k->s->lock);
  OK(cuCtxSynchronize());
}

static void finish(struct kernel *k)
{
  let_go(k);
  device_grid_close(k->grid, false);
  device_grid_drop(k->grid);
  func_heap_free(k->heap);
  rig_free(k->rig);
  OK(cuModuleUnload(k->module));
}

/* Arguments beyond those given are 0. */
static uint64_t call_of(struct kernel *k, unsigned number, const uint64_t *arg, size_t n)
{
  struct guest g = {k->rig->w, 0};
  struct device_call c = {.number = number, .cta = CTA, .last_error = &k->last_error, .heap = k->heap, .guest = &g};
  memcpy(c.arg, arg, n * sizeof *arg);
  return k->grid->calls.call(k->grid->calls.ctx, &c);
}

#define CALL(k, number, ...) \
  call_of(k, number, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* A call that fails: it says so, and so does the next question for the last error, once. */
#define FAILS(k, error, ...) \
  do { \
    assert_int_equal(CALL(k, __VA_ARGS__), error); \
    assert_int_equal(CALL(k, DEVICE_PEEK_AT_LAST_ERROR, 0), error); \
    assert_int_equal(CALL(k, DEVICE_GET_LAST_ERROR, 0), error); \
    assert_int_equal(CALL(k, DEVICE_GET_LAST_ERROR, 0), CUDA_SUCCESS); \
    assert_null((k)->grid->first); \
  } while (0)

static uint64_t answer64(struct kernel *k)
{
  uint64_t v = 0;
  assert_true(gmem_read(k->rig->mem, k->out, &v, sizeof v));
  return v;
}

static unsigned answer32(struct kernel *k)
{
  return (unsigned)answer64(k);
}

static struct device_op *taken(struct kernel *k, enum device_op_kind kind)
{
  struct device_op *op = device_grid_next(k->grid);
  assert_non_null(op);
  assert_int_equal(op->kind, kind);
  return op;
}

static void copies_and_fills(void **state)
{
  (void)state;
  struct kernel k = start(0);
  assert_int_equal(CALL(&k, DEVICE_MEMSET, 0x1000, 0x1ab, 77, 0), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_MEMSET_2D, 0x2000, 64, 5, 32, 9, STREAM_FORGET), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_MEMCPY, 0x3000, 0x4000, 88, DEVICE_TO_DEVICE, 1), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_MEMCPY_2D, 0x5000, 48, 0x6000, 40, 40, 3, TO_DEFAULT, 2), CUDA_SUCCESS);
  struct device_op *op = taken(&k, OP_FILL); /* in their order */
  assert_true(op->to == 0x1000 && op->value == 0xab && op->width == 77 && op->height == 1);
  assert_true(op->stream == 0 && op->cta == CTA && op->grid == k.grid);
  device_op_free(op);
  op = taken(&k, OP_FILL);
  assert_true(op->to == 0x2000 && op->pitch_to == 64 && op->value == 5 && op->width == 32 && op->height == 9);
  assert_int_equal(op->stream, STREAM_FORGET);
  device_op_free(op);
  op = taken(&k, OP_COPY);
  assert_true(op->to == 0x3000 && op->from == 0x4000 && op->width == 88 && op->height == 1 && op->stream == 0);
  device_op_free(op);
  op = taken(&k, OP_COPY);
  assert_true(op->to == 0x5000 && op->pitch_to == 48 && op->from == 0x6000 && op->pitch_from == 40);
  assert_true(op->width == 40 && op->height == 3 && op->stream == 0);
  device_op_free(op);
  assert_null(device_grid_next(k.grid));
  assert_int_equal(CALL(&k, DEVICE_MEMSET, 1, 2, 3, 0), CUDA_SUCCESS); /* the list is whole behind its end */
  device_op_free(taken(&k, OP_FILL));
  FAILS(&k, cudaErrorInvalidPitchValue, DEVICE_MEMSET_2D, 0x2000, 31, 5, 32, 9, 0);
  FAILS(&k, cudaErrorInvalidPitchValue, DEVICE_MEMCPY_2D, 0x5000, 39, 0x6000, 40, 40, 3, TO_DEFAULT, 0);
  FAILS(&k, cudaErrorInvalidPitchValue, DEVICE_MEMCPY_2D, 0x5000, 40, 0x6000, 39, 40, 3, TO_DEFAULT, 0);
  FAILS(&k, cudaErrorInvalidMemcpyDirection, DEVICE_MEMCPY, 0x3000, 0x4000, 88, HOST_TO_DEVICE, 0);
  FAILS(&k, cudaErrorInvalidMemcpyDirection, DEVICE_MEMCPY_2D, 0x5000, 48, 0x6000, 40, 40, 3, 5, 0);
  static const uint64_t no_stream[] = {5, 15, 16, UINT64_MAX};
  for (unsigned i = 0; i < 4; i++) {
    FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_MEMSET, 1, 2, 3, no_stream[i]);
    FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_MEMSET_2D, 1, 64, 5, 32, 9, no_stream[i]);
    FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_MEMCPY, 1, 2, 3, DEVICE_TO_DEVICE, no_stream[i]);
    FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_MEMCPY_2D, 1, 48, 1, 40, 40, 3, TO_DEFAULT, no_stream[i]);
  }
  finish(&k);
}

static uint64_t handle(struct kernel *k, unsigned number, unsigned flags)
{
  assert_int_equal(CALL(k, number, k->out, flags), CUDA_SUCCESS);
  return answer64(k);
}

static void streams_and_events(void **state)
{
  (void)state;
  struct kernel k = start(0);
  const uint64_t a = handle(&k, DEVICE_STREAM_CREATE, NON_BLOCKING), e = handle(&k, DEVICE_EVENT_CREATE, NO_TIMING);
  const uint64_t b = handle(&k, DEVICE_STREAM_CREATE, NON_BLOCKING);
  assert_true(a != b && a != e && b != e);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_STREAM_CREATE, k.out, 0);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_EVENT_CREATE, k.out, NON_BLOCKING);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_STREAM_CREATE, 0x10, NON_BLOCKING); /* no memory there */
  assert_int_equal(CALL(&k, DEVICE_MEMSET, 1, 2, 3, b), CUDA_SUCCESS);
  struct device_op *op = taken(&k, OP_FILL);
  assert_true(op->stream == b && op->cta == 0); /* streams are the grid's, the NULL stream is the CTA's */
  device_op_free(op);
  assert_int_equal(CALL(&k, DEVICE_EVENT_RECORD, e, a), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_STREAM_WAIT_EVENT, b, e, 0), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_EVENT_RECORD_FLAGS, e, 0, 0), CUDA_SUCCESS);
  op = taken(&k, OP_RECORD);
  assert_true(op->event == e && op->stream == a);
  device_op_free(op);
  op = taken(&k, OP_WAIT);
  assert_true(op->event == e && op->stream == b);
  device_op_free(op);
  device_op_free(taken(&k, OP_RECORD));
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_EVENT_RECORD, a, a); /* a stream is no event, and the other way round */
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_EVENT_RECORD, e, e);
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_EVENT_RECORD, e, STREAM_TAIL);
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_STREAM_WAIT_EVENT, STREAM_FORGET, e);
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_STREAM_DESTROY, e);
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_EVENT_DESTROY, b);
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_STREAM_DESTROY, b + 1);
  assert_int_equal(CALL(&k, DEVICE_STREAM_DESTROY, a), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_EVENT_DESTROY, e), CUDA_SUCCESS);
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_STREAM_DESTROY, a);
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_EVENT_RECORD, e, b);
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_MEMSET, 1, 2, 3, a);
  finish(&k);
}

static uint64_t buffer(struct kernel *k, unsigned threads)
{
  return CALL(k, DEVICE_GET_PARAMETER_BUFFER_V2, k->function, 4, 2, 1, threads, 1, 1, 16);
}

/* A parameter buffer that is not given. */
static void no_buffer(struct kernel *k, unsigned error, unsigned number, const uint64_t *arg, size_t n)
{
  const uint64_t pending = k->grid->work->pending;
  assert_int_equal(call_of(k, number, arg, n), 0);
  assert_int_equal(CALL(k, DEVICE_GET_LAST_ERROR, 0), error);
  assert_int_equal(k->grid->work->pending, pending);
}

#define NO_BUFFER(k, error, number, ...) \
  no_buffer(k, error, number, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void launches(void **state)
{
  (void)state;
  struct kernel k = start(0);
  struct gmem *mem = k.module->board->device.mem;
  const uint64_t first = buffer(&k, 64), second = buffer(&k, 32), third = buffer(&k, 96);
  assert_true(first && second && third && first != second);
  assert_int_equal(k.grid->work->pending, 3);
  FAILS(&k, INVALID_RESOURCE_HANDLE, DEVICE_LAUNCH_DEVICE_V2, second, 5);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_LAUNCH_DEVICE_V2, second + 4, 0);
  assert_int_equal(CALL(&k, DEVICE_LAUNCH_DEVICE_V2, second, STREAM_FORGET), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_LAUNCH_DEVICE_V2, first, STREAM_TAIL), CUDA_SUCCESS);
  struct device_op *op = taken(&k, OP_KERNEL);
  assert_true(op->buffer == second && op->stream == STREAM_FORGET && op->cta == CTA);
  assert_string_equal(op->q.function->kernel->name, "vecadd");
  assert_true(op->q.grid[0] == 4 && op->q.grid[1] == 2 && op->q.grid[2] == 1 && op->q.shared == 16);
  assert_true(op->q.block[0] == 32 && op->q.block[1] == 1 && op->q.block[2] == 1);
  device_op_free(op);
  assert_int_equal(k.grid->work->pending, 2);
  assert_null(device_grid_next(k.grid)); /* tail launches stand apart */
  assert_true(k.grid->tails && k.grid->tails->buffer == first && k.grid->tails->q.block[0] == 64);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_LAUNCH_DEVICE_V2, second, 0); /* it was launched */
  assert_true(gmem_allocated(mem, third) > 0);
  struct device_grid *g = device_grid_hold(k.grid);
  device_grid_close(g, true); /* what was never launched goes */
  assert_int_equal(gmem_allocated(mem, third), 0);
  assert_true(g->tails != NULL);
  device_grid_close(g, false);
  assert_null(g->tails);
  assert_int_equal(gmem_allocated(mem, first), 0);
  assert_int_equal(g->work->pending, 0);
  device_grid_drop(g);
  finish(&k);
}

static void refused_launches(void **state)
{
  (void)state;
  struct kernel k = start(MOST_DEPTH);
  NO_BUFFER(&k, cudaErrorInvalidDeviceFunction, DEVICE_GET_PARAMETER_BUFFER_V2, k.function + 16, 1, 1, 1, 32, 1, 1, 0);
  NO_BUFFER(&k, cudaErrorInvalidConfiguration, DEVICE_GET_PARAMETER_BUFFER_V2, k.function, 1, 1, 1, 1025, 1, 1, 0);
  NO_BUFFER(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_GET_PARAMETER_BUFFER, 64, 32765); /* 32,764 bytes of parameters at most */
  const uint64_t large = CALL(&k, DEVICE_GET_PARAMETER_BUFFER, 64, 32764);
  assert_true(large != 0);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_LAUNCH_DEVICE_V2, large, 0); /* of the first form, which names no function */
  const uint64_t b = buffer(&k, 32);
  k.grid->work->limit[LIMIT_PENDING_LAUNCHES] = 3;
  const uint64_t c = buffer(&k, 32);
  assert_true(b && c);
  NO_BUFFER(&k, cudaErrorLaunchPendingCountExceeded, DEVICE_GET_PARAMETER_BUFFER_V2, k.function, 1, 1, 1, 32, 1, 1, 0);
  FAILS(&k, cudaErrorLaunchMaxDepthExceeded, DEVICE_LAUNCH_DEVICE_V2, b, 0);
  FAILS(&k, cudaErrorLaunchMaxDepthExceeded, DEVICE_LAUNCH_DEVICE_V2, b, STREAM_FORGET);
  assert_int_equal(CALL(&k, DEVICE_LAUNCH_DEVICE_V2, b, STREAM_TAIL), CUDA_SUCCESS); /* no deeper than its parent */
  k.grid->depth = MOST_DEPTH - 1;
  assert_int_equal(CALL(&k, DEVICE_LAUNCH_DEVICE_V2, c, 0), CUDA_SUCCESS);
  device_op_free(taken(&k, OP_KERNEL));
  finish(&k);
}

/* cudaLaunchDevice: the launch is described when it is launched. */
static void first_form(void **state)
{
  (void)state;
  struct kernel k = start(0);
  const uint64_t small = CALL(&k, DEVICE_GET_PARAMETER_BUFFER, 64, 8), b = CALL(&k, DEVICE_GET_PARAMETER_BUFFER, 64, 28);
  FAILS(&k, cudaErrorInvalidDeviceFunction, DEVICE_LAUNCH_DEVICE, k.function + 16, b, 4, 1, 1, 64, 2, 1, 8, 0);
  FAILS(&k, cudaErrorInvalidConfiguration, DEVICE_LAUNCH_DEVICE, k.function, b, 4, 1, 1, 64, 32, 1, 8, 0);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_LAUNCH_DEVICE, k.function, 0, 4, 1, 1, 64, 2, 1, 8, 0); /* it has parameters */
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_LAUNCH_DEVICE, k.function, small, 4, 1, 1, 64, 2, 1, 8, 0);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_LAUNCH_DEVICE, k.function, b + 8, 4, 1, 1, 64, 2, 1, 8, 0);
  assert_int_equal(CALL(&k, DEVICE_LAUNCH_DEVICE, k.function, b, 4, 3, 2, 64, 2, 1, 8, STREAM_FORGET), CUDA_SUCCESS);
  struct device_op *op = taken(&k, OP_KERNEL);
  assert_true(op->buffer == b && op->stream == STREAM_FORGET && op->q.shared == 8);
  assert_true(op->q.grid[0] == 4 && op->q.grid[1] == 3 && op->q.grid[2] == 2);
  assert_true(op->q.block[0] == 64 && op->q.block[1] == 2 && op->q.block[2] == 1);
  device_op_free(op);
  finish(&k);
}

static void answers(void **state)
{
  enum { MAX_THREADS_PER_BLOCK = 1, ATTRIBUTE_SMS = 16, LIMIT_STACK = 0, NO_SUCH = 9999 };
  struct { size_t shared, constant, local; int threads, registers; } a;
  (void)state;
  struct kernel k = start(0);
  assert_int_equal(CALL(&k, DEVICE_GET_DEVICE_COUNT, k.out), CUDA_SUCCESS);
  assert_int_equal(answer32(&k), 1);
  assert_int_equal(CALL(&k, DEVICE_GET_DEVICE, k.out), CUDA_SUCCESS);
  assert_int_equal(answer32(&k), 0);
  assert_int_equal(CALL(&k, DEVICE_RUNTIME_VERSION, k.out), CUDA_SUCCESS);
  assert_in_range(answer32(&k), 12000, 13999);
  assert_int_equal(CALL(&k, DEVICE_GET_ATTRIBUTE, k.out, MAX_THREADS_PER_BLOCK, 0), CUDA_SUCCESS);
  assert_int_equal(answer32(&k), 1024);
  assert_int_equal(CALL(&k, DEVICE_GET_ATTRIBUTE, k.out, ATTRIBUTE_SMS, 0), CUDA_SUCCESS);
  assert_int_equal(answer32(&k), 46);
  FAILS(&k, CUDA_ERROR_INVALID_DEVICE, DEVICE_GET_ATTRIBUTE, k.out, ATTRIBUTE_SMS, 1);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_GET_ATTRIBUTE, k.out, NO_SUCH, 0);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_GET_DEVICE_COUNT, 0x10);
  assert_int_equal(CALL(&k, DEVICE_GET_LIMIT, k.out, LIMIT_STACK), CUDA_SUCCESS);
  assert_int_equal(answer64(&k), 1024); /* bytes of stack, CUDA programming guide */
  FAILS(&k, CUDA_ERROR_UNSUPPORTED_LIMIT, DEVICE_GET_LIMIT, k.out, LIMIT__N);
  assert_int_equal(CALL(&k, DEVICE_FUNC_ATTRIBUTES, k.out, k.function), CUDA_SUCCESS);
  assert_true(gmem_read(k.rig->mem, k.out, &a, sizeof a)); /* cudaFuncAttributes begins so */
  assert_true(a.shared == 0 && a.local == 0 && a.threads == 1024 && a.registers > 4);
  FAILS(&k, cudaErrorInvalidDeviceFunction, DEVICE_FUNC_ATTRIBUTES, k.out, k.function + 16);
  assert_int_equal(CALL(&k, DEVICE_OCCUPANCY, k.out, k.function, 512, 0), CUDA_SUCCESS);
  assert_int_equal(answer32(&k), 3); /* 1536 threads */
  assert_int_equal(CALL(&k, DEVICE_OCCUPANCY_FLAGS, k.out, k.function, 256, 45000, 0), CUDA_SUCCESS);
  assert_int_equal(answer32(&k), 2); /* 100 KB of shared memory, of which each CTA takes 1 KB more */
  assert_int_equal(CALL(&k, DEVICE_OCCUPANCY_FLAGS, k.out, k.function, 256, 50000, 0), CUDA_SUCCESS);
  assert_int_equal(answer32(&k), 0); /* more than 48 KB, which was not asked for */
  FAILS(&k, cudaErrorInvalidDeviceFunction, DEVICE_OCCUPANCY, k.out, 0, 512, 0);
  FAILS(&k, NOT_SUPPORTED, DEVICE_GRAPH_SET_PARAM, 0);
  assert_int_equal(CALL(&k, DEVICE_MALLOC, k.out, 100), CUDA_SUCCESS);
  const uint64_t p = answer64(&k);
  assert_in_range(p, 0x100000, 0x100000 + 4096 - 100);
  FAILS(&k, CUDA_ERROR_OUT_OF_MEMORY, DEVICE_MALLOC, k.out, 5000);
  FAILS(&k, CUDA_ERROR_INVALID_VALUE, DEVICE_MALLOC, 0x10, 3500); /* nowhere to say where: it is given back … */
  assert_int_equal(CALL(&k, DEVICE_MALLOC, k.out, 3500), CUDA_SUCCESS); /* … and there is room for it */
  assert_int_equal(CALL(&k, DEVICE_FREE, answer64(&k)), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_FREE, p), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_FREE, 0), CUDA_SUCCESS);
  FAILS(&k, cudaErrorInvalidDevicePointer, DEVICE_FREE, p);
  finish(&k);
}

/* Clocks of streams and events, by CTA and handle. */
static void clocks(void **state)
{
  (void)state;
  struct kernel k = start(0);
  const size_t a = device_grid_clock(k.grid, 1, 0), b = device_grid_clock(k.grid, 2, 0), c = device_grid_clock(k.grid, 1, 20);
  assert_true(a != b && a != c && b != c);
  assert_int_equal(device_grid_clock(k.grid, 1, 0), a);
  assert_int_equal(device_grid_clock(k.grid, 2, 0), b);
  assert_int_equal(device_grid_clock(k.grid, 1, 20), c);
  assert_int_equal(k.grid->n_clocks, 3);
  finish(&k);
}

/* What a kernel that runs has queued, given to the GPU; all of it has come about when the context is synchronised. */
static void give(struct kernel *k)
{
  pthread_mutex_lock(&k->s->lock);
  device_work_give(k->s, 0);
  pthread_mutex_unlock(&k->s->lock);
  OK(cuCtxSynchronize());
}

static void rows_are_written(void **state)
{
  enum { PITCH = 40, WIDTH = 24, ROWS = 5, ALL = PITCH * ROWS };
  uint8_t have[ALL];
  CUdeviceptr from, to;
  (void)state;
  struct kernel k = start(0);
  OK(cuMemAlloc_v2(&from, ALL));
  OK(cuMemAlloc_v2(&to, ALL));
  OK(cuMemsetD8_v2(from, 1, ALL));
  OK(cuMemsetD8_v2(to, 2, ALL));
  k.grid->beside = true;
  assert_int_equal(CALL(&k, DEVICE_MEMSET_2D, from, PITCH, 3, WIDTH, ROWS - 1, 0), CUDA_SUCCESS);
  assert_true(k.grid->listed && k.s->device_queued == k.grid && device_work_waits(k.grid));
  assert_int_equal(CALL(&k, DEVICE_MEMCPY_2D, to, PITCH - 8, from, PITCH, WIDTH + 4, ROWS, DEVICE_TO_DEVICE, 0), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_MEMSET, from, 9, ALL, 0), CUDA_SUCCESS); /* behind the copy, in the same stream */
  give(&k);
  assert_true(!k.grid->listed && !k.s->device_queued && !device_work_waits(k.grid));
  OK(cuMemcpyDtoH_v2(have, to, ALL));
  for (unsigned i = 0; i < ALL; i++) {
    const unsigned y = i / (PITCH - 8), x = i % (PITCH - 8);
    const unsigned want = y >= ROWS || x >= WIDTH + 4 ? 2 : x >= WIDTH || y == ROWS - 1 ? 1 : 3;
    if (have[i] != want) fail_msg("byte %u: %u, not %u", i, have[i], want);
  }
  OK(cuMemcpyDtoH_v2(have, from, ALL));
  for (unsigned i = 0; i < ALL; i++) assert_int_equal(have[i], 9);
  OK(cuMemFree_v2(from));
  OK(cuMemFree_v2(to));
  finish(&k);
}

/* More than is moved at once, and a kernel between its input and its output. */
static void a_kernel_between(void **state)
{
  enum { FLOATS = 20000, BYTES = 4 * FLOATS };
  float *have = malloc(BYTES);
  (void)state;
  struct kernel k = start(0);
  struct gmem *mem = k.module->board->device.mem;
  CUdeviceptr x = cuda_floats(FLOATS, 1, 1), y = cuda_floats(FLOATS, 2, 1), z = cuda_floats(FLOATS, 0, 0), out = cuda_floats(FLOATS, 0, 0);
  k.grid->beside = true;
  const uint64_t s = handle(&k, DEVICE_STREAM_CREATE, NON_BLOCKING), e = handle(&k, DEVICE_EVENT_CREATE, NO_TIMING);
  const uint64_t b = CALL(&k, DEVICE_GET_PARAMETER_BUFFER_V2, k.function, (FLOATS + 255) / 256, 1, 1, 256, 1, 1, 0);
  const struct { uint64_t x, y, z; uint32_t n; } params = {x, y, z, FLOATS};
  assert_true(gmem_write(mem, b, &params, 28));
  assert_int_equal(CALL(&k, DEVICE_MEMCPY, y, x, BYTES, DEVICE_TO_DEVICE, 0), CUDA_SUCCESS); /* y = x */
  assert_int_equal(CALL(&k, DEVICE_LAUNCH_DEVICE_V2, b, 0), CUDA_SUCCESS);                   /* z = x + y */
  assert_int_equal(CALL(&k, DEVICE_EVENT_RECORD, e, 0), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_STREAM_WAIT_EVENT, s, e, 0), CUDA_SUCCESS);
  assert_int_equal(CALL(&k, DEVICE_MEMCPY, out, z, BYTES, DEVICE_TO_DEVICE, s), CUDA_SUCCESS);
  assert_int_equal(k.grid->work->pending, 1);
  give(&k);
  assert_int_equal(k.grid->work->pending, 0);
  assert_int_equal(gmem_allocated(mem, b), 0);
  OK(cuMemcpyDtoH_v2(have, out, BYTES));
  for (unsigned i = 0; i < FLOATS; i++)
    if (have[i] != 2 * (float)(i + 1)) fail_msg("element %u: %g", i, (double)have[i]);
  OK(cuMemFree_v2(x));
  OK(cuMemFree_v2(y));
  OK(cuMemFree_v2(z));
  OK(cuMemFree_v2(out));
  free(have);
  finish(&k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_and_fills), cmocka_unit_test(streams_and_events), cmocka_unit_test(launches),
      cmocka_unit_test(refused_launches), cmocka_unit_test(first_form),         cmocka_unit_test(answers),
      cmocka_unit_test(clocks),           cmocka_unit_test(rows_are_written),   cmocka_unit_test(a_kernel_between),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
