/* PTX to machine code, by the toolkit's assembler: $WARPSTEP_PTXAS, else ptxas of the search path, else
 * the one in /usr/local/cuda/bin. Without one a module of PTX cannot be loaded. */

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "cuda/core/modules.h"
#include "cuda/core/ptx_cache.h"
#include "cuda/core/shim.h"
#include "cuda/core/toolkit.h"
#include "load/target.h"

enum { MAX_ARGS = 20, NUMBER_BYTES = 40 };

struct scratch {
  char dir[64], ptx[80], cubin[80], log[80];
};

static bool make_scratch(struct scratch *t)
{
  const char *base = getenv("TMPDIR");
  if (!base || strlen(base) > 40) base = "/tmp";
  snprintf(t->dir, sizeof t->dir, "%s/warpstep-XXXXXX", base);
  if (!mkdtemp(t->dir)) return false;
  snprintf(t->ptx, sizeof t->ptx, "%s/module.ptx", t->dir);
  snprintf(t->cubin, sizeof t->cubin, "%s/module.cubin", t->dir);
  snprintf(t->log, sizeof t->log, "%s/log", t->dir);
  return true;
}

static void drop_scratch(const struct scratch *t)
{
  remove(t->ptx);
  remove(t->cubin); /* whatever the assembler made */
  remove(t->log);
  rmdir(t->dir);
}

static bool write_text(const char *path, const char *text)
{
  FILE *f = fopen(path, "w");
  if (!f) return false;
  bool ok = fputs(text, f) != EOF;
  return fclose(f) == 0 && ok;
}

/* Whole file with a 0 behind it; NULL: none. */
static char *read_whole(const char *path, size_t *bytes)
{
  FILE *f = fopen(path, "rb");
  char *data = NULL;
  size_t room = 0;
  *bytes = 0;
  if (!f) return NULL;
  do {
    room = room ? 2 * room : 1 << 16;
    NO_MEMORY_IF(!(data = realloc(data, room + 1)));
    *bytes += fread(data + *bytes, 1, room - *bytes, f);
  } while (*bytes == room);
  const bool whole = !ferror(f);
  fclose(f);
  data[*bytes] = '\0';
  if (whole) return data;
  free(data); /* half of a cubin would be kept */
  *bytes = 0;
  return NULL;
}

/* Runs the assembler with its output in the log. Its exit status, -1: it could not be started. The
 * preloaded shim must not reach it. */
static int run_assembler(const char *program, char *const argv[], const char *log)
{
  extern char **environ;
  posix_spawn_file_actions_t files;
  char **env, **to;
  unsigned n = 0;
  pid_t pid;
  int status = -1;
  while (environ[n]) n++;
  env = to = shim_alloc((n + 1) * sizeof *env);
  for (unsigned i = 0; i < n; i++)
    if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0) *to++ = environ[i];
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, log, 0x241 /* O_WRONLY | O_CREAT | O_TRUNC */, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  if (posix_spawnp(&pid, program, &files, NULL, argv, env) == 0)
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  posix_spawn_file_actions_destroy(&files);
  free(env);
  return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

/* Arguments of the assembler, with room for the numbers in them. */
struct arguments {
  char *argv[MAX_ARGS];
  unsigned n, n_numbers;
  char number[MAX_ARGS][NUMBER_BYTES];
};

static void add(struct arguments *a, const char *text)
{
  a->argv[a->n++] = (char *)(uintptr_t)text;
}

/* Unless it is 0: not stated. */
static void add_number(struct arguments *a, const char *option, unsigned value)
{
  if (value == 0) return;
  char *text = a->number[a->n_numbers++];
  snprintf(text, NUMBER_BYTES, "%s%u", option, value);
  a->argv[a->n++] = text;
}

/* CUjit_target: the SM, with 0x10000 for sm_XYa, 0x20000 for sm_XYf. */
static void add_target(struct arguments *a, unsigned target)
{
  char *text = a->number[a->n_numbers++];
  snprintf(text, NUMBER_BYTES, "-arch=sm_%u%s", target & 0xffff, target_suffix((target >> 16) % 3));
  a->argv[a->n++] = text;
}

/* The target that the text names, as CUjit_target has it; 0: none. Source: PTX ISA, .target (code for sm_90a runs on
 * that GPU alone, for sm_100f in its family). */
static unsigned stated_target(const char *ptx)
{
  const char *at = strstr(ptx, ".target");
  unsigned long sm;
  char *end;
  if (!at) return 0;
  at += strlen(".target");
  at += strspn(at, " \t");
  if (strncmp(at, "sm_", 3) != 0 || at[3] < '0' || at[3] > '9') return 0;
  sm = strtoul(at + 3, &end, 10);
  if (sm > 0xffff) return 0;
  const unsigned form = *end == 'a' ? TARGET_ARCH_SPECIFIC : *end == 'f' ? TARGET_FAMILY_SPECIFIC : TARGET_PLAIN;
  return (unsigned)sm | form << 16;
}

/* What the assembler is to make for a GPU: such text has to be assembled for a target of its form. */
static unsigned wanted_target(unsigned sm, const char *ptx)
{
  const unsigned form = stated_target(ptx) >> 16;
  return sm | form << 16;
}

