#include "view/source_text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All of a small regular file, NUL-terminated. NULL: it is none. */
static char *read_text(const char *path, size_t *bytes)
{
  enum { MAX_BYTES = 16 << 20 };
  struct stat st;
  char *text = NULL;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe must not hold us up */
  if (fd < 0) return NULL;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MAX_BYTES &&
      (text = malloc((size_t)st.st_size + 1))) {
    ssize_t n = read(fd, text, (size_t)st.st_size);
    *bytes = n > 0 ? (size_t)n : 0;
    text[*bytes] = '\0';
  }
  close(fd);
  return text;
}

/* Ends lines with NUL. */
static void split(struct source_text *s, size_t bytes)
{
  size_t n = 1, k = 0;
  for (size_t i = 0; i < bytes; i++) n += s->text[i] == '\n';
  s->line = malloc(n * sizeof *s->line);
  if (!s->line) return;
  s->line[k++] = s->text;
  for (size_t i = 0; i < bytes; i++) {
    if (s->text[i] == '\t' || s->text[i] == '\r') s->text[i] = ' ';
    if (s->text[i] != '\n') continue;
    s->text[i] = '\0';
    s->line[k++] = s->text + i + 1;
  }
  s->n_lines = (uint32_t)k;
}

struct source_text source_text_read(const char *folder, const char *name)
{
  struct source_text s = {0};
  char path[4096];
  size_t bytes = 0;
  if (*folder && name[0] != '/' && snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path)
    s.text = read_text(path, &bytes);
  if (!s.text) s.text = read_text(name, &bytes);
  if (s.text) split(&s, bytes);
  return s;
}

void source_text_free(struct source_text *s)
{
  free(s->text);
  free(s->line);
  *s = (struct source_text){0};
}

const char *source_text_line(const struct source_text *s, uint32_t line)
{
  const char *text = line >= 1 && line <= s->n_lines ? s->line[line - 1] : "";
  return text + strspn(text, " ");
}
