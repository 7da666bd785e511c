/* Where the presets and the data are; the order is in presets.h. They are found from where the program lies, so that a
 * tree, built or installed, can be copied and moved. The Makefile says where `make install` puts the presets
 * (WS_PRESETS_DIR), for a program that was taken out of its tree alone.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/presets.h"

/* PREFIX/lib/x86_64-linux-gnu/libwarpstep.so is three folders below PREFIX, TREE/build/MODE/tests/PROGRAM four below
 * TREE. */
enum { LEVELS_UP = 4 };

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

/* Any folder may be called presets; ours holds the preset that all others inherit from. */
static bool holds_presets(const char *dir)
{
  char common[PATH_MAX + 16];
  struct stat st;

  snprintf(common, sizeof common, "%s/common.cfg", dir);
  return stat(common, &st) == 0 && S_ISREG(st.st_mode);
}

/* DIR/share/warpstep/presets of an installation, or DIR/presets of a source tree, for a DIR above `path`. */
static bool above(const char *path, char *buf, size_t size)
{
  static const char *const places[] = {"share/warpstep/presets", "presets"};
  char dir[PATH_MAX];

  snprintf(dir, sizeof dir, "%s", path);
  for (unsigned i = 0; i < LEVELS_UP; i++) {
    char *slash = strrchr(dir, '/');
    if (!slash || slash == dir) return false;
    *slash = '\0';
    for (unsigned p = 0; p < sizeof places / sizeof *places; p++) {
      int n = snprintf(buf, size, "%s/%s", dir, places[p]);
      if (n > 0 && (size_t)n < size && holds_presets(buf)) return true;
    }
  }
  return false;
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

/* The presets that came with the program. */
static bool own_presets(char *buf, size_t size)
{
  char path[PATH_MAX];

  for (unsigned i = 0; i < 2; i++)
    if (code_location(i, path) && above(path, buf, size)) return true;
  return installed(buf, size);
}

bool presets_dir(const char *option, char *buf, size_t size, struct err *e)
{
  const char *env = getenv("WARPSTEP_PRESETS");
  const char *asked = option ? option : env;

  if (asked && *asked) {
    if ((size_t)snprintf(buf, size, "%s", asked) < size && is_dir(buf)) return true;
    return err_set(e, "preset directory '%s' does not exist (from %s)", asked,
                   option ? "the command line" : "WARPSTEP_PRESETS");
  }
  return own_presets(buf, size) || err_set(e, "no preset directory found: name it with WARPSTEP_PRESETS");
}

/* The folder around presets, when it holds data, too. */
static bool root_of(const char *presets, char *buf, size_t size)
{
  char up[PATH_MAX + 8], data[PATH_MAX + 8], real[PATH_MAX];

  snprintf(up, sizeof up, "%s/..", presets);
  if (!realpath(up, real)) return false;
  snprintf(data, sizeof data, "%s/data", real);
  return is_dir(data) && (size_t)snprintf(buf, size, "%s", real) < size;
}

bool data_root(const char *option, char *buf, size_t size, struct err *e)
{
  char presets[PATH_MAX];

  TRY(presets_dir(option, presets, sizeof presets, e));
  if (root_of(presets, buf, size)) return true;
  if (own_presets(presets, sizeof presets) && root_of(presets, buf, size)) return true;
  return err_set(e, "no measured data found: neither beside the presets nor where warpstep was installed is a folder "
                    "'data'");
}
