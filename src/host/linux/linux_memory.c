/* System calls for memory: brk, mmap and what belongs to it. Mappings of files are copies: what is written to a shared
 * one reaches no file, so those are refused.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/linux/linux_file.h"
#include "host/linux/linux_object.h"
#include "host/linux/linux_syscall.h"

int64_t linux_sys_brk(struct linux_process *p, const uint64_t *a)
{
  struct linux_vm *vm = &p->vm;
  const uint64_t old = linux_page_up(vm->brk), to = a[0];
  if (to < vm->brk_start || to > LINUX_PIE_BASE + LINUX_TASK_SIZE / 4) return (int64_t)vm->brk;
  const uint64_t new = linux_page_up(to);
  if (new > old) {
    if (!linux_vm_is_free(vm, old, new - old) ||
        !linux_vm_map(vm, old, new - old, LINUX_PROT_READ | LINUX_PROT_WRITE))
      return (int64_t)vm->brk;
  } else if (new < old) {
    linux_vm_unmap(vm, new, old - new);
  }
  vm->brk = to;
  return (int64_t)to;
}

/* Where a mapping goes: exactly there, there if it is free, or anywhere. Below 0: an errno. */
static int64_t choose_place(struct linux_process *p, uint64_t addr, uint64_t bytes, uint64_t flags)
{
  if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
    if (addr % RV64_PAGE_BYTES) return -EINVAL;
    if (addr > LINUX_TASK_SIZE || bytes > LINUX_TASK_SIZE - addr) return -ENOMEM;
    if ((flags & MAP_FIXED_NOREPLACE) && !linux_vm_is_free(&p->vm, addr, bytes)) return -EEXIST;
    return (int64_t)addr;
  }
  addr = linux_page_up(addr);
  if (addr && linux_vm_is_free(&p->vm, addr, bytes)) return (int64_t)addr;
  addr = linux_vm_place(&p->vm, bytes);
  return addr ? (int64_t)addr : -ENOMEM;
}

/* Bytes of a file into memory that was just mapped, with any rights. */
static int64_t fill_from_file(struct linux_process *p, int host, uint64_t addr, uint64_t bytes, uint64_t offset)
{
  uint8_t block[65536];
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t n = bytes - done < sizeof block ? bytes - done : sizeof block;
    const ssize_t r = pread(host, block, n, (off_t)(offset + done));
    if (r < 0) return -errno;
    if (r == 0) break; /* behind the end of the file: zeros */
    if (!linux_vm_force(&p->vm, addr + done, block, (uint64_t)r)) return -ENOMEM;
    done += (uint64_t)r;
  }
  return 0;
}

static void note_code(struct linux_process *p, int host, uint64_t addr, uint64_t bytes, uint64_t offset)
{
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", host);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return;
  path[n] = '\0';
  linux_object_note(p, path, addr, addr + bytes, offset);
}

int64_t linux_sys_mmap(struct linux_process *p, const uint64_t *a)
{
  const uint64_t flags = a[3], prot = a[2], offset = a[5], type = flags & MAP_TYPE;
  const bool anonymous = flags & MAP_ANONYMOUS;
  struct stat st;
  int host = -1;
  if (a[1] == 0 || a[1] > LINUX_TASK_SIZE || offset % RV64_PAGE_BYTES || (prot & ~(uint64_t)LINUX_PROT_ALL))
    return a[1] > LINUX_TASK_SIZE ? -ENOMEM : -EINVAL;
  if (type != MAP_PRIVATE && type != MAP_SHARED && type != MAP_SHARED_VALIDATE) return -EINVAL;
  if (!anonymous) {
    host = linux_file_host(p, a[4]);
    if (host < 0) return -EBADF;
    if (fstat(host, &st) != 0 || !S_ISREG(st.st_mode) || (int64_t)offset < 0) return -ENODEV;
    if (type != MAP_PRIVATE && (prot & PROT_WRITE)) return -ENODEV;
  }
  const uint64_t bytes = linux_page_up(a[1]);
  const int64_t place = choose_place(p, a[0], bytes, flags);
  if (place < 0) return place;
  const uint64_t addr = (uint64_t)place;
  if (!linux_vm_map(&p->vm, addr, bytes, (unsigned)prot)) return -ENOMEM;
  if (anonymous) return place;
  const uint64_t in_file = offset < (uint64_t)st.st_size ? (uint64_t)st.st_size - offset : 0;
  const int64_t bad = fill_from_file(p, host, addr, bytes < in_file ? bytes : in_file, offset);
  if (bad) {
    linux_vm_unmap(&p->vm, addr, bytes);
    return bad;
  }
  if (prot & PROT_EXEC) note_code(p, host, addr, bytes, offset);
  return place;
}

