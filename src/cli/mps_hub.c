#include "cli/mps_hub.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "cli/process_tree.h"
#include "host/mps_server.h"

enum { LOOK_NS = 100 * 1000, LOOKS_TO_TELL = 300 * 1000, CHUNK = 1 << 16 };

/* A socket to a process. What has come of a message that is not whole is kept. */
struct end {
  int fd; /* -1: none */
  pid_t process;
  uint8_t *bytes;
  size_t n, room;
};

struct mps_hub {
  int listener;
  pid_t root;
  struct end end[MPS_PROCESSES]; /* by the server's number */
  struct mps_server *server;
  unsigned looks; /* in vain, one behind the other */
  unsigned quiet; /* looks at which nobody ran, behind each other */
  bool told;
};

/* --- ends --------------------------------------------------------------------------------------- */

static void drop(struct mps_hub *h, unsigned i)
{
  struct end *x = &h->end[i];
  if (x->fd < 0) return;
  mps_server_go(h->server, i);
  close(x->fd);
  mem_free(x->bytes);
  *x = (struct end){.fd = -1};
}

/* A number whose last process has left work behind is not free yet. */
static bool is_free(const struct mps_hub *h, unsigned i)
{
  return h->end[i].fd < 0 && mps_server_free(h->server, i);
}

static void refuse(int fd)
{
  const struct mps_welcome w = {.status = MPS_TOO_MANY};
  (void)!send(fd, &w, sizeof w, MSG_NOSIGNAL);
  shutdown(fd, SHUT_WR);
  close(fd);
}

/* False: nobody has come. */
static bool welcome(struct mps_hub *h)
{
  struct ucred who;
  socklen_t n = sizeof who;
  unsigned i = 0;
  const int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return false;
  while (i < MPS_PROCESSES && !is_free(h, i)) i++;
  if (i == MPS_PROCESSES || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0) {
    refuse(fd);
    return true;
  }
  h->end[i] = (struct end){.fd = fd, .process = who.pid};
  mps_server_come(h->server, i, who.pid);
  return true;
}

