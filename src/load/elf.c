/* The section table is walked with libelf; section contents are taken from the image after our own
 * bounds checks, so that a lying header can only shorten what we see. */
#include "load/elf.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/text.h"

/* SM number in e_flags: CUDA 13 (OSABI 0x41) keeps it in bits 15:8, CUDA 12 and older (OSABI 0x33)
 * in the low byte (compiler output). */
enum { EM_CUDA_CUBIN = 190, OSABI_CUDA12 = 0x33, OSABI_CUDA13 = 0x41 };

uint16_t elf_u16(const uint8_t *p)
{
  return (uint16_t)(p[0] | p[1] << 8);
}

uint32_t elf_u32(const uint8_t *p)
{
  return elf_u16(p) | (uint32_t)elf_u16(p + 2) << 16;
}

uint64_t elf_u64(const uint8_t *p)
{
  return elf_u32(p) | (uint64_t)elf_u32(p + 4) << 32;
}

struct reader {
  struct elf_file *f;
  struct arena *arena;
  const uint8_t *image;
  size_t bytes;
  const char *name;
  struct err *e;
};

static bool bad(const struct reader *r, const char *what, uint64_t where)
{
  return err_set(r->e, "%s: damaged cubin: %s (at 0x%llx); compile it again", r->name, what,
                 (unsigned long long)where);
}

static bool read_ident(const struct reader *r)
{
  if (r->bytes < sizeof(Elf64_Ehdr) || memcmp(r->image, ELFMAG, SELFMAG) != 0)
    return err_set(r->e, "%s: not a cubin (no ELF header); compile with nvcc -cubin", r->name);
  if (r->image[EI_CLASS] != ELFCLASS64 || r->image[EI_DATA] != ELFDATA2LSB)
    return err_set(r->e, "%s: not a cubin (not 64-bit little-endian ELF); compile with nvcc -cubin",
                   r->name);
  uint16_t machine = elf_u16(r->image + offsetof(Elf64_Ehdr, e_machine));
  if (machine != EM_CUDA_CUBIN)
    return err_set(r->e, "%s: not a cubin (ELF machine %u, want %d); compile with nvcc -cubin",
                   r->name, machine, EM_CUDA_CUBIN);
  return true;
}

static bool read_target(const struct reader *r)
{
  uint32_t flags = elf_u32(r->image + offsetof(Elf64_Ehdr, e_flags));
  unsigned osabi = r->image[EI_OSABI];
  uint16_t type = elf_u16(r->image + offsetof(Elf64_Ehdr, e_type));
  if (osabi != OSABI_CUDA13 && osabi != OSABI_CUDA12)
    return err_set(r->e, "%s: unknown cubin version (OSABI 0x%x); use CUDA 11, 12 or 13", r->name,
                   osabi);
  if (type != ET_EXEC && type != ET_REL)
    return bad(r, "ELF type is neither executable nor relocatable",
               offsetof(Elf64_Ehdr, e_type));
  r->f->sm = osabi == OSABI_CUDA13 ? (flags >> 8) & 0xff : flags & 0xff;
  r->f->relocatable = type == ET_REL;
  return true;
}

/* A string of a string table; NULL when it does not end inside. Names are used where they lie:
 * copies would let a small file with overlapping names ask for any amount of memory. */
const char *elf_string(const struct elf_section *s, uint32_t at)
{
  if (!s->data || at >= s->size || !memchr(s->data + at, 0, (size_t)(s->size - at))) return NULL;
  if (s->data[at] >> 6 == 2) return NULL; /* the middle of a character */
  return (const char *)s->data + at;
}

/* Types of sections that only have a size. Besides NOBITS, objects use types of their own for
 * globals (7), local memory (9), shared memory (0xa) and its reserved part (0x15). */
static bool has_contents(uint32_t type)
{
  switch (type) {
  case SHT_NULL: case SHT_NOBITS: case SHT_LOPROC + 7: case SHT_LOPROC + 9:
  case SHT_LOPROC + 0xa: case SHT_LOPROC + 0x15: return false;
  default: return true;
  }
}

static bool read_section(const struct reader *r, Elf *elf, uint32_t i, struct elf_section *s,
                         uint32_t *name_at)
{
  GElf_Shdr h;
  Elf_Scn *scn = elf_getscn(elf, i);
  if (!scn || !gelf_getshdr(scn, &h)) return bad(r, "section header", i);
  *name_at = h.sh_name;
  s->type = h.sh_type;
  s->link = h.sh_link;
  s->info = h.sh_info;
  s->flags = h.sh_flags;
  s->size = h.sh_size;
  s->align = h.sh_addralign ? h.sh_addralign : 1;
  if (s->align & (s->align - 1)) return bad(r, "section alignment", h.sh_addralign);
  if (!has_contents(h.sh_type)) return true;
  if (h.sh_offset > r->bytes || h.sh_size > r->bytes - h.sh_offset)
    return bad(r, "a section reaches past the end of the file", i);
  s->data = r->image + h.sh_offset;
  return true;
}

