#include "cli/file_macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NUMBERS = 100000 };

/* What the macro at s stands for; *s is moved behind it. NULL: there is no such macro. */
static const char *macro(const char **s, pid_t pid, unsigned number, char buf[PATH_MAX])
{
  const char *at = *s + 1, *end = at[0] == 'q' && at[1] == '{' ? strchr(at, '}') : NULL;
  char variable[256];
  *s = at + 1;
  switch (*at) {
  case '%': return "%";
  case 'p': snprintf(buf, PATH_MAX, "%d", (int)pid); return buf;
  case 'i': snprintf(buf, PATH_MAX, "%u", number); return buf;
  case 'h': return gethostname(buf, PATH_MAX - 1) == 0 ? buf : "localhost";
  case 'q':
    if (!end || end - at - 2 >= (long)sizeof variable) return NULL;
    snprintf(variable, sizeof variable, "%.*s", (int)(end - at - 2), at + 2);
    *s = end + 1;
    return getenv(variable) ? getenv(variable) : "";
  default: return NULL;
  }
}

static bool expand(const char *name, pid_t pid, unsigned number, char path[PATH_MAX], struct err *e)
{
  char buf[PATH_MAX] = "";
  size_t n = 0;
  for (const char *s = name; *s && n < PATH_MAX;) {
    const char one[2] = {*s, '\0'}, *part = one;
    if (*s != '%')
      s++;
    else if (!(part = macro(&s, pid, number, buf)))
      return err_set(e, "%.200s: a %% is not %%h, %%p, %%i, %%q{VARIABLE} or %%%%", name);
    n += (size_t)snprintf(path + n, PATH_MAX - n, "%s", part);
  }
  return n < PATH_MAX || err_set(e, "%.200s: too long for a file name", name);
}

static bool has_number(const char *name)
{
  for (const char *s = strchr(name, '%'); s; s = s[1] ? strchr(s + 2, '%') : NULL)
    if (s[1] == 'i') return true;
  return false;
}

bool file_macros(const char *name, const char *suffix, pid_t pid, char path[PATH_MAX], struct err *e)
{
  for (unsigned number = 1; number < MOST_NUMBERS; number++) {
    path[0] = '\0';
    TRY(expand(name, pid, number, path, e));
    const size_t n = strlen(path), m = strlen(suffix);
    if (n < m || strcmp(path + n - m, suffix) != 0) {
      if (n + m >= PATH_MAX) return err_set(e, "%.200s: too long for a file name", name);
      strcpy(path + n, suffix);
    }
    if (!has_number(name) || access(path, F_OK) != 0) return true;
  }
  return err_set(e, "%.200s: all numbers up to %d are taken", name, MOST_NUMBERS);
}
