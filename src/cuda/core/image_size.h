/* How long an image is that a program names by its address alone (cuModuleLoadData and its kin, fat
 * binaries of programs).
 *
 * Only its own headers say so, and they may be forged: every byte is looked for among the process's pages,
 * or in the room that is known, before it is read, and no sum is taken that does not fit 64 bits. What
 * other threads unmap meanwhile is their affair.
 */
#ifndef WS_CUDA_CORE_IMAGE_SIZE_H
#define WS_CUDA_CORE_IMAGE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum image_kind {
  IMAGE_ELF,
  IMAGE_FATBIN, /* a container of fat binaries */
  IMAGE_JOINED, /* files one behind the other: image_joined_magic, their number, then size and bytes of each */
  IMAGE_TEXT,   /* all else: PTX, with a 0 at its end, which counts */
};

struct image_extent {
  const uint8_t *bytes;
  size_t n;
  enum image_kind kind;
};

extern const char image_joined_magic[16];
enum { IMAGE_JOINED_MAX = 4096 };     /* files */
#define IMAGE_MAX ((size_t)1 << 32)   /* bytes of an image */
#define IMAGE_UNKNOWN ((size_t)-1)    /* room: as far as the process has memory */

/* Where room is unknown, looks through the wrapper that nvcc puts around containers: it holds an address.
 * False: headers speak of more than there is. */
bool image_measure(const void *image, size_t room, struct image_extent *);

#endif
