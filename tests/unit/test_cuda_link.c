/* cuLink… and modules of PTX, without nvcc: objects of tests/data, and in the place of ptxas a script that writes down what it
 * was asked and copies a file of there. Expected values: CUDA Driver API reference (Module Management, CUjit_option), ptxas's
 * options as the CUDA Compiler Driver guide has them; results of kernels by hand (tests/data/rdc_main.cu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda_rig.h"

CUresult cuLinkCreate_v2(unsigned, int *, void **, CUlinkState *);
CUresult cuLinkAddData_v2(CUlinkState, int, void *, size_t, const char *, unsigned, int *, void **);
CUresult cuLinkAddFile_v2(CUlinkState, int, const char *, unsigned, int *, void **);
CUresult cuLinkComplete(CUlinkState, void **, size_t *);
CUresult cuLinkDestroy(CUlinkState);
CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned, int *, void **);

/* CUjitInputType, CUjit_option */
enum { CUBIN, PTX, FATBINARY, OBJECT, LIBRARY, NVVM, KINDS };
enum { MAX_REGISTERS, THREADS_PER_BLOCK, WALL_TIME, INFO, INFO_BYTES, ERROR, ERROR_BYTES, OPT_LEVEL, TARGET_FROM_CONTEXT, TARGET,
       DEBUG = 11, VERBOSE, LINE_INFO, MIN_CTAS = 31, MAX_THREADS, OVERRIDE };

#define DATA WS_SOURCE_DIR "/tests/data/"
#define INVALID(call) assert_int_equal(call, CUDA_ERROR_INVALID_VALUE)

struct file {
  char *data;
  size_t bytes;
};

static struct file file_of(const char *path)
{
  struct file f = {malloc(1 << 20), 0};
  FILE *in = fopen(path, "rb");
  assert_non_null(in);
  f.bytes = fread(f.data, 1, (1 << 20) - 1, in);
  f.data[f.bytes] = '\0';
  fclose(in);
  return f;
}

/* rdc_all, 64 threads. counter: before the launch. */
static void check_rdc(CUmodule m, int which, int counter)
{
  static const int scale[4] = {11, 22, 33, 44}, own[3] = {5, 6, 7};
  enum { T = 64 };
  int out[8 * T], late = 0;
  CUfunction f;
  CUdeviceptr p;
  OK(cuModuleGetFunction(&f, m, "rdc_all"));
  OK(cuMemAlloc_v2(&p, sizeof out));
  OK(cuLaunchKernel(f, 1, 1, 1, T, 1, 1, 0, NULL, (void *[]){&p, &which}, NULL));
  OK(cuMemcpyDtoH_v2(out, p, sizeof out));
  for (int x = 0; x < T; x++) {
    const int *o = out + 8 * x, twice = 2 * x + scale[x & 3];
    assert_int_equal(o[0], twice);
    assert_int_equal(o[1], which ? 7 * x - 2 + 5 * x + 9 : twice);
    assert_int_equal(o[2], 3 * x + 1);
    assert_int_equal(o[3], 5 * x + 9 + own[which]);
    assert_int_equal(o[4], scale[x & 3]);
    assert_int_equal(o[5], T - 1 - x);
    assert_int_equal(o[7], -5);
    late += o[6];
  }
  assert_int_equal(late, counter >= 70 ? T : 0);
  OK(cuMemFree_v2(p));
}

static CUlinkState begin(void)
{
  CUlinkState l;
  OK(cuLinkCreate_v2(0, NULL, NULL, &l));
  return l;
}

/* Loads what it makes, runs it both ways, and ends it. */
static void complete_and_run(CUlinkState l)
{
  void *image = NULL;
  size_t bytes = 0;
  CUmodule m;
  OK(cuLinkComplete(l, &image, &bytes));
  assert_non_null(image);
  assert_true(bytes > 1000);
  OK(cuModuleLoadData(&m, image));
  OK(cuLinkDestroy(l)); /* the module does not need it */
  check_rdc(m, 0, 70);
  check_rdc(m, 1, 134);
  OK(cuModuleUnload(m));
}

