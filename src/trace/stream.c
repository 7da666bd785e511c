#include "trace/stream.h"

#include <errno.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/regular.h"

enum { BUFFER = 1 << 16, PRESET = 1 /* xz -1, what the tracer uses */ };

struct xz {
  FILE *file;
  lzma_stream stream;
  bool at_end;
  uint8_t buffer[BUFFER];
};

static ssize_t xz_read(void *cookie, char *to, size_t size)
{
  struct xz *x = cookie;
  x->stream.next_out = (uint8_t *)to;
  x->stream.avail_out = size;
  while (x->stream.avail_out == size && !x->at_end) {
    if (x->stream.avail_in == 0) {
      x->stream.next_in = x->buffer;
      x->stream.avail_in = fread(x->buffer, 1, BUFFER, x->file);
    }
    lzma_ret r = lzma_code(&x->stream, x->stream.avail_in ? LZMA_RUN : LZMA_FINISH);
    if (r == LZMA_STREAM_END) x->at_end = true;
    else if (r != LZMA_OK) return errno = EIO, -1;
  }
  return (ssize_t)(size - x->stream.avail_out);
}

/* Compresses what is in the stream's input; LZMA_FINISH: to the end. */
static bool xz_drain(struct xz *x, lzma_action action)
{
  lzma_ret r = LZMA_OK;
  do {
    x->stream.next_out = x->buffer;
    x->stream.avail_out = BUFFER;
    r = lzma_code(&x->stream, action);
    size_t n = BUFFER - x->stream.avail_out;
    if (fwrite(x->buffer, 1, n, x->file) != n) return false;
  } while (r == LZMA_OK && (action == LZMA_FINISH || x->stream.avail_in));
  return r == LZMA_OK || r == LZMA_STREAM_END;
}

static ssize_t xz_write(void *cookie, const char *from, size_t size)
{
  struct xz *x = cookie;
  x->stream.next_in = (const uint8_t *)from;
  x->stream.avail_in = size;
  return xz_drain(x, LZMA_RUN) ? (ssize_t)size : 0;
}

static int xz_close(void *cookie)
{
  struct xz *x = cookie;
  lzma_end(&x->stream);
  int status = fclose(x->file);
  free(x);
  return status;
}

static int xz_close_written(void *cookie)
{
  bool ok = xz_drain(cookie, LZMA_FINISH);
  return xz_close(cookie) == 0 && ok ? 0 : EOF;
}

static bool is_xz(const char *path)
{
  size_t n = strlen(path);
  return n > 3 && !strcmp(path + n - 3, ".xz");
}

static FILE *open_xz(FILE *file, bool write)
{
  static const cookie_io_functions_t reader = {.read = xz_read, .close = xz_close};
  static const cookie_io_functions_t writer = {.write = xz_write, .close = xz_close_written};
  struct xz *x = calloc(1, sizeof *x);
  if (x) {
    *x = (struct xz){.file = file, .stream = LZMA_STREAM_INIT};
    lzma_ret r = write ? lzma_easy_encoder(&x->stream, PRESET, LZMA_CHECK_CRC64)
                       : lzma_stream_decoder(&x->stream, UINT64_MAX, LZMA_CONCATENATED);
    FILE *f = r == LZMA_OK ? fopencookie(x, write ? "w" : "r", write ? writer : reader) : NULL;
    if (f) return f;
    lzma_end(&x->stream);
  }
  free(x);
  fclose(file);
  return errno = ENOMEM, NULL;
}

FILE *stream_read(const char *path, struct err *e)
{
  if (!file_is_regular(path, e)) return NULL;
  FILE *f = fopen(path, "rb");
  if (f && is_xz(path)) f = open_xz(f, false);
  if (!f) err_fill(e, "%s: %s", path, host_error());
  return f;
}

FILE *stream_write(struct output *o, const char *path, struct err *e)
{
  FILE *f = output_open(o, path, e);
  if (!f || !is_xz(path)) return f;
  f = open_xz(f, true);
  if (f) return f;
  o->f = NULL; /* closed */
  output_drop(o);
  NO_MEMORY_IF(true);
}

bool stream_seal(FILE *f, struct output *o, struct err *e)
{
  if (f == o->f) return output_seal(o, true, e);
  bool ok = fflush(f) == 0 && !ferror(f);
  const int why = errno;
  if (fclose(f) != 0) ok = false;
  else errno = why;
  o->f = NULL; /* closed */
  return output_seal(o, ok, e);
}
