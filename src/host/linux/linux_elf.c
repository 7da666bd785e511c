/* RISC-V executables (host/linux/linux_elf.h). */
#include "host/linux/linux_elf.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/regular.h"
#include "base/text.h"

enum { MOST_PHDRS = 256 };
#define MOST_BYTES 0x80000000ull

bool linux_image_read(struct linux_image *im, const char *path, struct err *e)
{
  *im = (struct linux_image){0};
  TRY(file_is_regular(path, e));
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) {
    err_fill(e, "%s: %s", path, host_error());
    if (fd >= 0) close(fd);
    return false;
  }
  bool ok = (uint64_t)st.st_size <= MOST_BYTES || err_set(e, "%s: larger than 2 GiB", path);
  if (ok) im->data = mem_alloc((size_t)st.st_size);
  while (ok && im->bytes < (size_t)st.st_size) {
    const ssize_t n = read(fd, im->data + im->bytes, (size_t)st.st_size - im->bytes);
    if (n < 0) ok = err_set(e, "%s: cannot read: %s", path, host_error());
    if (n <= 0) break;
    im->bytes += (size_t)n;
  }
  close(fd);
  if (!ok) linux_image_free(im);
  return ok;
}

void linux_image_free(struct linux_image *im)
{
  mem_free(im->data);
  *im = (struct linux_image){0};
}

static bool is_rv64(const uint8_t *data, size_t bytes)
{
  Elf64_Ehdr h;
  if (bytes < sizeof h) return false;
  memcpy(&h, data, sizeof h);
  return memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_CLASS] == ELFCLASS64 &&
         h.e_ident[EI_DATA] == ELFDATA2LSB && h.e_machine == EM_RISCV;
}

bool linux_elf_is_rv64(const char *path)
{
  uint8_t head[sizeof(Elf64_Ehdr)];
  struct err ignored;
  if (!file_is_regular(path, &ignored)) return false;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t n = read(fd, head, sizeof head);
  close(fd);
  return n > 0 && is_rv64(head, (size_t)n);
}

/* Whether [at, at + n) lies in `bytes` bytes. */
static bool inside(uint64_t at, uint64_t n, uint64_t bytes)
{
  return at <= bytes && n <= bytes - at;
}

static bool header(Elf64_Ehdr *h, const uint8_t *data, size_t bytes)
{
  if (!is_rv64(data, bytes)) return false;
  memcpy(h, data, sizeof *h);
  return h->e_phentsize == sizeof(Elf64_Phdr) && h->e_phnum <= MOST_PHDRS &&
         inside(h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr), bytes);
}

static Elf64_Phdr phdr_at(const Elf64_Ehdr *h, const uint8_t *data, unsigned i)
{
  Elf64_Phdr p;
  memcpy(&p, data + h->e_phoff + i * sizeof p, sizeof p);
  return p;
}

static bool check_load(const Elf64_Phdr *p, size_t bytes, const char *name, struct err *e)
{
  if (p->p_filesz > p->p_memsz || !inside(p->p_offset, p->p_filesz, bytes))
    return err_set(e, "%s: a segment lies outside of the file", name);
  if (!inside(p->p_vaddr, p->p_memsz, LINUX_TASK_SIZE - RV64_PAGE_BYTES))
    return err_set(e, "%s: a segment lies outside of the address space", name);
  if ((p->p_offset ^ p->p_vaddr) % RV64_PAGE_BYTES)
    return err_set(e, "%s: a segment is not aligned to pages", name);
  return true;
}

static bool take_interpreter(struct linux_elf *f, const uint8_t *data, size_t bytes, const Elf64_Phdr *p,
                             const char *name, struct err *e)
{
  if (p->p_filesz == 0 || p->p_filesz > sizeof f->interpreter || !inside(p->p_offset, p->p_filesz, bytes) ||
      data[p->p_offset + p->p_filesz - 1] != '\0')
    return err_set(e, "%s: the name of its interpreter is damaged", name);
  memcpy(f->interpreter, data + p->p_offset, p->p_filesz);
  return true;
}

bool linux_elf_parse(struct linux_elf *f, const uint8_t *data, size_t bytes, const char *name, struct err *e)
{
  Elf64_Ehdr h;
  *f = (struct linux_elf){.low = UINT64_MAX};
  if (!is_rv64(data, bytes)) return err_set(e, "%s: not an ELF file of 64-bit RISC-V", name);
  if (!header(&h, data, bytes)) return err_set(e, "%s: its program headers are damaged", name);
  if (h.e_type != ET_EXEC && h.e_type != ET_DYN) return err_set(e, "%s: not linked: no executable", name);
  f->position_independent = h.e_type == ET_DYN;
  f->entry = h.e_entry;
  f->n_phdr = h.e_phnum;
  for (unsigned i = 0; i < h.e_phnum; i++) {
    const Elf64_Phdr p = phdr_at(&h, data, i);
    if (p.p_type == PT_INTERP) TRY(take_interpreter(f, data, bytes, &p, name, e));
    if (p.p_type == PT_GNU_STACK) f->stack_exec = p.p_flags & PF_X;
    if (p.p_type != PT_LOAD || p.p_memsz == 0) continue;
    TRY(check_load(&p, bytes, name, e));
    const uint64_t low = p.p_vaddr & RV64_PAGE_MASK, high = linux_page_up(p.p_vaddr + p.p_memsz);
    if (low < f->low) f->low = low;
    if (high > f->high) f->high = high;
    if (h.e_phoff >= p.p_offset && h.e_phoff - p.p_offset < p.p_filesz) f->phdr = h.e_phoff - p.p_offset + p.p_vaddr;
  }
  return f->high > 0 || err_set(e, "%s: has nothing to load", name);
}

