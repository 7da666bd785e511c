/* The address space of a Linux process (host/linux/linux_vm.h). */
#include "host/linux/linux_vm.h"

#include <string.h>

#include "base/host_memory.h"

/* Pages come into guest memory in pieces of so many bytes: a call to the host for each. */
enum { CHUNK = 1 << 18, MOST_VMAS = 65530 };

void linux_vm_init(struct linux_vm *vm, struct gmem *image, uint64_t most_bytes)
{
  *vm = (struct linux_vm){.image = image, .most = most_bytes >> RV64_PAGE_SHIFT};
}

void linux_vm_free(struct linux_vm *vm)
{
  mem_free(vm->vma);
  vm->vma = NULL;
  vm->n = vm->room = 0;
}

/* Number of the first area that ends above addr. */
static uint32_t first_above(const struct linux_vm *vm, uint64_t addr)
{
  uint32_t low = 0, high = vm->n;
  while (low < high) {
    const uint32_t mid = low + (high - low) / 2;
    if (vm->vma[mid].end <= addr)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static const struct linux_vma *find(struct linux_vm *vm, uint64_t addr)
{
  if (vm->last < vm->n && addr - vm->vma[vm->last].start < vm->vma[vm->last].end - vm->vma[vm->last].start)
    return &vm->vma[vm->last];
  const uint32_t i = first_above(vm, addr);
  if (i == vm->n || vm->vma[i].start > addr) return NULL;
  vm->last = i;
  return &vm->vma[i];
}

static bool in_space(uint64_t addr, uint64_t bytes)
{
  return addr <= LINUX_TASK_SIZE && bytes <= LINUX_TASK_SIZE - addr;
}

/* The pages around addr that lie in the area. */
static bool populate(struct linux_vm *vm, const struct linux_vma *a, uint64_t addr)
{
  uint64_t from = addr & ~(uint64_t)(CHUNK - 1), to = from + CHUNK, mask;
  if (from < a->start) from = a->start;
  if (to > a->end) to = a->end;
  if (vm->pages + (to - from) / RV64_PAGE_BYTES > vm->most) from = addr & RV64_PAGE_MASK, to = from + RV64_PAGE_BYTES;
  uint64_t fresh = 0;
  for (uint64_t at = from; at < to; at += RV64_PAGE_BYTES) fresh += !gmem_page(vm->image, at, &mask);
  if (vm->pages + fresh > vm->most) {
    vm->exhausted = true;
    return false;
  }
  vm->pages += fresh;
  return gmem_map_at(vm->image, from, to - from);
}

static uint8_t *area_page(struct linux_vm *vm, const struct linux_vma *a, uint64_t addr)
{
  uint64_t mask;
  uint8_t *p = gmem_page(vm->image, addr, &mask);
  if (!p && populate(vm, a, addr)) p = gmem_page(vm->image, addr, &mask);
  return p;
}

uint8_t *linux_vm_page(void *os, uint64_t addr, enum rv64_access access)
{
  static const uint8_t needs[] = {[RV64_READ] = LINUX_PROT_READ | LINUX_PROT_WRITE, [RV64_WRITE] = LINUX_PROT_WRITE,
                                  [RV64_FETCH] = LINUX_PROT_EXEC};
  struct linux_vm *vm = os;
  if (addr >= LINUX_TASK_SIZE) return vm->gpu ? vm->gpu->page(vm->gpu->ctx, addr, access) : NULL;
  const struct linux_vma *a = find(vm, addr);
  return a && (a->prot & needs[access]) ? area_page(vm, a, addr) : NULL;
}

static void changed(struct linux_vm *vm, uint64_t addr, uint64_t bytes, bool fresh)
{
  if (vm->core) rv64_forget(vm->core, addr, bytes);
  if (vm->watch) vm->watch->changed(vm->watch->ctx, addr, bytes, fresh);
}

void linux_vm_changed_above(struct linux_vm *vm)
{
  changed(vm, LINUX_TASK_SIZE, RV64_PAGE_MASK - LINUX_TASK_SIZE, true);
}

/* With all pages at once, as far as memory goes: whoever else sees the image cannot ask for them. */
static void fill(struct linux_vm *vm, uint64_t addr, uint64_t bytes)
{
  uint64_t mask, fresh = 0;
  for (uint64_t at = addr; at < addr + bytes; at += RV64_PAGE_BYTES) fresh += !gmem_page(vm->image, at, &mask);
  if (vm->pages + fresh > vm->most || !fresh || !gmem_map_at(vm->image, addr, bytes)) return;
  vm->pages += fresh;
}

static bool is_filled(const struct linux_vm *vm, uint64_t bytes, unsigned prot)
{
  return vm->eager && bytes && bytes >> RV64_PAGE_SHIFT <= vm->most && prot & (LINUX_PROT_READ | LINUX_PROT_WRITE);
}

/* *v becomes area number i. */
static void insert(struct linux_vm *vm, uint32_t i, const struct linux_vma *v)
{
  vm->vma = mem_more(vm->vma, vm->n, &vm->room, sizeof *vm->vma);
  memmove(&vm->vma[i + 1], &vm->vma[i], (vm->n - i) * sizeof *vm->vma);
  vm->vma[i] = *v;
  vm->n++;
}

static void erase(struct linux_vm *vm, uint32_t i, uint32_t k)
{
  if (!k) return;
  memmove(&vm->vma[i], &vm->vma[i + k], (vm->n - i - k) * sizeof *vm->vma);
  vm->n -= k;
}

/* Splits the area that addr lies inside of; afterwards an area starts there, if one is there at all. */
static void split(struct linux_vm *vm, uint64_t addr)
{
  const uint32_t i = first_above(vm, addr);
  if (i == vm->n || vm->vma[i].start >= addr) return;
  const struct linux_vma rest = {addr, vm->vma[i].end, vm->vma[i].prot};
  vm->vma[i].end = addr;
  insert(vm, i + 1, &rest);
}

/* Joins the neighbours around number i that are alike. */
static void join(struct linux_vm *vm, uint32_t i)
{
  for (uint32_t k = i ? i - 1 : 0; k + 1 < vm->n && k <= i;) {
    if (vm->vma[k].end == vm->vma[k + 1].start && vm->vma[k].prot == vm->vma[k + 1].prot) {
      vm->vma[k].end = vm->vma[k + 1].end;
      erase(vm, k + 1, 1);
      if (i) i--;
    } else {
      k++;
    }
  }
}

static void drop_pages(struct linux_vm *vm, uint64_t addr, uint64_t end)
{
  vm->pages -= gmem_unmap_at(vm->image, addr, end - addr);
}

/* No area of [addr, end) is left; returns the number of the one behind. */
static uint32_t clear(struct linux_vm *vm, uint64_t addr, uint64_t end)
{
  split(vm, addr);
  split(vm, end);
  const uint32_t i = first_above(vm, addr);
  uint32_t k = i;
  for (; k < vm->n && vm->vma[k].start < end; k++) drop_pages(vm, vm->vma[k].start, vm->vma[k].end);
  erase(vm, i, k - i);
  return i;
}

bool linux_vm_map(struct linux_vm *vm, uint64_t addr, uint64_t bytes, unsigned prot)
{
  if (!in_space(addr, bytes) || vm->n + 2 >= MOST_VMAS) return false;
  const struct linux_vma v = {addr, addr + bytes, (uint8_t)(prot & LINUX_PROT_ALL)};
  const uint32_t i = clear(vm, addr, addr + bytes);
  insert(vm, i, &v);
  join(vm, i);
  changed(vm, addr, bytes, true);
  if (is_filled(vm, bytes, prot)) fill(vm, addr, bytes);
  return true;
}

void linux_vm_show(struct linux_vm *vm)
{
  vm->eager = true;
  for (uint32_t i = 0; i < vm->n; i++) {
    const struct linux_vma *a = &vm->vma[i];
    if (is_filled(vm, a->end - a->start, a->prot)) fill(vm, a->start, a->end - a->start);
  }
}

void linux_vm_unmap(struct linux_vm *vm, uint64_t addr, uint64_t bytes)
{
  if (!in_space(addr, bytes)) return;
  clear(vm, addr, addr + bytes);
  changed(vm, addr, bytes, true);
}

bool linux_vm_protect(struct linux_vm *vm, uint64_t addr, uint64_t bytes, unsigned prot)
{
  if (!in_space(addr, bytes) || vm->n + 2 >= MOST_VMAS) return false;
  uint64_t end = addr + bytes, at = addr;
  for (uint32_t i = first_above(vm, addr); at < end && i < vm->n && vm->vma[i].start <= at;) at = vm->vma[i++].end;
  const bool whole = at >= end;
  if (!whole) end = at;
  split(vm, addr);
  split(vm, end);
  const uint32_t first = first_above(vm, addr);
  uint32_t i = first;
  for (; i < vm->n && vm->vma[i].start < end; i++) vm->vma[i].prot = (uint8_t)(prot & LINUX_PROT_ALL);
  for (uint32_t k = i; k-- > first;) join(vm, k);
  changed(vm, addr, bytes, false);
  if (is_filled(vm, end - addr, prot)) fill(vm, addr, end - addr);
  return whole;
}

bool linux_vm_is_free(const struct linux_vm *vm, uint64_t addr, uint64_t bytes)
{
  if (!in_space(addr, bytes)) return false;
  const uint32_t i = first_above(vm, addr);
  return i == vm->n || vm->vma[i].start >= addr + bytes;
}

int linux_vm_rights(const struct linux_vm *vm, uint64_t addr, uint64_t bytes)
{
  if (!in_space(addr, bytes)) return -1;
  uint32_t i = first_above(vm, addr);
  int prot = -1;
  for (uint64_t at = addr; at < addr + bytes; at = vm->vma[i++].end) {
    if (i == vm->n || vm->vma[i].start > at || (prot >= 0 && vm->vma[i].prot != prot)) return -1;
    prot = vm->vma[i].prot;
  }
  return prot;
}

uint64_t linux_vm_place(const struct linux_vm *vm, uint64_t bytes)
{
  uint64_t top = LINUX_MMAP_TOP;
  uint32_t i = first_above(vm, top);
  if (i < vm->n && vm->vma[i].start < top) top = vm->vma[i].start;
  for (;;) {
    const uint64_t floor = i ? vm->vma[i - 1].end : RV64_PAGE_BYTES;
    if (top >= floor && top - floor >= bytes) return top - bytes;
    if (!i) return 0;
    i--;
    if (vm->vma[i].start < top) top = vm->vma[i].start;
  }
}

void linux_vm_discard(struct linux_vm *vm, uint64_t addr, uint64_t bytes)
{
  if (!in_space(addr, bytes)) return;
  const uint64_t end = addr + bytes;
  for (uint32_t i = first_above(vm, addr); i < vm->n && vm->vma[i].start < end; i++) {
    const struct linux_vma *a = &vm->vma[i];
    drop_pages(vm, a->start > addr ? a->start : addr, a->end < end ? a->end : end);
  }
  changed(vm, addr, bytes, true);
  for (uint32_t i = first_above(vm, addr); i < vm->n && vm->vma[i].start < end; i++) {
    const uint64_t from = vm->vma[i].start > addr ? vm->vma[i].start : addr;
    const uint64_t to = vm->vma[i].end < end ? vm->vma[i].end : end;
    if (is_filled(vm, to - from, vm->vma[i].prot)) fill(vm, from, to - from);
  }
}

uint8_t *linux_vm_span(struct linux_vm *vm, uint64_t addr, uint64_t most, enum rv64_access access, uint64_t *bytes)
{
  uint8_t *p = linux_vm_page(vm, addr, access);
  const uint64_t offset = addr & ~RV64_PAGE_MASK, room = RV64_PAGE_BYTES - offset;
  *bytes = most < room ? most : room;
  if (p) linux_vm_touch(vm, addr, *bytes, access);
  return p ? p + offset : NULL;
}

bool linux_vm_read(struct linux_vm *vm, void *to, uint64_t addr, uint64_t bytes)
{
  for (uint64_t done = 0, n; done < bytes; done += n) {
    const uint8_t *p = linux_vm_span(vm, addr + done, bytes - done, RV64_READ, &n);
    if (!p) return false;
    memcpy((uint8_t *)to + done, p, n);
  }
  return true;
}

bool linux_vm_write(struct linux_vm *vm, uint64_t addr, const void *from, uint64_t bytes)
{
  for (uint64_t done = 0, n; done < bytes; done += n) {
    uint8_t *p = linux_vm_span(vm, addr + done, bytes - done, RV64_WRITE, &n);
    if (!p) return false;
    memcpy(p, (const uint8_t *)from + done, n);
  }
  return true;
}

bool linux_vm_force(struct linux_vm *vm, uint64_t addr, const void *from, uint64_t bytes)
{
  for (uint64_t done = 0, n; done < bytes; done += n) {
    const uint64_t offset = (addr + done) & ~RV64_PAGE_MASK, room = RV64_PAGE_BYTES - offset;
    const struct linux_vma *a = find(vm, addr + done);
    uint8_t *p = a ? area_page(vm, a, addr + done) : NULL;
    if (!p) return false;
    n = bytes - done < room ? bytes - done : room;
    linux_vm_touch(vm, addr + done, n, RV64_WRITE);
    memcpy(p + offset, (const uint8_t *)from + done, n);
  }
  return true;
}

bool linux_vm_string(struct linux_vm *vm, char *to, size_t size, uint64_t addr)
{
  for (uint64_t done = 0, n; done < size; done += n) {
    const uint8_t *p = linux_vm_span(vm, addr + done, size - done, RV64_READ, &n);
    if (!p) return false;
    memcpy(to + done, p, n);
    if (memchr(p, 0, n)) return true;
  }
  return false;
}
