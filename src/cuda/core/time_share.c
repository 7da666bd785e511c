#include "cuda/core/time_share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "base/time_slices.h"
#include "cuda/core/shim.h"

enum { PS_PER_US = 1000000, REGISTER_BYTES = 4 };
#define PS_PER_S 1e12

struct time_share {
  int fd;
  _Atomic uint64_t *time; /* ps: of the GPU, for all */
  uint64_t reached;
  bool busy;              /* the other end thinks that it has kernels */
  bool stands;
  struct time_share_stats stats;
};

/* Registers and shared memory of all SMs go to DRAM, or come from there, at its full rate. */
static uint64_t state_ps(const struct params *p)
{
  const double of_sm = (double)p->sm_registers * REGISTER_BYTES + p->sm_shared_bytes;
  return (uint64_t)(of_sm * p->gpu_sms / (double)params_dram_bytes_per_second(p) * PS_PER_S);
}

struct slice_hello time_share_hello(const struct params *p)
{
  return (struct slice_hello){(uint64_t)p->host_timeslice_us * PS_PER_US, state_ps(p)};
}

static bool map_time(struct time_share *t, int pid, int fd)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
  const int f = open(path, O_RDWR | O_CLOEXEC);
  void *at = f < 0 ? MAP_FAILED : mmap(NULL, sizeof *t->time, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
  if (f >= 0) close(f);
  t->time = at == MAP_FAILED ? NULL : at;
  return t->time != NULL;
}

int share_connect(const char *name, int type)
{
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  const size_t n = strlen(name);
  if (n + 1 > sizeof to.sun_path) return -1;
  memcpy(to.sun_path + 1, name, n);
  const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) == 0)
    return fd;
  close(fd);
  return -1;
}

static bool tell(struct time_share *t, const void *what, size_t bytes)
{
  ssize_t n;
  while ((n = send(t->fd, what, bytes, MSG_NOSIGNAL)) < 0 && errno == EINTR) continue;
  return n == (ssize_t)bytes;
}

/* A call begins: what others have seen of the GPU's time has passed here, too. */
static void enter(struct shim *s)
{
  const uint64_t now = atomic_load(s->share->time);
  if (now < SIM_LAST_START_PS / 2) s->time.now = later(s->time.now, now);
}

bool time_share_join(struct shim *s, struct err *e)
{
  char name[64];
  int pid, fd;
  if (!s->options.share) return true;
  if (!exec_options_share(&s->options) || s->boards.n != 1 || s->ranks)
    return err_set(e, "--share: only for one GPU, and launches that all run in time, as they come");
  struct time_share *t = shim_alloc(sizeof *t);
  const struct slice_hello hello = time_share_hello(&s->boards.of[0].preset.params);
  s->share = t;
  s->enter = enter;
  if (sscanf(s->options.share, "%63[^/]/%d/%d", name, &pid, &fd) == 3 &&
      (t->fd = share_connect(name, SOCK_SEQPACKET)) >= 0 && map_time(t, pid, fd) && tell(t, &hello, sizeof hello))
    return true;
  return err_set(e, "--share: nobody answers: was the program started by 'warpstep exec --share slices'?");
}

static void publish(struct time_share *t, uint64_t now)
{
  uint64_t known = atomic_load(t->time);
  while (known < now && !atomic_compare_exchange_weak(t->time, &known, now)) continue;
}

static bool hear(struct time_share *t, struct slice_answer *a)
{
  ssize_t n;
  while ((n = recv(t->fd, a, sizeof *a, 0)) < 0 && errno == EINTR) continue;
  return n == (ssize_t)sizeof *a;
}

static void note(struct time_share *t, uint64_t now, const struct slice_answer *a)
{
  t->reached = a->until;
  if (!a->run) t->stats.stood += a->until - now;
  if (!a->run && !t->stands) t->stats.stands++;
  t->stands = !a->run;
}

bool time_share_ask(struct shim *s, uint64_t now, uint64_t *until)
{
  struct time_share *t = s->share;
  const struct slice_ask ask = {.now = now, .until = *until};
  struct slice_answer a;
  t->busy = true;
  if (t->fd < 0 || !tell(t, &ask, sizeof ask) || !hear(t, &a) || a.until <= now) {
    if (t->fd >= 0) close(t->fd);
    t->fd = -1;
    t->reached = 0;
    return true;
  }
  /* What began while another kernel's end was ahead asks for a time before that end, where the GPU was given back. */
  a.until = earlier(a.until, *until);
  publish(t, now);
  note(t, now, &a);
  *until = a.until;
  return a.run;
}

uint64_t time_share_reached(const struct shim *s)
{
  return s->share->reached;
}

void time_share_over(struct shim *s, uint64_t end)
{
  struct time_share *t = s->share;
  const struct slice_ask over = {.now = end, .until = end, .over = true};
  if (!t->busy) return;
  t->busy = t->stands = false;
  publish(t, end);
  t->reached = 0;
  if (t->fd >= 0) tell(t, &over, sizeof over);
}

const struct time_share_stats *time_share_stats(const struct shim *s)
{
  return s->share ? &s->share->stats : NULL;
}