int64_t linux_sys_munmap(struct linux_process *p, const uint64_t *a)
{
  if (a[0] % RV64_PAGE_BYTES || a[1] == 0 || a[0] > LINUX_TASK_SIZE || a[1] > LINUX_TASK_SIZE - a[0]) return -EINVAL;
  linux_vm_unmap(&p->vm, a[0], linux_page_up(a[1]));
  return 0;
}

int64_t linux_sys_mprotect(struct linux_process *p, const uint64_t *a)
{
  if (a[0] % RV64_PAGE_BYTES || (a[2] & ~(uint64_t)LINUX_PROT_ALL)) return -EINVAL;
  if (a[1] == 0) return 0;
  if (a[1] > LINUX_TASK_SIZE) return -ENOMEM;
  return linux_vm_protect(&p->vm, a[0], linux_page_up(a[1]), (unsigned)a[2]) ? 0 : -ENOMEM;
}

/* Moves the contents of a mapping to fresh pages. */
static bool move_pages(struct linux_vm *vm, uint64_t to, uint64_t from, uint64_t bytes)
{
  uint8_t page[RV64_PAGE_BYTES];
  uint64_t mask;
  for (uint64_t at = 0; at < bytes; at += sizeof page) {
    const uint8_t *p = gmem_page(vm->image, from + at, &mask);
    linux_vm_touch(vm, from + at, sizeof page, RV64_READ);
    if (p && !linux_vm_force(vm, to + at, p, sizeof page)) return false;
  }
  return true;
}

/* Growing in place where there is room, else elsewhere. MREMAP_FIXED is not served. */
int64_t linux_sys_mremap(struct linux_process *p, const uint64_t *a)
{
  struct linux_vm *vm = &p->vm;
  if (a[0] % RV64_PAGE_BYTES || a[1] == 0 || a[2] == 0 || (a[3] & ~(uint64_t)MREMAP_MAYMOVE)) return -EINVAL;
  if (a[1] > LINUX_TASK_SIZE || a[2] > LINUX_TASK_SIZE) return -ENOMEM;
  const uint64_t old = linux_page_up(a[1]), new = linux_page_up(a[2]);
  const int prot = linux_vm_rights(vm, a[0], old);
  if (prot < 0) return -EFAULT;
  if (new <= old) {
    if (new < old) linux_vm_unmap(vm, a[0] + new, old - new);
    return (int64_t)a[0];
  }
  if (linux_vm_is_free(vm, a[0] + old, new - old))
    return linux_vm_map(vm, a[0] + old, new - old, (unsigned)prot) ? (int64_t)a[0] : -ENOMEM;
  const uint64_t to = a[3] & MREMAP_MAYMOVE ? linux_vm_place(vm, new) : 0;
  if (!to || !linux_vm_map(vm, to, new, (unsigned)prot)) return -ENOMEM;
  if (!move_pages(vm, to, a[0], old)) {
    linux_vm_unmap(vm, to, new);
    return -ENOMEM;
  }
  linux_vm_unmap(vm, a[0], old);
  return (int64_t)to;
}

/* MADV_DONTNEED gives zeros, as nothing but copies is mapped; the rest is advice. */
int64_t linux_sys_madvise(struct linux_process *p, const uint64_t *a)
{
  if (a[0] % RV64_PAGE_BYTES || a[1] > LINUX_TASK_SIZE) return -EINVAL;
  const uint64_t bytes = linux_page_up(a[1]);
  if (bytes && !linux_vm_is_free(&p->vm, a[0], bytes) && (int)a[2] == MADV_DONTNEED)
    linux_vm_discard(&p->vm, a[0], bytes);
  return 0;
}

int64_t linux_sys_riscv_flush_icache(struct linux_process *p, const uint64_t *a)
{
  (void)a;
  rv64_forget_code(p->core);
  return 0;
}
