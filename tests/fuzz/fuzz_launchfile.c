/* A launch file: read and checked; the data files it names are not opened. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "base/bug.h"
#include "host/launchfile.h"

void fuzz_launchfile(const uint8_t *data, size_t size)
{
  char path[32];
  struct launch_case c;
  struct err e = {""};
  int fd = memfd_create("launch", MFD_CLOEXEC);
  BUG_ON(fd < 0 || write(fd, data, size) != (ssize_t)size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  bool ok = launchfile_read(&c, path, &e) && launch_case_check(&c, &e);
  BUG_ON(!ok && e.msg[0] == '\0');
  launch_case_free(&c);
  close(fd);
}
