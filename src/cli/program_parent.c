#include "cli/program_parent.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "cli/cli.h"
#include "cli/program_start.h"

static void hold(struct program_parent *h)
{
  static const int taken[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  sigemptyset(&h->signals);
  for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++) sigaddset(&h->signals, taken[i]);
  sigprocmask(SIG_BLOCK, &h->signals, &h->before);
  sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &h->child); /* ignored ones cannot be waited for */
}

/* In the child: becomes the program, which has this process's terminal and signals, and ends with it. */
static void become(char **program, const struct program_parent *h, pid_t parent)
{
  struct err e = {""};
  sigaction(SIGCHLD, &h->child, NULL);
  sigprocmask(SIG_SETMASK, &h->before, NULL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  program_begins();
  if (getppid() == parent) execvp(program[0], program);
  program_not_started(program[0], &e);
  cli_error("%s", e.msg);
}

/* How the program ended, as wait() says it. Signals that somebody sends to this process go to the program; those of the
 * terminal it gets anyway. */
static int wait_for(pid_t program, const struct program_parent *h)
{
  for (;;) {
    siginfo_t info;
    int status;
    const int sig = sigwaitinfo(&h->signals, &info);
    if (sig == SIGCHLD && waitpid(program, &status, WNOHANG) == program) return status;
    if (sig > 0 && sig != SIGCHLD && info.si_code <= 0) kill(program, sig);
  }
}

bool program_parent_run(struct program_parent *h, char **program, void (*unstarted)(void *ctx), void *ctx)
{
  const pid_t self = getpid();
  fflush(NULL);
  hold(h);
  const pid_t child = fork();
  if (child == 0) {
    become(program, h, self);
    unstarted(ctx);
    fflush(NULL);
    _exit(CLI_BAD_INPUT);
  }
  if (child < 0) return cli_error("cannot start a process: %s", host_error()), false;
  h->program = child;
  h->status = wait_for(child, h);
  return true;
}

/* As the program did, without a second core file. */
static int end_by(int sig, const struct program_parent *h)
{
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  signal(sig, SIG_DFL);
  raise(sig);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, sig);
  sigprocmask(SIG_SETMASK, &h->before, NULL);
  sigprocmask(SIG_UNBLOCK, &only, NULL);
  return 128 + sig;
}

int program_parent_end(const struct program_parent *h)
{
  return WIFSIGNALED(h->status) ? end_by(WTERMSIG(h->status), h) : WEXITSTATUS(h->status);
}
