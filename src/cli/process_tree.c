#include "cli/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_memory.h"

enum { PATH = 96, DEEPEST = 64 };

struct walk {
  enum process_known (*known)(void *ctx, pid_t);
  void *ctx;
  unsigned depth;
};

bool process_tree_is_served(void)
{
  char path[PATH];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  return access(path, R_OK) == 0;
}

/* The caller frees it; NULL: the thread has gone. */
static char *read_text(const char *path)
{
  char *text = NULL;
  size_t n = 0, room = 0;
  const int f = open(path, O_RDONLY | O_CLOEXEC);
  for (ssize_t got = 1; f >= 0 && got > 0; n += (size_t)(got > 0 ? got : 0)) {
    if (n + 1 >= room) text = mem_resize(text, room = room ? 2 * room : 1024, 1);
    got = read(f, text + n, room - n - 1);
  }
  if (f >= 0) close(f);
  if (text) text[n] = '\0';
  return text;
}

/* The state follows the name, which is in parentheses. */
static bool thread_runs(pid_t process, pid_t thread)
{
  char path[PATH];
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)process, (int)thread);
  char *text = read_text(path);
  const char *end = text ? strrchr(text, ')') : NULL;
  const bool runs = end && end[1] == ' ' && (end[2] == 'R' || end[2] == 'D');
  mem_free(text);
  return runs;
}

static pid_t running_below(struct walk *w, pid_t process, bool look);

static pid_t running_children(struct walk *w, pid_t process, pid_t thread)
{
  char path[PATH];
  pid_t found = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)thread);
  char *text = read_text(path);
  for (char *at = text, *end; at && !found; at = end) {
    const pid_t child = (pid_t)strtol(at, &end, 10);
    if (end == at) break;
    const enum process_known known = w->known(w->ctx, child);
    if (known == PROCESS_RUNS) found = child;
    else if (known != PROCESS_SKIP) found = running_below(w, child, known == PROCESS_LOOK);
  }
  mem_free(text);
  return found;
}

/* look: at the process itself, too. */
static pid_t running_below(struct walk *w, pid_t process, bool look)
{
  char path[PATH];
  pid_t found = 0;
  if (w->depth == DEEPEST) return 0;
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *d = opendir(path);
  w->depth++;
  for (const struct dirent *e; d && !found && (e = readdir(d));) {
    const pid_t thread = (pid_t)atoi(e->d_name);
    if (!thread) continue;
    if (look && thread_runs(process, thread)) found = process;
    else found = running_children(w, process, thread);
  }
  w->depth--;
  if (d) closedir(d);
  return found;
}

pid_t process_tree_running(pid_t root, enum process_known (*known)(void *ctx, pid_t), void *ctx)
{
  struct walk w = {.known = known, .ctx = ctx};
  return running_below(&w, root, false);
}
