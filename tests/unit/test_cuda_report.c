/* What a program leaves behind under `exec`, and how it ends, by the options it was started with: tables, JSON, captured launches,
 * pages, faults, limits, defects. The program is this one, started again. Expected values: docs/exec.md, docs/json.md; results by
 * hand. */
#include <fcntl.h>
#include <ucontext.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "cuda_rig.h"

/* ---- the program: a launch for each letter ---- */

enum { BLOCK = 64, N = 24 * BLOCK, LONG_COPY = 48 << 20 };

CUresult cuMemAllocHost_v2(void **, size_t);
CUresult cuPointerGetAttribute(void *, int, CUdeviceptr);
enum { P2P_TOKENS = 5 }; /* CUpointer_attribute, which nothing here could use */
CUresult cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, CUstream);

struct work {
  CUfunction f, print, waits;
  CUstream stream;
  CUdeviceptr x;
};

static CUresult launch(struct work *w, unsigned grid, CUdeviceptr from, CUstream stream)
{
  unsigned n = N;
  return cuLaunchKernel(w->f, grid, 1, 1, BLOCK, 1, 1, 0, stream, (void *[]){&from, &from, &from, &n}, NULL);
}

/* Nobody waits for it. */
static void leave_waiting(struct work *w)
{
  int *flag, value = 7;
  OK(cuMemAllocHost_v2((void **)&flag, 2 * sizeof *flag));
  flag[0] = flag[1] = 0;
  int *out = flag + 1;
  OK(cuLaunchKernel(w->waits, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&flag, &value, &out}, NULL));
}

static void leave_copying(void)
{
  enum { NON_BLOCKING = 1 };
  CUstream stream;
  CUdeviceptr from;
  void *to;
  OK(cuMemAlloc_v2(&from, LONG_COPY));
  OK(cuMemAllocHost_v2(&to, LONG_COPY));
  OK(cuStreamCreate(&stream, NON_BLOCKING));
  OK(cuMemcpyDtoHAsync_v2(to, from, LONG_COPY, stream));
}

/* Without waiting for them: w: waits for ever; l: copies for long on a stream; n: vecadd. */
static bool leaves(struct work *w, char letter)
{
  if (letter == 'w') leave_waiting(w);
  else if (letter == 'l') leave_copying();
  else if (letter == 'n') OK(launch(w, 3, w->x, NULL));
  else return false;
  return true;
}

/* a, b, c: vecadd on 3, 6, 24 CTAs; s: on a stream; m: many; f: far behind the memory; o: just behind; p: prints; u: asks for
 * what is not served; 0 to 9: ends.
 * t, x alone: load a container. */
static void do_letter(struct work *w, char letter)
{
  int which = 0;
  switch (letter) {
  case 'a': OK(launch(w, 3, w->x, NULL)); break;
  case 'b': OK(launch(w, 6, w->x, NULL)); break;
  case 'c': OK(launch(w, 24, w->x, NULL)); break;
  case 's': OK(launch(w, 3, w->x, w->stream)); break;
  case 'm':
    for (unsigned i = 0; i < 60; i++) OK(launch(w, 1, w->x, NULL));
    break;
  case 'f': launch(w, 1, (CUdeviceptr)1 << 45, NULL); break;
  case 'o': launch(w, 1, w->x + 4 * N - 128, NULL); break;
  case 'u': printf("u %d\n", (int)cuPointerGetAttribute(&which, P2P_TOKENS, w->x)); return;
  case 'p': OK(cuLaunchKernel(w->print, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&w->x, &which}, NULL)); break;
  default: exit(letter - '0');
  }
  printf("%c %d\n", letter, (int)cuCtxSynchronize());
}

