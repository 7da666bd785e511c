/* Events of several processes, by their slots (cuda/core/ipc_event.h): who has recorded and who is gone, and what
 * another process may have written there. Processes are children of this one, which share its mappings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/core/ipc_event.h"
#include "cuda/core/shim.h"
#include "cuda/core/streams.h"

enum { LOOKS = 1000 }; /* of 5 ms, or until the event changes */

static struct shim shim;

static struct event exported(int *fd, uint64_t *at)
{
  struct event e = {0};
  assert_true(ipc_event_export(&shim, &e, fd, at));
  return e;
}

/* A process that has recorded it and does not end; of the returned pipe one byte more says so. */
static pid_t recorder(struct event *e)
{
  int ready[2];
  char byte;
  assert_int_equal(pipe(ready), 0);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    alarm(60); /* should this test fail */
    ipc_event_record(&shim, e);
    if (write(ready[1], "", 1) == 1)
      for (;;) pause();
    _exit(1);
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]), close(ready[1]);
  return pid;
}

static void kill_and_reap(pid_t pid)
{
  int status;
  assert_int_equal(kill(pid, SIGKILL), 0);
  assert_int_equal(waitpid(pid, &status, 0), pid);
}

static bool is_over_soon(const struct shared_record *r)
{
  for (int i = 0; i < LOOKS && !ipc_record_is_over(r); i++) ipc_record_wait(r);
  return ipc_record_is_over(r);
}

static void own_records(void **state)
{
  (void)state;
  int fd;
  uint64_t at;
  struct event e = exported(&fd, &at), copy = {0};
  struct shared_record r;
  assert_true(ipc_event_import(&shim, &copy, fd, at));
  assert_false(ipc_event_is_elsewhere(&copy, &r));
  struct open_record *first = ipc_event_record(&shim, &e), *second = ipc_event_record(&shim, &e);
  assert_false(ipc_event_is_elsewhere(&e, &r));
  assert_true(ipc_event_is_elsewhere(&copy, &r));
  assert_int_equal(r.number, 2);
  ipc_record_ended(first, 70);
  assert_false(ipc_record_is_over(&r));
  ipc_record_ended(second, 50);
  assert_true(ipc_record_is_over(&r));
  assert_int_equal(ipc_record_end(&r), 70);
}

/* One that was killed holds nobody up, also when another one, which lives, has recorded since. */
static void recorder_is_killed(void **state)
{
  (void)state;
  int fd;
  uint64_t at;
  struct event e = exported(&fd, &at);
  struct shared_record first, second;
  const pid_t killed = recorder(&e);
  assert_true(ipc_event_is_elsewhere(&e, &first));
  const pid_t lives = recorder(&e);
  assert_true(ipc_event_is_elsewhere(&e, &second));
  kill_and_reap(killed);
  for (int i = 0; i < LOOKS && !ipc_record_is_over(&first); i++) usleep(5000); /* as cudaEventQuery asks */
  assert_true(ipc_record_is_over(&first));
  ipc_record_wait(&second);
  assert_false(ipc_record_is_over(&second));
  kill_and_reap(lives);
  assert_true(is_over_soon(&second));
}

/* A slot is a whole one inside the file, and the file one that nobody can shorten. */
static void places(void **state)
{
  (void)state;
  int fd;
  uint64_t at;
  exported(&fd, &at);
  struct event e = {0};
  static const uint64_t wrong[] = {1, 64, 256, 4096ull * 1000, UINT64_MAX - 511, UINT64_MAX};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(ipc_event_import(&shim, &e, fd, wrong[i]));
  assert_int_equal(ftruncate(fd, 0), -1);
  const int other = memfd_create("other", MFD_CLOEXEC);
  assert_int_equal(ftruncate(other, 4096), 0);
  assert_false(ipc_event_import(&shim, &e, other, 0));
  close(other);
}

static void others_write_anything(void **state)
{
  (void)state;
  int fd;
  uint64_t at;
  struct event e = exported(&fd, &at);
  struct shared_record r;
  uint8_t noise[512];
  memset(noise, 0xff, sizeof noise);
  assert_int_equal(pwrite(fd, noise, sizeof noise, (off_t)at), sizeof noise);
  assert_true(ipc_event_is_elsewhere(&e, &r));
  assert_true(ipc_record_end(&r) <= UINT64_MAX / 4);
  char text[80];
  ipc_record_describe(&r, text, sizeof text);
  assert_string_equal(text, "an event that process -1 has recorded");
  assert_true(is_over_soon(&r));
}

/* More than a page of slots, each its own. */
static void many(void **state)
{
  (void)state;
  enum { EVENTS = 40 };
  struct event e[EVENTS];
  struct open_record *o[EVENTS];
  int fd;
  uint64_t at[EVENTS];
  for (int i = 0; i < EVENTS; i++) e[i] = exported(&fd, &at[i]), o[i] = ipc_event_record(&shim, &e[i]);
  for (int i = 0; i < EVENTS; i++) {
    struct event copy = {0};
    struct shared_record r;
    assert_true(ipc_event_import(&shim, &copy, fd, at[i]));
    assert_true(ipc_event_is_elsewhere(&copy, &r) && !ipc_record_is_over(&r));
    ipc_record_ended(o[i], 1000 + (uint64_t)i);
    assert_true(ipc_record_is_over(&r));
    assert_int_equal(ipc_record_end(&r), 1000 + i);
  }
}

/* What a process has recorded counts as over when it ends. */
static void process_ends(void **state)
{
  (void)state;
  int fd;
  uint64_t at;
  struct event e = exported(&fd, &at), copy = {0};
  struct shared_record r;
  assert_true(ipc_event_import(&shim, &copy, fd, at));
  struct open_record *o = ipc_event_record(&shim, &e);
  assert_true(ipc_event_is_elsewhere(&copy, &r) && !ipc_record_is_over(&r));
  ipc_events_end(&shim);
  assert_true(ipc_record_is_over(&r));
  ipc_record_ended(o, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(own_records), cmocka_unit_test(recorder_is_killed), cmocka_unit_test(places),
    cmocka_unit_test(others_write_anything), cmocka_unit_test(many), cmocka_unit_test(process_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
