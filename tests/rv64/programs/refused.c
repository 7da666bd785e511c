/* System calls with arguments at the edge of what they take, and beyond: what each returns. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, BAD = 1000 }; /* BAD: no descriptor */
#define NOWHERE ((void *)16)

/* What a call returns, as a number; below 0: an errno. */
static long said(long r)
{
  return r == -1 ? -errno : r;
}

#define SAY(call) printf("%s: %ld\n", #call, said(call))
/* Of what depends on the machine: whether it is right. */
#define IS(what) printf("%s: %s\n", #what, (what) ? "yes" : "no")

static char name[64];
static char *mine(const char *file)
{
  static char path[2][128];
  static int k;
  snprintf(path[k = !k], sizeof path[0], "%s/%s", name, file);
  return path[k];
}

static void memory(void)
{
  char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *low = (char *)syscall(SYS_brk, 0), *up;
  IS(syscall(SYS_brk, NOWHERE) == (long)low);
  IS(syscall(SYS_brk, -1L) == (long)low);
  up = (char *)syscall(SYS_brk, low + 3 * PAGE);
  IS(up == low + 3 * PAGE);
  low[0] = 1, up[-1] = 2;
  IS(syscall(SYS_brk, low + PAGE) == (long)(low + PAGE));
  up = (char *)syscall(SYS_brk, low + 3 * PAGE);
  IS(low[0] == 1 && up[-1] == 0); /* what came back is new */
  SAY((long)mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  SAY((long)mmap(p + 1, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  SAY((long)mmap(NULL, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0));
  SAY((long)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, BAD, 0));
  IS(mmap(p + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + PAGE);
  p[0] = 5, p[PAGE] = 6, p[2 * PAGE] = 7;
  SAY(madvise(p + PAGE, PAGE, MADV_DONTNEED));
  printf("advised: %d %d %d\n", p[0], p[PAGE], p[2 * PAGE]);
  SAY(madvise(p + 1, PAGE, MADV_DONTNEED));
  SAY(munmap(p + 1, PAGE));
  SAY(munmap(p, 0));
  SAY(mprotect(p + 1, PAGE, PROT_READ));
  SAY(munmap(p + PAGE, PAGE));
  SAY(mprotect(p, 3 * PAGE, PROT_READ | PROT_WRITE)); /* a hole */
  SAY(munmap(p + PAGE, PAGE));                        /* nothing there */
  char *q = mremap(p + 2 * PAGE, 2 * PAGE, PAGE, 0);
  IS(q == p + 2 * PAGE && q[0] == 7);
  q = mremap(q, PAGE, 8 * PAGE, MREMAP_MAYMOVE);
  IS(q != MAP_FAILED && q[0] == 7 && q[8 * PAGE - 1] == 0);
  SAY((long)mremap(q + 1, PAGE, PAGE, 0));
  SAY(munmap(q, 8 * PAGE));
}

static void descriptors(void)
{
  char buffer[64], many[3000];
  struct iovec v[3] = {{buffer, 2}, {NULL, 0}, {buffer + 2, 60}};
  int fd = open(mine("file"), O_RDWR | O_CREAT | O_EXCL, 0640), two[2];
  memset(many, 'x', sizeof many);
  IS(fd > 2);
  SAY(open(mine("file"), O_RDWR | O_CREAT | O_EXCL, 0640));
  SAY(write(fd, "0123456789", 10));
  SAY(read(BAD, buffer, 1));
  SAY(read(-1, buffer, 1));
  SAY(syscall(SYS_read, fd, NOWHERE, 0));
  SAY(lseek(fd, 0, SEEK_SET));
  SAY(syscall(SYS_read, fd, NOWHERE, 4));
  SAY(syscall(SYS_write, fd, NOWHERE, 4));
  SAY(pread(fd, buffer, 4, 8));
  SAY(pread(fd, buffer, 4, 10));
  SAY(pread(fd, buffer, 4, -1));
  SAY(pwrite(fd, "ab", 2, 12));
  SAY(lseek(fd, 0, SEEK_CUR));
  SAY(readv(fd, v, 3));
  printf("%.14s\n", buffer[10] == 0 ? "hole" : buffer);
  SAY(readv(fd, v, 3));
  SAY(readv(fd, v, -1));
  SAY(syscall(SYS_readv, fd, v, 1025));
  SAY(syscall(SYS_readv, fd, NOWHERE, 1));
  SAY(readv(BAD, v, 1));
  SAY(lseek(fd, -1, SEEK_SET));
  SAY(lseek(fd, 0, 77));
  SAY(lseek(BAD, 0, SEEK_SET));
  SAY(ftruncate(fd, 5));
  SAY(lseek(fd, 0, SEEK_END));
  SAY(ftruncate(fd, -1));
  SAY(ftruncate(BAD, 0));
  SAY(fsync(fd));
  SAY(fdatasync(fd));
  SAY(fsync(BAD));
  SAY(dup3(fd, fd, 0));
  SAY(syscall(SYS_dup3, fd, 77, 1));
  SAY(dup3(BAD, 77, 0));
  SAY(dup3(fd, 77, O_CLOEXEC));
  SAY(fcntl(77, F_GETFD));
  SAY(fcntl(77, F_SETFD, 0));
  SAY(fcntl(77, F_GETFD));
  SAY(fcntl(fd, F_DUPFD, 77));
  SAY(fcntl(78, F_GETFD));
  SAY(fcntl(fd, F_DUPFD_CLOEXEC, 70));
  SAY(fcntl(70, F_GETFD));
  SAY(fcntl(BAD, F_GETFD));
  SAY(fcntl(fd, F_SETFL, O_APPEND));
  IS(fcntl(fd, F_GETFL) & O_APPEND);
  SAY(dup(BAD));
  SAY(lseek(77, 0, SEEK_CUR)); /* the same file, the same place in it */
  SAY(close(77));
  SAY(close(77));
  SAY(ioctl(fd, TIOCGWINSZ, buffer));
  SAY(ioctl(BAD, TIOCGWINSZ, buffer));
  SAY(syscall(SYS_pipe2, two, 1));
  SAY(syscall(SYS_pipe2, NOWHERE, 0));
  SAY(pipe2(two, O_CLOEXEC | O_NONBLOCK));
  SAY(fcntl(two[0], F_GETFD));
  SAY(read(two[0], buffer, 1));
  SAY(write(two[1], many, sizeof many));
  SAY(ioctl(two[0], FIONREAD, (int *)buffer));
  printf("%d\n", *(int *)buffer);
  SAY(lseek(two[0], 0, SEEK_SET));
  SAY(read(two[0], many, 5000));
  struct pollfd ask[3] = {{two[0], POLLIN, 0}, {two[1], POLLOUT, 0}, {BAD, POLLIN, 0}};
  SAY(poll(ask, 3, 0));
  printf("%d %d %d\n", ask[0].revents, ask[1].revents, ask[2].revents);
  ask[2].fd = -1;
  SAY(poll(ask, 3, 0));
  printf("%d %d %d\n", ask[0].revents, ask[1].revents, ask[2].revents);
  SAY(poll(ask, 1, 1)); /* nothing comes in a millisecond */
  char *edge = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SAY(munmap(edge + PAGE, PAGE));
  struct pollfd *last = (struct pollfd *)(edge + PAGE) - 1; /* nothing behind it */
  *last = (struct pollfd){two[1], POLLOUT, 0};
  SAY(syscall(SYS_ppoll, last, 1L, NULL, NULL, 8L));
  SAY(syscall(SYS_ppoll, last, 2L, NULL, NULL, 8L));
  SAY(syscall(SYS_writev, two[1], edge + PAGE - sizeof(struct iovec), 1L));
  SAY(syscall(SYS_writev, two[1], edge + PAGE - sizeof(struct iovec), 2L));
  SAY(close(two[1]));
  SAY(read(two[0], buffer, 1));
  SAY(poll(ask, 1, 0));
  printf("%d\n", ask[0].revents == POLLHUP);
  close(two[0]);
  close(fd);
}

static void names(void)
{
  struct stat st;
  char buffer[PATH_MAX], small[3];
  SAY(mkdir(mine("folder"), 0750));
  SAY(mkdir(mine("folder"), 0750));
  SAY(stat(mine("folder"), &st));
  IS(S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0750);
  SAY(stat(mine("file"), &st));
  printf("%ld bytes, mode %o, %d link\n", (long)st.st_size, st.st_mode, (int)st.st_nlink);
  SAY(stat(mine("nothing"), &st));
  SAY(stat("", &st));
  SAY(fstatat(BAD, "file", &st, 0));
  SAY(fstatat(AT_FDCWD, mine("file"), &st, 0x40000000));
  SAY(syscall(SYS_newfstatat, AT_FDCWD, mine("file"), NOWHERE, 0));
  SAY(syscall(SYS_newfstatat, AT_FDCWD, NOWHERE, &st, 0));
  SAY(fstat(BAD, &st));
  SAY(fstatat(AT_FDCWD, "", &st, AT_EMPTY_PATH));
  IS(S_ISDIR(st.st_mode));
  SAY(open(mine("nothing"), O_RDONLY));
  SAY(open(mine("file"), O_DIRECTORY));
  SAY(openat(BAD, "file", O_RDONLY));
  SAY(access(mine("file"), R_OK));
  SAY(access(mine("nothing"), R_OK));
  SAY(truncate(mine("file"), 3));
  SAY(truncate(mine("nothing"), 3));
  SAY(stat(mine("file"), &st));
  printf("%ld bytes\n", (long)st.st_size);
  SAY(readlink(mine("file"), buffer, sizeof buffer));
  SAY(readlink("/proc/self/exe", buffer, 0));
  SAY(readlink("/proc/self/exe", small, sizeof small));
  SAY(rename(mine("file"), mine("folder/moved")));
  SAY(rename(mine("file"), mine("folder/moved")));
  SAY(syscall(SYS_renameat2, AT_FDCWD, mine("folder/moved"), AT_FDCWD, mine("folder"), 1)); /* RENAME_NOREPLACE */
  SAY(rmdir(mine("folder")));
  SAY(unlink(mine("folder")));
  SAY(chdir(mine("folder")));
  IS(getcwd(buffer, sizeof buffer) && strlen(buffer) > 7 && !strcmp(buffer + strlen(buffer) - 7, "/folder"));
  SAY(syscall(SYS_getcwd, buffer, 3));
  SAY(syscall(SYS_getcwd, NOWHERE, PATH_MAX));
  SAY(access("moved", R_OK));
  SAY(chdir("nothing"));
  SAY(chdir("/"));
  int folder = open(mine("folder"), O_DIRECTORY | O_RDONLY);
  SAY(unlinkat(folder, "moved", 0));
  SAY(unlinkat(folder, "moved", 0));
  SAY(syscall(SYS_getdents64, BAD, buffer, sizeof buffer));
  IS(syscall(SYS_getdents64, folder, buffer, sizeof buffer) > 0);
  SAY(syscall(SYS_getdents64, folder, buffer, sizeof buffer));
  close(folder);
  SAY(rmdir(mine("folder")));
  IS(umask(027) == 022 || umask(027) == 027);
  SAY(umask(0));
}

static void times_and_numbers(void)
{
  struct timespec t = {0, 1}, later = {1, 0}, u;
  struct timeval v;
  struct tms tms;
  struct rlimit limit = {0, 0};
  struct rusage usage;
  struct utsname uts;
  uint64_t set[16];
  SAY(syscall(SYS_clock_gettime, 99, &t));
  SAY(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, NOWHERE));
  SAY(syscall(SYS_clock_getres, 99, &t));
  SAY(syscall(SYS_clock_getres, CLOCK_MONOTONIC, NULL));
  SAY(clock_getres(CLOCK_REALTIME, &t));
  printf("%ld %ld\n", (long)t.tv_sec, t.tv_nsec);
  SAY(clock_gettime(CLOCK_MONOTONIC, &t));
  SAY(usleep(1500));
  SAY(clock_gettime(CLOCK_MONOTONIC, &u));
  IS((u.tv_sec - t.tv_sec) * 1000000000L + u.tv_nsec - t.tv_nsec >= 1500000);
  SAY(clock_gettime(CLOCK_REALTIME, &u));
  SAY(gettimeofday(&v, NULL));
  IS(labs(v.tv_sec - u.tv_sec) <= 1 && v.tv_usec < 1000000);
  SAY(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &u));
  t = (struct timespec){0, 1000000000};
  SAY(syscall(SYS_nanosleep, &t, NULL));
  t = (struct timespec){-1, 0};
  SAY(syscall(SYS_nanosleep, &t, NULL));
  t = (struct timespec){0, 1};
  SAY(syscall(SYS_nanosleep, &t, NULL));
  SAY(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL));
  SAY(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &later, NULL)); /* in 1970 */
  IS(times(&tms) >= 0);
  SAY(getrusage(RUSAGE_SELF, &usage));
  IS(usage.ru_maxrss > 0);
  SAY(uname(&uts));
  IS(!strcmp(uts.sysname, "Linux") && !strcmp(uts.machine, "riscv64"));
  IS(getpid() > 0 && syscall(SYS_gettid) == getpid() && getppid() > 0);
  IS(getuid() == geteuid() && getgid() == getegid());
  SAY(syscall(SYS_getrlimit, 16, &limit));
  SAY(getrlimit(RLIMIT_NOFILE, &limit));
  IS(limit.rlim_cur >= 64 && limit.rlim_cur <= limit.rlim_max);
  SAY(getrlimit(RLIMIT_STACK, &limit));
  IS(limit.rlim_cur >= 1 << 20);
  SAY(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit));
  SAY(syscall(SYS_prlimit64, getpid(), RLIMIT_NOFILE, NULL, &limit));
  SAY(syscall(SYS_sched_getaffinity, 0, 4, set));
  IS(syscall(SYS_sched_getaffinity, 0, sizeof set, set) >= 8 && (set[0] & 1));
  SAY(sched_yield());
  memset(set, 0, sizeof set);
  SAY(syscall(SYS_getrandom, set, 21, 0));
  IS(set[0] && set[1] && set[2] && !(set[2] >> 40) && set[0] != set[1]);
  SAY(syscall(SYS_getrandom, NOWHERE, 8, 0));
}