_Noreturn static void program(const char *letters)
{
  struct work w;
  CUmodule m;
  CUcontext context;
  int words[2] = {0, 20};
  CUresult r = cuInit(0);
  if (r != CUDA_SUCCESS) printf("cuInit %d\n", (int)r), exit(0);
  OK(cuCtxCreate_v2(&context, 0, 0));
  if (*letters == 't') printf("load %d\n", (int)cuModuleLoad(&m, WS_SOURCE_DIR "/tests/data/fat.fatbin")), exit(0);
  if (*letters == 'x') printf("load %d\n", (int)cuModuleLoad(&m, "ptx.fatbin")), exit(0);
  OK(cuStreamCreate(&w.stream, 0));
  w.f = cuda_vecadd(&m);
  w.x = cuda_floats(N, 0, 1);
  OK(cuModuleLoad(&m, WS_SOURCE_DIR "/tests/data/linked.sm_86.cubin"));
  OK(cuModuleGetFunction(&w.print, m, "linked"));
  if (strchr(letters, 'p')) OK(cuMemcpyHtoD_v2(w.x, words, sizeof words));
  OK(cuModuleLoad(&m, WS_SOURCE_DIR "/tests/data/waits.sm_86.cubin"));
  OK(cuModuleGetFunction(&w.waits, m, "waits"));
  for (const char *l = letters; *l; l++)
    if (!leaves(&w, *l)) do_letter(&w, *l);
  exit(0);
}

/* ---- and what it leaves behind ---- */

static char dir[] = "/tmp/test_cuda_report.XXXXXX";
static char out[1 << 16], err[1 << 16]; /* its stdout and stderr */

static int enter(void **state)
{
  (void)state;
  return !mkdtemp(dir) || chdir(dir);
}

static int leave(void **state)
{
  char command[100];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", dir);
  return chdir("/") || system(command);
}

static const char *text_of(const char *path)
{
  static char text[1 << 20];
  FILE *f = fopen(path, "r");
  if (!f) return NULL;
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  return text;
}

static void keep(char *to, const char *path)
{
  FILE *f = fopen(path, "r");
  to[f ? fread(to, 1, (1 << 16) - 1, f) : 0] = '\0';
  if (f) fclose(f);
  unlink(path);
}

/* Its status; `options` below the GPU. In `dir`. */
static int run(const char *options, const char *letters)
{
  char all[1000];
  int status;
  snprintf(all, sizeof all, "gpu=rtx-3070\nset=gpu.sms=2\n%s", options);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    setenv("WARPSTEP_EXEC", all, 1);
    if (!freopen("stdout", "w", stdout) || !freopen("stderr", "w", stderr)) _exit(99);
    execl("/proc/self/exe", "a program", "--program", letters, (char *)NULL);
    _exit(98);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  keep(out, "stdout");
  keep(err, "stderr");
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static bool exists(const char *path)
{
  return access(path, F_OK) == 0;
}

static json_t *json_of(const char *path)
{
  json_error_t e;
  json_t *j = json_load_file(path, 0, &e);
  if (!j) fail_msg("%s: %s", path, e.text);
  unlink(path);
  return j;
}

static long long number(const json_t *o, const char *key)
{
  const json_t *v = json_object_get(o, key);
  if (!json_is_integer(v)) fail_msg("no %s", key);
  return json_integer_value(v);
}

static const json_t *nth(const json_t *all, size_t i)
{
  return json_array_get(json_object_get(all, "launches"), i);
}

static long long dim(const json_t *launch, const char *key, size_t i)
{
  return json_integer_value(json_array_get(json_object_get(launch, key), i));
}

static unsigned times(const char *text, const char *part)
{
  unsigned n = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) n++;
  return n;
}

