/* Guest memory: a sparse paged address space with tracked allocations. The image is what the device's memory holds; how
 * one of several workers sees it, with writes of its own that others do not see yet: base/gmem_view.h.
 */
#ifndef WS_BASE_GMEM_H
#define WS_BASE_GMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/host_memory.h"
#include "base/multicast.h"

struct gmem; /* the image */

/* page_bits: log2 of the mapping granularity in bytes, 12..30 (preset key vm.page_bits). Ends the
 * process when the host has no memory. */
struct gmem *gmem_new(unsigned page_bits);
void gmem_free(struct gmem *);
unsigned gmem_page_bits(const struct gmem *);

/* Allocates `bytes` (> 0), aligned to 512, zero-filled; name (may be NULL) is used in reports.
 * Returns the guest address, or 0 when the address space is exhausted. */
uint64_t gmem_alloc(struct gmem *, uint64_t bytes, const char *name);
/* The same, aligned to a power of two from 512 to the page. */
uint64_t gmem_alloc_at(struct gmem *, uint64_t bytes, uint64_t align, const char *name);
bool gmem_release(struct gmem *, uint64_t addr); /* false: not the start of an allocation */
/* While kernels run they may have pointers into pages of what is released meanwhile, though nobody reaches these by
 * their address any more: such pages stay mapped until this says false. */
void gmem_keep_pages(struct gmem *, bool keep);
/* Likewise for host memory that the image had (gmem_map_host): unmapped now, or then. */
void gmem_unmap(struct gmem *, void *host, uint64_t bytes);
/* Bytes of the live allocation that starts at addr; 0: there is none. */
uint64_t gmem_allocated(const struct gmem *, uint64_t addr);

/* A live allocation. */
struct gmem_range {
  uint64_t addr, bytes;
  const char *name; /* belongs to the image */
};

/* The next live allocation in ascending order of addresses; *cursor is 0 at first. False: no more. */
bool gmem_next_range(const struct gmem *, size_t *cursor, struct gmem_range *);
/* An allocation, or what was one until it was released. */
struct gmem_place {
  uint64_t addr, bytes;
  bool live;
};

/* Of all that were ever made: the last that starts at or below addr, and the first that starts above it. False:
 * none. */
bool gmem_place_below(const struct gmem *, uint64_t addr, struct gmem_place *);
bool gmem_place_above(const struct gmem *, uint64_t addr, struct gmem_place *);
/* The allocation that starts at addr counts as `bytes` bytes from now on in these two: what was asked for,
 * of memory that comes in whole pages. At most what it has. */
void gmem_trim(struct gmem *, uint64_t addr, uint64_t bytes);
/* Allocations made from now on lie in [first, end), multiples of the page and of 512: for images that show each other
 * their memory (gmem_mirror), whose addresses must differ. */
void gmem_set_range(struct gmem *, uint64_t first, uint64_t end);
/* At least so many bytes behind each allocation made from now on belong to none. */
void gmem_set_gap(struct gmem *, uint64_t bytes);

/* Where the next allocation will start, and another place for it (rounded up to 512 bytes): for rebuilding an
 * image that was saved, whose allocations may come in any order but must not overlap. */
uint64_t gmem_next_address(const struct gmem *);
void gmem_set_next_address(struct gmem *, uint64_t addr);

/* Makes host memory [host, host + bytes) appear at guest address addr, where nothing may be mapped yet;
 * addr, host and bytes are multiples of the page. It stays the caller's and must outlive the mapping;
 * gmem_release(addr) ends it. False: addr is no such place. */
bool gmem_map_host(struct gmem *, uint64_t addr, void *host, uint64_t bytes, const char *name);

/* The pages of [addr, addr + bytes), which lie in the range of `owner`, are in `g`, too: those that `owner` has now
 * (show), or none. They stay the owner's, which says so again when it allocates or releases there, and must outlive
 * them. */
void gmem_mirror(struct gmem *g, const struct gmem *owner, uint64_t addr, uint64_t bytes, bool show);

/* Pages without an allocation, anywhere: for an address space whose owner keeps its own list of what is mapped, as an
 * operating system does. Multiples of the page. gmem_map_at gives fresh zeros to those of [addr, addr + bytes) that are
 * not mapped yet; false: beyond the address space. gmem_unmap_at ends those that are, and returns how many; nobody's
 * allocation may lie there. */
bool gmem_map_at(struct gmem *, uint64_t addr, uint64_t bytes);
uint64_t gmem_unmap_at(struct gmem *, uint64_t addr, uint64_t bytes);

/* Makes the pages of [addr, addr+bytes), allocated by gmem_alloc, part of a file that other processes can map:
 * what they and the guest write is the same. A guest address is its offset in the file, one file for the whole
 * image, which lives as long as the image or somebody's mapping. -1: not such pages, or the host has no memory for
 * it. */
int gmem_share(struct gmem *, uint64_t addr, uint64_t bytes);
/* Other processes write some of its pages at any time (those shared by gmem_share, others once it is told): what is
 * atomic on a GPU must be so on the host. */
void gmem_expect_others(struct gmem *);
bool gmem_expects_others(const struct gmem *);
int gmem_share_file(struct gmem *); /* that file, also when nothing is shared yet; -1: none can be made */

/* For images that two processes have: the one that allocates, and one that follows it. All pages of the first, which is
 * empty so far, lie in its file from now on; false: the host has no memory for it. The other one, empty, too, gets that
 * file (and has it from then on): allocations at the same addresses (gmem_set_next_address) find the same bytes. */
bool gmem_back(struct gmem *);
void gmem_follow(struct gmem *, int file);
/* Who is told of each allocation, and of each release of whatever was allocated or mapped; NULL: nobody. */
struct gmem_listener {
  void *ctx;
  void (*allocated)(void *ctx, uint64_t addr, uint64_t bytes, const char *name);
  void (*released)(void *ctx, uint64_t addr);
};
void gmem_listen(struct gmem *, const struct gmem_listener *);

/* Addresses that stand for memory of several GPUs (base/multicast.h). NULL: there are none. */
void gmem_set_multicast(struct gmem *, const struct multicast *);
const struct multicast *gmem_multicast(const struct gmem *);

/* Host pointer to guest bytes [addr, addr+len) when all are mapped and lie in one page, else NULL. */
uint8_t *gmem_ptr(const struct gmem *, uint64_t addr, size_t len);
/* Host pointer to the page that holds addr; NULL: not mapped. *mask: the bits of an address inside a page. */
uint8_t *gmem_page(const struct gmem *, uint64_t addr, uint64_t *mask);
/* Whether all bytes are mapped. */
bool gmem_mapped(const struct gmem *, uint64_t addr, size_t len);
/* Across pages. False when a byte is unmapped (nothing is transferred then). */
bool gmem_read(const struct gmem *, uint64_t addr, void *buf, size_t len);
bool gmem_write(struct gmem *, uint64_t addr, const void *buf, size_t len);

/* "16 bytes past the end of buffer 'x' (0x…, 65536 bytes)", "a null pointer", "not near any allocation" (further than
 * 64 MiB and than the next one is large): for fault messages. */
void gmem_describe(const struct gmem *, uint64_t addr, char *buf, size_t size);

#endif
