#include "cuda/core/image_size.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include "load/fatbin.h"

const char image_joined_magic[16] = "warpstep linked";

enum { PAGE = 4096, WRAPPER_MAGIC = 0x466243b1, CONTAINER_HEADER = 16 };

/* What nvcc emits into .nvFatBinSegment (24 bytes). */
struct wrapper {
  uint32_t magic, version;
  const void *data;
  const void *extra;
};

/* What is known to be there. */
struct extent {
  const uint8_t *from;
  uint64_t known, room;
};

/* mincore refuses ranges with pages that are not mapped, and fetches none. */
static bool is_mapped(const uint8_t *from, uint64_t bytes)
{
  enum { AT_ONCE = 1 << 12 };
  unsigned char resident[AT_ONCE];
  uintptr_t at = (uintptr_t)from & ~(uintptr_t)(PAGE - 1), end = (uintptr_t)from + bytes;
  if (end < (uintptr_t)from) return false;
  for (uintptr_t step; at < end; at += step) {
    step = end - at < (uintptr_t)AT_ONCE * PAGE ? end - at : (uintptr_t)AT_ONCE * PAGE;
    if (mincore((void *)at, step, resident) != 0) return false;
  }
  return true;
}

/* Whether the first `bytes` bytes may be read. */
static bool reach(struct extent *x, uint64_t bytes)
{
  if (bytes <= x->known) return true;
  if (bytes > IMAGE_MAX || bytes > x->room) return false;
  if (x->room == IMAGE_UNKNOWN && !is_mapped(x->from + x->known, bytes - x->known)) return false;
  x->known = bytes;
  return true;
}

/* n entries of `size` bytes at `at`. */
static bool reach_table(struct extent *x, uint64_t at, uint64_t n, uint64_t size)
{
  uint64_t end;
  return !__builtin_mul_overflow(n, size, &end) && !__builtin_add_overflow(end, at, &end) && reach(x, end);
}

static bool is_elf(struct extent *x)
{
  return reach(x, sizeof(Elf64_Ehdr)) && memcmp(x->from, ELFMAG, SELFMAG) == 0;
}

/* The end of the last thing that the headers speak of. */
static bool measure_elf(struct extent *x)
{
  Elf64_Ehdr h;
  memcpy(&h, x->from, sizeof h);
  if (h.e_phnum && !reach_table(x, h.e_phoff, h.e_phnum, h.e_phentsize)) return false;
  if (!h.e_shnum) return true;
  if (!reach_table(x, h.e_shoff, h.e_shnum, h.e_shentsize)) return false;
  for (unsigned i = 0; i < h.e_shnum && h.e_shentsize == sizeof(Elf64_Shdr); i++) {
    Elf64_Shdr section;
    memcpy(&section, x->from + h.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS && !reach_table(x, section.sh_offset, section.sh_size, 1)) return false;
  }
  return true;
}

static bool is_joined(struct extent *x)
{
  return reach(x, 3 * sizeof(uint64_t)) && memcmp(x->from, image_joined_magic, sizeof image_joined_magic) == 0;
}

static bool measure_joined(struct extent *x)
{
  uint64_t n, at = 3 * sizeof n, size;
  memcpy(&n, x->from + sizeof image_joined_magic, sizeof n);
  if (n == 0 || n > IMAGE_JOINED_MAX) return false;
  for (; n; n--) {
    if (!reach_table(x, at, 1, sizeof size)) return false;
    memcpy(&size, x->from + at, sizeof size);
    if (!reach_table(x, at + sizeof size, size, 1)) return false;
    at += sizeof size + size;
  }
  return true;
}

static bool is_container(struct extent *x)
{
  return reach(x, CONTAINER_HEADER) && fatbin_at(x->from, SIZE_MAX / 2);
}

/* Page by page, to the 0. */
static bool measure_text(struct extent *x)
{
  for (uint64_t at = 0;;) {
    uint64_t left = PAGE - ((uintptr_t)x->from + at) % PAGE;
    if (x->room - at < left) left = x->room - at;
    if (left == 0 || !reach(x, at + left)) return false;
    const uint8_t *end = memchr(x->from + at, 0, left);
    if (end) return x->known = (uint64_t)(end - x->from) + 1, true;
    at += left;
  }
}

static bool measure(struct extent *x, enum image_kind *kind)
{
  if (is_elf(x)) return *kind = IMAGE_ELF, measure_elf(x);
  if (is_joined(x)) return *kind = IMAGE_JOINED, measure_joined(x);
  if (is_container(x)) return *kind = IMAGE_FATBIN, reach(x, fatbin_bytes(x->from));
  return *kind = IMAGE_TEXT, measure_text(x);
}

bool image_measure(const void *image, size_t room, struct image_extent *out)
{
  struct extent x = {.from = image, .room = room};
  struct wrapper w;
  if (room == IMAGE_UNKNOWN && reach(&x, sizeof w)) {
    memcpy(&w, image, sizeof w);
    if (w.magic == WRAPPER_MAGIC) x = (struct extent){.from = w.data, .room = IMAGE_UNKNOWN};
  }
  if (!x.from || !measure(&x, &out->kind)) return false;
  out->bytes = x.from;
  out->n = x.known;
  return true;
}