/* Three launches, the second in time. */
static void launches(void **state)
{
  (void)state;
  assert_int_equal(run("time=2\nreport=table\njson=doc", "abs"), 0);
  assert_string_equal(err, "");
  json_t *all = json_of("doc");
  assert_string_equal(json_string_value(json_object_get(all, "schema")), "warpstep-exec-1");
  assert_int_equal(json_array_size(json_object_get(all, "launches")), 3);
  const json_t *a = nth(all, 0), *b = nth(all, 1), *s = nth(all, 2);
  assert_true(number(a, "launch") == 1 && number(b, "launch") == 2 && number(s, "launch") == 3);
  assert_string_equal(json_string_value(json_object_get(b, "kernel")), "vecadd");
  assert_true(dim(a, "grid", 0) == 3 && dim(b, "grid", 0) == 6 && dim(b, "grid", 1) == 1 && dim(b, "block", 0) == BLOCK);
  assert_true(json_is_false(json_object_get(a, "timed")) && json_is_true(json_object_get(b, "timed")));
  assert_true(json_is_false(json_object_get(b, "faulted")));
  assert_null(json_object_get(a, "cycles"));
  assert_null(json_object_get(a, "slot"));
  assert_true(number(a, "stream") == 0 && number(b, "stream") == 0 && number(s, "stream") != 0);
  assert_int_equal(number(a, "shared_dynamic_bytes"), 0);
  assert_true(number(a, "warp_insts") == number(s, "warp_insts") && number(b, "warp_insts") == 2 * number(a, "warp_insts"));
  assert_int_equal(number(b, "thread_insts"), 32 * (number(b, "warp_insts") - 6 * BLOCK / 32)); /* no thread leaves early */
  assert_int_equal(number(json_object_get(b, "work"), "fp32"), 6 * BLOCK);
  assert_true(number(a, "end_ps") > number(a, "start_ps") && number(b, "start_ps") >= number(a, "end_ps"));
  assert_true(number(all, "time_ps") >= number(b, "end_ps"));
  long long cycles = number(b, "cycles"), slots = 0;
  const char *key;
  json_t *v;
  json_object_foreach(json_object_get(b, "slot"), key, v) slots += json_integer_value(v);
  assert_true(cycles > 100 && slots > 0);
  assert_int_equal(number(b, "dram_bytes") % 32, 0);
  assert_true(number(b, "l1_sectors") >= 3 * 6 * BLOCK * 4 / 32); /* x twice, and z */
  assert_string_equal(json_string_value(json_object_get(b, "limiter")) ? "has one" : "none", "has one");
  char want[100];
  const char *table = text_of("table");
  assert_non_null(table);
  assert_non_null(strstr(table, "warpstep: 3 kernel launches on "));
  snprintf(want, sizeof want, "1 launch timed: %lld cycles; ", cycles);
  assert_non_null(strstr(table, want));
  assert_non_null(strstr(table, "nominal for launches without time"));
  snprintf(want, sizeof want, "%12lld  %12lld  %10.2f\n", number(b, "warp_insts"), cycles,
           (double)(number(b, "end_ps") - number(b, "start_ps")) / 1e6);
  assert_non_null(strstr(table, want));
  snprintf(want, sizeof want, "%12lld  %12s  %10s\n", number(a, "warp_insts"), "-", "-");
  assert_int_equal(times(table, want), 2);
  snprintf(want, sizeof want, "vecadd: 1 launch, %lld cycles", cycles);
  assert_non_null(strstr(table, want));
  unlink("table");
  json_decref(all);
}

static double us(const json_t *launch)
{
  return (double)(number(launch, "end_ps") - number(launch, "start_ps")) / 1e6;
}

/* A program that ends while a kernel waits for ever ends, with its own status: the kernel is cut off a millisecond behind
 * the last that came to its end, what is behind it never begins, and what is not held up is done. */
