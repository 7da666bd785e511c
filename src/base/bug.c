#include "base/bug.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Noreturn void bug_abort(const char *file, int line, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  fprintf(stderr, "warpstep: internal error: %s:%d: ", file, line);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
  exit(BUG_EXIT_STATUS);
}

_Noreturn void memory_abort(void)
{
  static const char line[] = "warpstep: out of host memory: the machine, or a limit (ulimit -v), has too little "
                             "for this run\n";
  ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
  (void)ignored;
  fflush(stdout);
  _exit(NO_MEMORY_EXIT_STATUS);
}

const char *host_error(void)
{
  NO_MEMORY_IF(errno == ENOMEM);
  return strerror(errno);
}

void memory_need(size_t bytes)
{
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NO_MEMORY_IF(p == MAP_FAILED);
  munmap(p, bytes);
}
