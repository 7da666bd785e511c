#include "load/program.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "load/runtime_archive.h"

static void look_at_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *h, struct program_info *p)
{
  Elf_Data *data = elf_getdata(scn, NULL);
  GElf_Sym y;
  for (int i = 0; data && gelf_getsym(data, i, &y); i++) {
    const char *name = elf_strptr(elf, h->sh_link, y.st_name);
    if (name && y.st_shndx != SHN_UNDEF && strcmp(name, "__cudaRegisterFatBinary") == 0)
      p->runtime_symbols = true;
  }
}

static void look_at_dynamic(Elf *elf, Elf_Scn *scn, const GElf_Shdr *h, struct program_info *p)
{
  Elf_Data *data = elf_getdata(scn, NULL);
  GElf_Dyn d;
  p->static_program = false;
  for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++) {
    const char *name = d.d_tag == DT_NEEDED ? elf_strptr(elf, h->sh_link, d.d_un.d_val) : NULL;
    if (name && strncmp(name, "libcudart.so", 12) == 0) p->shared_runtime = true;
  }
}

/* A program without names has those of the archive that it was linked with, when that is here. */
static void look_for_archive(Elf *elf, const char *path, struct program_info *p)
{
  struct runtime_archives all = {0};
  struct runtime_place place;
  size_t bytes;
  const char *file = elf_rawfile(elf, &bytes);
  p->runtime_symbols = file && runtime_archives_find(&all, path, (const uint8_t *)file, bytes, &place);
  runtime_archives_close(&all);
}

static void look(Elf *elf, struct program_info *p)
{
  size_t names;
  GElf_Shdr h;
  if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names)) return;
  p->elf = p->static_program = true;
  for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
    if (!gelf_getshdr(scn, &h)) continue;
    const char *name = elf_strptr(elf, names, h.sh_name);
    if (name && strcmp(name, ".nv_fatbin") == 0) p->gpu_code = true;
    if (h.sh_type == SHT_SYMTAB) look_at_symbols(elf, scn, &h, p);
    if (h.sh_type == SHT_DYNAMIC) look_at_dynamic(elf, scn, &h, p);
  }
}

struct program_info program_inspect(const char *path)
{
  struct program_info p = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) return p;
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  if (elf) look(elf, &p);
  if (p.gpu_code && !p.shared_runtime && !p.runtime_symbols) look_for_archive(elf, path, &p);
  elf_end(elf);
  close(fd);
  return p;
}