static void ends_of_waiting_programs(void **state)
{
  (void)state;
  assert_int_equal(run("mode=timed\njson=doc", "nwn5"), 5);
  json_t *all = json_of("doc");
  assert_int_equal(times(err, "kernel waits was ended with its context"), 1);
  assert_int_equal(times(err, "1 warp at waits+"), 1);
  assert_int_equal(times(err, "later call"), 0);
  assert_int_equal(json_array_size(json_object_get(all, "launches")), 2);
  assert_true(json_is_false(json_object_get(nth(all, 0), "faulted")));
  assert_string_equal(json_string_value(json_object_get(nth(all, 1), "kernel")), "waits");
  assert_true(json_is_true(json_object_get(nth(all, 1), "faulted")));
  assert_true(us(nth(all, 1)) > 1000 && us(nth(all, 1)) < 1300);
  json_decref(all);
  assert_int_equal(run("mode=timed\njson=doc", "wl5"), 5);
  all = json_of("doc");
  assert_true(us(nth(all, 0)) > 1000 + LONG_COPY / 31.5e3); /* PCI Express 4.0 x16: 31.5 GB/s */
  json_decref(all);
}

/* Long tables leave the middle out; the document does not. */
static void long_tables(void **state)
{
  (void)state;
  assert_int_equal(run("mode=functional\njson=doc", "m"), 0);
  json_t *all = json_of("doc");
  assert_int_equal(json_array_size(json_object_get(all, "launches")), 60);
  json_decref(all);
  assert_int_equal(times(err, "  vecadd"), 50);
  assert_int_equal(times(err, "   ...\n"), 1);
  assert_non_null(strstr(err, "\n    40  vecadd"));
  assert_null(strstr(err, "\n    41  vecadd"));
  assert_null(strstr(err, "\n    50  vecadd"));
  assert_non_null(strstr(err, "\n    51  vecadd"));
  assert_non_null(strstr(err, "0 launches timed: 0 cycles"));
  assert_int_equal(run("mode=functional\nquiet=1", "m"), 0);
  assert_string_equal(err, "");
}

static void choices(void **state)
{
  (void)state;
  assert_int_equal(run("time=9\nquiet=1", "ab"), 0);
  assert_string_equal(err, "warpstep: none of the 2 launches is one that --time-kernels names\n");
  assert_int_equal(run("time=2\nquiet=1", "ab"), 0);
  assert_string_equal(err, "");
  assert_int_equal(run("time=name:other\nquiet=1", "ab"), 0);
  assert_non_null(strstr(err, "none of the 2 launches"));
  assert_int_equal(run("time=2\nstop=1\njson=doc\nquiet=1", "abc5"), 0); /* it never comes to its end */
  json_t *all = json_of("doc");
  assert_int_equal(json_array_size(json_object_get(all, "launches")), 2);
  json_decref(all);
}

/* Of launches alike the first, the second and the fourth: those whose number is a power of two. */
static void samples(void **state)
{
  (void)state;
  assert_int_equal(run("sample=1\njson=doc\nreport=table", "aaaaa"), 0);
  json_t *all = json_of("doc");
  for (size_t i = 0; i < 5; i++) {
    const json_t *l = nth(all, i);
    const bool timed = i == 0 || i == 1 || i == 3;
    assert_int_equal(json_is_true(json_object_get(l, "timed")), timed);
    assert_int_equal(json_is_true(json_object_get(l, "estimated")), !timed);
    assert_true(number(l, "cycles") > 0);
  }
  json_decref(all);
  const char *table = text_of("table");
  assert_int_equal(times(table, " ~"), 2);
  assert_non_null(strstr(table, "3 of 5 launches timed"));
  assert_non_null(strstr(table, "2 launches estimated"));
  unlink("table");
}

/* FNV-1a, 64 bits. */
static unsigned long long fnv(const char *path, size_t *bytes)
{
  unsigned long long h = 0xcbf29ce484222325;
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  for (int c; (c = fgetc(f)) != EOF; ++*bytes) h = (h ^ (unsigned)c) * 0x100000001b3;
  fclose(f);
  return h;
}

