/* The static CUDA runtime inside of a program or library that was stripped: no symbol says where its functions are.
 *
 * A static runtime is one object of its archive (libcudart_static.a), and its code is one section. A linker takes it
 * as a whole and changes what its relocations name, nothing else. So where an executable segment has the section's
 * other bytes, each of them, that runtime is, and the archive's symbol table names its functions. Archives come with
 * toolkits and with PyPI's nvidia-cuda-runtime; only that of the version with which the object was linked is equal.
 */
#ifndef WS_LOAD_RUNTIME_ARCHIVE_H
#define WS_LOAD_RUNTIME_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runtime_archive;

/* Those that were looked at so far; {0} at first. */
struct runtime_archives {
  struct runtime_archive *at;
  unsigned n;
};

/* Where the runtime is. */
struct runtime_place {
  const uint8_t *elf;  /* the archive's object, as long as the archives are */
  size_t bytes;
  unsigned section;    /* of its code, to which its symbols are relative */
  uint64_t address;    /* of that code in the object that was looked at, as its program headers have it */
  size_t code_bytes;
};

/* Looks into a program or library (its file, and the path of it). Archives are looked for in $WARPSTEP_CUDART (files
 * or folders with colons between them, or folders of such folders), in environments that the path is in
 * (nvidia/cu13/lib of Python's packages, lib of others), in $CUDA_HOME, $CUDA_PATH and below /usr/local; only when the
 * object may have a runtime inside. */
bool runtime_archives_find(struct runtime_archives *, const char *path, const uint8_t *file, size_t bytes,
                           struct runtime_place *);
void runtime_archives_close(struct runtime_archives *);

#endif
