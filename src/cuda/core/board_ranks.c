#include "cuda/core/board_ranks.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cuda/core/shim.h"
#include "host/ranked.h"
#include "host/surroundings.h"

/* What is printed once is printed by the first rank. */
static void be_quiet(struct exec_options *o)
{
  o->quiet = true;
  o->progress = false;
  o->json = o->report = NULL;
}

bool board_ranks_join(struct shim *s, struct err *e)
{
  struct exec_options *o = &s->options;
  if (!o->ranks_fd) return true;
  if (!exec_options_share(o) || o->spin_strict || o->timeline)
    return err_set(e, "--ranks: only for launches that all run in time, as they come");
  TRY((s->ranks = ranks_join((int)o->ranks_fd, e)));
  fcntl((int)o->ranks_fd, F_SETFD, FD_CLOEXEC); /* programs that this one starts are no ranks */
  if (s->ranks->rank) be_quiet(o);
  return true;
}

static size_t take_output(void *shim, unsigned node, const char **text)
{
  struct board *b = board_at_node(shim, (int)node);
  struct device_print *p = &b->print;
  fflush(p->file);
  *text = p->text;
  const size_t n = p->bytes;
  if (n) rewind(p->file);
  return n;
}

static void give_output(void *shim, const char *text, size_t bytes)
{
  fwrite(text, 1, bytes, ((struct shim *)shim)->print.file);
}

void board_ranks_share(struct shim *s)
{
  struct boards *x = &s->boards;
  if (!s->ranks) return;
  if (x->n < s->ranks->n) {
    shim_say("--ranks: %u processes for %u GPU%s: each must have one", s->ranks->n, x->n, x->n == 1 ? "" : "s");
    _exit(RANKS_EXIT_STATUS);
  }
  for (unsigned i = 0; x->n > 1 && i < x->n; i++) {
    device_print_open(&x->of[i].print);
    x->of[i].device.config.print = &x->of[i].print.file;
  }
  const struct ranked_output out = { s, take_output, give_output };
  if (x->surroundings) surroundings_rank(x->surroundings, s->ranks, &out);
}

CUresult board_ranks_refuse(struct shim *s, const char *what)
{
  char text[160];
  if (!s->ranks) return CUDA_SUCCESS;
  snprintf(text, sizeof text, "%s with --ranks", what);
  return shim_unsupported(s, text);
}

void board_ranks_tell_wait(const struct shim *s)
{
  if (!s->ranks) return;
  if (!s->ranks->rank)
    shim_say("--ranks: the program waits in its own code for what a kernel or a stream does: calls must wait for it");
  fflush(NULL);
  _exit(RANKS_EXIT_STATUS);
}
