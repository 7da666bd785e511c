/* Processes of a test that meet, and what fails says where. */
#ifndef TESTS_MPS_PROCESSES_H
#define TESTS_MPS_PROCESSES_H
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda_runtime.h>

#define CHECK(x)                                                                                                \
  do {                                                                                                          \
    cudaError_t e_ = (x);                                                                                       \
    if (e_ != cudaSuccess) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(e_)); fflush(stdout); exit(1); } \
  } while (0)

/* Processes that meet: each says that it is there and waits for the word of who started them. */
struct start {
  int there[2], go[2], end[2];
};

static void meet(const struct start *s)
{
  char word = 'x';
  if (write(s->there[1], &word, 1) != 1 || read(s->go[0], &word, 1) != 1) exit(1);
}

/* Nobody ends before all have come here. */
static void meet_again(const struct start *s)
{
  char word = 'x';
  (void)!write(s->there[1], &word, 1);
  (void)!read(s->end[0], &word, 1);
}

template <class F> static int processes(int n, F run, bool again = false)
{
  struct start s;
  char word[64];
  int bad = 0, status;
  if (pipe(s.there) || pipe(s.go) || pipe(s.end)) return 1;
  for (int i = 0; i < n; i++)
    if (fork() == 0) {
      close(s.end[1]);
      close(s.there[0]);
      close(s.go[1]);
      exit(run(i, &s));
    }
  close(s.there[1]);
  close(s.go[0]);
  for (int i = 0; i < n; i++)
    if (read(s.there[0], word, 1) != 1) break;
  memset(word, 'x', sizeof word);
  if (write(s.go[1], word, n) != n) return 1;
  if (again)
    for (int i = 0; i < n; i++)
      if (read(s.there[0], word, 1) != 1) break;
  close(s.go[1]);
  close(s.end[1]); /* which lets go whoever reads there */
  for (int i = 0; i < n; i++) bad |= wait(&status) < 0 || status != 0;
  return bad;
}
#endif
