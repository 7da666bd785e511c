#include "cli/checkpoint.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fiber.h"
#include "base/host_memory.h"
#include "base/redzone.h"
#include "cli/cli.h"
#include "cli/region.h"

enum { STACK_BYTES = 8 << 20 }; /* as a process has */

/* In the region. */
struct checkpoint {
  struct fiber *fiber; /* of the command */
  int (*command)(struct checkpoint *, int argc, char **argv);
  int argc, status;
  char **argv;
  const char *path; /* where it wants to be saved */
  bool saved;
  struct err e;
  struct restored restored;
};

static void run_command(void *checkpoint)
{
  struct checkpoint *c = checkpoint;
  c->status = c->command(c, c->argc, c->argv);
}

/* On the process's own stack, until the command has ended. Nothing in the region changes while it is written. */
static int go_on(struct checkpoint *c)
{
  while (fiber_resume(c->fiber)) {
    struct err e = {""};
    region_use(false);
    const bool saved = region_save(c->path, &e);
    region_use(true);
    c->saved = saved;
    c->e = e;
    c->restored = (struct restored){.here = false};
  }
  region_use(false);
  return c->status;
}

static char **copy_words(int argc, char **argv)
{
  char **copy = mem_zeroed((size_t)argc + 1, sizeof *copy);
  for (int i = 0; i < argc; i++) NO_MEMORY_IF(!(copy[i] = strdup(argv[i])));
  return copy;
}

/* The address sanitizer knows which bytes of a stack may be touched, outside of the region. */
static bool can_be(struct err *e)
{
  return !REDZONE_BYTES || err_set(e, "checkpoints need a build without the address sanitizer");
}

bool checkpoint_run(int (*command)(struct checkpoint *, int argc, char **argv), int argc, char **argv, int *status,
                    struct err *e)
{
  TRY(can_be(e));
  TRY(region_new(e));
  struct checkpoint *c = mem_zeroed(1, sizeof *c);
  *c = (struct checkpoint){.command = command, .argc = argc, .argv = copy_words(argc, argv)};
  c->fiber = fiber_new_sized(run_command, c, STACK_BYTES);
  region_set_root(c);
  *status = go_on(c);
  return true;
}

FILE *checkpoint_stdout(void)
{
  return stdout;
}

FILE *checkpoint_stderr(void)
{
  return stderr;
}

bool checkpoint_save(struct checkpoint *c, const char *path, struct restored *restored, struct err *e)
{
  *restored = (struct restored){.here = false};
  if (region_streams())
    return err_set(e, "%s: nothing can be saved while a file is open that the run writes to all the time", path);
  if (region_is_shared()) return err_set(e, "%s: memory that other processes can have, too, is not saved", path);
  fflush(stdout);
  fflush(stderr);
  c->path = path;
  /* What the file has: whoever goes on from it did not find that anything failed. */
  c->saved = true;
  fiber_stop(c->fiber);
  *restored = c->restored;
  if (restored->here) memory_switch(NULL); /* where to go without memory was a place of that process */
  if (!c->saved) *e = c->e;
  return c->saved;
}

bool checkpoint_restore(const char *path, unsigned threads, int *status, struct err *e)
{
  TRY(can_be(e));
  TRY(region_load(path, e));
  struct checkpoint *c = region_root();
  c->restored = (struct restored){.here = true, .threads = threads};
  *status = go_on(c);
  return true;
}

unsigned long *checkpoint_list(const char *text, unsigned *n)
{
  unsigned long *list = mem_zeroed(strlen(text) + 1, sizeof *list);
  char *copy = strdup(text), *rest;
  NO_MEMORY_IF(!copy);
  bool ok = true;
  *n = 0;
  for (char *word = copy; ok && word; word = rest) {
    rest = strchr(word, ',');
    if (rest) *rest++ = 0;
    ok = cli_number(word, 1, LONG_MAX, &list[*n]) && (!*n || list[*n] > list[*n - 1]);
    ++*n;
  }
  free(copy);
  if (ok) return list;
  mem_free(list);
  return NULL;
}
