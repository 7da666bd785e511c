#include "cli/exec_what_if.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "cli/cli.h"
#include "cli/program_parent.h"

enum { PATH_BYTES = 4096 };

bool exec_what_if_option(struct exec_what_if *w, const char *name, const char *value)
{
  if (w->n + 2 > sizeof w->option / sizeof *w->option - 4) return false;
  w->option[w->n++] = name;
  w->option[w->n++] = value;
  return true;
}

/* The strings stay where they are: the process sets names of its own. */
static char **copy_environment(void)
{
  size_t n = 0;
  while (environ[n]) n++;
  char **copy = mem_alloc((n + 1) * sizeof *copy);
  memcpy(copy, environ, (n + 1) * sizeof *copy);
  return copy;
}

bool exec_what_if_begin(struct exec_what_if *w, struct err *e)
{
  const char *where = getenv("TMPDIR");
  if (!where || !*where) where = "/tmp";
  const int n = snprintf(w->folder, sizeof w->folder, "%s/warpstep-what-if-XXXXXX", where);
  if (n >= (int)sizeof w->folder || !mkdtemp(w->folder)) {
    w->folder[0] = '\0';
    return err_set(e, "%s: no folder for the launches of --what-if: %s; TMPDIR names another place", where,
                   host_error());
  }
  w->environment = copy_environment();
  return true;
}

static void remove_folder(const struct exec_what_if *w)
{
  DIR *d = opendir(w->folder);
  if (d) {
    for (const struct dirent *f; (f = readdir(d));)
      if (strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0) unlinkat(dirfd(d), f->d_name, 0);
    closedir(d);
  }
  rmdir(w->folder);
}

/* The status of `warpstep run CASE …`, in a process of its own. */
static int run_case(const struct exec_what_if *w, const char *path)
{
  const char *args[2 * EXEC_WHAT_IF_OPTIONS + 8] = {"warpstep", "run", path, "--what-if", w->costs};
  unsigned n = 5;
  int status;
  for (unsigned i = 0; i < w->n; i++) args[n++] = w->option[i];
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    execve("/proc/self/exe", (char *const *)args, w->environment);
    cli_error("cannot start a process: %s", host_error());
    fflush(NULL);
    _exit(CLI_BAD_INPUT);
  }
  if (child < 0) return cli_error("cannot start a process: %s", host_error());
  while (waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Lines of the list begin with the name of a file. */
static int run_cases(const struct exec_what_if *w)
{
  char path[PATH_BYTES], line[PATH_BYTES];
  snprintf(path, sizeof path, "%s/manifest.txt", w->folder);
  FILE *list = fopen(path, "re");
  if (!list) return cli_error("--what-if: the program has no launch that --time-kernels names");
  int status = CLI_OK;
  while (fgets(line, sizeof line, list)) {
    line[strcspn(line, " \n")] = '\0';
    if ((size_t)snprintf(path, sizeof path, "%s/%s", w->folder, line) >= sizeof path) continue;
    const int one = run_case(w, path);
    if (!status) status = one;
    unlink(path); /* each may be as large as the GPU's memory in use */
  }
  fclose(list);
  return status;
}

static void not_started(void *unused)
{
  (void)unused;
}

int exec_what_if_program(struct exec_what_if *w, char **program)
{
  struct program_parent parent;
  int status = CLI_BAD_INPUT;
  if (program_parent_run(&parent, program, not_started, NULL)) {
    const int ended = WIFEXITED(parent.status) ? WEXITSTATUS(parent.status) : 1;
    sigprocmask(SIG_SETMASK, &parent.before, NULL);
    status = ended ? ended : run_cases(w);
    if (ended) cli_error("--what-if: the program failed, so its launches are not run again");
  }
  remove_folder(w);
  mem_free(w->environment);
  return status;
}

int exec_what_if_whole(struct exec_what_if *w, const struct exec_what_if_machine *m, char **program)
{
  struct exec_what_if_machine here = *m;
  here.folder = w->folder;
  const int status = exec_what_if_machine_run(&here, program);
  remove_folder(w);
  mem_free(w->environment);
  return status;
}