static void words(void)
{
  static uint32_t word = 7, other = 5;
  struct timespec soon = {0, 1000}, bad = {0, -1};
  SAY(syscall(SYS_futex, &word, FUTEX_WAIT, 8, NULL));
  SAY(syscall(SYS_futex, &word, FUTEX_WAIT, 7, &soon));
  SAY(syscall(SYS_futex, &word, FUTEX_WAIT, 7, &bad));
  SAY(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 7, &soon, NULL, 0));
  SAY(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 7, &soon, NULL, 1)); /* that moment has passed */
  SAY(syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, 7, NULL, NULL, 0));
  SAY(syscall(SYS_futex, (char *)&word + 1, FUTEX_WAKE, 1));
  SAY(syscall(SYS_futex, &word, FUTEX_WAKE, 1));
  SAY(syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 1, 1L, &other, 8));
  SAY(syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 1, 1L, &other, 7));
  static const struct { int op, by, cmp, with; } row[] = {
      {FUTEX_OP_SET, 9, FUTEX_OP_CMP_EQ, 5},  {FUTEX_OP_ADD, 4, FUTEX_OP_CMP_NE, 5},  {FUTEX_OP_OR, 0x21, FUTEX_OP_CMP_LT, 5},
      {FUTEX_OP_ANDN, 1, FUTEX_OP_CMP_LE, 5}, {FUTEX_OP_XOR, 6, FUTEX_OP_CMP_GT, -1}, {FUTEX_OP_ADD, -3, FUTEX_OP_CMP_GE, 5},
      {FUTEX_OP_SET | FUTEX_OP_OPARG_SHIFT, 4, FUTEX_OP_CMP_EQ, 5}, {FUTEX_OP_ADD | FUTEX_OP_OPARG_SHIFT, 31, FUTEX_OP_CMP_LT, -1},
  };
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    other = 5;
    long r = said(syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1L, &other, FUTEX_OP(row[i].op, row[i].by, row[i].cmp, row[i].with)));
    printf("operation %u: %ld, %u\n", i, r, other);
  }
  SAY(syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1L, NOWHERE, FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 1)));
}

