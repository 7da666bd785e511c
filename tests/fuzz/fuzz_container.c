/* Fat binaries of machine code and PTX, plain and packed, headers and payloads from fields, one or two in a file with
 * something before and between them. */
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/bug.h"
#include "draw.h"
#include "fuzz.h"
#include "host/datafile.h"
#include "load/fatbin.h"
#include "load/file.h"

enum { MAX_ENTRIES = 4, ENTRY_HEADER = 64, ROOM = 1 << 16 };

struct image {
  uint8_t data[ROOM];
  size_t n;
};

static uint64_t maybe(struct draw *f, uint64_t usual)
{
  return field_byte(f) < 12 ? field_number(f) : usual;
}

static void put(uint8_t *at, uint64_t v, unsigned bytes)
{
  memcpy(at, &v, bytes);
}

/* PTX: what a scan of it may look for, in any order, with and without its end. */
static size_t ptx_text(struct draw *f, char *to, size_t room)
{
  static const char *const words[] = {".version 8.0\n", ".target sm_%u\n", ".target sm_%ua, debug\n", ".address_size 64\n",
                                      ".visible .entry k(\n", ".param .u64 p%u)\n", "{ ret; }\n", "// .version %u\n", ".version",
                                      ".target", "\"", "/* %u", "{", ".entry "};
  struct fuzz_text t = {.n = 0};
  for (unsigned i = field_pick(f, 16); i; i--) {
    char word[64];
    snprintf(word, sizeof word, "%s", words[field_pick(f, sizeof words / sizeof words[0])]);
    char *percent = strstr(word, "%u");
    if (percent) *percent = '\0';
    fuzz_add(&t, "%s", word);
    if (percent) fuzz_add(&t, "%u%s", field_byte(f), percent + 2);
  }
  size_t n = t.n < room ? t.n : room;
  memcpy(to, t.at, n);
  if (n < room && field_byte(f) & 1) to[n++] = '\0';
  return n;
}

static size_t payload(struct draw *f, bool ptx, char *to, size_t room)
{
  struct err e = {""};
  uint8_t *data;
  size_t n;
  if (ptx) return ptx_text(f, to, room);
  BUG_ON(!datafile_read(WS_SOURCE_DIR "/kernels/vecadd/vecadd.sm_86.cubin", NULL, &data, &n, &e) || n > room);
  memcpy(to, data, n);
  free(data);
  for (unsigned i = field_pick(f, 4); i; i--) put((uint8_t *)to + field_pick(f, (unsigned)n - 8), field_number(f), 4);
  return n;
}

static void add_entry(struct image *m, struct draw *f)
{
  enum { PLAIN, LZ4, ZSTD };
  static const uint64_t flags[] = {0x11, 0x2011, 0x8011};
  char raw[1 << 13], packed[1 << 14];
  unsigned packing = field_pick(f, 3), ptx = field_byte(f) & 1;
  size_t n = payload(f, ptx, raw, sizeof raw), stored = n;
  if (packing == LZ4) stored = (size_t)LZ4_compress_default(raw, packed, (int)n, sizeof packed);
  if (packing == ZSTD) stored = ZSTD_compress(packed, sizeof packed, raw, n, 1);
  if (packing == PLAIN) memcpy(packed, raw, n);
  if (stored + ENTRY_HEADER > ROOM - m->n) return;
  uint8_t *h = m->data + m->n;
  memset(h, 0, ENTRY_HEADER);
  put(h, maybe(f, ptx ? FATBIN_PTX : FATBIN_SASS), 2);
  put(h + 2, 0x101, 2);
  put(h + 4, maybe(f, ENTRY_HEADER), 4);
  put(h + 8, maybe(f, stored), 8);
  put(h + 16, maybe(f, stored), 4);
  put(h + 28, maybe(f, 86), 4);
  put(h + 40, maybe(f, flags[packing]), 8);
  put(h + 56, maybe(f, packing == PLAIN ? 0 : n), 8);
  memcpy(h + ENTRY_HEADER, packed, stored);
  m->n += ENTRY_HEADER + stored;
}

static void add_container(struct image *m, struct draw *f)
{
  enum { HEADER = 16 };
  if (ROOM - m->n < HEADER) return;
  uint8_t *h = m->data + m->n;
  size_t from = m->n += HEADER;
  for (unsigned i = 1 + field_pick(f, MAX_ENTRIES); i; i--) add_entry(m, f);
  put(h, 0xba55ed50, 4);
  put(h + 4, maybe(f, 1), 2);
  put(h + 6, maybe(f, HEADER), 2);
  put(h + 8, maybe(f, m->n - from), 8);
}

static void unpack_all(const uint8_t *container)
{
  struct fatbin_entry entry;
  struct err e = {""};
  for (size_t pos = 0; fatbin_next(container, &pos, &entry, &e);) {
    struct err why = {""};
    uint8_t *to = malloc(entry.bytes + 1); /* lazily the host's: damaged entries claim much */
    BUG_ON(!to || (!fatbin_unpack(&entry, to, &why) && why.msg[0] == '\0'));
    free(to);
  }
}

void fuzz_container(const uint8_t *data, size_t size)
{
  struct draw f = {data, size};
  struct image *m = calloc(1, sizeof *m);
  BUG_ON(!m);
  m->n = field_pick(&f, 32); /* zeros in front */
  add_container(m, &f);
  m->n += field_pick(&f, 4);
  if (field_byte(&f) & 1) add_container(m, &f);
  uint8_t *exact = malloc(m->n + 1); /* the sanitizer sees every byte too many */
  memcpy(exact, m->data, m->n);
  const uint8_t *end = exact + m->n;
  for (const uint8_t *p = exact; (p = fatbin_find(p, (size_t)(end - p))); p += fatbin_bytes(p)) unpack_all(p);
  fuzz_fatbin(exact, m->n);
  free(exact);
  free(m);
}
