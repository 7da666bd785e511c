#include "cli/share_hub.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/time_slices.h"
#include "cli/cli.h"
#include "cli/process_tree.h"
#include "cli/program_parent.h"

enum { LOOK_NS = 100 * 1000, LOOKS_TO_TELL = 300 * 1000 };

struct user {
  int fd; /* -1: free */
  pid_t process;
  int slices; /* its number there; TIME_SLICES_NOBODY: it has not said what it is */
};

struct hub {
  int listener;
  pid_t root; /* started the program */
  struct user user[TIME_SLICES_MAX];
  struct time_slices slices;
  unsigned looks;  /* in vain, one behind the other */
  unsigned quiet;  /* looks at which nobody ran, one behind the other */
  bool joined;     /* somebody, since the last answer */
  bool told;
};

/* --- users -------------------------------------------------------------------------------------- */

static void drop(struct hub *h, struct user *u)
{
  if (u->slices != TIME_SLICES_NOBODY) time_slices_leave(&h->slices, u->slices);
  close(u->fd);
  u->fd = -1;
}

/* False: nobody has come. */
static bool welcome(struct hub *h)
{
  struct ucred who;
  socklen_t n = sizeof who;
  const int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return false;
  unsigned i = 0;
  while (i < TIME_SLICES_MAX && h->user[i].fd >= 0) i++;
  if (i == TIME_SLICES_MAX || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0) {
    fprintf(stderr, "warpstep: --share: more than %d processes have the GPU: this one has another\n", TIME_SLICES_MAX);
    close(fd);
    return true;
  }
  h->user[i] = (struct user){fd, who.pid, TIME_SLICES_NOBODY};
  h->joined = true;
  return true;
}

/* False: nothing is to be read, or it is gone. */
static bool hear(struct hub *h, struct user *u)
{
  union {
    struct slice_hello hello;
    struct slice_ask ask;
  } x;
  const ssize_t n = recv(u->fd, &x, sizeof x, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  bool ok = false;
  if (u->slices == TIME_SLICES_NOBODY && n == (ssize_t)sizeof x.hello) {
    u->slices = time_slices_enter(&h->slices, &x.hello, (uint64_t)u->process);
    ok = u->slices != TIME_SLICES_NOBODY;
  } else if (u->slices != TIME_SLICES_NOBODY && n == (ssize_t)sizeof x.ask) {
    ok = time_slices_ask(&h->slices, u->slices, &x.ask);
  }
  if (!ok) drop(h, u);
  return ok;
}

/* Who has come and what they have said so far; whether anything. */
static bool hear_all(struct hub *h)
{
  bool any = false;
  while (welcome(h)) any = true;
  for (unsigned i = 0; i < TIME_SLICES_MAX; i++)
    while (h->user[i].fd >= 0 && hear(h, &h->user[i])) any = true;
  return any;
}

static bool any_asks(const struct hub *h)
{
  for (int i = 0; i < TIME_SLICES_MAX; i++)
    if (h->slices.user[i].asks) return true;
  return false;
}

/* --- answers ------------------------------------------------------------------------------------ */

/* A user that has kernels will ask again, or say that they are over, even when its program sleeps (idle_watch.h). */
static enum process_known known(void *ctx, pid_t process)
{
  const struct hub *h = ctx;
  if (process == getpid()) return PROCESS_SKIP;
  for (unsigned i = 0; i < TIME_SLICES_MAX; i++) {
    const struct user *u = &h->user[i];
    if (u->fd < 0 || u->process != process || u->slices == TIME_SLICES_NOBODY) continue;
    const struct slice_user *s = &h->slices.user[u->slices];
    return s->asks ? PROCESS_WAITS : s->busy ? PROCESS_RUNS : PROCESS_LOOK;
  }
  return PROCESS_LOOK;
}

static void answer(struct hub *h)
{
  struct slice_answer a;
  const int which = time_slices_answer(&h->slices, &a);
  for (unsigned i = 0; i < TIME_SLICES_MAX; i++) {
    struct user *u = &h->user[i];
    if (u->fd >= 0 && u->slices == which && send(u->fd, &a, sizeof a, MSG_NOSIGNAL) != (ssize_t)sizeof a) drop(h, u);
  }
}

/* One that computes for long may wait in its own code for another one. */
static void tell_once(struct hub *h, pid_t running)
{
  if (h->told || ++h->looks < LOOKS_TO_TELL) return;
  h->told = true;
  fprintf(stderr, "warpstep: --share: the GPU waits for process %d, which computes: processes that wait for each other "
          "must sleep (docs/sharing.md)\n", (int)running);
}

/* False: it is too early. A process that was found asleep has sent before that what it has to say. While processes
 * come, it is looked for longer: one that starts may sleep for a file system's sake. */
static bool try_to_answer(struct hub *h)
{
  enum { LOOKS = 1, LOOKS_WHILE_THEY_COME = 5 };
  const pid_t running = process_tree_running(h->root, known, h);
  if (running) tell_once(h, running);
  if (running || hear_all(h)) h->quiet = 0;
  else h->quiet++;
  if (h->quiet < (h->joined ? LOOKS_WHILE_THEY_COME : LOOKS)) return false;
  h->looks = h->quiet = 0;
  h->joined = false;
  answer(h);
  return true;
}

static void wait_for_more(struct hub *h, bool look_again)
{
  struct pollfd p[TIME_SLICES_MAX + 1] = {{.fd = h->listener, .events = POLLIN}};
  const struct timespec soon = {.tv_nsec = LOOK_NS};
  for (unsigned i = 0; i < TIME_SLICES_MAX; i++) p[i + 1] = (struct pollfd){.fd = h->user[i].fd, .events = POLLIN};
  ppoll(p, TIME_SLICES_MAX + 1, look_again ? &soon : NULL, NULL);
}

static void serve(int listener, pid_t root)
{
  struct hub *h = mem_zeroed(1, sizeof *h);
  h->listener = listener;
  h->root = root;
  time_slices_init(&h->slices);
  for (unsigned i = 0; i < TIME_SLICES_MAX; i++) h->user[i].fd = -1;
  for (;;) {
    hear_all(h);
    if (!any_asks(h) || !try_to_answer(h)) wait_for_more(h, any_asks(h));
  }
}

/* --- its process -------------------------------------------------------------------------------- */

/* The system gives it a name that nobody else has. */
static int listen_somewhere(char name[SHARE_NAME], int type)
{
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  socklen_t n = sizeof at;
  const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at.sun_family) != 0 || listen(fd, TIME_SLICES_MAX) != 0 ||
      getsockname(fd, (struct sockaddr *)&at, &n) != 0)
    return -1;
  const size_t text = n - offsetof(struct sockaddr_un, sun_path);
  if (text < 2 || text > SHARE_NAME / 2) return -1;
  memcpy(name, at.sun_path + 1, text - 1);
  name[text - 1] = '\0';
  return fd;
}

