#include "trace/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/arith.h"
#include "base/bits.h"
#include "base/host_memory.h"
#include "base/text.h"
#include "trace/line.h"
#include "trace/stream.h"

enum { LANES = 32, MAX_WARPS = 64, MAX_FRAME = 1 << 28, MAX_REGISTERS = 255, MAX_SHARED = (1 << 24) - 1 };
#define MAX_CTAS (1ull << 31)

/* Product of three numbers of a header, each at least 1; larger than `most`: most + 1, without overflow. */
static uint64_t volume(const uint32_t d[3], uint64_t most)
{
  uint64_t n = (uint64_t)d[0] * d[1];
  if (n > most || n * d[2] > most || d[2] > most) return most + 1;
  return n * d[2];
}

/* Where the reader is. */
struct reader {
  const char *path;
  uint64_t line;
  struct trace_kernel *k;
  uint64_t step_cap, address_cap;
  uint32_t inst_cap, *slot, n_slots; /* hash of pcs: index + 1 */
  struct trace_warp_steps *warp; /* being filled; NULL: none */
  uint32_t left;                 /* lines it still wants */
  int64_t block;                 /* linear id; -1: outside of blocks */
};

static bool fail(const struct reader *r, struct err *e, const char *what)
{
  return err_set(e, "%s:%" PRIu64 ": %s", r->path, r->line, what);
}

static void *grow(void *array, uint64_t need, uint64_t *cap, size_t size)
{
  if (need <= *cap) return array;
  *cap = need > 2 * *cap ? need + 1024 : 2 * *cap;
  array = realloc(array, *cap * size);
  NO_MEMORY_IF(!array);
  return array;
}

/* ---- header ---- */

/* A number of the header that is at most `most`; else it is damaged. */
static bool at_most(const char *s, unsigned long most, uint32_t *to)
{
  const unsigned long v = strtoul(s, NULL, 10);
  *to = (uint32_t)v;
  return v <= most;
}

static bool triple(const char *s, uint32_t t[3])
{
  return sscanf(s, "(%u,%u,%u)", &t[0], &t[1], &t[2]) == 3 && t[0] && t[1] && t[2];
}

/* `name = value`; names that we do not know are ignored, as the reference reader does. */
static bool header_line(struct reader *r, char *line, struct err *e)
{
  struct trace_header *h = &r->k->header;
  char *value = strstr(line, " = ");
  if (!value) return true;
  *value = '\0';
  value += 3;
  bool ok = true, fits = true;
  if (!strcmp(line, "-kernel name")) h->name = arena_strdup(&r->k->arena, value);
  else if (!strcmp(line, "-kernel id")) h->id = (unsigned)strtoul(value, NULL, 10);
  else if (!strcmp(line, "-grid dim")) ok = triple(value, h->grid);
  else if (!strcmp(line, "-block dim")) ok = triple(value, h->block);
  else if (!strcmp(line, "-shmem")) fits = at_most(value, MAX_SHARED, &h->shared);
  else if (!strcmp(line, "-nregs")) fits = at_most(value, MAX_REGISTERS, &h->regs);
  else if (!strcmp(line, "-binary version")) h->sm = (unsigned)strtoul(value, NULL, 10);
  else if (!strcmp(line, "-cuda stream id")) h->stream = strtoull(value, NULL, 10);
  else if (!strcmp(line, "-shmem base_addr")) h->shared_base = strtoull(value, NULL, 16);
  else if (!strcmp(line, "-local mem base_addr")) h->local_base = strtoull(value, NULL, 16);
  else if (!strcmp(line, "-accelsim tracer version")) h->version = (unsigned)strtoul(value, NULL, 10);
  else if (!strcmp(line, "-enable lineinfo")) h->lineinfo = strtoul(value, NULL, 10) != 0;
  if (h->name && !text_is_safe(h->name)) return fail(r, e, "the kernel's name is not printable text");
  if (!fits) return fail(r, e, "no GPU has so many registers for a thread, or so much shared memory for a CTA");
  return ok || fail(r, e, "three numbers of at least 1 expected, as (x,y,z)");
}

/* A file cannot describe more warps than this for each of its bytes, packed as it may be: its grid is damaged then, and
 * would only cost memory. */
static bool too_short(const struct reader *r, uint64_t warps)
{
  enum { WARPS_PER_BYTE = 1024 };
  struct stat st;
  return stat(r->path, &st) == 0 && S_ISREG(st.st_mode) && warps / WARPS_PER_BYTE > (uint64_t)st.st_size;
}

