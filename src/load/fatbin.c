#include "load/fatbin.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "load/elf.h"

enum {
  CONTAINER_VERSION = 1,
  CONTAINER_HEADER = 16, /* least; likewise below */
  ENTRY_HEADER = 64,
};

static const uint8_t magic[4] = { 0x50, 0xed, 0x55, 0xba };

/* Offsets in an entry's header. */
enum {
  AT_KIND = 0, AT_HEADER = 4, AT_PAYLOAD = 8, AT_STORED = 16, AT_TARGET = 28, AT_FLAGS = 40,
  AT_UNPACKED = 56,
};

#define FLAG_LZ4 UINT64_C(0x2000)  /* one raw block */
#define FLAG_ZSTD UINT64_C(0x8000) /* one frame */
#define FLAG_ARCH_SPECIFIC UINT64_C(0x100000)   /* sm_90a */
#define FLAG_FAMILY_SPECIFIC UINT64_C(0x200000) /* sm_100f */

static size_t header_bytes(const uint8_t *p)
{
  return elf_u16(p + 6);
}

bool fatbin_at(const uint8_t *p, size_t left)
{
  if (left < CONTAINER_HEADER || memcmp(p, magic, sizeof magic) != 0) return false;
  size_t header = header_bytes(p);
  return elf_u16(p + 4) == CONTAINER_VERSION && header >= CONTAINER_HEADER && header <= left &&
         elf_u64(p + 8) <= left - header;
}

const uint8_t *fatbin_find(const uint8_t *p, size_t left)
{
  const uint8_t *end = p + left;
  while ((p = memmem(p, (size_t)(end - p), magic, sizeof magic))) {
    if (fatbin_at(p, (size_t)(end - p))) return p;
    p += sizeof magic;
  }
  return NULL;
}

size_t fatbin_bytes(const uint8_t *p)
{
  return header_bytes(p) + (size_t)elf_u64(p + 8);
}

static enum target_form form_of(uint64_t flags)
{
  if (flags & FLAG_ARCH_SPECIFIC) return TARGET_ARCH_SPECIFIC;
  return flags & FLAG_FAMILY_SPECIFIC ? TARGET_FAMILY_SPECIFIC : TARGET_PLAIN;
}

static bool read_packing(const uint8_t *p, struct fatbin_entry *entry, struct err *e)
{
  uint64_t flags = elf_u64(p + AT_FLAGS), unpacked = elf_u64(p + AT_UNPACKED);
  size_t stored = elf_u32(p + AT_STORED);
  if (!(flags & (FLAG_LZ4 | FLAG_ZSTD))) return true;
  if ((flags & FLAG_LZ4) && (flags & FLAG_ZSTD))
    return err_set(e, "damaged fat binary: two kinds of compression; build it again");
  if (stored == 0 || stored > entry->stored || unpacked > FATBIN_MAX ||
      unpacked > stored * FATBIN_RATIO + FATBIN_SLACK)
    return err_set(e, "damaged fat binary: %llu bytes packed in %zu of %zu; build it again",
                   (unsigned long long)unpacked, stored, entry->stored);
  entry->packing = flags & FLAG_LZ4 ? FATBIN_LZ4 : FATBIN_ZSTD;
  entry->stored = stored;
  entry->bytes = (size_t)unpacked;
  return true;
}

bool fatbin_next(const uint8_t *container, size_t *pos, struct fatbin_entry *entry, struct err *e)
{
  size_t total = fatbin_bytes(container);
  if (*pos == 0) *pos = header_bytes(container);
  size_t left = total - *pos;
  if (left == 0) return false;
  const uint8_t *p = container + *pos;
  size_t header = left < ENTRY_HEADER ? 0 : elf_u32(p + AT_HEADER);
  if (header < ENTRY_HEADER || header > left || elf_u64(p + AT_PAYLOAD) > left - header)
    return err_set(e, "damaged fat binary: entry at 0x%zx of a container of %zu bytes; build it "
                   "again", *pos, total);
  size_t stored = (size_t)elf_u64(p + AT_PAYLOAD);
  *entry = (struct fatbin_entry){
    .kind = elf_u16(p + AT_KIND), .sm = elf_u32(p + AT_TARGET),
    .form = form_of(elf_u64(p + AT_FLAGS)), .payload = p + header, .stored = stored,
    .bytes = stored,
  };
  *pos += header + stored;
  return read_packing(p, entry, e);
}

static bool unpack(const struct fatbin_entry *entry, uint8_t *to)
{
  switch (entry->packing) {
  case FATBIN_PLAIN:
    memcpy(to, entry->payload, entry->bytes);
    return true;
  case FATBIN_LZ4: /* sizes are at most FATBIN_MAX, which fits an int */
    return entry->stored <= FATBIN_MAX &&
           LZ4_decompress_safe((const char *)entry->payload, (char *)to, (int)entry->stored,
                               (int)entry->bytes) == (int)entry->bytes;
  case FATBIN_ZSTD:
    return ZSTD_decompress(to, entry->bytes, entry->payload, entry->stored) == entry->bytes;
  }
  return false;
}

bool fatbin_unpack(const struct fatbin_entry *entry, uint8_t *to, struct err *e)
{
  return unpack(entry, to) || err_set(e, "damaged fat binary: %zu bytes do not unpack to %zu; build it again",
                                      entry->stored, entry->bytes);
}