static void send_to(void *ctx, unsigned i, const void *what, size_t bytes)
{
  struct mps_hub *h = ctx;
  for (const uint8_t *p = what; bytes && h->end[i].fd >= 0;) {
    const ssize_t n = send(h->end[i].fd, p, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return; /* its end shows when it is heard */
    p += n;
    bytes -= (size_t)n;
  }
}

/* Whole messages go on to the server. False: nonsense. */
static bool hand_over(struct mps_hub *h, unsigned i)
{
  struct end *x = &h->end[i];
  size_t at = 0;
  bool ok = true;
  struct mps_head m;
  while (ok && x->n - at >= sizeof m) {
    memcpy(&m, x->bytes + at, sizeof m);
    if (m.kind >= MPS__N || m.bytes > INT32_MAX) return false;
    if (x->n - at - sizeof m < m.bytes) break;
    ok = mps_server_hear(h->server, i, &m, x->bytes + at + sizeof m);
    at += sizeof m + m.bytes;
  }
  if (at) memmove(x->bytes, x->bytes + at, x->n - at);
  x->n -= at;
  return ok;
}

/* Whether anything has come, its end included. */
static bool hear(struct mps_hub *h, unsigned i)
{
  struct end *x = &h->end[i];
  if (x->room - x->n < CHUNK) x->bytes = mem_resize(x->bytes, x->room = 2 * x->room + CHUNK, 1);
  const ssize_t n = recv(x->fd, x->bytes + x->n, x->room - x->n, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n > 0) x->n += (size_t)n;
  if (n <= 0 || !hand_over(h, i)) drop(h, i);
  return true;
}

static bool hear_all(struct mps_hub *h)
{
  bool any = false;
  while (welcome(h)) any = true;
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    while (h->end[i].fd >= 0 && hear(h, i)) any = true;
  return any;
}

static unsigned listen_to(const struct mps_hub *h, struct pollfd p[MPS_PROCESSES + 1])
{
  p[0] = (struct pollfd){.fd = h->listener, .events = POLLIN};
  for (unsigned i = 0; i < MPS_PROCESSES; i++) p[i + 1] = (struct pollfd){.fd = h->end[i].fd, .events = POLLIN};
  return MPS_PROCESSES + 1;
}

static bool input(void *ctx)
{
  struct pollfd p[MPS_PROCESSES + 1];
  const unsigned n = listen_to(ctx, p);
  return poll(p, n, 0) > 0;
}

/* Until more has come of it, or its end. */
static void listen_for(void *ctx, unsigned i)
{
  struct mps_hub *h = ctx;
  struct pollfd p = {.fd = h->end[i].fd, .events = POLLIN};
  if (p.fd < 0 || poll(&p, 1, -1) > 0) hear(h, i);
}

/* --- time --------------------------------------------------------------------------------------- */

static enum process_known known(void *ctx, pid_t process)
{
  const struct mps_hub *h = ctx;
  if (process == getpid()) return PROCESS_SKIP;
  for (unsigned i = 0; i < MPS_PROCESSES; i++) {
    if (h->end[i].fd < 0 || h->end[i].process != process) continue;
    if (mps_server_asks(h->server, i)) return PROCESS_WAITS;
    return mps_server_works(h->server, i) ? PROCESS_RUNS : PROCESS_LOOK;
  }
  return PROCESS_LOOK;
}

static bool any_asks(const struct mps_hub *h)
{
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (mps_server_asks(h->server, i)) return true;
  return false;
}

static bool any_pressed(const struct mps_hub *h)
{
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (mps_server_pressed(h->server, i)) return true;
  return false;
}

static void tell_once(struct mps_hub *h, pid_t running)
{
  if (h->told || ++h->looks < LOOKS_TO_TELL) return;
  h->told = true;
  fprintf(stderr, "warpstep: --share: the GPU waits for process %d, which computes: processes that wait for each other "
          "must sleep (docs/sharing.md)\n", (int)running);
}

/* All wait or sleep, and have sent what they had to say. Twice: one that was found asleep may have been woken behind
 * that by one that then slept. */
static bool all_quiet(struct mps_hub *h)
{
  for (unsigned i = 0; i < 2; i++) {
    const pid_t running = process_tree_running(h->root, known, h);
    if (running) tell_once(h, running);
    if (running || hear_all(h)) return false;
  }
  return true;
}

/* False: it is too early. Who is pressed for his answer has it at once; no time passes for that. Who wants to be let in
 * gets what he has for good in the order of processes: that none before him is still on his way there is looked at for
 * longer, as one that starts may sleep for a file system's sake. */
static bool try_to_answer(struct mps_hub *h)
{
  enum { LOOKS_TO_LET_IN = 5 };
  if (any_pressed(h)) {
    mps_server_hurry(h->server);
    return true;
  }
  if (!all_quiet(h)) {
    h->quiet = 0;
    return false;
  }
  if (mps_server_joins(h->server) && ++h->quiet < LOOKS_TO_LET_IN) return false;
  h->looks = h->quiet = 0;
  mps_server_step(h->server);
  return true;
}

static void wait_for_more(struct mps_hub *h, bool look_again)
{
  struct pollfd p[MPS_PROCESSES + 1];
  const struct timespec soon = {.tv_nsec = LOOK_NS};
  const unsigned n = listen_to(h, p);
  ppoll(p, n, look_again ? &soon : NULL, NULL);
}

static void serve(int listener, pid_t root, const struct params *p, struct mps_way way, int page)
{
  struct mps_hub *h = mem_zeroed(1, sizeof *h);
  void *at = mmap(NULL, sizeof(struct mps_page), PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
  NO_MEMORY_IF(at == MAP_FAILED);
  h->listener = listener;
  h->root = root;
  h->server = mps_server_new(p, way, at, send_to, (struct mps_ears){input, listen_for}, h);
  for (unsigned i = 0; i < MPS_PROCESSES; i++) h->end[i].fd = -1;
  for (;;) {
    hear_all(h);
    if (!any_asks(h) || !try_to_answer(h)) wait_for_more(h, any_asks(h));
    else if (input(h)) wait_for_more(h, true);
  }
}

bool mps_hub_start(struct share_hub *h, const struct params *p, struct mps_way way, struct err *e)
{
  struct share_place at;
  TRY(share_hub_place(&at, SOCK_STREAM, sizeof(struct mps_page), e));
  if (share_hub_fork(h, &at)) serve(at.listener, at.root, p, way, at.page);
  return share_hub_parent(h, &at, e);
}