/* A folder may be searched, but not run. */
static bool is_program(const char *path)
{
  struct stat s;
  return access(path, X_OK) == 0 && stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* Of the search path; false: none. */
static bool in_search_path(const char *program, char *path, size_t size)
{
  const char *at = getenv("PATH");
  while (at && *at) {
    const size_t bytes = strcspn(at, ":");
    int n = snprintf(path, size, "%.*s/%s", (int)bytes, bytes ? at : ".", program);
    if (bytes < PATH_MAX && n > 0 && (size_t)n < size && is_program(path)) return true;
    at += bytes + (at[bytes] == ':');
  }
  return false;
}

static bool find_assembler(char *path, size_t size)
{
  static const char usual[] = "/usr/local/cuda/bin/ptxas";
  const char *chosen = getenv("WARPSTEP_PTXAS");
  if (chosen && !strchr(chosen, '/')) return in_search_path(chosen, path, size);
  if (!chosen && in_search_path("ptxas", path, size)) return true;
  if (chosen || is_program(usual)) {
    int n = snprintf(path, size, "%s", chosen ? chosen : usual);
    return n > 0 && (size_t)n < size && is_program(path);
  }
  return toolkit_beside("ptxas", path, size);
}

static void add_options(struct arguments *a, unsigned target, const struct jit *jit)
{
  static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3", "-O4"};
  const unsigned threads = jit->max_threads ? jit->max_threads : jit->threads_per_block;
  add(a, "ptxas");
  add_target(a, jit->target ? jit->target : target);
  add_number(a, "-maxrregcount=", jit->max_registers);
  add_number(a, "-maxntid=", threads);
  add_number(a, "-minnctapersm=", jit->min_ctas);
  if (jit->opt_level) add(a, levels[jit->opt_level - 1]);
  if (jit->override_directives) add(a, "-override-directive-values");
  if (jit->relocatable) add(a, "-c");
  if (jit->debug) add(a, "-g");
  if (jit->line_info) add(a, "-lineinfo");
  if (jit->verbose) add(a, "-v");
}

/* The assembler's exit status, -1: it could not be started. The log is NULL where there is none, the machine code where
 * the status is another than 0. */
static int assemble(const char *assembler, struct arguments *a, const struct scratch *t, struct ptx_answer *out)
{
  add(a, t->ptx);
  add(a, "-o");
  add(a, t->cubin);
  int status = run_assembler(assembler, a->argv, t->log);
  out->log = read_whole(t->log, &out->log_bytes);
  if (status == 0) out->cubin = read_whole(t->cubin, &out->cubin_bytes);
  return status;
}

/* As assemble(), from what was kept where it was asked before. False: there is nowhere to put the text. */
static bool translate(unsigned target, const char *ptx, const struct jit *jit, struct ptx_answer *out, int *status)
{
  struct arguments a = {.n = 0};
  struct scratch t;
  char assembler[PATH_MAX];
  *status = -1;
  if (!make_scratch(&t)) return false;
  bool written = write_text(t.ptx, ptx);
  if (written && find_assembler(assembler, sizeof assembler)) {
    add_options(&a, target, jit);
    const struct ptx_question q = {assembler, (const char *const *)a.argv, ptx};
    a.argv[a.n] = NULL;
    const unsigned n_options = a.n;
    *status = 0;
    if (!ptx_cache_find(&q, out)) {
      *status = assemble(assembler, &a, &t, out);
      a.argv[n_options] = NULL;
      if (*status == 0 && out->cubin && out->log) ptx_cache_keep(&q, out);
    }
  }
  drop_scratch(&t);
  return written;
}

/* One line: what ptxas says, or that the text is for other GPUs. */
static void explain_failure(unsigned sm, const char *ptx, int status, char *log)
{
  const unsigned stated = stated_target(ptx), code_sm = stated & 0xffff, form = stated >> 16;
  const bool runs = form == TARGET_PLAIN ? code_sm <= sm : target_runs_on(code_sm, form, sm);
  if (stated && !runs)
    return shim_say("PTX for sm_%u%s cannot be used on sm_%u: compile it for compute_%u, or choose another --gpu "
                    "(warpstep gpus)", code_sm, target_suffix(form), sm, sm);
  if (status == 0)
    return shim_say("ptxas ended well but left no machine code that can be read; WARPSTEP_PTXAS chooses another one");
  if (!log || !log[0])
    return shim_say("ptxas ended with status %d and said nothing; WARPSTEP_PTXAS chooses another one", status);
  log[strcspn(log, "\n")] = '\0';
  shim_say("PTX was not taken: %s", log);
}

void *ptx_translate(unsigned sm, const char *ptx, struct jit *jit, size_t *bytes, CUresult *r)
{
  struct ptx_answer out = {.cubin = NULL};
  int status;
  *r = CUDA_ERROR_INVALID_PTX;
  if (!strstr(ptx, ".version")) {
    *r = CUDA_ERROR_INVALID_IMAGE;
    return NULL;
  }
  if (!translate(wanted_target(sm, ptx), ptx, jit, &out, &status)) {
    *r = CUDA_ERROR_OUT_OF_MEMORY;
    return NULL;
  }
  bool given = false;
  if (out.log && out.log[0] && status == 0) jit_log_info(jit, out.log);
  if (out.log && out.log[0] && status > 0) given = jit_log_error(jit, out.log);
  if (status == -1) {
    shim_say(
        "PTX must be translated for the simulated GPU, and there is no ptxas: install the CUDA "
        "toolkit (in Python: pip install nvidia-cuda-nvcc), set WARPSTEP_PTXAS, or ship machine code for sm_%u",
        sm);
    *r = CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
  } else if (!out.cubin && !given && !jit->silent) {
    explain_failure(sm, ptx, status, out.log);
  }
  free(out.log);
  *bytes = out.cubin_bytes;
  return out.cubin;
}
