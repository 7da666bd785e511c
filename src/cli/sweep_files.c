#include "cli/sweep_files.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/regular.h"
#include "cli/commands.h"
#include "cli/program_start.h"

enum { MAX_WORDS = 512 };

/* As a run of the sweep finds the file: from the sweep's folder on. */
static bool place(const struct sweep *w, const char *file, char path[PATH_MAX], struct err *e)
{
  const bool absolute = *file == '/';
  const int n = snprintf(path, PATH_MAX, "%s%s%s", absolute ? "" : w->dir, absolute ? "" : "/", file);
  return n < PATH_MAX || err_set(e, "%s: the path is too long", file);
}

static bool is_in_path(const char *program)
{
  char path[PATH_MAX];
  const char *folder = getenv("PATH");
  while (folder && *folder) {
    const size_t n = strcspn(folder, ":");
    const int length = snprintf(path, sizeof path, "%.*s/%s", (int)n, folder, program);
    if (length < (int)sizeof path && access(path, X_OK) == 0) return true;
    folder += n + (folder[n] == ':');
  }
  return false;
}

static bool check_program(const struct sweep *w, const char *program, struct err *e)
{
  char path[PATH_MAX];
  if (!strchr(program, '/')) return is_in_path(program) || err_set(e, "%s: not found in PATH", program);
  return place(w, program, path, e) && program_check(path, e);
}

/* A name with %d in it stands for several files (run_options.c). */
static bool check_operands(const struct sweep *w, char **file, int n, struct err *e)
{
  char path[PATH_MAX];
  for (int i = 0; i < n; i++) {
    if (strstr(file[i], "%d")) continue;
    TRY(place(w, file[i], path, e));
    TRY(file_is_regular(path, e));
  }
  return true;
}

/* Words of a run behind the command's name, which is argv[0]. What follows the options is the file, or the program. */
static bool check_words(const struct sweep *w, const struct cli_command *cmd, int argc, char **argv)
{
  struct err e = {""};
  const char *arg;
  int id;
  optind = 0; /* options were read before */
  while ((id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END)
    if (id == CLI_OPT_BAD) return false;
  const bool ok = optind == argc || (cmd == &cmd_exec ? check_program(w, argv[optind], &e)
                                                      : check_operands(w, argv + optind, argc - optind, &e));
  if (!ok) cli_error("%s: run: %s", w->path, e.msg);
  return ok;
}

static bool check_run(const struct sweep *w, const char *run)
{
  char *word[MAX_WORDS + 1], *save = NULL, *copy = strdup(run);
  int n = 1;
  NO_MEMORY_IF(!copy);
  for (char *at = strtok_r(copy, " ", &save); at && n < MAX_WORDS; at = strtok_r(NULL, " ", &save)) word[n++] = at;
  word[n] = NULL;
  const bool program = n > 1 && strcmp(word[1], cmd_exec.name) == 0;
  const struct cli_command *cmd = program ? &cmd_exec : &cmd_run;
  char **first = word + program;
  first[0] = (char *)(uintptr_t)cmd->name;
  const bool ok = check_words(w, cmd, n - program, first);
  free(copy);
  return ok;
}

bool sweep_files_check(const struct sweep *w)
{
  for (unsigned i = 0; i < w->run.n; i++)
    if (!check_run(w, w->run.text[i])) return false;
  return true;
}