static bool header_done(struct reader *r, struct err *e)
{
  struct trace_kernel *k = r->k;
  const struct trace_header *h = &k->header;
  if (!h->name || !h->grid[0] || !h->block[0] || !h->sm)
    return fail(r, e, "the header lacks a name, a grid, a block or a binary version");
  uint64_t threads = volume(h->block, MAX_WARPS * LANES);
  k->n_ctas = volume(h->grid, MAX_CTAS);
  if (threads > MAX_WARPS * LANES || k->n_ctas > MAX_CTAS)
    return fail(r, e, "no GPU takes a grid or block of this size");
  k->warps_per_cta = (unsigned)div_up(threads, LANES);
  if (too_short(r, k->n_ctas * k->warps_per_cta)) return fail(r, e, "the file is too short for a grid of this size");
  uint64_t bytes = k->n_ctas * k->warps_per_cta * sizeof *k->warp; /* below 2^41 */
  uint64_t host = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  k->warp = bytes < host / 2 ? calloc(1, bytes) : NULL;
  return k->warp || fail(r, e, "no memory for a grid of this size");
}

/* ---- instructions ---- */

static void rehash(struct reader *r)
{
  uint32_t n = r->n_slots ? 2 * r->n_slots : 1024;
  free(r->slot);
  r->slot = calloc(n, sizeof *r->slot);
  NO_MEMORY_IF(!r->slot);
  r->n_slots = n;
  for (uint32_t i = 0; i < r->k->n_insts; i++) {
    uint32_t at = r->k->inst[i].pc >> 4 & (n - 1);
    while (r->slot[at]) at = (at + 1) & (n - 1);
    r->slot[at] = i + 1;
  }
}

/* The instruction at this pc; the first line that has it says what it is. */
static uint32_t intern(struct reader *r, const struct trace_inst *t)
{
  struct trace_kernel *k = r->k;
  if (2 * k->n_insts >= r->n_slots) rehash(r);
  uint32_t at = t->pc >> 4 & (r->n_slots - 1);
  for (; r->slot[at]; at = (at + 1) & (r->n_slots - 1))
    if (k->inst[r->slot[at] - 1].pc == t->pc) return r->slot[at] - 1;
  uint64_t cap = r->inst_cap;
  k->inst = grow(k->inst, k->n_insts + 1u, &cap, sizeof *k->inst);
  r->inst_cap = (uint32_t)cap;
  k->inst[k->n_insts] = *t;
  k->inst[k->n_insts].opcode = arena_strdup(&k->arena, t->opcode);
  r->slot[at] = ++k->n_insts;
  return k->n_insts - 1;
}

/* Addresses are a word that says how (0: strided), then base and stride, or one per lane. */
static uint64_t keep_addresses(struct reader *r, const struct trace_line *l)
{
  struct trace_kernel *k = r->k;
  if (!l->bytes || !l->lanes) return TRACE_NO_ADDRESS;
  k->address = grow(k->address, k->n_address + LANES + 1, &r->address_cap, sizeof *k->address);
  if (k->n_address == TRACE_NO_ADDRESS) k->n_address++;
  uint64_t at = k->n_address, *a = k->address + at;
  bool strided = l->form == TRACE_STRIDE;
  *a++ = strided;
  if (strided) {
    *a++ = l->base;
    *a++ = (uint64_t)l->stride;
  }
  for (uint32_t m = strided ? 0 : l->lanes; m; m &= m - 1) *a++ = l->address[bits_first(m)];
  k->n_address = (uint64_t)(a - k->address);
  return at;
}

void trace_step_addresses(const struct trace_kernel *k, const struct trace_step *s, uint64_t addr[LANES])
{
  const uint64_t *a = k->address + s->where;
  bool strided = *a++;
  uint64_t next = strided ? a[0] : 0;
  for (uint32_t m = s->lanes; m; m &= m - 1) {
    addr[bits_first(m)] = strided ? next : *a++;
    if (strided) next += a[1];
  }
}

static bool instruction(struct reader *r, const char *text, struct err *e)
{
  struct trace_line l;
  struct err why = {""};
  struct trace_kernel *k = r->k;
  if (!trace_line_parse(text, &k->header, &l, &why)) return fail(r, e, why.msg);
  r->left--;
  if (l.skip) return true;
  k->step = grow(k->step, k->n_steps + 1, &r->step_cap, sizeof *k->step);
  k->step[k->n_steps++] = (struct trace_step){.inst = intern(r, &l.inst), .lanes = l.lanes,
                                              .where = keep_addresses(r, &l)};
  r->warp->n++;
  return true;
}

