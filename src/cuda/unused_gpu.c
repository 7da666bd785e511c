/* A program that ends without having used a GPU: one line on stderr, lest silence pass for a run. Only the process that
 * `warpstep exec` became says it, and only when it has started no others: these speak for themselves. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cuda/core/shim.h"

/* Also those of a program that this process was before it became another one. */
static bool has_had_children(void)
{
  struct rusage of;
  return getrusage(RUSAGE_CHILDREN, &of) == 0 && of.ru_maxrss > 0;
}

/* One that could not be used has been told of. */
static bool was_wanted(const struct shim *s)
{
  return s && (s->up || s->failed || s->starved);
}

__attribute__((destructor)) static void at_exit(void)
{
  struct exec_options o;
  struct err e = {""};
  if (was_wanted(shim_if_any())) return;
  if (exec_options_parse(&o, getenv(EXEC_OPTIONS_VARIABLE), &e) && !o.quiet && o.program == (uint64_t)getpid() &&
      !has_had_children())
    shim_say("no kernel launches on %s: the program did not use the GPU", o.machine ? o.machine : o.gpu);
  arena_free(&o.arena);
}