/* FILE BYTES CHECKSUM KERNEL GRID BLOCK, a line for each file. */
static void captures(void **state)
{
  char line[300], name[100], kernel[100], path[200];
  unsigned grid[3], block[3], n = 0;
  unsigned long long sum;
  size_t bytes;
  (void)state;
  assert_int_equal(mkdir("cases", 0700), 0);
  assert_int_equal(run("mode=functional\nquiet=1\ncapture=cases\ntime=2..3", "abcap"), 0);
  FILE *f = fopen("cases/manifest.txt", "r");
  assert_non_null(f);
  while (fgets(line, sizeof line, f)) {
    size_t have = 0;
    assert_int_equal(sscanf(line, "%99s %zu %llx %99s %ux%ux%u %ux%ux%u\n", name, &bytes, &sum, kernel, &grid[0], &grid[1],
                            &grid[2], &block[0], &block[1], &block[2]), 10);
    snprintf(path, sizeof path, "000%u-vecadd.case", n + 2);
    assert_string_equal(name, path);
    assert_string_equal(kernel, "vecadd");
    assert_true(grid[0] == (n ? 24 : 6) && grid[1] == 1 && grid[2] == 1 && block[0] == BLOCK && block[1] == 1 && block[2] == 1);
    snprintf(path, sizeof path, "cases/%s", name);
    assert_true(fnv(path, &have) == sum);
    assert_int_equal(have, bytes);
    n++;
  }
  fclose(f);
  assert_int_equal(n, 2);
  assert_false(exists("cases/0001-vecadd.case") || exists("cases/0004-vecadd.case"));
  /* the same again: names that are taken are left alone, and the list goes on */
  assert_int_equal(run("mode=functional\nquiet=1\ncapture=cases\ntime=2", "ab"), 0);
  assert_true(exists("cases/0004-vecadd.case"));
  assert_int_equal(times(text_of("cases/manifest.txt"), "\n"), 3);
  assert_int_equal(run("mode=functional\nquiet=1\ncapture=cases\ntime=9", "ab"), 0);
  assert_string_equal(err, "warpstep: none of the 2 launches is one that --launches names\n");
  assert_int_equal(run("mode=functional\nquiet=1\ncapture=none\ntime=1", "ab"), 2); /* no such folder */
  assert_int_equal(times(err, "\n"), 1); /* said once */
}

static void faults(void **state)
{
  (void)state;
  assert_int_equal(run("mode=functional\njson=doc\nquiet=1", "af"), 0);
  assert_non_null(strstr(out, "a 0\n"));
  assert_non_null(strstr(out, "f 700\n")); /* CUDA_ERROR_ILLEGAL_ADDRESS */
  assert_non_null(strstr(err, "========= "));
  assert_non_null(strstr(err, "by thread ("));
  assert_non_null(strstr(err, ",0,0) in block (0,0,0)"));
  assert_non_null(strstr(err, "address 0x2000000000"));
  assert_non_null(strstr(err, "========= launch 2: every later call of the CUDA interface fails\n"));
  json_t *all = json_of("doc");
  assert_true(json_is_false(json_object_get(nth(all, 0), "faulted")) && json_is_true(json_object_get(nth(all, 1), "faulted")));
  json_decref(all);
  assert_int_equal(run("quiet=1\nreport=table", "f"), 0);
  assert_non_null(strstr(text_of("table"), "  faulted\n"));
  unlink("table");
}

static void limits(void **state)
{
  (void)state;
  assert_int_equal(run("mode=functional\nmax_insts=10\nquiet=1", "a"), 0);
  assert_non_null(strstr(out, "a 702\n")); /* CUDA_ERROR_LAUNCH_TIMEOUT */
  assert_non_null(strstr(err, "========= kernel vecadd reached the limit of --max-instructions\n"));
  assert_non_null(strstr(err, " warps at ") ? err : strstr(err, " warp at "));
  assert_int_equal(run("max_cycles=50\nquiet=1", "a"), 0);
  assert_non_null(strstr(out, "a 702\n"));
  assert_non_null(strstr(err, "========= kernel vecadd reached the limit of --max-cycles\n"));
  assert_int_equal(run("max_cycles=50\nmode=functional\nquiet=1", "a"), 0); /* cycles are of launches in time */
  assert_non_null(strstr(out, "a 0\n"));
}

