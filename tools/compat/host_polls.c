/* A library to preload: threads of a program that ask again and again, without rest, whether a message has come sleep a millisecond
 * before the next time (nccl.sh). NCCL's threads do so while another one waits for a simulated GPU: with eight GPUs ten of them take
 * the processors from the one that simulates. What the program computes, and simulated times, do not depend on it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

static const struct timespec rest = { .tv_nsec = 1000000 };

/* errno stays. */
static void have_a_rest(void)
{
  const int error = errno;
  clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
  errno = error;
}

static int nothing_there(long result)
{
  return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

ssize_t recv(int fd, void *to, size_t bytes, int flags)
{
  static ssize_t (*next)(int, void *, size_t, int);
  if (!next) next = dlsym(RTLD_NEXT, "recv");
  const ssize_t n = next(fd, to, bytes, flags);
  if (nothing_there(n)) have_a_rest();
  return n;
}

int accept(int fd, struct sockaddr *from, socklen_t *bytes)
{
  static int (*next)(int, struct sockaddr *, socklen_t *);
  if (!next) next = dlsym(RTLD_NEXT, "accept");
  const int n = next(fd, from, bytes);
  if (nothing_there(n)) have_a_rest();
  return n;
}

/* Sleeps of a microsecond, one after the other, cost as much as none. */
int nanosleep(const struct timespec *asked, struct timespec *left)
{
  static int (*next)(const struct timespec *, struct timespec *);
  if (!next) next = dlsym(RTLD_NEXT, "nanosleep");
  return next(asked->tv_sec == 0 && asked->tv_nsec >= 0 && asked->tv_nsec < rest.tv_nsec ? &rest : asked, left);
}
