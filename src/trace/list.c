/* kernelslist.g, a directory that has one, or a single trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/host_memory.h"
#include "base/regular.h"
#include "trace/reader.h"

enum { PATH = 4096 };

static void add(struct trace_list *l, struct trace_command c)
{
  if ((l->n & (l->n + 1)) == 0) { /* full at 2^k - 1 */
    l->command = realloc(l->command, (2 * (size_t)l->n + 2) * sizeof *l->command);
    NO_MEMORY_IF(!l->command);
  }
  l->command[l->n++] = c;
}

static bool ends_with(const char *s, const char *end)
{
  size_t n = strlen(s), k = strlen(end);
  return n >= k && !strcmp(s + n - k, end);
}

static bool is_trace(const char *path)
{
  return ends_with(path, ".traceg") || ends_with(path, ".traceg.xz") || ends_with(path, ".tracez");
}

/* Other lines are for other tools. */
static bool take_line(struct trace_list *l, const char *dir, char *line, const char *path, unsigned n,
                      struct err *e)
{
  char full[2 * PATH];
  struct trace_command c = {0};
  line[strcspn(line, "\r\n")] = '\0';
  if (!strncmp(line, "kernel", 6)) {
    if (!is_trace(line))
      return err_set(e, "%s:%u: '%.80s' is not processed yet: only .traceg, .traceg.xz and .tracez can be "
                     "read", path, n, line);
    snprintf(full, sizeof full, "%s/%s", dir, line);
    c.file = arena_strdup(&l->arena, full);
    add(l, c);
  } else if (!strncmp(line, "MemcpyHtoD,", 11)) {
    if (sscanf(line + 11, "0x%" SCNx64 ",%" SCNu64, &c.address, &c.bytes) != 2)
      return err_set(e, "%s:%u: write MemcpyHtoD,0x<address>,<bytes>", path, n);
    add(l, c);
  }
  return true;
}

static bool read_list(const char *path, struct trace_list *l, struct err *e)
{
  char *line = NULL, dir[PATH];
  size_t cap = 0;
  bool ok = true;
  TRY(file_is_regular(path, e));
  FILE *f = fopen(path, "r");
  if (!f) return err_set(e, "%s: %s", path, host_error());
  const char *slash = strrchr(path, '/');
  snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
  for (unsigned n = 1; ok && getline(&line, &cap, f) >= 0; n++)
    ok = take_line(l, dir, line, path, n, e);
  free(line);
  fclose(f);
  return ok && (l->n || err_set(e, "%s: names no kernel", path));
}

bool trace_list_read(const char *path, struct trace_list *l, struct err *e)
{
  char inside[PATH];
  struct stat st;
  *l = (struct trace_list){0};
  if (strlen(path) > PATH - 32) return err_set(e, "%.80s…: the path is too long", path);
  if (stat(path, &st) != 0) return err_set(e, "%s: %s", path, host_error());
  if (S_ISDIR(st.st_mode)) {
    snprintf(inside, sizeof inside, "%s/kernelslist.g", path);
    return read_list(inside, l, e);
  }
  if (!is_trace(path)) return read_list(path, l, e);
  add(l, (struct trace_command){.file = arena_strdup(&l->arena, path)});
  return true;
}

void trace_list_free(struct trace_list *l)
{
  free(l->command);
  arena_free(&l->arena);
}
