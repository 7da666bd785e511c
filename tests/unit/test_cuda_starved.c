/* A CUDA program on a host that has no memory left: of each call of a session every request for memory fails in turn. The call then
 * says CUDA_ERROR_OUT_OF_MEMORY, and so does every later one, with one line on stderr; or it did without, and the session goes on as
 * if nothing had been. The linker puts the functions __wrap_* in the place of the host's (mk/tests.mk); requests within other
 * libraries are not touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/core/shim.h"
#include "cuda_rig.h"

CUresult cudaMalloc(void **, size_t);
CUresult cudaFree(void *);
CUresult cudaGetLastError(void);
CUresult cuArrayCreate_v2(CUarray *, const CUDA_ARRAY_DESCRIPTOR *);
CUresult cuTexObjectCreate(unsigned long long *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *,
                           const CUDA_RESOURCE_VIEW_DESC *);
CUresult cuGraphCreate(CUgraph *, unsigned);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream);
CUresult cuStreamBeginCapture_v2(CUstream, int);
CUresult cuStreamEndCapture(CUstream, CUgraph *);
CUresult cuLaunchHostFunc(CUstream, void (*)(void *), void *);

/* ---- requests ---- */

static atomic_long until_failure = -1; /* requests that are granted before one fails; negative: all */
static atomic_long requests;