bool share_hub_place(struct share_place *p, int type, size_t page_bytes, struct err *e)
{
  if (!process_tree_is_served())
    return err_set(e, "--share: this system does not tell which processes a program has (/proc/PID/task/TID/children)");
  p->root = getpid();
  p->listener = listen_somewhere(p->name, type);
  p->page = memfd_create("warpstep-time", MFD_CLOEXEC);
  return (p->listener >= 0 && p->page >= 0 && ftruncate(p->page, (off_t)page_bytes) == 0) ||
         err_set(e, "--share: %s", host_error());
}

bool share_hub_fork(struct share_hub *h, const struct share_place *p)
{
  fflush(NULL);
  h->process = fork();
  if (h->process) return false;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_IGN); /* of the terminal: the program's affair */
  signal(SIGQUIT, SIG_IGN);
  if (getppid() != p->root) _exit(CLI_BAD_INPUT);
  return true;
}

bool share_hub_parent(struct share_hub *h, const struct share_place *p, struct err *e)
{
  snprintf(h->name, sizeof h->name, "%.32s/%d/%d", p->name, (int)h->process, p->page);
  close(p->listener);
  close(p->page);
  return h->process > 0 || err_set(e, "--share: cannot start a process: %s", host_error());
}

bool share_hub_start(struct share_hub *h, struct err *e)
{
  struct share_place p;
  TRY(share_hub_place(&p, SOCK_SEQPACKET, sizeof(uint64_t), e));
  if (share_hub_fork(h, &p)) serve(p.listener, p.root);
  return share_hub_parent(h, &p, e);
}

/* The program says itself why it was not started. */
static void unstarted(void *ctx)
{
  (void)ctx;
}

int share_hub_run(struct share_hub *h, char **program)
{
  struct program_parent p;
  prctl(PR_SET_CHILD_SUBREAPER, 1); /* what the program leaves behind is still one of its processes */
  const bool ran = program_parent_run(&p, program, unstarted, NULL);
  kill(h->process, SIGKILL);
  while (waitpid(h->process, NULL, 0) < 0 && errno == EINTR) continue;
  return ran ? program_parent_end(&p) : CLI_BAD_INPUT;
}
