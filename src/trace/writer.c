#include "trace/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "trace/stream.h"

enum { LEVEL = 3 /* zstd's, as the 2.0 tracer's */, PATH = 4096 };

/* The directory at the end of a container, kept until then. */
struct words {
  uint32_t *w;
  size_t n, cap;
};

struct trace_writer {
  const struct trace_header *h;
  enum trace_form form;
  FILE *out;
  struct output file;
  char path[PATH], name[64];
  uint64_t at; /* container: bytes written */
  struct words directory;
  uint32_t n_blocks;
  ZSTD_CCtx *zstd;
  char *frame;
  size_t frame_cap;
};

/* ---- text ---- */

static void header(struct trace_writer *w)
{
  const struct trace_header *h = w->h;
  int n = 0;
  n += fprintf(w->out, "-kernel name = %s\n-kernel id = %u\n", h->name, h->id);
  n += fprintf(w->out, "-grid dim = (%u,%u,%u)\n", h->grid[0], h->grid[1], h->grid[2]);
  n += fprintf(w->out, "-block dim = (%u,%u,%u)\n", h->block[0], h->block[1], h->block[2]);
  n += fprintf(w->out, "-shmem = %u\n-nregs = %u\n-binary version = %u\n", h->shared, h->regs, h->sm);
  n += fprintf(w->out, "-cuda stream id = %" PRIu64 "\n", h->stream);
  n += fprintf(w->out, "-shmem base_addr = 0x%016" PRIx64 "\n", h->shared_base);
  n += fprintf(w->out, "-local mem base_addr = 0x%016" PRIx64 "\n", h->local_base);
  n += fprintf(w->out, "-nvbit version = none, written by warpstep\n");
  n += fprintf(w->out, "-accelsim tracer version = %u\n-enable lineinfo = 0\n\n", h->version);
  n += fprintf(w->out, TRACE_FORMAT_LINE "\n\n");
  w->at += (uint64_t)n;
}

static void coordinates(const struct trace_header *h, uint64_t id, uint32_t c[3])
{
  c[0] = (uint32_t)(id % h->grid[0]);
  c[1] = (uint32_t)(id / h->grid[0] % h->grid[1]);
  c[2] = (uint32_t)(id / h->grid[0] / h->grid[1]);
}

static void text_block(struct trace_writer *w, const struct trace_block *b)
{
  uint32_t c[3];
  coordinates(w->h, b->id, c);
  fprintf(w->out, "#BEGIN_TB\n\nthread block = %u,%u,%u\n", c[0], c[1], c[2]);
  for (unsigned i = 0; i < b->n_warps; i++) {
    fprintf(w->out, "\nwarp = %u\ninsts = %u\n", i, b->warp[i].n);
    if (b->warp[i].bytes) fwrite(b->warp[i].text, 1, b->warp[i].bytes, w->out);
  }
  fprintf(w->out, "\n#END_TB\n\n");
}

/* ---- container ---- */

static void put_word(struct words *l, uint32_t v)
{
  if (l->n == l->cap) {
    l->cap = l->cap ? 2 * l->cap : 1024;
    l->w = realloc(l->w, l->cap * sizeof *l->w);
    NO_MEMORY_IF(!l->w);
  }
  l->w[l->n++] = v;
}

static void put(struct trace_writer *w, const void *data, size_t bytes)
{
  fwrite(data, 1, bytes, w->out);
  w->at += bytes;
}

/* The host is little-endian (mk/flags.mk builds for x86-64), as the container is. */
static void put_u32(struct trace_writer *w, uint32_t v)
{
  put(w, &v, sizeof v);
}

/* End of up to TRACE_CHUNK lines from `at`; *n of them. */
static size_t chunk_end(const struct trace_warp *t, size_t at, uint32_t *n)
{
  for (*n = 0; *n < TRACE_CHUNK && at < t->bytes; ++*n)
    at = (size_t)((char *)memchr(t->text + at, '\n', t->bytes - at) - t->text) + 1;
  return at;
}

