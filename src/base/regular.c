#include "base/regular.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host_memory.h"

bool file_is_regular(const char *path, struct err *e)
{
  struct stat st;
  if (stat(path, &st) != 0) return err_set(e, "%s: cannot read: %s; check the path", path, host_error());
  if (S_ISDIR(st.st_mode)) return err_set(e, "%s: is a folder, not a file", path);
  if (!S_ISREG(st.st_mode)) return err_set(e, "%s: is no regular file (a pipe or a device)", path);
  return access(path, R_OK) == 0 || err_set(e, "%s: cannot read: %s", path, host_error());
}
