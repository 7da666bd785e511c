#include "cli/program_start.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "load/program.h"

#define LIBRARY          "libwarpstep-cuda.so"
#define OPTIONS_VARIABLE "WARPSTEP_EXEC" /* cuda/core/options.h reads it */

static bool ends_in(const char *path, const char *ending)
{
  const size_t n = strlen(path), m = strlen(ending);
  return n > m && !strcmp(path + n - m, ending);
}

bool program_not_started(const char *path, struct err *e)
{
  const char *why = host_error();
  struct stat st;
  if (stat(path, &st) != 0) return err_set(e, "%s: %s", path, why);
  if (S_ISDIR(st.st_mode)) return err_set(e, "%s: is a folder, not a program", path);
  if (ends_in(path, ".cu"))
    return err_set(e, "%s: is CUDA source; compile it first: nvcc -arch=sm_86 -o PROGRAM %s", path, path);
  if (ends_in(path, ".launch") || ends_in(path, ".case") || ends_in(path, ".cubin"))
    return err_set(e, "%s: is no program: warpstep run %s", path, path);
  if (!strchr(path, '/')) return err_set(e, "%s: not found in PATH; here it is ./%s", path, path);
  return err_set(e, "%s: %s%s", path, why, access(path, X_OK) ? "; a program must be executable (chmod +x)" : "");
}

bool program_check(const char *path, struct err *e)
{
  struct stat st;
  const bool named = strchr(path, '/'); /* else it is looked for in PATH */
  if (named && (access(path, X_OK) != 0 || (stat(path, &st) == 0 && S_ISDIR(st.st_mode))))
    return program_not_started(path, e);
  struct program_info p = program_inspect(path);
  if (!p.elf) return true; /* a script, or found through PATH: it will start programs itself */
  if (p.static_program)
    return err_set(e, "%s: linked with -static, so no library can be put in its way; link it without", path);
  if (p.gpu_code && !p.shared_runtime && !p.runtime_symbols)
    return err_set(e,
                   "%s: has the CUDA runtime inside (nvcc's default) and no symbol table; link it again with "
                   "-cudart shared, do not strip it, or name the libcudart_static.a that it was linked with: "
                   "WARPSTEP_CUDART=FILE",
                   path);
  return true;
}

bool program_libraries(char *dir, size_t size, struct err *e)
{
  static const char *const places[] = {"cuda", "../lib/warpstep"};
  const char *given = getenv("WARPSTEP_CUDA");
  char self[PATH_MAX], path[2 * PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (given) {
    snprintf(dir, size, "%s", given);
    return true;
  }
  if (n < 0) return err_set(e, "cannot find out where warpstep is: %s", host_error());
  self[n] = '\0';
  *strrchr(self, '/') = '\0';
  for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
    snprintf(path, sizeof path, "%s/%s/" LIBRARY, self, places[i]);
    if (access(path, R_OK) != 0) continue;
    if (snprintf(dir, size, "%s/%s", self, places[i]) < (int)size) return true;
  }
  return err_set(e,
                 "no " LIBRARY " in %.200s/cuda or %.200s/../lib/warpstep; run make, or set "
                 "WARPSTEP_CUDA",
                 self, self);
}

/* VARIABLE=FIRST, with `rest` behind it. */
static void put_first(const char *variable, const char *first, const char *rest)
{
  size_t size = strlen(first) + strlen(rest) + 2;
  char *text = malloc(size);
  NO_MEMORY_IF(!text);
  snprintf(text, size, "%s%s%s", first, *rest ? ":" : "", rest);
  setenv(variable, text, 1);
  free(text);
}

/* With what it was behind it. */
static void prepend(const char *variable, const char *first)
{
  const char *old = getenv(variable);
  put_first(variable, first, old ? old : "");
}

/* nvidia-smi. Without PATH programs are looked for in the system's own folders, behind ours then, too. */
static void put_programs_first(const char *dir)
{
  char folder[PATH_MAX + 8], own[PATH_MAX] = "/bin:/usr/bin";
  const char *old = getenv("PATH");
  if (!old) confstr(_CS_PATH, own, sizeof own);
  snprintf(folder, sizeof folder, "%s/bin", dir);
  put_first("PATH", folder, old ? old : own);
}

/* Our open libraries under the names of NVIDIA's (docs/libraries.md). Loaded before the program they are those it
 * finds, also where it was linked with a path to others. */
static void put_libraries_first(const char *dir)
{
  char pattern[PATH_MAX + 32];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/libs/*.so.*", dir);
  if (glob(pattern, 0, NULL, &found) != 0) return;
  for (size_t i = 0; i < found.gl_pathc; i++) prepend("LD_PRELOAD", found.gl_pathv[i]);
  globfree(&found);
  snprintf(pattern, sizeof pattern, "%s/libs", dir);
  prepend("LD_LIBRARY_PATH", pattern);
}

void program_options_set(const char *text)
{
  setenv(OPTIONS_VARIABLE, text, 1);
}

/* The last line of a key counts. */
void program_begins(void)
{
  const char *handed = getenv(OPTIONS_VARIABLE);
  if (!handed || !strstr(handed, "\nprogram=")) return;
  const size_t size = strlen(handed) + 32;
  char *text = malloc(size);
  NO_MEMORY_IF(!text);
  snprintf(text, size, "%sprogram=%d\n", handed, (int)getpid());
  program_options_set(text);
  free(text);
}

void program_hand_over(FILE *out, char *const *text, const char *dir, bool libs)
{
  char library[PATH_MAX + 32];
  snprintf(library, sizeof library, "%s/" LIBRARY, dir);
  fflush(out);
  program_options_set(*text);
  prepend("LD_LIBRARY_PATH", dir);
  if (libs) put_libraries_first(dir);
  prepend("LD_PRELOAD", library);
  put_programs_first(dir);
}
