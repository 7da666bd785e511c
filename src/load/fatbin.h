/* Fat binaries: containers of machine code and PTX for several GPUs, as nvcc puts them into host
 * programs. Source: files made by the compiler (CUDA 13.0).
 *
 * Container: u32 0xba55ed50, u16 version 1, u16 header size, u64 size of what follows: entries.
 * Entry (header size varies and is always taken from the file): kind, sizes, target, flags that say
 * how the payload is packed.
 *
 * Every byte is hostile. Nothing is allocated for a packed payload before its stated size has
 * passed the bound: at most FATBIN_RATIO times the stored size plus FATBIN_SLACK, and at most
 * FATBIN_MAX.
 */
#ifndef WS_LOAD_FATBIN_H
#define WS_LOAD_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "load/target.h"

#define FATBIN_RATIO UINT64_C(1024)
#define FATBIN_SLACK (UINT64_C(1) << 20)
#define FATBIN_MAX (UINT64_C(1) << 30)

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_SASS = 2 };
enum fatbin_packing { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

struct fatbin_entry {
  uint16_t kind;           /* enum fatbin_kind; other kinds exist */
  enum fatbin_packing packing;
  unsigned sm;
  enum target_form form;
  const uint8_t *payload;  /* as stored */
  size_t stored;           /* bytes of payload, padding of plain ones included */
  size_t bytes;            /* unpacked; plain: stored */
};

/* Whether a container starts here and ends within `left` bytes. */
bool fatbin_at(const uint8_t *p, size_t left);
/* First container at or after `p`, at any alignment; NULL: none. */
const uint8_t *fatbin_find(const uint8_t *p, size_t left);
/* Size of the container at p (fatbin_at), with its header. */
size_t fatbin_bytes(const uint8_t *p);

/* Walks the entries of a container: *pos starts at 0. False at the end, or with e filled (a message
 * without the file's name) when an entry is damaged. */
bool fatbin_next(const uint8_t *container, size_t *pos, struct fatbin_entry *entry, struct err *e);

/* Unpacks into to[entry->bytes]. False with e filled (without the file's name). */
bool fatbin_unpack(const struct fatbin_entry *, uint8_t *to, struct err *e);

#endif
