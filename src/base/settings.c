#include "base/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/regular.h"

/* Line, from 1, of the first @include in a text; 0: there is none. */
static int settings_include_line(const char *text)
{
  for (int line = 1; text; line++) {
    text += strspn(text, " \t\r\f\v");
    if (strncmp(text, "@include", strlen("@include")) == 0) return line;
    text = strchr(text, '\n');
    if (text) text++;
  }
  return 0;
}

/* All of the file, in a buffer that grows with it. False: it cannot be read. *n is SETTINGS_MAX_BYTES: too long. */
static bool read_all(FILE *f, char **text, size_t *n)
{
  enum { FIRST_BYTES = 1 << 13 };
  size_t room = FIRST_BYTES, more;
  *text = mem_alloc(room);
  *n = 0;
  while ((more = fread(*text + *n, 1, room - *n, f)) != 0) {
    *n += more;
    if (*n == SETTINGS_MAX_BYTES) break;
    if (*n == room) *text = mem_resize(*text, room *= 2, 1);
  }
  return !ferror(f);
}

static void end_file(void *f)
{
  fclose(f);
}

static char *read_text(const char *path, size_t *bytes, struct err *e)
{
  if (!file_is_regular(path, e)) return NULL;
  char *text = NULL;
  size_t n = 0;
  FILE *f = fopen(path, "rb");
  if (f) heap_keep(f, end_file);
  bool ok = f && read_all(f, &text, &n);
  if (!ok) err_fill(e, "%s: cannot read: %s; check the path", path, host_error());
  if (f) heap_forget(f), fclose(f);
  if (ok && (n == SETTINGS_MAX_BYTES || memchr(text, 0, n)))
    ok = err_set(e, "%s: no settings (too long, or binary); check the path", path);
  *bytes = n;
  if (ok) return text[n] = '\0', text;
  mem_free(text);
  return NULL;
}

char *settings_text(const char *path, size_t *bytes, struct err *e)
{
  char *text = read_text(path, bytes, e);
  int line = text ? settings_include_line(text) : 0;
  if (!line) return text;
  err_fill(e, "%s:%d: @include is not allowed; put everything into one file", path, line);
  mem_free(text);
  return NULL;
}

bool settings_read(config_t *c, const char *path, struct err *e)
{
  size_t bytes;
  char *text = settings_text(path, &bytes, e);
  if (!text) return false;
  bool ok = config_read_string(c, text) == CONFIG_TRUE;
  if (!ok) err_fill(e, "%s:%d: %s", path, config_error_line(c), config_error_text(c));
  mem_free(text);
  return ok;
}

bool settings_is_path(const char *name)
{
  const size_t n = strlen(name);
  return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".cfg") == 0);
}

static void end_config(void *config)
{
  config_destroy(config);
}

bool settings_with(bool (*use)(void *ctx, config_t *c), void *ctx)
{
  config_t *c = mem_zeroed(1, sizeof *c);
  config_init(c);
  heap_keep(c, end_config);
  const bool ok = use(ctx, c);
  heap_forget(c);
  config_destroy(c);
  mem_free(c);
  return ok;
}