bool linux_elf_map(const struct linux_elf *f, const uint8_t *data, size_t bytes, uint64_t bias, struct linux_vm *vm,
                   const char *name, struct err *e)
{
  Elf64_Ehdr h;
  if (!header(&h, data, bytes) || bias > LINUX_TASK_SIZE || f->high > LINUX_TASK_SIZE - bias)
    return err_set(e, "%s: does not fit into the address space", name);
  for (unsigned i = 0; i < h.e_phnum; i++) {
    const Elf64_Phdr p = phdr_at(&h, data, i);
    if (p.p_type != PT_LOAD || p.p_memsz == 0) continue;
    const uint64_t low = p.p_vaddr & RV64_PAGE_MASK, head = p.p_vaddr - low;
    const uint64_t high = linux_page_up(p.p_vaddr + p.p_memsz);
    const unsigned prot = (p.p_flags & PF_R ? LINUX_PROT_READ : 0u) | (p.p_flags & PF_W ? LINUX_PROT_WRITE : 0u) |
                          (p.p_flags & PF_X ? LINUX_PROT_EXEC : 0u);
    if (!linux_vm_map(vm, bias + low, high - low, prot) ||
        (p.p_filesz && !linux_vm_force(vm, bias + low, data + p.p_offset - head, p.p_filesz + head)))
      return err_set(e, "%s: needs more memory than the guest has", name);
  }
  return true;
}

bool linux_elf_address(const uint8_t *data, size_t bytes, uint64_t file_offset, uint64_t *addr)
{
  Elf64_Ehdr h;
  if (!header(&h, data, bytes)) return false;
  for (unsigned i = 0; i < h.e_phnum; i++) {
    const Elf64_Phdr p = phdr_at(&h, data, i);
    if (p.p_type != PT_LOAD || file_offset < p.p_offset || file_offset - p.p_offset >= p.p_filesz) continue;
    *addr = p.p_vaddr + (file_offset - p.p_offset);
    return true;
  }
  return false;
}

static bool section_at(const Elf64_Ehdr *h, const uint8_t *data, size_t bytes, unsigned i, Elf64_Shdr *s)
{
  if (i >= h->e_shnum) return false;
  memcpy(s, data + h->e_shoff + (uint64_t)i * sizeof *s, sizeof *s);
  return s->sh_type == SHT_NOBITS || inside(s->sh_offset, s->sh_size, bytes);
}

/* A function wins over a label at the same place; labels of the assembler ($x, .L) are no names. */
static bool better(const Elf64_Sym *s, const Elf64_Sym *best, const char *name)
{
  if (*name == '\0' || *name == '$' || *name == '.') return false;
  return best->st_name == 0 || s->st_value > best->st_value ||
         (s->st_value == best->st_value && ELF64_ST_TYPE(s->st_info) == STT_FUNC);
}

/* The last symbol at or below addr of one table. */
static void search(const uint8_t *data, const Elf64_Shdr *table, const Elf64_Shdr *strings, uint64_t addr,
                   Elf64_Sym *best, const char **name)
{
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym s;
    memcpy(&s, data + table->sh_offset + at, sizeof s);
    const unsigned type = ELF64_ST_TYPE(s.st_info);
    if ((type != STT_FUNC && type != STT_NOTYPE) || s.st_shndx == SHN_UNDEF || s.st_value > addr) continue;
    if (s.st_name >= strings->sh_size) continue;
    const char *text = (const char *)data + strings->sh_offset + s.st_name;
    if (!memchr(text, 0, strings->sh_size - s.st_name) || !better(&s, best, text)) continue;
    *best = s;
    *name = text;
  }
}

bool linux_elf_symbol(const uint8_t *data, size_t bytes, uint64_t addr, char *name, size_t size, uint64_t *offset)
{
  Elf64_Ehdr h;
  if (!header(&h, data, bytes) || h.e_shentsize != sizeof(Elf64_Shdr) ||
      !inside(h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr), bytes))
    return false;
  Elf64_Sym best = {0};
  const char *found = NULL;
  for (unsigned i = 0, tables = 0; i < h.e_shnum && tables < 2; i++) {
    Elf64_Shdr table, strings;
    if (!section_at(&h, data, bytes, i, &table)) continue;
    if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
    if (!section_at(&h, data, bytes, table.sh_link, &strings) || strings.sh_type != SHT_STRTAB) continue;
    tables++; /* a file has one of each kind */
    search(data, &table, &strings, addr, &best, &found);
  }
  if (!found) return false;
  text_safe(found, name, size);
  *offset = addr - best.st_value;
  return true;
}

bool linux_elf_calls_gpu(const char *path)
{
  enum { LUI = 0x37, REG_A7 = 17, RD_SHIFT = 7 };
  const uint32_t lui = (uint32_t)LINUX_GPU_CALL | REG_A7 << RD_SHIFT | LUI;
  struct linux_image f;
  struct err ignored;
  if (!linux_image_read(&f, path, &ignored)) return false;
  bool found = false;
  for (size_t i = 0; i + sizeof lui <= f.bytes && !found; i += 2) found = memcmp(f.data + i, &lui, sizeof lui) == 0;
  linux_image_free(&f);
  return found;
}
