/* The address space of a Linux process: what is mapped where with which rights, pages of it in guest memory on first
 * use. All numbers come from the guest: any of them may be anything.
 *
 * Layout, as Linux has it for RISC-V with three levels of page tables (Sv39): 256 GiB, the stack at its end, mappings
 * below it downwards, the program's heap (brk) behind its data.
 */
#ifndef WS_HOST_LINUX_LINUX_VM_H
#define WS_HOST_LINUX_LINUX_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/gmem.h"
#include "func/rv64/rv64_core.h"
#include "host/linux/linux_gpu.h"

#define LINUX_TASK_SIZE  0x4000000000ull /* 2^38: user half of Sv39 */
#define LINUX_STACK_TOP  (LINUX_TASK_SIZE - 0x1000)
#define LINUX_STACK_SIZE 0x800000ull     /* 8 MiB, the usual limit */
#define LINUX_MMAP_TOP   0x3ff0000000ull
#define LINUX_PIE_BASE   0x2aaaaaa000ull /* two thirds of the address space */

enum { LINUX_PROT_READ = 1, LINUX_PROT_WRITE = 2, LINUX_PROT_EXEC = 4, LINUX_PROT_ALL = 7 };

struct linux_vma {
  uint64_t start, end; /* multiples of a page */
  uint8_t prot;        /* LINUX_PROT_* */
};

/* Told of what the operating system does, by a CPU with caches (linux_cores.h). */
struct linux_vm_watch {
  /* Bytes are about to be read, or written until the system call ends. */
  void (*touch)(void *ctx, uint64_t addr, uint64_t bytes, enum rv64_access);
  /* Rights have changed; fresh: other bytes are there, too. */
  void (*changed)(void *ctx, uint64_t addr, uint64_t bytes, bool fresh);
  void *ctx;
};

struct linux_vm {
  const struct linux_vm_watch *watch; /* NULL: nobody */
  struct gmem *image;
  struct rv64_core *core;  /* is told of changes; NULL: none yet */
  struct linux_vma *vma;   /* in order of address, apart from each other */
  uint32_t n, room;
  uint32_t last;           /* the one that was found last */
  uint64_t brk_start, brk; /* the heap */
  uint64_t pages, most;    /* in guest memory, at most */
  bool exhausted;          /* an access failed because there would be more */
  bool eager;              /* pages come with their mapping, not with the first use: others see the image, too */
  const struct linux_gpu *gpu; /* has what lies above LINUX_TASK_SIZE; NULL: nothing does */
};

/* most_bytes: of guest memory in use, rounded down to pages. The image has pages of 4 KiB and stays the caller's. */
void linux_vm_init(struct linux_vm *, struct gmem *image, uint64_t most_bytes);
void linux_vm_free(struct linux_vm *);

/* Pages above LINUX_TASK_SIZE may have gone. */
void linux_vm_changed_above(struct linux_vm *);

/* From now on pages come with their mapping; those of what is mapped come now. */
void linux_vm_show(struct linux_vm *);

/* For struct rv64_memory: the page of an access. os is the struct linux_vm. */
uint8_t *linux_vm_page(void *os, uint64_t addr, enum rv64_access);

/* Maps fresh zeros in the place of what is there. addr and bytes are multiples of a page, bytes > 0. False: outside of
 * the address space, or too many mappings. */
bool linux_vm_map(struct linux_vm *, uint64_t addr, uint64_t bytes, unsigned prot);
void linux_vm_unmap(struct linux_vm *, uint64_t addr, uint64_t bytes);
/* False: something in the range is not mapped; what is below it has changed then, as on Linux. */
bool linux_vm_protect(struct linux_vm *, uint64_t addr, uint64_t bytes, unsigned prot);
/* Whether nothing of the range is mapped, and it lies in the address space. */
bool linux_vm_is_free(const struct linux_vm *, uint64_t addr, uint64_t bytes);
/* Rights of all pages of the range; -1: not all are mapped, or rights differ. */
int linux_vm_rights(const struct linux_vm *, uint64_t addr, uint64_t bytes);
/* The highest free place below LINUX_MMAP_TOP; 0: none. */
uint64_t linux_vm_place(const struct linux_vm *, uint64_t bytes);
/* The pages of the range read as zeros again. */
void linux_vm_discard(struct linux_vm *, uint64_t addr, uint64_t bytes);

/* Copies between guest and simulator, with the guest's rights. False: not all of it is allowed; what came before is
 * copied. `force` writes also where the guest may not (loading of programs). */
bool linux_vm_read(struct linux_vm *, void *to, uint64_t addr, uint64_t bytes);
bool linux_vm_write(struct linux_vm *, uint64_t addr, const void *from, uint64_t bytes);
bool linux_vm_force(struct linux_vm *, uint64_t addr, const void *from, uint64_t bytes);
/* A string with its end; false: not allowed, or longer than size - 1. */
bool linux_vm_string(struct linux_vm *, char *to, size_t size, uint64_t addr);
/* Host address of guest bytes up to the end of the page, *bytes at most `most`; NULL: not allowed. */
uint8_t *linux_vm_span(struct linux_vm *, uint64_t addr, uint64_t most, enum rv64_access, uint64_t *bytes);

static inline void linux_vm_touch(const struct linux_vm *vm, uint64_t addr, uint64_t bytes, enum rv64_access access)
{
  if (vm->watch) vm->watch->touch(vm->watch->ctx, addr, bytes, access);
}

static inline uint64_t linux_page_up(uint64_t n)
{
  return (n + (RV64_PAGE_BYTES - 1)) & RV64_PAGE_MASK;
}

#endif