static void put_frame(struct trace_writer *w, const char *text, size_t bytes)
{
  size_t need = ZSTD_compressBound(bytes);
  if (need > w->frame_cap) {
    free(w->frame);
    w->frame_cap = 2 * need;
    w->frame = malloc(w->frame_cap);
    NO_MEMORY_IF(!w->frame);
  }
  size_t n = ZSTD_compressCCtx(w->zstd, w->frame, w->frame_cap, text, bytes, LEVEL);
  BUG_ON(ZSTD_isError(n));
  put_u32(w, (uint32_t)n);
  put(w, w->frame, n);
}

static void container_warp(struct trace_writer *w, const struct trace_warp *t)
{
  uint32_t n_chunks = (uint32_t)div_up(t->n, TRACE_CHUNK), n;
  put_word(&w->directory, t->n);
  put_word(&w->directory, n_chunks);
  put_word(&w->directory, (uint32_t)w->at);
  put_word(&w->directory, (uint32_t)(w->at >> 32));
  put_u32(w, t->n);
  put_u32(w, n_chunks);
  for (size_t at = 0, end; at < t->bytes; at = end) {
    end = chunk_end(t, at, &n);
    put_frame(w, t->text + at, end - 1 - at); /* no newline behind the last line */
    put_word(&w->directory, n);
  }
}

static void container_block(struct trace_writer *w, const struct trace_block *b)
{
  uint32_t c[3];
  coordinates(w->h, b->id, c);
  /* Clusters of one CTA: their id is the block's. */
  const uint32_t record[] = {c[0], c[1], c[2], c[0], c[1], c[2], 0, 0, 0, 0, b->n_warps};
  for (unsigned i = 0; i < sizeof record / sizeof *record; i++) put_word(&w->directory, record[i]);
  for (unsigned i = 0; i < b->n_warps; i++) container_warp(w, &b->warp[i]);
  w->n_blocks++;
}

static void container_end(struct trace_writer *w)
{
  uint64_t at = w->at;
  put_u32(w, w->n_blocks);
  put(w, w->directory.w, w->directory.n * sizeof *w->directory.w);
  put(w, &at, sizeof at);
}

/* ---- both ---- */

struct trace_writer *trace_writer_new(const char *dir, const struct trace_header *h,
                                      enum trace_form form, struct err *e)
{
  static const char *const suffix[] = {[TRACE_TEXT] = "traceg", [TRACE_XZ] = "traceg.xz",
                                       [TRACE_CONTAINER] = "tracez"};
  struct trace_writer *w = calloc(1, sizeof *w);
  NO_MEMORY_IF(!w);
  w->h = h;
  w->form = form;
  snprintf(w->name, sizeof w->name, "kernel-%u.%s", h->id, suffix[form]);
  snprintf(w->path, sizeof w->path, "%s/%s", dir, w->name);
  if (!(w->out = stream_write(&w->file, w->path, e))) {
    free(w);
    return NULL;
  }
  header(w);
  if (form != TRACE_CONTAINER) return w;
  w->zstd = ZSTD_createCCtx();
  NO_MEMORY_IF(!w->zstd);
  put(w, "", 1);
  put_u32(w, 0); /* no dictionary */
  put_u32(w, TRACE_CHUNK);
  return w;
}

const char *trace_writer_name(const struct trace_writer *w)
{
  return w->name;
}

void trace_writer_block(struct trace_writer *w, const struct trace_block *b)
{
  if (w->form == TRACE_CONTAINER) container_block(w, b);
  else text_block(w, b);
}

bool trace_writer_finish(struct trace_writer *w, struct output *sealed, struct err *e)
{
  if (w->form == TRACE_CONTAINER) container_end(w);
  bool ok = stream_seal(w->out, &w->file, e);
  *sealed = w->file;
  ZSTD_freeCCtx(w->zstd);
  free(w->frame);
  free(w->directory.w);
  free(w);
  return ok;
}