static bool begin_warp(struct reader *r, uint64_t warp, struct err *e)
{
  if (r->left) return fail(r, e, "the warp before has fewer instructions than it says");
  if (r->block < 0 || warp >= r->k->warps_per_cta) return fail(r, e, "no such warp");
  r->warp = &r->k->warp[(uint64_t)r->block * r->k->warps_per_cta + warp];
  if (r->warp->n) return fail(r, e, "this warp was there before");
  r->warp->first = r->k->n_steps;
  return true;
}

static bool begin_block(struct reader *r, const uint32_t c[3], struct err *e)
{
  const uint32_t *g = r->k->header.grid;
  if (c[0] >= g[0] || c[1] >= g[1] || c[2] >= g[2]) return fail(r, e, "the block is outside the grid");
  r->block = (int64_t)(((uint64_t)c[2] * g[1] + c[1]) * g[0] + c[0]);
  return true;
}

/* ---- text ---- */

static bool body_line(struct reader *r, const char *s, struct err *e)
{
  uint32_t c[3];
  unsigned n;
  if (r->left) return instruction(r, s, e);
  if (!*s || !strncmp(s, "cluster ", 8)) return true;
  if (!strcmp(s, "#BEGIN_TB")) {
    r->block = -1;
    r->warp = NULL;
    return true;
  }
  if (!strcmp(s, "#END_TB")) return true;
  if (sscanf(s, "thread block = %u,%u,%u", &c[0], &c[1], &c[2]) == 3) return begin_block(r, c, e);
  if (sscanf(s, "warp = %u", &n) == 1) return begin_warp(r, n, e);
  if (r->warp && sscanf(s, "insts = %u", &n) == 1) {
    r->left = n;
    return true;
  }
  return fail(r, e, "neither an instruction that its warp announced nor a line of a block");
}

static bool text_line(struct reader *r, char *s, bool *in_body, struct err *e)
{
  if (*in_body) return body_line(r, s, e);
  if (*s == '#') {
    *in_body = true;
    return header_done(r, e);
  }
  return *s != '-' || header_line(r, s, e);
}

static bool read_text(struct reader *r, FILE *f, struct err *e)
{
  char *line = NULL;
  size_t cap = 0;
  bool in_body = false, ok = true;
  for (ssize_t n; ok && (n = getline(&line, &cap, f)) >= 0;) {
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) line[--n] = '\0';
    r->line++;
    if (*line || r->left == 0) ok = text_line(r, line, &in_body, e);
  }
  free(line);
  if (!ok) return false;
  if (ferror(f)) return fail(r, e, "damaged file");
  return (in_body && !r->left) || fail(r, e, "the trace ends early");
}

/* ---- container ---- */

/* A file in memory. */
struct bytes {
  uint8_t *data;
  size_t n, at;
};

static bool load(FILE *f, struct bytes *b)
{
  size_t cap = 0, n;
  uint64_t want;
  do {
    want = cap;
    b->data = grow(b->data, b->n + 1, &want, 1);
    cap = want;
    n = fread(b->data + b->n, 1, cap - b->n, f);
    b->n += n;
  } while (n);
  return !ferror(f);
}

static bool take(struct bytes *b, void *to, size_t n)
{
  if (b->n - b->at < n) return false;
  memcpy(to, b->data + b->at, n);
  b->at += n;
  return true;
}

static bool frame_lines(struct reader *r, char *text, size_t n, struct err *e)
{
  for (char *s = text, *end = text + n; s < end;) {
    char *stop = memchr(s, '\n', (size_t)(end - s));
    if (!stop) stop = end;
    *stop = '\0';
    r->line++;
    if (!r->left) return fail(r, e, "more instructions than the warp says");
    if (!instruction(r, s, e)) return false;
    s = stop + 1;
  }
  return true;
}

/* One warp's record: counts, then frames. */
static bool container_warp(struct reader *r, struct bytes *b, ZSTD_DCtx *z, const ZSTD_DDict *dict,
                           struct err *e)
{
  uint32_t n, chunks, size;
  bool ok = true;
  if (!take(b, &n, 4) || !take(b, &chunks, 4)) return fail(r, e, "a warp lies outside the file");
  r->left = n;
  for (uint32_t i = 0; ok && i < chunks; i++) {
    if (!take(b, &size, 4) || b->n - b->at < size) return fail(r, e, "a frame lies outside the file");
    unsigned long long full = ZSTD_getFrameContentSize(b->data + b->at, size);
    if (full > MAX_FRAME) return fail(r, e, "damaged frame");
    char *text = malloc((size_t)full + 1);
    NO_MEMORY_IF(!text);
    size_t got = dict ? ZSTD_decompress_usingDDict(z, text, (size_t)full, b->data + b->at, size, dict)
                      : ZSTD_decompressDCtx(z, text, (size_t)full, b->data + b->at, size);
    b->at += size;
    ok = got == full ? frame_lines(r, text, got, e) : fail(r, e, "damaged frame");
    free(text);
  }
  return ok && (!r->left || fail(r, e, "fewer instructions than the warp says"));
}