/* Names reach terminals and reports. Once for a whole table: names may overlap. */
static bool names_are_text(const struct reader *r, const struct elf_section *s)
{
  if (!s->data || text_table_is_safe(s->data, (size_t)s->size)) return true;
  return bad(r, "names that are not printable text", (uint64_t)(s->data - r->image));
}

static bool read_sections(const struct reader *r, Elf *elf)
{
  size_t n, shstrndx;
  if (elf_getshdrnum(elf, &n) != 0 || elf_getshdrstrndx(elf, &shstrndx) != 0)
    return bad(r, "section table", elf_u64(r->image + offsetof(Elf64_Ehdr, e_shoff)));
  /* Every section has a header in the file, which bounds the allocation. */
  if (n == 0 || n > r->bytes / sizeof(Elf64_Shdr)) return bad(r, "number of sections", n);
  r->f->section = ARENA_ARRAY(r->arena, struct elf_section, n);
  r->f->n_sections = (uint32_t)n;
  uint32_t *name_at = ARENA_ARRAY(r->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++)
    TRY(read_section(r, elf, i, &r->f->section[i], &name_at[i]));
  if (shstrndx >= n) return bad(r, "number of the section-name table", shstrndx);
  TRY(names_are_text(r, &r->f->section[shstrndx]));
  for (uint32_t i = 0; i < n; i++) {
    r->f->section[i].name = elf_string(&r->f->section[shstrndx], name_at[i]);
    if (!r->f->section[i].name) return bad(r, "section name", i);
  }
  return true;
}

static bool read_symbols(const struct reader *r)
{
  struct elf_file *f = r->f;
  const struct elf_section *tab = NULL;
  for (uint32_t i = 1; i < f->n_sections && !tab; i++)
    if (f->section[i].type == SHT_SYMTAB) tab = &f->section[i];
  if (!tab) return bad(r, "no symbol table", 0);
  if (!tab->data || tab->size % sizeof(Elf64_Sym) || tab->link == 0 || tab->link >= f->n_sections)
    return bad(r, "symbol table", tab->size);
  const struct elf_section *strings = &f->section[tab->link];
  TRY(names_are_text(r, strings));
  f->n_symbols = (uint32_t)(tab->size / sizeof(Elf64_Sym));
  f->symbol = ARENA_ARRAY(r->arena, struct elf_symbol, f->n_symbols);
  for (uint32_t i = 0; i < f->n_symbols; i++) {
    Elf64_Sym y;
    memcpy(&y, tab->data + i * sizeof y, sizeof y);
    const char *name = elf_string(strings, y.st_name);
    if (!name) return bad(r, "symbol name", i);
    if (y.st_shndx >= f->n_sections && y.st_shndx < SHN_LORESERVE)
      return bad(r, "section number of a symbol", i);
    f->symbol[i] = (struct elf_symbol){
      .name = name, .value = y.st_value, .size = y.st_size,
      .section = y.st_shndx, .type = ELF64_ST_TYPE(y.st_info), .bind = ELF64_ST_BIND(y.st_info),
      .other = y.st_other,
    };
  }
  return true;
}

uint32_t elf_symbol_number(const struct elf_section *s, uint32_t number)
{
  if (!s->numbers) return number;
  return number < s->numbers->n ? s->numbers->ours[number] : UINT32_MAX;
}

bool elf_is_cubin(const uint8_t *image, size_t bytes)
{
  return bytes >= sizeof(Elf64_Ehdr) && memcmp(image, ELFMAG, SELFMAG) == 0 &&
         elf_u16(image + offsetof(Elf64_Ehdr, e_machine)) == EM_CUDA_CUBIN;
}

bool elf_target(const uint8_t *image, size_t bytes, const char *name, unsigned *sm, struct err *e)
{
  struct elf_file f = { 0 };
  struct reader r = { &f, NULL, image, bytes, name, e };
  TRY(read_ident(&r));
  TRY(read_target(&r));
  *sm = f.sm;
  return true;
}

static void end_elf(void *elf)
{
  elf_end(elf);
}

bool elf_open(struct elf_file *f, struct arena *a, const uint8_t *image, size_t bytes,
              const char *name, struct err *e)
{
  struct reader r = { f, a, image, bytes, name, e };
  *f = (struct elf_file){0};
  TRY(read_ident(&r));
  TRY(read_target(&r));
  if (elf_version(EV_CURRENT) == EV_NONE)
    return err_set(e, "%s: the installed libelf is too old; update it", name);
  /* libelf wants a writable image; it does not write to it as long as nothing is updated. */
  errno = 0;
  Elf *elf = elf_memory((char *)(uintptr_t)image, bytes);
  NO_MEMORY_IF(!elf && errno == ENOMEM);
  if (!elf) return bad(&r, "ELF structure", 0);
  heap_keep(elf, end_elf);
  bool ok = read_sections(&r, elf) && read_symbols(&r);
  heap_forget(elf);
  elf_end(elf);
  return ok;
}