static bool fails(void)
{
  requests++;
  if (until_failure < 0 || until_failure-- != 0) return false;
  errno = ENOMEM;
  return true;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
char *__real_strdup(const char *text);
void *__real_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__real_open_memstream(char **text, size_t *bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
char *__wrap_strdup(const char *text);
void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_open_memstream(char **text, size_t *bytes);

/* The GPU of a process is there until it ends, and parts of it hang on mappings, in which leaks are not looked for. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "detect_leaks=0";
}

void *__wrap_malloc(size_t bytes)
{
  return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t size)
{
  return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t bytes)
{
  return fails() ? NULL : __real_realloc(p, bytes);
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
  return fails() ? NULL : __real_aligned_alloc(align, bytes);
}

char *__wrap_strdup(const char *text)
{
  return fails() ? NULL : __real_strdup(text);
}

void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
  return fails() ? MAP_FAILED : __real_mmap(at, bytes, prot, flags, fd, offset);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
  return fails() ? NULL : __real_fopen(path, mode);
}

FILE *__wrap_open_memstream(char **text, size_t *bytes)
{
  return fails() ? NULL : __real_open_memstream(text, bytes);
}

/* ---- a session: z = x + y twice, the second launch in time, and what takes memory besides ---- */

enum { N = 512 };

static struct {
  CUcontext context;
  CUmodule module;
  CUfunction f;
  CUdeviceptr x, y, z, pooled;
  CUstream stream;
  CUevent event;
  CUgraph graph, captured;
  CUgraphNode node;
  CUgraphExec exec;
  CUarray array;
  unsigned long long texture;
  void *p, *params[4];
  unsigned n, told;
  float in[N], out[N];
} s;

static void count(void *p)
{
  ++*(unsigned *)p;
}

static CUresult init(void) { return cuInit(0); }
static CUresult context(void) { return cuCtxCreate_v2(&s.context, 0, 0); }
static CUresult module(void) { return cuModuleLoad(&s.module, WS_SOURCE_DIR "/kernels/vecadd/vecadd.sm_86.cubin"); }
static CUresult function(void) { return cuModuleGetFunction(&s.f, s.module, "vecadd"); }
static CUresult x(void) { return cuMemAlloc_v2(&s.x, sizeof s.in); }
static CUresult y(void) { return cuMemAlloc_v2(&s.y, 8 << 20); }
static CUresult z(void) { return cuMemAlloc_v2(&s.z, sizeof s.in); }
static CUresult upload_x(void) { return cuMemcpyHtoD_v2(s.x, s.in, sizeof s.in); }
static CUresult upload_y(void) { return cuMemcpyHtoD_v2(s.y, s.in, sizeof s.in); }
static CUresult stream(void) { return cuStreamCreate(&s.stream, 0); }
static CUresult event(void) { return cuEventCreate(&s.event, 0); }

static CUresult launch(void)
{
  return cuLaunchKernel(s.f, N / 64, 1, 1, 64, 1, 1, 0, s.stream, s.params, NULL);
}

static CUresult record(void) { return cuEventRecord(s.event, s.stream); }
static CUresult callback(void) { return cuLaunchHostFunc(s.stream, count, &s.told); }
static CUresult finish(void) { return cuStreamSynchronize(s.stream); }
static CUresult graph(void) { return cuGraphCreate(&s.graph, 0); }

static CUresult node(void)
{
  const CUDA_KERNEL_NODE_PARAMS p = {.function = s.f, .grid = {1, 1, 1}, .block = {64, 1, 1}, .params = s.params};
  return cuGraphAddKernelNode_v2(&s.node, s.graph, NULL, 0, &p);
}

static CUresult instantiate(void) { return cuGraphInstantiateWithFlags(&s.exec, s.graph, 0); }
static CUresult launch_graph(void) { return cuGraphLaunch(s.exec, s.stream); }
static CUresult begin_capture(void) { return cuStreamBeginCapture_v2(s.stream, 0); }
static CUresult end_capture(void) { return cuStreamEndCapture(s.stream, &s.captured); }
static CUresult pooled(void) { return cuMemAllocAsync(&s.pooled, 1 << 20, s.stream); }

static CUresult array(void)
{
  const CUDA_ARRAY_DESCRIPTOR d = {.width = 32, .height = 8, .format = FORMAT_FLOAT, .channels = 1};
  return cuArrayCreate_v2(&s.array, &d);
}

static CUresult texture(void)
{
  const CUDA_RESOURCE_DESC r = {.type = RESOURCE_ARRAY, .of.array = s.array};
  return cuTexObjectCreate(&s.texture, &r, &(CUDA_TEXTURE_DESC){.flags = 1}, NULL);
}

static CUresult by_runtime(void) { return cudaMalloc(&s.p, 4096); }
static CUresult download(void) { return cuMemcpyDtoH_v2(s.out, s.z, sizeof s.out); }

static CUresult (*const steps[])(void) = {
    init,   context,     module,   function,     x,        y,      z,           upload_x,     upload_y,      stream,  event,
    launch, record,      callback, finish,       graph,    node,   instantiate, launch_graph, begin_capture, launch,  end_capture,
    pooled, array,       texture,  by_runtime,   launch,   finish, download,
};
enum { STEPS = sizeof steps / sizeof steps[0] };

static void session_start(const char *report)
{
  char options[300];
  snprintf(options, sizeof options, "gpu=rtx-3070\nset=gpu.sms=2\ntime=3\nreport=%s", report);
  cuda_options(options);
  for (unsigned i = 0; i < N; i++) s.in[i] = (float)i;
  s.n = N;
  s.params[0] = &s.x, s.params[1] = &s.y, s.params[2] = &s.z, s.params[3] = &s.n;
}

static bool result_is_right(void)
{
  for (unsigned i = 0; i < N; i++)
    if (s.out[i] != 2 * (float)i) return false;
  return s.told == 1;
}

/* What became of a session, as the status of the child that went on with it. */
enum { NOT_REACHED = 10, STARVED, DID_WITHOUT, WRONG_CODE, WRONG_LATER, WRONG_RESULT, CRASHED };

/* Goes on from step `first`, in which request `at` fails, in a child that takes its parent's GPU over (programs have
 * none there): it is a copy of the session so far. */
static int go_on(unsigned first, long at)
{
  struct shim *copy = shim_get();
  copy->up = copy->up || copy->forked;
  copy->forked = false;
  until_failure = at;
  CUresult r = steps[first]();
  const bool reached = until_failure < 0;
  until_failure = -1;
  if (r != CUDA_SUCCESS) {
    if (!reached || r != CUDA_ERROR_OUT_OF_MEMORY) return WRONG_CODE;
    if (steps[first]() != CUDA_ERROR_OUT_OF_MEMORY) return WRONG_LATER;
    if (cuMemAlloc_v2(&s.x, 4) != CUDA_ERROR_OUT_OF_MEMORY) return WRONG_LATER;
    if (cudaMalloc(&s.p, 4) != CUDA_ERROR_OUT_OF_MEMORY || cudaGetLastError() != CUDA_ERROR_OUT_OF_MEMORY) return WRONG_LATER;
    return STARVED;
  }
  if (!reached) return NOT_REACHED;
  for (unsigned i = first + 1; i < STEPS; i++)
    if (steps[i]() != CUDA_SUCCESS) return WRONG_CODE;
  return result_is_right() ? DID_WITHOUT : WRONG_RESULT;
}

/* In a child, with stderr in a file. */
static int attempt(unsigned step, long at, FILE *said)
{
  int status;
  fflush(NULL);
  rewind(said);
  assert_int_equal(ftruncate(fileno(said), 0), 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(fileno(said), STDERR_FILENO);
    alarm(60);
    _exit(go_on(step, at));
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : CRASHED;
}

static unsigned lines_of(FILE *f, const char *word)
{
  char line[400];
  unsigned n = 0;
  rewind(f);
  while (fgets(line, sizeof line, f)) n += strstr(line, word) ? 1 : 100;
  return n;
}

static void every_request_fails_once(void **state)
{
  FILE *said = tmpfile();
  unsigned starved = 0, without = 0;
  (void)state;
  assert_non_null(said);
  session_start("/dev/null");
  for (unsigned i = 0; i < STEPS; i++) {
    int was = STARVED;
    for (long at = 0; was != NOT_REACHED; at++) {
      was = attempt(i, at, said);
      if (was == STARVED && lines_of(said, "out of host memory") != 1) fail_msg("step %u, request %ld: not one line", i, at);
      if (was >= WRONG_CODE) {
        rewind(said);
        char text[300] = "";
        text[fread(text, 1, sizeof text - 1, said)] = 0;
        fail_msg("step %u, request %ld: %d, %s", i, at, was, text);
      }
      if (was < NOT_REACHED) fail_msg("step %u, request %ld ends the process with %d", i, at, was);
      starved += was == STARVED;
      without += was == DID_WITHOUT;
    }
    OK(steps[i]());
  }
  assert_true(result_is_right());
  print_message("%u requests: %u end in an error, %u can be done without\n", starved + without, starved, without);
  assert_true(starved > 100);
  assert_true(without < starved / 5);
  fclose(said);
}

/* ---- the end of a program ---- */

/* The whole session with one request that fails; then the program ends as if all were well. */
_Noreturn static void program(const char *report, const char *at)
{
  session_start(report);
  until_failure = atol(at);
  for (unsigned i = 0; i < STEPS; i++) steps[i]();
  const bool reached = until_failure < 0;
  until_failure = -1;
  setvbuf(stdout, NULL, _IONBF, 0);
  exit(reached ? 0 : NOT_REACHED);
}

/* Without a GPU there is no report; that must not look like success. */
static void no_report_is_no_success(void **state)
{
  char path[] = "/tmp/test_cuda_starved.XXXXXX", number[30];
  int fd = mkstemp(path), status = 0;
  (void)state;
  assert_true(fd >= 0);
  close(fd);
  for (long at = 5; WEXITSTATUS(status) != NOT_REACHED; at += 31) {
    unlink(path);
    snprintf(number, sizeof number, "%ld", at);
    pid_t child = fork();
    if (child == 0) {
      if (!freopen("/dev/null", "w", stderr)) _exit(1);
      setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
      execl(program_invocation_name, "a program", path, number, (char *)NULL);
      _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    const bool there = access(path, F_OK) == 0;
    if (WEXITSTATUS(status) == 2 && there) fail_msg("request %ld: a report of half a session", at);
    if (WEXITSTATUS(status) != 2 && !there) fail_msg("request %ld: status %d without a report", at, WEXITSTATUS(status));
    assert_true(at < 100000);
  }
  unlink(path);
}

int main(int argc, char **argv)
{
  if (argc == 3) program(argv[1], argv[2]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_report_is_no_success), cmocka_unit_test(every_request_fails_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
