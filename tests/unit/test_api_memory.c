/* A library never ends its host: a session of the C library in which the n-th request for host memory fails, for every
 * n. Each ends in an error of a call, and leaves nothing behind. The linker puts the functions __wrap_* in the place of
 * the host's (mk/tests.mk); requests within other libraries are not touched. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/host_memory.h"
#include "warpstep/warpstep.h"

#define KERNELS WS_SOURCE_DIR "/kernels/"
#define DATA WS_SOURCE_DIR "/tests/data/"

/* ---- requests ---- */

static atomic_long until_failure = -1; /* requests that are granted before one fails; negative: all */
static atomic_long requests;
static atomic_llong mapped; /* bytes */

static bool fails(void)
{
  requests++;
  if (until_failure < 0 || until_failure-- != 0) return false;
  errno = ENOMEM;
  return true;
}

void *__real_malloc(size_t bytes);
void __real_free(void *p);
int __real_fclose(FILE *f);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void *__real_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t bytes);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__real_open_memstream(char **text, size_t *bytes);
FILE *__real_fopencookie(void *cookie, const char *mode, cookie_io_functions_t io);
void *__wrap_malloc(size_t bytes);
void __wrap_free(void *p);
int __wrap_fclose(FILE *f);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t bytes);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_open_memstream(char **text, size_t *bytes);
FILE *__wrap_fopencookie(void *cookie, const char *mode, cookie_io_functions_t io);

/* Blocks and open files that have been handed out, in any order; a free slot is NULL. */
enum { MOST = 1 << 14 };
static void *live[MOST];
static unsigned n_live;
static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;

static void *note(void *p)
{
  if (!p) return p;
  pthread_mutex_lock(&live_lock);
  assert_true(n_live < MOST);
  live[n_live++] = p;
  pthread_mutex_unlock(&live_lock);
  return p;
}

/* What other libraries have taken is not known, and passes. */
static void forget(const void *p)
{
  pthread_mutex_lock(&live_lock);
  for (unsigned i = n_live; p && i-- > 0;)
    if (live[i] == p) {
      live[i] = live[--n_live];
      break;
    }
  pthread_mutex_unlock(&live_lock);
}

