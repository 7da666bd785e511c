/* RISC-V executables and shared objects for Linux: ELF64 program headers and symbols, bounds-checked. Files are the
 * guest's, any bytes.
 *
 * Source: System V ABI, Edition 4.1 (ELF64); RISC-V ELF psABI 1.0.
 */
#ifndef WS_HOST_LINUX_LINUX_ELF_H
#define WS_HOST_LINUX_LINUX_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "host/linux/linux_vm.h"

/* A whole file in memory. */
struct linux_image {
  uint8_t *data;
  size_t bytes;
};

/* False with *e filled: no such regular file, or larger than 2 GiB. */
bool linux_image_read(struct linux_image *, const char *path, struct err *e);
void linux_image_free(struct linux_image *);

struct linux_elf {
  bool position_independent; /* ET_DYN */
  uint64_t entry;            /* addresses as in the file, before loading */
  uint64_t phdr;             /* of the program headers; 0: in no segment */
  uint16_t n_phdr;
  uint64_t low, high;        /* of all segments, whole pages */
  bool stack_exec;           /* PT_GNU_STACK asks for an executable stack */
  char interpreter[256];     /* empty: none */
};

/* Whether the file begins as an ELF file of RISC-V does. */
bool linux_elf_is_rv64(const char *path);
/* Whether the file has calls of GPUs in it (linux_gpu.h), as programs have that are linked with our CUDA library: the
 * word that loads their number. */
bool linux_elf_calls_gpu(const char *path);
/* False with *e filled: not an executable or shared object of RV64, or damaged. `name` is used in errors. */
bool linux_elf_parse(struct linux_elf *, const uint8_t *data, size_t bytes, const char *name, struct err *e);
/* Puts the segments of a parsed file into the address space, `bias` (a multiple of a page) above their addresses. */
bool linux_elf_map(const struct linux_elf *, const uint8_t *data, size_t bytes, uint64_t bias, struct linux_vm *,
                   const char *name, struct err *e);
/* The function or label at or below an address of the file, and how far below. False: none is known. The name is safe
 * to print. */
bool linux_elf_symbol(const uint8_t *data, size_t bytes, uint64_t addr, char *name, size_t size, uint64_t *offset);
/* The address, as in the file, of the byte at this offset of it; false: in no segment. */
bool linux_elf_address(const uint8_t *data, size_t bytes, uint64_t file_offset, uint64_t *addr);

#endif
