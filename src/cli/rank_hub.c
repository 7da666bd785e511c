#include "cli/rank_hub.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/ranks.h"
#include "cli/cli.h"
#include "cli/program_start.h"
#include "cli/rank_mpi.h"

struct child {
  pid_t process;
  int fd;
  int status; /* as wait() says it, once it was waited for */
};

struct hub {
  struct rank_mpi *mpi; /* NULL: all ranks are children */
  unsigned n, first, n_here; /* ranks; those that are children */
  struct child child[RANKS_MAX]; /* by number among them */
  struct rank_frame frame[RANKS_MAX];
  uint8_t *mine, *all; /* bytes of those here, of all */
  size_t n_mine, room_mine, room_all;
};

/* --- starting them ------------------------------------------------------------------------------- */

/* What only one can have. */
static void be_silent(void)
{
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; fd++) dup2(null, fd);
  if (null > 2) close(null);
}

/* In the child. Addresses are the same in all ranks, as far as the system lets them be: a program may give some to its
 * GPUs. */
static void become(char **program, unsigned rank, int fd, pid_t parent)
{
  struct err e = {""};
  if (fd != RANK_HUB_FD) {
    dup2(fd, RANK_HUB_FD);
    close(fd);
  }
  if (rank) be_silent();
  const int now = personality(0xffffffff);
  if (now >= 0) personality((unsigned long)now | ADDR_NO_RANDOMIZE);
  rank_mpi_clean_environment();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  program_begins();
  if (getppid() == parent) execvp(program[0], program);
  program_not_started(program[0], &e);
  _exit(rank ? CLI_BAD_INPUT : cli_error("%s", e.msg));
}

static bool start(struct hub *h, unsigned i, char **program)
{
  int pair[2];
  const pid_t self = getpid();
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    const int fd = fcntl(pair[1], F_DUPFD, 3); /* stays open */
    become(program, h->first + i, fd, self);
  }
  close(pair[1]);
  h->child[i] = (struct child){.process = child, .fd = pair[0]};
  return child > 0;
}

static bool start_all(struct hub *h, char **program)
{
  for (unsigned i = 0; i < h->n_here; i++) {
    const struct rank_hello hello = {h->first + i, h->n};
    if (!start(h, i, program)) return false;
    rank_send(h->child[i].fd, &hello, sizeof hello);
  }
  return true;
}

/* --- meetings ------------------------------------------------------------------------------------ */

static bool receive(int fd, void *to, size_t bytes)
{
  for (uint8_t *at = to; bytes;) {
    const ssize_t n = recv(fd, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

static void *room_for(void *old, size_t *room, size_t bytes)
{
  if (bytes <= *room) return old;
  *room = 2 * bytes;
  return mem_resize(old, *room, 1);
}

static void hear(struct hub *h, unsigned i)
{
  struct rank_frame *f = &h->frame[h->first + i];
  if (!receive(h->child[i].fd, f, sizeof *f)) {
    *f = (struct rank_frame){.bytes = RANK_ENDED};
    return;
  }
  if (f->bytes == RANK_DIFFERS) return;
  h->mine = room_for(h->mine, &h->room_mine, h->n_mine + f->bytes);
  if (!receive(h->child[i].fd, h->mine + h->n_mine, f->bytes)) *f = (struct rank_frame){.bytes = RANK_ENDED};
  else h->n_mine += f->bytes;
}

static unsigned ended(const struct hub *h)
{
  unsigned n = 0;
  for (unsigned i = 0; i < h->n; i++) n += h->frame[i].bytes >= RANK_DIFFERS;
  return n;
}

static void tell(const struct hub *h)
{
  size_t bytes = 0;
  for (unsigned i = 0; i < h->n; i++) bytes += h->frame[i].bytes;
  for (unsigned i = 0; i < h->n_here; i++)
    if (rank_send(h->child[i].fd, h->frame, h->n * sizeof *h->frame))
      rank_send(h->child[i].fd, h->mpi ? h->all : h->mine, bytes);
}

/* False: some rank has ended. */
static bool meet(struct hub *h)
{
  h->n_mine = 0;
  for (unsigned i = 0; i < h->n_here; i++) hear(h, i);
  if (h->mpi) rank_mpi_frames(h->mpi, &(struct rank_frame){h->frame[h->first].bytes, h->frame[h->first].sum,
                                                         h->frame[h->first].noted}, h->frame);
  if (ended(h)) return false;
  size_t bytes = 0;
  for (unsigned i = 0; i < h->n; i++) bytes += h->frame[i].bytes;
  if (h->mpi) h->all = room_for(h->all, &h->room_all, bytes);
  if (h->mpi) rank_mpi_bytes(h->mpi, h->mine, h->frame, h->all);
  tell(h);
  return true;
}

/* --- the end ------------------------------------------------------------------------------------- */

/* The first rank of which that is known. */
static unsigned first_with(const struct hub *h, uint64_t bytes)
{
  unsigned i = 0;
  while (i < h->n && h->frame[i].bytes != bytes) i++;
  return i;
}

/* Some have ended, others go on: these end, too. False: all have ended well. */
static bool end_others(const struct hub *h)
{
  const unsigned differs = first_with(h, RANK_DIFFERS), gone = first_with(h, RANK_ENDED);
  if (differs == h->n && ended(h) == h->n) return true;
  if (h->first) return false;
  if (differs < h->n)
    fprintf(stderr, "warpstep: --ranks: the program does not do the same in all of its processes (found at step "
            "%llu): only deterministic programs can be run so\n",
            (unsigned long long)h->frame[differs].noted);
  else
    fprintf(stderr, "warpstep: --ranks: process %u of %u has ended while others go on: the program does not do the "
            "same in all of them, or it failed there\n", gone, h->n);
  return false;
}

static void end_all(const struct hub *h)
{
  for (unsigned k = 0; k < h->n_here; k++) kill(h->child[k].process, SIGKILL);
}

static void wait_for_all(struct hub *h)
{
  for (unsigned i = 0; i < h->n_here; i++)
    while (waitpid(h->child[i].process, &h->child[i].status, 0) < 0 && errno == EINTR) continue;
}

/* As the program did, without a second core file. */
static int end_by(int sig)
{
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  signal(sig, SIG_DFL);
  raise(sig);
  return 128 + sig;
}

static int status_of(const struct hub *h, bool together)
{
  const int first = h->child[0].status;
  if (!together) return CLI_BAD_INPUT;
  if (WIFSIGNALED(first)) return end_by(WTERMSIG(first));
  if (WEXITSTATUS(first)) return WEXITSTATUS(first);
  for (unsigned i = 1; i < h->n_here; i++)
    if (!WIFEXITED(h->child[i].status) || WEXITSTATUS(h->child[i].status)) return CLI_BAD_INPUT;
  return CLI_OK;
}

int rank_hub_run(unsigned n, char **program)
{
  struct hub h = {.n = n, .n_here = n};
  struct err e = {""};
  if (n == 0) {
    if (!(h.mpi = rank_mpi_begin(&h.first, &h.n, &e))) return cli_error("%s", e.msg);
    h.n_here = 1;
  }
  if (h.n > RANKS_MAX) return cli_error("--ranks: %u processes, at most %d", h.n, RANKS_MAX);
  if (!start_all(&h, program)) return cli_error("cannot start a process: %s", host_error());
  while (meet(&h)) continue;
  const bool together = end_others(&h);
  if (!together) end_all(&h);
  wait_for_all(&h);
  rank_mpi_end(h.mpi);
  mem_free(h.mine);
  mem_free(h.all);
  return status_of(&h, together);
}
