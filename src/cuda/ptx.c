/* PTX to machine code, by the toolkit's assembler: $WARPSTEP_PTXAS, else ptxas of the search path, else
 * the one in /usr/local/cuda/bin. Without one a module of PTX cannot be loaded. */
#include "cuda/module.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGS = 14 };

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
  unlink(t->ptx);
  unlink(t->cubin);
  unlink(t->log);
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
    data = realloc(data, room + 1);
    if (!data) break;
    *bytes += fread(data + *bytes, 1, room - *bytes, f);
  } while (*bytes == room);
  fclose(f);
  if (data) data[*bytes] = '\0';
  return data;
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

static int assemble(struct shim *s, const struct scratch *t, const struct jit *jit)
{
  char arch[16], regs[32], opt[16];
  char *argv[MAX_ARGS] = { (char *)(uintptr_t)"ptxas" };
  unsigned n = 1;
  snprintf(arch, sizeof arch, "-arch=sm_%u", jit->target ? jit->target : s->device.config.sm);
  argv[n++] = arch;
  if (jit->max_registers) {
    snprintf(regs, sizeof regs, "-maxrregcount=%u", jit->max_registers);
    argv[n++] = regs;
  }
  if (jit->opt_level) {
    snprintf(opt, sizeof opt, "-O%d", jit->opt_level - 1);
    argv[n++] = opt;
  }
  if (jit->relocatable) argv[n++] = (char *)(uintptr_t)"-c";
  if (jit->debug) argv[n++] = (char *)(uintptr_t)"-g";
  if (jit->line_info) argv[n++] = (char *)(uintptr_t)"-lineinfo";
  if (jit->verbose) argv[n++] = (char *)(uintptr_t)"-v";
  argv[n++] = (char *)(uintptr_t)t->ptx;
  argv[n++] = (char *)(uintptr_t)"-o";
  argv[n++] = (char *)(uintptr_t)t->cubin;
  const char *chosen = getenv("WARPSTEP_PTXAS");
  if (chosen) return run_assembler(chosen, argv, t->log);
  int status = run_assembler("ptxas", argv, t->log);
  return status == -1 ? run_assembler("/usr/local/cuda/bin/ptxas", argv, t->log) : status;
}

static void give_log(const char *text, char *to, size_t room, size_t *used)
{
  if (!to || room == 0) return;
  snprintf(to, room, "%s", text);
  *used = strlen(to) + 1;
}

void *ptx_translate(struct shim *s, const char *ptx, struct jit *jit, size_t *bytes, CUresult *r)
{
  struct scratch t;
  size_t log_bytes;
  *r = CUDA_ERROR_INVALID_PTX;
  if (!strstr(ptx, ".version")) {
    *r = CUDA_ERROR_INVALID_IMAGE;
    return NULL;
  }
  if (!make_scratch(&t) || !write_text(t.ptx, ptx)) {
    *r = CUDA_ERROR_OUT_OF_MEMORY;
    return NULL;
  }
  int status = assemble(s, &t, jit);
  char *log = read_whole(t.log, &log_bytes), *cubin = NULL;
  if (log && status != -1)
    give_log(log, status ? jit->error : jit->info, status ? jit->error_bytes : jit->info_bytes,
             status ? &jit->error_used : &jit->info_used);
  if (status == -1) {
    shim_say("PTX must be translated for the simulated GPU, and there is no ptxas: install the CUDA "
             "toolkit, set WARPSTEP_PTXAS, or ship machine code for sm_%u", s->device.config.sm);
    *r = CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
  } else if (status == 0) {
    cubin = read_whole(t.cubin, bytes);
  } else if (!jit->error) {
    shim_say("ptxas: %s", log ? log : "failed");
  }
  free(log);
  drop_scratch(&t);
  return cubin;
}
