#include "cli/sanitize_parent.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "cli/cli.h"

/* Signals while the program runs, which wait_for takes. */
struct held {
  sigset_t signals, before;
  struct sigaction child; /* what the caller does about ended children */
};

static void hold(struct held *h)
{
  static const int taken[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  sigemptyset(&h->signals);
  for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++) sigaddset(&h->signals, taken[i]);
  sigprocmask(SIG_BLOCK, &h->signals, &h->before);
  sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &h->child); /* ignored ones cannot be waited for */
}

/* In the child: becomes the program, which has this process's terminal and signals, and ends with it. */
static _Noreturn void become(char **program, const struct held *h, pid_t parent, struct sanitize_tally *t)
{
  sigaction(SIGCHLD, &h->child, NULL);
  sigprocmask(SIG_SETMASK, &h->before, NULL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent) execvp(program[0], program);
  t->unstarted++;
  cli_error("%s: %s", program[0], host_error());
  fflush(NULL);
  _exit(CLI_BAD_INPUT);
}

/* How the program ended, as wait() says it. Signals that somebody sends to this process go to the program; those of the
 * terminal it gets anyway. */
static int wait_for(pid_t program, const struct held *h)
{
  for (;;) {
    siginfo_t info;
    int status;
    const int sig = sigwaitinfo(&h->signals, &info);
    if (sig == SIGCHLD && waitpid(program, &status, WNOHANG) == program) return status;
    if (sig > 0 && sig != SIGCHLD && info.si_code <= 0) kill(program, sig);
  }
}

static void tell(const struct sanitize_tally *t, FILE *out)
{
  const uint64_t began = t->began, ended = t->ended, errors = t->errors;
  if (t->unstarted) return;
  if (!t->launches) fputs("warpstep: sanitize: no kernel ran, so nothing was checked\n", stderr);
  if (began > ended)
    fprintf(out, "========= %" PRIu64 " of %" PRIu64 " process%s ended without a summary\n", began - ended, began,
            began == 1 ? "" : "es");
  if (began > 1 || began > ended) {
    fprintf(out, "========= ERROR SUMMARY: %" PRIu64 " error%s", errors, errors == 1 ? "" : "s");
    if (began > 1) fprintf(out, " in %" PRIu64 " processes", began);
    fputc('\n', out);
  }
  fflush(out);
}

/* As the program did, without a second core file. */
static int end_by(int sig, const struct held *h)
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

int sanitize_parent(char **program, struct sanitize_tally *t, FILE *out, int error_status)
{
  struct held h;
  const pid_t self = getpid();
  fflush(NULL);
  hold(&h);
  const pid_t child = fork();
  if (child == 0) become(program, &h, self, t);
  if (child < 0) return cli_error("cannot start a process: %s", host_error());
  const int status = wait_for(child, &h);
  tell(t, out);
  if (WIFSIGNALED(status)) return end_by(WTERMSIG(status), &h);
  return WEXITSTATUS(status) ? WEXITSTATUS(status) : t->errors ? error_status : CLI_OK;
}