static void defects(void **state)
{
  (void)state;
  assert_int_equal(run("sanitize=memcheck\nmode=functional\nerror_exitcode=7\nquiet=1", "ao"), 7);
  assert_non_null(strstr(out, "Invalid __global__ "));
  assert_int_equal(run("sanitize=memcheck\nmode=functional\nerror_exitcode=7\nquiet=1", "a"), 0);
  assert_null(strstr(out, "Invalid"));
  assert_int_equal(run("sanitize=memcheck\nmode=functional\nerror_exitcode=7\nquiet=1", "ao4"), 4); /* its own status goes first */
  assert_int_equal(run("sanitize=memcheck\nmode=functional\nlog=found\nquiet=1\nprint_limit=1", "o"), 0);
  assert_null(strstr(out, "Invalid"));
  assert_int_equal(times(text_of("found"), "Invalid __global__ "), 1);
  unlink("found");
  assert_int_equal(run("sanitize=memcheck\nmode=functional\nlog=no/such/folder\nquiet=1", "a"), 0);
  assert_non_null(strstr(out, "cuInit 100")); /* CUDA_ERROR_NO_DEVICE: nothing runs that would not be written down */
  assert_int_equal(run("leaks=1\nmode=functional\nquiet=1\nerror_exitcode=6", "a"), 6);
  assert_non_null(strstr(out, "Leaked 6144 bytes at 0x"));
}

static void printing(void **state)
{
  (void)state;
  assert_int_equal(run("mode=functional\nquiet=1", "p"), 0);
  assert_non_null(strstr(out, "41\n")); /* twice(20) = 40 + scale[0], before the line of the program behind the launch */
  assert_true(strstr(out, "41\n") < strstr(out, "p 0\n"));
}

static void pages(void **state)
{
  (void)state;
  assert_int_equal(run("html=page.html\nquiet=1\ntime=2..3", "abca"), 0);
  const char *page = text_of("page.html");
  assert_non_null(page);
  assert_int_equal(strncasecmp(page, "<!doctype html>", 15), 0);
  assert_int_equal(times(page, "\"number\": 2,") + times(page, "\"number\":2,"), 1);
  assert_int_equal(times(page, "\"number\": 3,") + times(page, "\"number\":3,"), 1);
  assert_int_equal(times(page, "\"number\": 4,") + times(page, "\"number\":4,"), 0);
  unlink("page.html");
  assert_int_equal(run("html=page.html\nhtml_baseline=none.json\nquiet=1", "a"), 2);
  assert_non_null(strstr(err, "none.json"));
  assert_false(exists("page.html"));
}

/* One of Perfetto's, which is not text. */
static void timelines(void **state)
{
  static const char *const names[] = {"vecadd", "cuLaunchKernel", "cuCtxSynchronize", "default stream", "6 x 1 x 1"};
  static char when[1 << 16];
  (void)state;
  assert_int_equal(run("timeline=when\nquiet=1", "bs"), 0);
  FILE *f = fopen("when", "rb");
  assert_non_null(f);
  size_t bytes = fread(when, 1, sizeof when, f);
  fclose(f);
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!memmem(when, bytes, names[i], strlen(names[i]))) fail_msg("no %s", names[i]);
  unlink("when");
}

/* A file that cannot be written: one line, nothing half-written, and no success. */
static void lost(void **state)
{
  static const char *const of[] = {"report", "json", "html", "timeline"};
  (void)state;
  for (unsigned i = 0; i < 4; i++) {
    char options[100];
    snprintf(options, sizeof options, "%s=no/such/file\nquiet=1", of[i]);
    if (run(options, "a") != 2) fail_msg("%s: not 2", of[i]);
    if (times(err, "\n") != 1) fail_msg("%s: %s", of[i], err);
    if (run(options, "a3") != 3) fail_msg("%s: not 3", of[i]);
  }
}