/* The directory, and through it every warp. */
static bool container_blocks(struct reader *r, struct bytes *b, ZSTD_DCtx *z, const ZSTD_DDict *dict,
                             struct err *e)
{
  uint64_t directory;
  uint32_t n_blocks, head[11], counts[2];
  if (b->n < sizeof directory) return fail(r, e, "the trace ends early");
  memcpy(&directory, b->data + b->n - sizeof directory, sizeof directory);
  struct bytes d = {b->data, b->n, directory};
  if (directory >= b->n || !take(&d, &n_blocks, 4)) return fail(r, e, "no directory: the trace ends early");
  for (uint32_t i = 0; i < n_blocks; i++) {
    if (!take(&d, head, sizeof head)) return fail(r, e, "the directory ends early");
    TRY(begin_block(r, head, e));
    for (uint32_t w = 0; w < head[10]; w++) {
      uint64_t at;
      if (!take(&d, counts, sizeof counts) || !take(&d, &at, sizeof at) || at >= b->n ||
          (d.n - d.at) / 4 < counts[1])
        return fail(r, e, "the directory ends early");
      d.at += 4 * (size_t)counts[1];
      TRY(begin_warp(r, w, e));
      b->at = (size_t)at;
      TRY(container_warp(r, b, z, dict, e));
    }
  }
  return true;
}

static bool container_header(struct reader *r, struct bytes *b, struct err *e)
{
  uint8_t *end = memchr(b->data, 0, b->n);
  bool in_body = false;
  if (!end) return fail(r, e, "no container of traces");
  for (char *s = (char *)b->data, *next; s < (char *)end && !in_body; s = next) {
    next = strchr(s, '\n');
    if (next) *next++ = '\0';
    else next = (char *)end;
    r->line++;
    TRY(text_line(r, s, &in_body, e));
  }
  b->at = (size_t)(end - b->data) + 1;
  return in_body || header_done(r, e);
}

static bool read_container(struct reader *r, FILE *f, struct err *e)
{
  struct bytes b = {0};
  uint32_t dict_bytes = 0, chunk;
  ZSTD_DCtx *z = ZSTD_createDCtx();
  ZSTD_DDict *dict = NULL;
  NO_MEMORY_IF(!z);
  bool ok = load(f, &b) ? container_header(r, &b, e) : fail(r, e, "damaged file");
  if (ok && (!take(&b, &dict_bytes, 4) || !take(&b, &chunk, 4) || b.n - b.at < dict_bytes))
    ok = fail(r, e, "the trace ends early");
  if (ok && dict_bytes) dict = ZSTD_createDDict(b.data + b.at, dict_bytes);
  ok = ok && container_blocks(r, &b, z, dict, e);
  ZSTD_freeDDict(dict);
  ZSTD_freeDCtx(z);
  free(b.data);
  return ok;
}

/* ---- */

struct trace_kernel *trace_kernel_read(const char *path, struct err *e)
{
  size_t n = strlen(path);
  FILE *f = stream_read(path, e);
  if (!f) return NULL;
  struct trace_kernel *k = calloc(1, sizeof *k);
  NO_MEMORY_IF(!k);
  struct reader r = {.path = path, .k = k, .block = -1};
  bool container = n > 7 && !strcmp(path + n - 7, ".tracez");
  bool ok = container ? read_container(&r, f, e) : read_text(&r, f, e);
  free(r.slot);
  fclose(f);
  if (ok) return k;
  trace_kernel_free(k);
  return NULL;
}

bool trace_kernel_is_whole(const struct trace_kernel *k, struct err *e)
{
  for (uint64_t i = 0; i < k->n_ctas * k->warps_per_cta; i++)
    if (!k->warp[i].n)
      return err_set(e, "%s: warp %u of block %" PRIu64 " has no instructions in the trace",
                     k->header.name, (unsigned)(i % k->warps_per_cta), i / k->warps_per_cta);
  return true;
}

void trace_kernel_free(struct trace_kernel *k)
{
  if (!k) return;
  free(k->inst);
  free(k->step);
  free(k->address);
  free(k->warp);
  arena_free(&k->arena);
  free(k);
}