void *__wrap_malloc(size_t bytes)
{
  return fails() ? NULL : note(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t size)
{
  return fails() ? NULL : note(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t bytes)
{
  if (fails()) return NULL;
  forget(p);
  return note(__real_realloc(p, bytes));
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
  return fails() ? NULL : note(__real_aligned_alloc(align, bytes));
}

void __wrap_free(void *p)
{
  forget(p);
  __real_free(p);
}

void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
  void *p = fails() ? MAP_FAILED : __real_mmap(at, bytes, prot, flags, fd, offset);
  if (p != MAP_FAILED) mapped += (long long)((bytes + 4095) & ~(size_t)4095);
  return p;
}

int __wrap_munmap(void *at, size_t bytes)
{
  mapped -= (long long)((bytes + 4095) & ~(size_t)4095);
  return __real_munmap(at, bytes);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
  return fails() ? NULL : note(__real_fopen(path, mode));
}

FILE *__wrap_open_memstream(char **text, size_t *bytes)
{
  return fails() ? NULL : note(__real_open_memstream(text, bytes));
}

FILE *__wrap_fopencookie(void *cookie, const char *mode, cookie_io_functions_t io)
{
  return fails() ? NULL : note(__real_fopencookie(cookie, mode, io));
}

int __wrap_fclose(FILE *f)
{
  forget(f);
  return __real_fclose(f);
}

/* ---- a session ---- */

enum { N = 2048 };

/* Calls in a row: those behind one that found no memory still have to come back. */
struct session {
  ws_device *d;
  ws_module *program, *module;
  const ws_kernel *linked, *vecadd;
  ws_address x, y, z;
  unsigned starved; /* calls that said WS_NO_HOST_MEMORY */
  uint64_t cycles;
  bool right; /* vecadd's result */
};

static bool worked(struct session *s, int status, const ws_error *e)
{
  if (status == WS_NO_HOST_MEMORY) {
    s->starved++;
    assert_non_null(strstr(e->message, "memory"));
  } else if (status) {
    fail_msg("status %d: %s", status, e->message);
  }
  return status == WS_OK;
}

static void drop(void *context, const char *text, size_t bytes)
{
  (void)context, (void)text, (void)bytes;
}

static void open_device(struct session *s)
{
  static const char *const small[] = {"gpu.sms=2"};
  struct ws_device_options o = WS_DEVICE_OPTIONS_INIT;
  ws_error e = WS_ERROR_INIT;
  o.preset = "rtx-3070", o.print = drop;
  o.overrides = small, o.n_overrides = 1;
  worked(s, ws_device_create(&o, &s->d, &e), &e);
}

static void load(struct session *s)
{
  ws_error e = WS_ERROR_INIT;
  if (worked(s, ws_module_load(s->d, DATA "fat.program", &s->program, &e), &e)) ws_module_unload(s->program);
  if (worked(s, ws_module_load(s->d, DATA "linked.sm_86.cubin", &s->module, &e), &e))
    worked(s, ws_module_kernel(s->module, "linked", &s->linked, &e), &e);
  if (worked(s, ws_module_load(s->d, KERNELS "vecadd/vecadd.sm_86.cubin", &s->module, &e), &e))
    worked(s, ws_module_kernel(s->module, "vecadd", &s->vecadd, &e), &e);
}

static void take_memory(struct session *s)
{
  static const float one = 1, two = 2;
  ws_error e = WS_ERROR_INIT;
  worked(s, ws_alloc(s->d, 4 * N, &s->x, &e), &e);
  worked(s, ws_alloc(s->d, 8 << 20, &s->y, &e), &e);
  worked(s, ws_alloc(s->d, 4 * N, &s->z, &e), &e);
  if (s->x) worked(s, ws_fill(s->d, s->x, &one, 4, N, &e), &e);
  if (s->y) worked(s, ws_fill(s->d, s->y, &two, 4, N, &e), &e);
  if (s->z) worked(s, ws_copy(s->d, s->z, s->x, 4 * N, &e), &e);
}

static void run_vecadd(struct session *s, int mode, unsigned flags)
{
  struct ws_launch l = WS_LAUNCH_INIT;
  ws_error e = WS_ERROR_INIT;
  ws_result *r;
  int32_t n = N;
  void *arguments[] = {&s->x, &s->y, &s->z, &n};
  if (!s->vecadd || !s->z) return;
  l.arguments = arguments, l.grid[0] = N / 256, l.block[0] = 256, l.threads = 2;
  l.mode = mode, l.flags = flags;
  if (!worked(s, ws_launch(s->vecadd, &l, &r, &e), &e)) return;
  assert_int_equal(ws_result_end(r), WS_ENDED);
  if (mode == WS_TIMED) s->cycles = ws_result_cycles(r);
  ws_result_destroy(r);
}

/* linked.cu: out[0] = 2 out[1] + scale[…], printed. */
static void run_linked(struct session *s)
{
  struct ws_launch l = WS_LAUNCH_INIT;
  ws_error e = WS_ERROR_INIT;
  ws_result *r;
  int32_t which = 0;
  void *arguments[] = {&s->z, &which};
  if (!s->linked || !s->z) return;
  l.arguments = arguments, l.mode = WS_FUNCTIONAL;
  if (worked(s, ws_launch(s->linked, &l, &r, &e), &e)) ws_result_destroy(r);
}

static void look(struct session *s)
{
  static float z[N];
  ws_error e = WS_ERROR_INIT;
  if (!s->z || !worked(s, ws_copy_out(s->d, z, s->z, sizeof z, &e), &e)) return;
  for (unsigned i = 0; i < N; i++)
    if (z[i] != 3) return;
  s->right = true;
}

static struct session whole_session(void)
{
  struct session s = {0};
  ws_error e = WS_ERROR_INIT;
  open_device(&s);
  if (!s.d) return s;
  load(&s);
  take_memory(&s);
  run_vecadd(&s, WS_FUNCTIONAL, 0);
  run_vecadd(&s, WS_TIMED, WS_CHECK_HAZARDS | WS_JSON);
  look(&s);
  run_linked(&s);
  if (s.x) worked(&s, ws_free(s.d, s.x, &e), &e);
  ws_device_destroy(s.d);
  return s;
}

static void test_every_request_fails_once(void **state)
{
  (void)state;
  (void)whole_session(); /* what the C library keeps for itself is there from now on */
  struct session good = whole_session();
  assert_true(good.right && good.starved == 0 && good.cycles > 0);
  long at = 0, n_failed = 0;
  for (;; at++) {
    unsigned before = n_live;
    long long bytes = mapped;
    until_failure = at;
    struct session s = whole_session();
    bool reached = until_failure < 0;
    until_failure = -1;
    if (n_live != before || mapped != bytes)
      fail_msg("request %ld failed: %d blocks and %lld mapped bytes are left behind", at, (int)(n_live - before),
               (long long)mapped - bytes);
    if (!reached) break;
    if (s.starved) n_failed++;
    else if (!s.right || s.cycles != good.cycles) fail_msg("request %ld failed, nobody said so, and the result differs", at);
  }
  assert_true(at > 100); /* as many requests as a session makes */
  assert_true(n_failed > at * 9 / 10); /* few can be done without */
}

/* Requests of one launch on two threads, the helper's among them: it is long enough for the helper to begin. */
static long starved_launch(long at, bool *starved)
{
  enum { MANY = 1 << 18 };
  struct session s = {0};
  struct ws_launch l = WS_LAUNCH_INIT;
  ws_error e = WS_ERROR_INIT;
  ws_result *r;
  int32_t n = MANY;
  open_device(&s);
  load(&s);
  assert_int_equal(ws_alloc(s.d, 4 * MANY, &s.x, &e), WS_OK);
  void *arguments[] = {&s.x, &s.x, &s.x, &n};
  l.arguments = arguments, l.grid[0] = MANY / 256, l.block[0] = 256, l.threads = 2, l.mode = WS_FUNCTIONAL;
  long before = requests;
  until_failure = at;
  int status = ws_launch(s.vecadd, &l, &r, &e);
  until_failure = -1;
  long made = requests - before;
  *starved = status == WS_NO_HOST_MEMORY;
  if (status == WS_OK) ws_result_destroy(r);
  else assert_true(*starved);
  ws_device_destroy(s.d);
  return made;
}

static void test_launch_on_two_threads(void **state)
{
  bool starved;
  (void)state;
  unsigned before = n_live;
  long most = starved_launch(-1, &starved);
  assert_true(most > 5 && !starved);
  for (long at = 0; at < most; at++) {
    long made = starved_launch(at, &starved);
    assert_true(starved || at >= made); /* how many the helper makes depends on when it begins */
    assert_int_equal(n_live, before);
  }
}

/* A device that found no memory once has nothing more to give, and says so. */
static void test_lost_device(void **state)
{
  struct session s = {0};
  ws_error e = WS_ERROR_INIT;
  ws_address x;
  uint32_t word = 0;
  (void)state;
  open_device(&s);
  assert_int_equal(ws_alloc(s.d, 4, &x, &e), WS_OK);
  until_failure = 0;
  assert_int_equal(ws_module_load(s.d, DATA "linked.sm_86.cubin", &s.module, &e), WS_NO_HOST_MEMORY);
  until_failure = -1;
  assert_int_equal(ws_module_load(s.d, DATA "linked.sm_86.cubin", &s.module, &e), WS_NO_HOST_MEMORY);
  assert_null(s.module);
  assert_int_equal(ws_alloc(s.d, 4, &x, &e), WS_NO_HOST_MEMORY);
  assert_int_equal(ws_copy_in(s.d, x, &word, 4, &e), WS_NO_HOST_MEMORY);
  assert_int_equal(ws_copy_out(s.d, &word, x, 4, &e), WS_NO_HOST_MEMORY);
  assert_int_equal(ws_free(s.d, x, &e), WS_NO_HOST_MEMORY);
  ws_device_destroy(s.d);
}

/* ---- heaps ---- */

static unsigned n_ended;

static void end(void *thing)
{
  *(int *)thing = (int)++n_ended;
}

static void keep_and_starve(void *ctx)
{
  int *order = ctx;
  char *block = mem_alloc(10);
  heap_keep(&order[0], end);
  heap_keep(&order[1], end);
  heap_keep(&order[2], end);
  heap_forget(&order[1]);
  memset(mem_resize(block, 100000, 1), 1, 100000);
  assert_int_equal(((uintptr_t)mem_zeroed_aligned(256, 10)) % 256, 0);
  mem_free(mem_zeroed(3, 5));
  memory_out();
}

static void starve_within(void *ctx)
{
  assert_false(memory_try(heap_current(), keep_and_starve, ctx));
  ((int *)ctx)[3] = 1; /* the outer attempt goes on */
}

static void test_heap(void **state)
{
  int order[4] = {0};
  unsigned before = n_live;
  struct heap *h = heap_new();
  (void)state;
  assert_null(heap_current());
  assert_true(memory_try(h, starve_within, order));
  assert_int_equal(order[3], 1);
  assert_null(heap_current());
  assert_int_equal(n_ended, 0);
  heap_free(h);
  assert_int_equal(order[2], 1); /* the newest first */
  assert_int_equal(order[0], 2);
  assert_int_equal(order[1], 0); /* forgotten */
  assert_int_equal(n_live, before);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heap),
      cmocka_unit_test(test_lost_device),
      cmocka_unit_test(test_launch_on_two_threads),
      cmocka_unit_test(test_every_request_fails_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