/* A process that finds its file written since the start takes another name, and says so. */
static void further_processes(void **state)
{
  DIR *d;
  unsigned others = 0;
  (void)state;
  FILE *f = fopen("doc", "w");
  assert_non_null(f);
  fclose(f);
  assert_int_equal(run("json=doc\nquiet=1\nstarted=1\nmode=functional", "a"), 0);
  assert_non_null(strstr(err, "doc is of another process of the program; that of process "));
  assert_string_equal(text_of("doc"), "");
  d = opendir(".");
  for (struct dirent *e; (e = readdir(d));)
    if (strncmp(e->d_name, "doc.", 4) == 0) others++, json_decref(json_of(e->d_name));
  closedir(d);
  assert_int_equal(others, 1);
  assert_int_equal(run("json=doc\nquiet=1\nstarted=99999999999999999999\nmode=functional", "a"), 0); /* older than the start */
  json_decref(json_of("doc"));
}

/* What `ncu` collects, a line of JSON for each launch: the first context is 1, its default stream 7, the program's from 13. */
static void profiled(void **state)
{
  static const struct {
    unsigned ctas, stream;
  } want[] = {{3, 7}, {3, 13}, {6, 7}};
  char *line, *at;
  static char lines[1 << 16];
  (void)state;
  fclose(fopen("prof", "w"));
  assert_int_equal(run("ncu_stream=prof\nncu_quiet=1\nquiet=1", "asb"), 0);
  assert_string_equal(out, "a 0\ns 0\nb 0\n");
  keep(lines, "prof");
  unsigned n = 0;
  for (line = strtok_r(lines, "\n", &at); line; line = strtok_r(NULL, "\n", &at), n++) {
    json_error_t e;
    json_t *j = json_loads(strchr(line, '{') ? strchr(line, '{') : "", 0, &e); /* behind a checksum */
    if (!j) fail_msg("%s: %s", line, e.text);
    assert_true(n < 3);
    assert_string_equal(json_string_value(json_object_get(j, "kernel")), "vecadd");
    assert_int_equal(number(j, "context"), 1);
    assert_int_equal(number(j, "stream"), want[n].stream);
    assert_int_equal(dim(j, "grid", 0), want[n].ctas);
    assert_int_equal(dim(j, "block", 0), BLOCK);
    json_decref(j);
  }
  assert_int_equal(n, 3);
}

/* tests/data/fat.fatbin without its machine code: the entries' headers begin with kind (1: PTX), version, and how long header and
 * content are. */
static void write_ptx_alone(const char *path)
{
  static char in[1 << 20], out_[1 << 20];
  enum { HEADER = 16, PTX = 1 };
  FILE *f = fopen(WS_SOURCE_DIR "/tests/data/fat.fatbin", "rb");
  size_t n = fread(in, 1, sizeof in, f), to = HEADER;
  fclose(f);
  memcpy(out_, in, HEADER);
  for (size_t at = HEADER; at < n;) {
    uint16_t kind;
    uint32_t header;
    uint64_t content;
    memcpy(&kind, in + at, sizeof kind);
    memcpy(&header, in + at + 4, sizeof header);
    memcpy(&content, in + at + 8, sizeof content);
    if (kind == PTX) memcpy(out_ + to, in + at, header + content), to += header + content;
    at += header + content;
  }
  const uint64_t content = to - HEADER;
  memcpy(out_ + 8, &content, sizeof content);
  f = fopen(path, "wb");
  assert_int_equal(fwrite(out_, 1, to, f), to);
  fclose(f);
}

