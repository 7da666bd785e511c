/* Where the presets are; the order is in presets.h. The Makefile gives the source tree (WS_SOURCE_DIR) and
 * where `make install` puts them (WS_PRESETS_DIR); neither is needed when they lie beside the program.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/presets.h"

/* PREFIX/lib/x86_64-linux-gnu/libwarpstep.so is three folders below PREFIX. */
enum { LEVELS_UP = 3 };

static bool is_dir(const char *path)
{
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The file this code was loaded from, a shared library or the program. For a program dladdr only knows
 * what its caller called it, hence the second answer. */
static bool code_location(unsigned which, char path[PATH_MAX])
{
  static const char here;
  Dl_info info;

  if (which == 0) return dladdr(&here, &info) && info.dli_fname && realpath(info.dli_fname, path);
  return realpath("/proc/self/exe", path) != NULL;
}

/* DIR/share/warpstep/presets for a DIR above `path`. */
static bool beside(const char *path, char *buf, size_t size)
{
  char dir[PATH_MAX];

  snprintf(dir, sizeof dir, "%s", path);
  for (unsigned i = 0; i < LEVELS_UP; i++) {
    char *slash = strrchr(dir, '/');
    if (!slash || slash == dir) return false;
    *slash = '\0';
    int n = snprintf(buf, size, "%s/share/warpstep/presets", dir);
    if (n > 0 && (size_t)n < size && is_dir(buf)) return true;
  }
  return false;
}

/* A program that was built and not installed. */
static bool in_source_tree(const char *path, char *buf, size_t size)
{
#ifdef WS_SOURCE_DIR
  static const char source[] = WS_SOURCE_DIR "/";
  if (strncmp(path, source, sizeof source - 1) != 0) return false;
  int n = snprintf(buf, size, "%spresets", source);
  return n > 0 && (size_t)n < size && is_dir(buf);
#else
  (void)path, (void)buf, (void)size;
  return false;
#endif
}

static bool installed(char *buf, size_t size)
{
#ifdef WS_PRESETS_DIR
  int n = snprintf(buf, size, "%s", WS_PRESETS_DIR);
  return n > 0 && (size_t)n < size && is_dir(buf);
#else
  (void)buf, (void)size;
  return false;
#endif
}

bool presets_dir(const char *option, char *buf, size_t size, struct err *e)
{
  const char *env = getenv("WARPSTEP_PRESETS");
  const char *asked = option ? option : env;
  char path[PATH_MAX];

  if (asked && *asked) {
    if ((size_t)snprintf(buf, size, "%s", asked) < size && is_dir(buf)) return true;
    return err_set(e, "preset directory '%s' does not exist (from %s)", asked,
                   option ? "the command line" : "WARPSTEP_PRESETS");
  }
  for (unsigned i = 0; i < 2; i++)
    if (code_location(i, path) && (beside(path, buf, size) || in_source_tree(path, buf, size)))
      return true;
  if (installed(buf, size)) return true;
  return err_set(e, "no preset directory found: name it with WARPSTEP_PRESETS");
}
