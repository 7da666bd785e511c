#include "cuda/core/image_size.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "load/fatbin.h"

const char image_joined_magic[16] = "warpstep linked";

enum { LEAST_PAGE = 4096, WRAPPER_MAGIC = 0x466243b1, CONTAINER_HEADER = 16 };

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

/* One byte of each page, through the kernel: what the process cannot read it says. Where it lets nobody read that way
 * (old containers), all is taken to be there. Of this thread: the process has the name of its first one, which may
 * have ended, and then has no memory. */
static bool is_readable(const uint8_t *from, uint64_t bytes)
{
  enum { AT_ONCE = 512 };
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = (uintptr_t)from + bytes;
  uint8_t seen[AT_ONCE];
  if (end < (uintptr_t)from) return false;
  for (uintptr_t at = (uintptr_t)from; at < end;) {
    struct iovec there[AT_ONCE], here = {.iov_base = seen};
    for (; here.iov_len < AT_ONCE && at < end; at = (at & ~(page - 1)) + page)
      there[here.iov_len++] = (struct iovec){(void *)at, 1};
    const ssize_t got = process_vm_readv(gettid(), &here, 1, there, here.iov_len, 0);
    if (got < 0 && (errno == EPERM || errno == ENOSYS)) return true;
    if (got != (ssize_t)here.iov_len) return false;
  }
  return true;
}

/* Whether the first `bytes` bytes may be read. */
static bool reach(struct extent *x, uint64_t bytes)
{
  if (bytes <= x->known) return true;
  if (bytes > IMAGE_MAX || bytes > x->room) return false;
  if (x->room == IMAGE_UNKNOWN && !is_readable(x->from + x->known, bytes - x->known)) return false;
  x->known = bytes;
  return true;
}

/* n entries of `size` bytes at `at`. */
static bool reach_table(struct extent *x, uint64_t at, uint64_t n, uint64_t size)
{
  uint64_t end;
  return !__builtin_mul_overflow(n, size, &end) && !__builtin_add_overflow(end, at, &end) && reach(x, end);
}

/* Byte by byte: a text may end before the magic does. */
static bool begins_with(struct extent *x, const void *magic, uint64_t bytes)
{
  const uint8_t *m = magic;
  for (uint64_t i = 0; i < bytes; i++)
    if (!reach(x, i + 1) || x->from[i] != m[i]) return false;
  return true;
}

static bool is_elf(struct extent *x)
{
  return begins_with(x, ELFMAG, SELFMAG) && reach(x, sizeof(Elf64_Ehdr));
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
  return begins_with(x, image_joined_magic, sizeof image_joined_magic) && reach(x, 3 * sizeof(uint64_t));
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
    uint64_t left = LEAST_PAGE - ((uintptr_t)x->from + at) % LEAST_PAGE;
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
  struct wrapper w = {.magic = WRAPPER_MAGIC};
  if (room == IMAGE_UNKNOWN && begins_with(&x, &w.magic, sizeof w.magic) && reach(&x, sizeof w)) {
    memcpy(&w, image, sizeof w);
    x = (struct extent){.from = w.data, .room = IMAGE_UNKNOWN};
  }
  if (!x.from || !measure(&x, &out->kind)) return false;
  out->bytes = x.from;
  out->n = x.known;
  return true;
}