/* A container without code for the GPU: what it has, and what to do. */
static void other_targets(void **state)
{
  (void)state;
  assert_int_equal(run("gpu=titan-v\nquiet=1\nmode=functional", "t"), 0);
  assert_string_equal(out, "load 209\n"); /* CUDA_ERROR_NO_BINARY_FOR_GPU */
  assert_non_null(strstr(err, "the program has code for sm_80, sm_86, sm_90a, compute_90, not for sm_70"));
  assert_non_null(strstr(err, "for sm_70: compile with -gencode arch=compute_70,code=sm_70, or "));
  assert_non_null(strstr(err, "choose --gpu "));
  assert_int_equal(times(err, "\n"), 1);
  write_ptx_alone("ptx.fatbin");
  assert_int_equal(run("gpu=titan-v\nquiet=1\nmode=functional", "x"), 0);
  assert_string_equal(out, "load 209\n");
  assert_non_null(strstr(err, "the program has code for compute_90, not for sm_70: "));
  assert_non_null(strstr(err, "code=sm_70, or choose a newer --gpu"));
  assert_int_equal(run("machine=dgx-a100\nquiet=1\nmode=functional", "x"), 0);
  assert_string_equal(out, "load 209\n");
  assert_non_null(strstr(err, "code=sm_80, or choose another --machine (warpstep machines)"));
}

/* What is not served is said once, whatever asks for it. */
static void not_served(void **state)
{
  (void)state;
  assert_int_equal(run("quiet=1\nmode=functional", "uu"), 0);
  assert_string_equal(out, "u 801\nu 801\n"); /* CUDA_ERROR_NOT_SUPPORTED */
  assert_int_equal(times(err, "is not served"), 1);
  assert_int_equal(times(err, "\n"), 1);
  assert_int_equal(run("quiet=1\nmode=functional", "u"), 0); /* the first time */
  assert_int_equal(times(err, "is not served"), 1);
}

static void wrong_options(void **state)
{
  static const char *const of[][2] = {
      {"bogus=1", "unknown key 'bogus'"},       {"quiet", "'quiet' is not KEY=VALUE"}, {"sample=x", "sample=x: not a number"},
      {"sample=1x", "sample=1x: not a number"}, {"threads=0", "not a number from 1 to"}, {"threads=9999", "not a number from 1 to"},
      {"interleave=0", "not a number from 1 to"}, {"debug_turn=x", "not a number from 1 to"}, {"sanitize=bogus", "no such value"},
      {"print_level=bogus", "no such value"}, {"gpu=bogus", "bogus"}, {"set=gpu.sms=0", "gpu.sms"},
      {"ncu_bogus=1", "unknown key 'ncu_bogus'"}, {"time=3..1", "--time-kernels"}, {"timeline_sms=5", "SM"},
  };
  (void)state;
  for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
    assert_int_equal(run(of[i][0], "a"), 0);
    if (strcmp(out, "cuInit 100\n") != 0) fail_msg("%s: %s", of[i][0], out);
    if (!strstr(err, of[i][1]) || times(err, "\n") != 1) fail_msg("%s: %s", of[i][0], err);
  }
}

/* The address sanitizer says once, at the first change of contexts, that it does not know them: to nobody, as what a
 * program writes is compared. */
static void change_contexts(void)
{
  static volatile int times;
  ucontext_t here, there;
  const int kept = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDERR_FILENO);
  getcontext(&there);
  if (times++ == 0) swapcontext(&here, &there);
  dup2(kept, STDERR_FILENO);
  close(kept), close(nowhere);
}

int main(int argc, char **argv)
{
  change_contexts();
  if (argc == 3 && strcmp(argv[1], "--program") == 0) program(argv[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(launches), cmocka_unit_test(ends_of_waiting_programs),
      cmocka_unit_test(long_tables), cmocka_unit_test(choices), cmocka_unit_test(samples),
      cmocka_unit_test(captures), cmocka_unit_test(faults),      cmocka_unit_test(limits),  cmocka_unit_test(defects),
      cmocka_unit_test(printing), cmocka_unit_test(pages),       cmocka_unit_test(timelines), cmocka_unit_test(lost),
      cmocka_unit_test(further_processes), cmocka_unit_test(wrong_options), cmocka_unit_test(profiled),
      cmocka_unit_test(other_targets), cmocka_unit_test(not_served),
  };
  return cmocka_run_group_tests(tests, enter, leave);
}