static void machine_code(void **state)
{
  struct file main_ = file_of(DATA "rdc_main.sm_86.cubin"), part = file_of(DATA "rdc_part.sm_86.cubin");
  CUlinkState l = begin();
  (void)state;
  OK(cuLinkAddData_v2(l, CUBIN, main_.data, main_.bytes, "main", 0, NULL, NULL));
  OK(cuLinkAddData_v2(l, CUBIN, part.data, part.bytes, NULL, 0, NULL, NULL));
  memset(main_.data, 0, main_.bytes); /* nothing is kept */
  memset(part.data, 0, part.bytes);
  complete_and_run(l);
  free(main_.data);
  free(part.data);
}

static void objects_and_archives(void **state)
{
  char dir[] = "/tmp/test_cuda_link.XXXXXX", command[400], path[100];
  CUlinkState l = begin();
  (void)state;
  OK(cuLinkAddFile_v2(l, OBJECT, DATA "rdc_main.program", 0, NULL, NULL));
  OK(cuLinkAddFile_v2(l, OBJECT, DATA "rdc_part.program", 0, NULL, NULL));
  complete_and_run(l);
  assert_non_null(mkdtemp(dir));
  snprintf(command, sizeof command, "cd %s && ar qc both.a %srdc_main.program %srdc_part.program", dir, DATA, DATA);
  assert_int_equal(system(command), 0);
  snprintf(path, sizeof path, "%s/both.a", dir);
  l = begin();
  OK(cuLinkAddFile_v2(l, LIBRARY, path, 0, NULL, NULL));
  complete_and_run(l);
  l = begin();
  assert_int_equal(cuLinkAddFile_v2(l, LIBRARY, DATA "rdc_main.program", 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE); /* no archive */
  assert_int_equal(cuLinkAddFile_v2(l, OBJECT, DATA "rdc.h", 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);             /* no code */
  assert_int_equal(cuLinkAddFile_v2(l, OBJECT, "/no/such/file", 0, NULL, NULL), CUDA_ERROR_FILE_NOT_FOUND);
  OK(cuLinkDestroy(l));
  unlink(path);
  rmdir(dir);
}

static void fat_binaries(void **state)
{
  struct file fat = file_of(DATA "fat.fatbin");
  int v[8], n = 8;
  CUlinkState l = begin();
  void *image;
  CUmodule m;
  CUfunction f;
  CUdeviceptr p;
  (void)state;
  OK(cuLinkAddData_v2(l, FATBINARY, fat.data, fat.bytes, "fat", 0, NULL, NULL));
  OK(cuLinkComplete(l, &image, NULL)); /* the size is not asked for */
  assert_memory_equal(image, "\177ELF", 4);
  OK(cuModuleLoadData(&m, image));
  OK(cuModuleGetFunction(&f, m, "fat_add"));
  OK(cuMemAlloc_v2(&p, sizeof v));
  OK(cuMemsetD8_v2(p, 0, sizeof v));
  OK(cuLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
  OK(cuMemcpyDtoH_v2(v, p, sizeof v));
  for (int i = 0; i < 8; i++) assert_int_equal(v[i], (5 + i % 4) * 3 + 7);
  OK(cuLinkDestroy(l));
  OK(cuModuleUnload(m));
  OK(cuMemFree_v2(p));
  l = begin();
  assert_int_equal(cuLinkAddData_v2(l, FATBINARY, fat.data + 8, fat.bytes - 8, "no", 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
  assert_int_equal(cuLinkAddData_v2(l, CUBIN, fat.data, fat.bytes, "no", 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
  OK(cuLinkDestroy(l));
  free(fat.data);
}

/* What is wrong lies in the program's buffer, a line each, with its length, the 0 included. */
static void errors(void **state)
{
  char log[400] = "x", info[100] = "y";
  struct file main_ = file_of(DATA "rdc_main.sm_86.cubin"), other = file_of(DATA "rdc_part.sm_90.cubin");
  int option[] = {ERROR, ERROR_BYTES, INFO, INFO_BYTES, WALL_TIME};
  void *value[] = {log, (void *)sizeof log, info, (void *)sizeof info, NULL}, *image = NULL;
  CUlinkState l;
  (void)state;
  OK(cuLinkCreate_v2(5, option, value, &l));
  OK(cuLinkAddData_v2(l, CUBIN, main_.data, main_.bytes, "main.cubin", 0, NULL, NULL));
  assert_int_equal((size_t)value[1], 0); /* nothing to say */
  assert_int_equal((size_t)value[3], 0);
  assert_int_equal(cuLinkComplete(l, &image, NULL), CUDA_ERROR_INVALID_IMAGE);
  assert_null(image);
  assert_non_null(strstr(log, "main.cubin"));
  assert_non_null(strstr(log, "needs"));
  assert_int_equal((size_t)value[1], strlen(log) + 1);
  float ms;
  memcpy(&ms, &value[4], sizeof ms);
  assert_true(ms > 0 && ms < 60000);
  OK(cuLinkAddData_v2(l, CUBIN, other.data, other.bytes, "other.cubin", 0, NULL, NULL));
  assert_int_equal(cuLinkComplete(l, &image, NULL), CUDA_ERROR_INVALID_IMAGE);
  assert_non_null(strstr(log, "\nother.cubin: ")); /* behind the first, in a line of its own */
  assert_int_equal((size_t)value[1], strlen(log) + 1);
  OK(cuLinkDestroy(l));
  value[1] = (void *)12; /* room for eleven characters */
  memset(log, 'x', sizeof log);
  OK(cuLinkCreate_v2(2, option, value, &l));
  assert_int_equal(cuLinkAddData_v2(l, CUBIN, log, 100, "a name", 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
  assert_int_equal((size_t)value[1], 12);
  assert_int_equal(strlen(log), 11);
  assert_int_equal(log[12], 'x');
  OK(cuLinkDestroy(l));
  free(main_.data);
  free(other.data);
}

static void bad_arguments(void **state)
{
  struct file main_ = file_of(DATA "rdc_main.sm_86.cubin");
  int level[] = {OPT_LEVEL};
  void *five[] = {(void *)5}, *four[] = {(void *)4}, *image;
  CUlinkState l;
  (void)state;
  INVALID(cuLinkCreate_v2(0, NULL, NULL, NULL));
  INVALID(cuLinkCreate_v2(1, NULL, four, &l));
  INVALID(cuLinkCreate_v2(1, level, NULL, &l));
  INVALID(cuLinkCreate_v2(1, level, five, &l)); /* 0 to 4 */
  OK(cuLinkCreate_v2(1, level, four, &l));
  INVALID(cuLinkComplete(l, &image, NULL)); /* no input yet */
  INVALID(cuLinkAddData_v2(l, CUBIN, NULL, 10, "", 0, NULL, NULL));
  INVALID(cuLinkAddData_v2(l, CUBIN, main_.data, 0, "", 0, NULL, NULL));
  INVALID(cuLinkAddData_v2(l, -1, main_.data, main_.bytes, "", 0, NULL, NULL));
  INVALID(cuLinkAddData_v2(l, KINDS, main_.data, main_.bytes, "", 0, NULL, NULL));
  INVALID(cuLinkAddData_v2(l, CUBIN, main_.data, main_.bytes, "", 1, NULL, NULL));
  INVALID(cuLinkAddData_v2(l, CUBIN, main_.data, main_.bytes, "", 1, level, five));
  for (unsigned i = 0; i < 5; i++) { /* only a whole link has them */
    int whole[] = {(int[]){WALL_TIME, INFO, ERROR, TARGET_FROM_CONTEXT, TARGET}[i]};
    INVALID(cuLinkAddData_v2(l, CUBIN, main_.data, main_.bytes, "", 1, whole, four));
  }
  assert_int_equal(cuLinkAddData_v2(l, NVVM, main_.data, main_.bytes, "", 0, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
  OK(cuLinkAddData_v2(l, CUBIN, main_.data, main_.bytes, "", 1, level, four));
  INVALID(cuLinkComplete(l, NULL, NULL));
  OK(cuLinkDestroy(l));
  assert_int_equal(cuLinkAddData_v2(NULL, CUBIN, main_.data, main_.bytes, "", 0, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuLinkAddFile_v2(NULL, CUBIN, DATA "rdc.h", 0, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuLinkComplete(NULL, &image, NULL), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuLinkDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
  free(main_.data);
}

/* ---- PTX ---- */

/* Copies tests/data/NAME.cubin, where the text says `// NAME`; one that says `extern` only as a part. */
static const char script[] = "#!/bin/sh\n"
                             "echo \"$@\" >>\"$(dirname \"$0\")/asked\"\n"
                             "[ -z \"$LD_PRELOAD\" ] || exit 9\n"
                             "for a; do\n"
                             "  [ \"$last\" != -o ] || out=$a\n"
                             "  case $a in *.ptx) in=$a ;; -c) part=1 ;; -v) echo 'ptxas info: 7 registers' ;; esac\n"
                             "  last=$a\n"
                             "done\n"
                             "if grep -q extern \"$in\" && [ -z \"$part\" ]; then echo 'ptxas fatal: unresolved'; exit 255; fi\n"
                             "if grep -q folder \"$in\"; then mkdir \"$out\"; exit 0; fi\n"
                             "if grep -q broken \"$in\"; then echo 'ptxas error: line 2'; exit 255; fi\n"
                             "cp " DATA "$(sed -n 's,^// ,,p' \"$in\").cubin \"$out\"\n";
static char assembler_dir[] = "/tmp/test_cuda_ptxas.XXXXXX", assembler[100], asked[100];

static int with_assembler(void **state)
{
  if (cuda_setup(state) || !mkdtemp(assembler_dir)) return 1;
  snprintf(assembler, sizeof assembler, "%s/ptxas", assembler_dir);
  snprintf(asked, sizeof asked, "%s/asked", assembler_dir);
  FILE *f = fopen(assembler, "w");
  if (!f || fputs(script, f) < 0 || fclose(f) || chmod(assembler, 0700)) return 1;
  return setenv("CUDA_CACHE_DISABLE", "1", 1) || setenv("WARPSTEP_PTXAS", assembler, 1);
}

static int without_assembler(void **state)
{
  (void)state;
  unlink(assembler);
  unlink(asked);
  return rmdir(assembler_dir);
}

/* What it was asked since the last time, a line for each translation. */
static const char *questions(void)
{
  static char text[2000];
  FILE *f = fopen(asked, "r");
  text[0] = '\0';
  if (!f) return text;
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  unlink(asked);
  return text;
}

static const char whole_ptx[] = ".version 8.0\n// fat.sm_89\n", main_ptx[] = ".version 8.0\n// rdc_main.sm_86\nextern\n",
                  part_ptx[] = ".version 8.0\n// rdc_part.sm_86\n", broken_ptx[] = ".version 8.0\nbroken\n";

static CUresult add_ptx(CUlinkState l, const char *text, unsigned n, int *option, void **value)
{
  return cuLinkAddData_v2(l, PTX, (void *)(uintptr_t)text, strlen(text), "ptx", n, option, value);
}

/* The first alone is a whole program; when that fails, or when a second comes, a part. */
static void parts_of_ptx(void **state)
{
  CUlinkState l = begin();
  (void)state;
  questions();
  OK(add_ptx(l, main_ptx, 0, NULL, NULL));
  const char *q = questions();
  assert_null(strstr(strchr(q, '\n') + 1, "\n\n"));
  assert_null(strstr(strtok((char *)(uintptr_t)q, "\n"), " -c "));
  assert_non_null(strstr(strtok(NULL, "\n"), "-arch=sm_86 -c "));
  OK(add_ptx(l, part_ptx, 0, NULL, NULL));
  assert_non_null(strstr(questions(), "-arch=sm_86 -c "));
  complete_and_run(l);
  assert_string_equal(questions(), "");
  l = begin(); /* the other way round: the first was a whole program, and becomes a part at the end */
  OK(add_ptx(l, part_ptx, 0, NULL, NULL));
  assert_null(strstr(questions(), " -c "));
  OK(add_ptx(l, main_ptx, 0, NULL, NULL));
  assert_non_null(strstr(questions(), " -c "));
  complete_and_run(l);
  assert_non_null(strstr(questions(), " -c "));
}

static void options_of_translations(void **state)
{
  static const struct {
    int option;
    size_t value;
    const char *said;
  } of[] = {{MAX_REGISTERS, 40, " -maxrregcount=40 "}, {THREADS_PER_BLOCK, 256, " -maxntid=256 "},
            {MAX_THREADS, 128, " -maxntid=128 "}, {MIN_CTAS, 3, " -minnctapersm=3 "}, {OPT_LEVEL, 0, " -O0 "},
            {OPT_LEVEL, 4, " -O4 "}, {OVERRIDE, 1, " -override-directive-values "},
            {DEBUG, 1, " -g "}, {LINE_INFO, 1, " -lineinfo "}, {VERBOSE, 1, " -v "}, {TARGET, 86, "-arch=sm_86 "},
            {TARGET, 0x10000 + 90, "-arch=sm_90a "}, {TARGET, 0x20000 + 100, "-arch=sm_100f "}};
  char log[200] = "";
  (void)state;
  for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
    int option[] = {of[i].option, ERROR, ERROR_BYTES};
    void *value[] = {(void *)of[i].value, log, (void *)sizeof log};
    CUmodule m;
    questions();
    assert_int_equal(cuModuleLoadDataEx(&m, broken_ptx, 3, option, value), CUDA_ERROR_INVALID_PTX);
    const char *q = questions();
    if (!strstr(q, of[i].said)) fail_msg("%s: %s", of[i].said, q);
    if (!strstr(log, "ptxas error: line 2")) fail_msg("%s", log);
    assert_int_equal((size_t)value[2], strlen(log) + 1);
  }
  CUmodule m;
  assert_int_equal(cuModuleLoadDataEx(&m, broken_ptx, 0, NULL, NULL), CUDA_ERROR_INVALID_PTX);
  /* Each behind a space: a folder of random name may hold the letters of an option. */
  static const char *const unasked[] = {" -maxrregcount", " -maxntid", " -minnctapersm", " -O", " -override", " -g",
                                        " -lineinfo", " -v", " -c "};
  const char *q = questions();
  for (unsigned i = 0; i < sizeof unasked / sizeof unasked[0]; i++)
    if (strstr(q, unasked[i])) fail_msg("%s in %s", unasked[i], q);
}

/* ---- Translations that are kept ---- */

static const char few_ptx[] = ".version 8.0\n// rdc.sm_86\n", other_ptx[] = ".version 8.1\n// rdc.sm_86\n";

/* The translations in the cache, their bytes, and the path of the last one seen. */
static size_t kept(const char *dir, unsigned *n, char *path)
{
  size_t bytes = 0;
  struct dirent *e;
  DIR *d = opendir(dir);
  *n = 0;
  while (d && (e = readdir(d))) {
    char at[300];
    struct stat s;
    if (e->d_name[0] == '.' || strcmp(e->d_name, "theirs") == 0) continue;
    snprintf(at, sizeof at, "%s/%.200s", dir, e->d_name);
    if (stat(at, &s) != 0) continue;
    bytes += (size_t)s.st_size;
    ++*n;
    if (path) strcpy(path, at);
  }
  if (d) closedir(d);
  return bytes;
}

/* Whether the text was given to the assembler to be loaded; its kernels run as they should either way. */
static bool was_assembled(const char *ptx, unsigned registers)
{
  char log[200] = "";
  int option[] = {INFO, INFO_BYTES, VERBOSE, MAX_REGISTERS};
  void *value[] = {log, (void *)sizeof log, (void *)1, (void *)(size_t)registers};
  CUmodule m;
  questions();
  OK(cuModuleLoadDataEx(&m, ptx, registers ? 4 : 3, option, value));
  check_rdc(m, 1, 70);
  OK(cuModuleUnload(m));
  assert_string_equal(log, "ptxas info: 7 registers\n"); /* said again when it was kept */
  return questions()[0] != '\0';
}

static void change_file(const char *path, long at, const char *with, size_t bytes)
{
  FILE *f = fopen(path, "r+b");
  assert_non_null(f);
  assert_int_equal(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
  assert_int_equal(fwrite(with, 1, bytes, f), bytes);
  fclose(f);
}

static void set_time(const char *path, time_t when)
{
  const struct timespec t[2] = {{.tv_sec = when}, {.tv_sec = when}};
  assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

/* Removes the folder and those around it, up to the assembler's. */
static void empty(const char *dir)
{
  char path[300], at[600];
  struct dirent *e;
  DIR *d = opendir(dir);
  while (d && (e = readdir(d))) {
    snprintf(at, sizeof at, "%s/%s", dir, e->d_name);
    unlink(at);
  }
  if (d) closedir(d);
  for (strcpy(path, dir); strcmp(path, assembler_dir) != 0; *strrchr(path, '/') = '\0') rmdir(path);
}

static void age(const char *dir, time_t when)
{
  char at[600];
  struct dirent *e;
  DIR *d = opendir(dir);
  assert_non_null(d);
  while ((e = readdir(d))) {
    if (e->d_name[0] == '.') continue;
    snprintf(at, sizeof at, "%s/%s", dir, e->d_name);
    set_time(at, when);
  }
  closedir(d);
}

static void kept_translations(void **state)
{
  char dir[140], first[300], theirs[160], text[30];
  unsigned n;
  (void)state;
  snprintf(dir, sizeof dir, "%s/a/b", assembler_dir);
  setenv("CUDA_CACHE_PATH", dir, 1);
  assert_true(was_assembled(few_ptx, 0)); /* off */
  setenv("CUDA_CACHE_DISABLE", "0", 1);
  assert_true(was_assembled(few_ptx, 0));
  assert_false(was_assembled(few_ptx, 0));
  const size_t bytes = kept(dir, &n, first);
  assert_int_equal(n, 1);
  assert_true(was_assembled(few_ptx, 40)); /* another option, another text, another assembler of the same name */
  assert_false(was_assembled(few_ptx, 40));
  assert_true(was_assembled(other_ptx, 0));
  set_time(assembler, 1000);
  assert_true(was_assembled(few_ptx, 0));
  assert_false(was_assembled(few_ptx, 0));
  kept(dir, &n, NULL);
  assert_int_equal(n, 4);

  setenv("CUDA_CACHE_MAXSIZE", "1", 1); /* nothing fits, and nothing goes */
  assert_true(was_assembled(other_ptx, 0));
  kept(dir, &n, NULL);
  assert_int_equal(n, 4);
  snprintf(text, sizeof text, "%zu", 2 * bytes + 100);
  setenv("CUDA_CACHE_MAXSIZE", text, 1); /* room for two: what was used last stays, and files of others */
  snprintf(theirs, sizeof theirs, "%s/theirs", dir);
  FILE *f = fopen(theirs, "w");
  assert_non_null(f);
  fclose(f);
  set_time(theirs, 1);
  age(dir, 3);
  set_time(first, 2);
  assert_false(was_assembled(few_ptx, 0));
  assert_true(was_assembled(other_ptx, 0));
  assert_true(kept(dir, &n, NULL) <= 2 * bytes + 100);
  assert_int_equal(n, 2);
  assert_int_equal(access(theirs, F_OK), 0);
  assert_int_not_equal(access(first, F_OK), 0);
  assert_false(was_assembled(few_ptx, 0));
  assert_false(was_assembled(other_ptx, 0));
  snprintf(first, sizeof first, "%s/0000000000000000.translation", dir); /* older than all, and no file */
  assert_int_equal(mkdir(first, 0700), 0);
  set_time(first, 1);
  assert_true(was_assembled(few_ptx, 50));
  assert_int_equal(rmdir(first), 0);
  assert_true(kept(dir, &n, NULL) <= 2 * bytes + 100);
  assert_int_equal(n, 2);
  unsetenv("CUDA_CACHE_MAXSIZE");
  empty(dir);
}

/* Files of the cache are no more to be believed than any others. */
static void damaged_translations(void **state)
{
  static const struct {
    long at;
    const char *with;
    size_t bytes;
  } damage[] = {{0, "x", 1},          /* the version */
                {16, "\377", 1},      /* sizes: of the question, the log, the machine code */
                {23, "\177", 1}, {31, "\377", 1}, {39, "\377", 1},
                {40, "\0\0\0\0", 4}, /* the checksum */
                {60, "#", 1},         /* the question: another one's answer */
                {-5, "#", 1}};        /* the machine code */
  char dir[140], path[300];
  unsigned n;
  (void)state;
  snprintf(dir, sizeof dir, "%s/c", assembler_dir);
  setenv("CUDA_CACHE_PATH", dir, 1);
  assert_true(was_assembled(few_ptx, 0));
  kept(dir, &n, path);
  for (unsigned i = 0; i < sizeof damage / sizeof damage[0]; i++) {
    change_file(path, damage[i].at, damage[i].with, damage[i].bytes);
    if (!was_assembled(few_ptx, 0)) fail_msg("damage %u was not seen", i);
    if (was_assembled(few_ptx, 0)) fail_msg("damage %u was not mended", i);
  }
  char other_dir[140], other[300]; /* a whole file of another text of this length under this name */
  snprintf(other_dir, sizeof other_dir, "%s/d", assembler_dir);
  setenv("CUDA_CACHE_PATH", other_dir, 1);
  assert_true(was_assembled(other_ptx, 0));
  kept(other_dir, &n, other);
  assert_int_equal(rename(other, path), 0);
  rmdir(other_dir);
  setenv("CUDA_CACHE_PATH", dir, 1);
  assert_true(was_assembled(few_ptx, 0));
  for (long length = 0; length < 60; length += 7) {
    assert_int_equal(truncate(path, length), 0);
    assert_true(was_assembled(few_ptx, 0));
  }
  FILE *f = fopen(path, "ab");
  assert_non_null(f);
  fputc('#', f);
  fclose(f);
  assert_true(was_assembled(few_ptx, 0));
  const struct { /* machine code of 2^43 bytes, all of them holes: no room is made for it */
    char magic[16];
    uint64_t question_bytes, log_bytes, cubin_bytes;
  } head = {.question_bytes = 0};
  uint64_t size[3];
  f = fopen(path, "r+b");
  assert_non_null(f);
  assert_int_equal(fseek(f, sizeof head.magic, SEEK_SET), 0);
  assert_int_equal(fread(size, sizeof *size, 3, f), 3);
  size[2] = (uint64_t)1 << 43;
  assert_int_equal(fseek(f, sizeof head.magic, SEEK_SET), 0);
  assert_int_equal(fwrite(size, sizeof *size, 3, f), 3);
  fclose(f);
  if (truncate(path, (off_t)(sizeof head + 8 + size[0] + size[1] + size[2])) == 0) /* where the file system has them */
    assert_true(was_assembled(few_ptx, 0));
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes into it */
  assert_true(was_assembled(few_ptx, 0));
  unlink(path);
  assert_int_equal(mkdir(path, 0700), 0); /* no place for it: it is translated all the same */
  assert_true(was_assembled(few_ptx, 0));
  rmdir(path);
  setenv("CUDA_CACHE_PATH", "/proc/no/such/folder", 1);
  assert_true(was_assembled(few_ptx, 0));
  unsetenv("CUDA_CACHE_PATH");
  setenv("XDG_CACHE_HOME", dir, 1);
  assert_true(was_assembled(few_ptx, 0));
  assert_false(was_assembled(few_ptx, 0));
  snprintf(path, sizeof path, "%s/warpstep/ptx", dir);
  kept(path, &n, NULL);
  assert_int_equal(n, 1);
  empty(path);
  unsetenv("XDG_CACHE_HOME");
  setenv("CUDA_CACHE_DISABLE", "1", 1);
}

static void modules_of_ptx(void **state)
{
  char log[200] = "";
  int option[] = {INFO, INFO_BYTES, VERBOSE};
  void *value[] = {log, (void *)sizeof log, (void *)1};
  CUmodule m;
  CUfunction f;
  (void)state;
  OK(cuModuleLoadDataEx(&m, ".version 8.0\n// rdc.sm_86\n", 3, option, value));
  OK(cuModuleGetFunction(&f, m, "rdc_few"));
  check_rdc(m, 1, 70);
  assert_string_equal(log, "ptxas info: 7 registers\n");
  assert_int_equal((size_t)value[1], strlen(log) + 1);
  OK(cuModuleUnload(m));
  assert_int_equal(cuModuleLoadData(&m, whole_ptx), CUDA_ERROR_NO_BINARY_FOR_GPU); /* made for sm_89 */
  assert_int_equal(cuModuleLoadData(&m, "// nothing of a version\n"), CUDA_ERROR_INVALID_IMAGE);
  assert_int_equal(cuModuleLoadData(&m, broken_ptx), CUDA_ERROR_INVALID_PTX);
  CUlinkState l = begin();
  assert_int_equal(add_ptx(l, "no PTX", 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
  assert_int_equal(add_ptx(l, broken_ptx, 0, NULL, NULL), CUDA_ERROR_INVALID_PTX);
  OK(cuLinkDestroy(l));
  setenv("WARPSTEP_PTXAS", "/no/such/ptxas", 1);
  assert_int_equal(cuModuleLoadData(&m, part_ptx), CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
  setenv("WARPSTEP_PTXAS", assembler, 1);
  setenv("TMPDIR", "/no/such/folder", 1);
  assert_int_equal(cuModuleLoadData(&m, part_ptx), CUDA_ERROR_OUT_OF_MEMORY); /* nowhere to put the text */
  setenv("TMPDIR", assembler_dir, 1);
  assert_int_equal(cuModuleLoadData(&m, ".version 8.0\n// a folder\n"), CUDA_ERROR_INVALID_PTX); /* cannot be read */
  OK(cuModuleLoadData(&m, ".version 8.0\n// rdc.sm_86\n"));
  questions();
  unlink(assembler); /* there is nothing left in the folder */
  assert_int_equal(rmdir(assembler_dir), 0);
  assert_int_equal(mkdir(assembler_dir, 0700), 0);
  unsetenv("TMPDIR");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(machine_code),  cmocka_unit_test(objects_and_archives), cmocka_unit_test(fat_binaries),
      cmocka_unit_test(errors),        cmocka_unit_test(bad_arguments),        cmocka_unit_test(parts_of_ptx),
      cmocka_unit_test(options_of_translations), cmocka_unit_test(kept_translations),
      cmocka_unit_test(damaged_translations), cmocka_unit_test(modules_of_ptx),
  };
  return cmocka_run_group_tests(tests, with_assembler, without_assembler);
}
