/* Pipes between threads: reading waits for the other thread; poll; a broken pipe. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int there[2], back[2];

static void *echo(void *arg)
{
  unsigned n;
  (void)arg;
  while (read(there[0], &n, sizeof n) == sizeof n) {
    n = n * 3 + 1;
    write(back[1], &n, sizeof n);
  }
  close(back[1]);
  return NULL;
}

int main(void)
{
  pthread_t t;
  unsigned n = 1;
  pipe(there);
  pipe2(back, O_CLOEXEC);
  printf("flags %d\n", fcntl(back[0], F_GETFD));
  pthread_create(&t, NULL, echo, NULL);
  for (int i = 0; i < 200; i++) {
    write(there[1], &n, sizeof n);
    if (read(back[0], &n, sizeof n) != sizeof n) return 1;
  }
  printf("echo %u\n", n);
  struct pollfd f = {.fd = back[0], .events = POLLIN};
  printf("nothing %d\n", poll(&f, 1, 10));
  write(there[1], &n, sizeof n);
  printf("something %d %d\n", poll(&f, 1, -1), f.revents);
  read(back[0], &n, sizeof n);
  close(there[1]);
  printf("end %zd\n", read(back[0], &n, sizeof n));
  pthread_join(t, NULL);
  signal(SIGPIPE, SIG_IGN);
  pipe(back);
  close(back[0]);
  const ssize_t w = write(back[1], "x", 1);
  printf("broken %zd %d\n", w, errno == EPIPE);
  char line[64] = "";
  printf("input %zd", read(0, line, sizeof line));
  printf(" '%s'\n", line);
  return 0;
}
