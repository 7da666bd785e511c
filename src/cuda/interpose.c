/* Programs with the static runtime: when this library is loaded (before the program's own constructors
 * run), the start of each runtime function in the program's text is overwritten with a jump to the
 * function of the same name here. Needs the program's symbol table; a stripped program is left alone,
 * and `warpstep exec` says so before it starts one.
 *
 * Nothing of the runtime is read or relied on but the names and addresses of its public functions.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/entries.h"
#include "cuda/shim.h"

enum { JUMP_BYTES = 14 }; /* jmp *0(%rip); the address */

struct program {
  const uint8_t *file;
  size_t bytes;
  uintptr_t base; /* of a position-independent program */
};

static bool open_program(struct program *p)
{
  struct stat st;
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(Elf64_Ehdr);
  void *file = ok ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (file == MAP_FAILED) return false;
  p->file = file;
  p->bytes = (size_t)st.st_size;
  const Elf64_Ehdr *h = file;
  return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
         h->e_machine == EM_X86_64 && h->e_shoff <= p->bytes &&
         h->e_shnum <= (p->bytes - h->e_shoff) / sizeof(Elf64_Shdr);
}

/* The program comes first. */
static int first_base(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
  (void)bytes;
  *(uintptr_t *)ctx = info->dlpi_addr;
  return 1;
}

static const Elf64_Shdr *section(const struct program *p, uint32_t type)
{
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)p->file;
  const Elf64_Shdr *s = (const Elf64_Shdr *)(p->file + h->e_shoff);
  for (unsigned i = 0; i < h->e_shnum; i++)
    if (s[i].sh_type == type && s[i].sh_offset <= p->bytes && s[i].sh_size <= p->bytes - s[i].sh_offset &&
        s[i].sh_link < h->e_shnum)
      return &s[i];
  return NULL;
}

static const struct entry *find_entry(const char *name)
{
  for (unsigned i = 0; i < n_runtime_entries; i++)
    if (strcmp(runtime_entries[i].symbol, name) == 0) return &runtime_entries[i];
  return NULL;
}

static bool write_jump(uintptr_t at, void (*to)(void))
{
  uint8_t jump[JUMP_BYTES] = { 0xff, 0x25 };
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = at & ~(page - 1);
  size_t bytes = at + JUMP_BYTES - first;
  memcpy(jump + 6, &to, sizeof to);
  if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  memcpy((void *)at, jump, sizeof jump);
  return mprotect((void *)first, bytes, PROT_READ | PROT_EXEC) == 0;
}

static void patch(const struct program *p, const Elf64_Sym *y, const char *name)
{
  const struct entry *e;
  if (ELF64_ST_TYPE(y->st_info) != STT_FUNC || y->st_shndx == SHN_UNDEF || y->st_size < JUMP_BYTES)
    return;
  if (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0) return;
  if (!(e = find_entry(name))) return;
  if (!write_jump(p->base + y->st_value, e->address))
    shim_say("cannot redirect %s of the program; link it with -cudart shared", name);
}

__attribute__((constructor)) static void interpose(void)
{
  struct program p = {0};
  const Elf64_Shdr *symbols = NULL;
  if (open_program(&p)) symbols = section(&p, SHT_SYMTAB);
  if (symbols) {
    const Elf64_Shdr *strings =
        (const Elf64_Shdr *)(p.file + ((const Elf64_Ehdr *)p.file)->e_shoff) + symbols->sh_link;
    const Elf64_Sym *y = (const Elf64_Sym *)(p.file + symbols->sh_offset);
    bool whole = strings->sh_size && strings->sh_offset <= p.bytes &&
                 strings->sh_size <= p.bytes - strings->sh_offset &&
                 p.file[strings->sh_offset + strings->sh_size - 1] == '\0';
    dl_iterate_phdr(first_base, &p.base);
    for (size_t i = 0; whole && i < symbols->sh_size / sizeof *y; i++)
      if (y[i].st_name < strings->sh_size)
        patch(&p, &y[i], (const char *)p.file + strings->sh_offset + y[i].st_name);
  }
  if (p.file) munmap((void *)(uintptr_t)p.file, p.bytes);
}
