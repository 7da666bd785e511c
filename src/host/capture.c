#include "host/capture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/host_memory.h"

static ssize_t capture_write(void *cookie, const char *buf, size_t n)
{
  struct capture *c = cookie;
  if (n > c->cap - c->bytes) {
    size_t cap = 2 * c->cap + n + 4096;
    char *text = realloc(c->text, cap);
    NO_MEMORY_IF(!text);
    c->text = text;
    c->cap = cap;
  }
  memcpy(c->text + c->bytes, buf, n);
  c->bytes += n;
  if (c->pass_on) fwrite(buf, 1, n, c->pass_on);
  return (ssize_t)n;
}

void capture_open(struct capture *c, FILE *pass_on)
{
  *c = (struct capture){0};
  capture_open_again(c, pass_on);
}

void capture_open_again(struct capture *c, FILE *pass_on)
{
  c->pass_on = pass_on;
  c->stream = fopencookie(c, "w", (cookie_io_functions_t){ .write = capture_write });
  NO_MEMORY_IF(!c->stream);
}

void capture_flush(struct capture *c)
{
  fflush(c->stream);
  if (c->pass_on) fflush(c->pass_on);
}

void capture_close(struct capture *c)
{
  if (c->stream) {
    capture_flush(c);
    fclose(c->stream);
  }
  free(c->text);
  *c = (struct capture){0};
}
