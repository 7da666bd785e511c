#include "cuda/core/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "cuda/core/exec_report.h"
#include "cuda/core/shim.h"

enum {
  STATUS_SIGNAL = 128, /* + number, as shells report it */
  MOMENTS = 1000, MOMENT_NS = 10 * 1000 * 1000,
  KERNEL_FRAME = 4096 /* more than what the kernel puts there: siginfo_t, ucontext_t */
};

/* The program's own raise(), or kill() of itself, does not return from a signal that ends it (POSIX, raise, kill). Not
 * for ever: another thread's pthread_kill() looks the same, and this one may hold a lock that the report needs. */
static void wait_for_the_end(void)
{
  const struct timespec moment = { .tv_nsec = MOMENT_NS };
  for (int i = 0; i < MOMENTS; i++) nanosleep(&moment, NULL);
}

/* A program that keeps what was there before its own handler may call this one with the number alone. The kernel puts
 * what it says on the handler's stack, in front of its frame. */
static bool is_own(const struct shim *s, const siginfo_t *info)
{
  const uintptr_t distance = (uintptr_t)info - (uintptr_t)__builtin_frame_address(0);
  return distance < KERNEL_FRAME && info->si_code <= 0 && info->si_pid == s->pid;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
  struct shim *s = shim_get();
  const int error = errno;
  (void)context;
  if (s->pid != getpid()) { /* a forked child: its launches are not simulated here */
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  atomic_store(&s->interrupt.signal, number);
  sem_post(&s->interrupt.wake);
  if (is_own(s, info) && !shim_is_mine(s)) wait_for_the_end();
  errno = error;
}

/* By the signal itself, as the program would have ended: who waits for it (a parent, a shell's loop) asks what it
 * was. */
static _Noreturn void end_by(int number)
{
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  signal(number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &only, NULL);
  raise(number);
  _exit(STATUS_SIGNAL + number); /* the first process of a container: it does not die of it */
}

_Noreturn void interrupt_end(struct shim *s)
{
  int number = atomic_load(&s->interrupt.signal);
  shim_say("stopped by signal %d%s; so far:", number, number == SIGINT ? " (Ctrl-C)" : "");
  exec_report(s);
  fflush(NULL);
  end_by(number);
}

static _Noreturn void leave(struct shim *s)
{
  exec_report(s);
  _exit(shim_status(s, s->interrupt.status)); /* its reports are there: at once */
}

static void *wait_for_signal(void *p)
{
  struct shim *s = p;
  own_thread();
  while (sem_wait(&s->interrupt.wake) != 0) continue;
  pthread_mutex_lock(&s->lock); /* a launch under way ends the program itself */
  if (s->interrupt.leaves) leave(s);
  interrupt_end(s);
}

void interrupt_leave(struct shim *s, int status)
{
  if (!s->interrupt.watched) return;
  s->interrupt.leaves = true;
  s->interrupt.status = status;
  sem_post(&s->interrupt.wake);
  wait_for_the_end();
}

void interrupt_watch(struct shim *s)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGABRT };
  struct sigaction now, ours = { .sa_sigaction = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART | SA_SIGINFO };
  sigset_t all, before;
  pthread_t thread;
  sigemptyset(&ours.sa_mask);
  sem_init(&s->interrupt.wake, 0, 0);
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before); /* the program's threads get its signals */
  bool started = pthread_create(&thread, NULL, wait_for_signal, s) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!started) return;
  pthread_detach(thread);
  s->interrupt.watched = true;
  for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (sigaction(numbers[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
        now.sa_handler == SIG_DFL)
      sigaction(numbers[i], &ours, NULL);
}
