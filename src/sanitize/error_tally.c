#include "sanitize/error_tally.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/host_memory.h"

static struct sanitize_tally *map(int fd)
{
  void *at = mmap(NULL, sizeof(struct sanitize_tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? NULL : at;
}

/* The descriptor stays open: by its name in /proc others reach it, also those that close what they inherit. */
struct sanitize_tally *sanitize_tally_new(char name[SANITIZE_TALLY_NAME], struct err *e)
{
  const int fd = memfd_create("warpstep-sanitize", MFD_CLOEXEC);
  struct sanitize_tally *t = fd >= 0 && ftruncate(fd, sizeof *t) == 0 ? map(fd) : NULL;
  if (!t) {
    err_fill(e, "no memory to share with the program: %s", host_error());
    if (fd >= 0) close(fd);
    return NULL;
  }
  snprintf(name, SANITIZE_TALLY_NAME, "/proc/%d/fd/%d", (int)getpid(), fd);
  return t;
}

struct sanitize_tally *sanitize_tally_open(const char *name)
{
  const int fd = open(name, O_RDWR | O_CLOEXEC);
  if (fd < 0) return NULL;
  /* Memory behind the end of a file that only has the same name would end the process. */
  struct sanitize_tally *t = lseek(fd, 0, SEEK_END) == sizeof *t ? map(fd) : NULL;
  close(fd);
  return t;
}

void sanitize_tally_close(struct sanitize_tally *t)
{
  if (t) munmap(t, sizeof *t);
}