static void none(int n)
{
  (void)n;
}

static void signals(void)
{
  struct sigaction act = {.sa_handler = none}, old;
  stack_t st = {.ss_size = 100, .ss_sp = name}, was;
  uint64_t mask = 0, had = 0;
  SAY(sigaction(SIGKILL, &act, NULL));
  SAY(sigaction(SIGSTOP, &act, NULL));
  SAY(syscall(SYS_rt_sigaction, 0, NULL, NULL, 8));
  SAY(syscall(SYS_rt_sigaction, 65, NULL, NULL, 8));
  SAY(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 4));
  SAY(syscall(SYS_rt_sigaction, SIGUSR1, NOWHERE, NULL, 8));
  SAY(sigaction(SIGKILL, NULL, &old));
  SAY(sigaction(SIGUSR1, &act, NULL));
  SAY(sigaction(SIGUSR1, NULL, &old));
  IS(old.sa_handler == none);
  mask = ~0ull;
  SAY(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, 4));
  SAY(syscall(SYS_rt_sigprocmask, 7, &mask, NULL, 8));
  SAY(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8));
  SAY(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &had, 8));
  IS(!(had >> (SIGKILL - 1) & 1) && !(had >> (SIGSTOP - 1) & 1) && (had >> (SIGUSR1 - 1) & 1));
  SAY(kill(getpid(), SIGUSR1));
  SAY(syscall(SYS_rt_sigpending, &had, 8));
  IS(had >> (SIGUSR1 - 1) & 1);
  mask = 1ull << (SIGUSR1 - 1);
  SAY(syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, 8)); /* it comes */
  SAY(syscall(SYS_rt_sigpending, &had, 8));
  IS(!(had >> (SIGUSR1 - 1) & 1));
  mask = 0;
  SAY(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8));
  SAY(kill(getpid(), 0));
  SAY(kill(getpid(), 65));
  SAY(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0));
  SAY(syscall(SYS_tgkill, getpid(), 99999999, SIGUSR1));
  SAY(syscall(SYS_tkill, 99999999, SIGUSR1));
  SAY(kill(getpid(), SIGCHLD));  /* ignored */
  SAY(kill(getpid(), SIGWINCH)); /* likewise */
  SAY(kill(getpid(), SIGURG));
  SAY(sigaltstack(&st, NULL));
  st.ss_size = 1 << 16, st.ss_sp = malloc(1 << 16), st.ss_flags = 0;
  SAY(sigaltstack(&st, &was));
  IS(was.ss_flags == SS_DISABLE);
  SAY(sigaltstack(NULL, &was));
  IS(was.ss_sp == st.ss_sp && was.ss_size == st.ss_size && was.ss_flags == 0);
  st.ss_flags = SS_DISABLE;
  SAY(sigaltstack(&st, NULL));
  SAY(sigaltstack(NULL, &was));
  IS(was.ss_flags == SS_DISABLE);
}

int main(void)
{
  snprintf(name, sizeof name, "/tmp/refused.XXXXXX");
  if (!mkdtemp(name)) return 1;
  memory();
  descriptors();
  names();
  times_and_numbers();
  words();
  signals();
  SAY(rmdir(name));
  return 0;
}
