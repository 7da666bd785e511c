#include "load/runtime_archive.h"

#include <ar.h>
#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARCHIVE "libcudart_static.a"

enum {
  CODE_LEAST = 64 << 10, /* bytes of a runtime's code; those of 11 to 13 have some 500 KiB */
  RUN_LEAST = 64,        /* bytes that linking leaves alone, in a row, to look for */
  FOLDERS_UP = 16,       /* of an object's path */
};

struct runtime_archive {
  dev_t device;
  ino_t number;
  uint8_t *elf; /* the runtime's object; NULL: there is none that can be used */
  size_t elf_bytes;
  unsigned section;
  const uint8_t *code;
  size_t code_bytes;
  uint8_t *linked; /* of each byte of the code: whether linking may change it */
  size_t run, run_bytes; /* the longest run of others */
};

/* Bytes of a file that is mapped -------------------------------------------------------------------- */

static bool inside(size_t all, uint64_t at, uint64_t bytes)
{
  return at <= all && bytes <= all - at;
}

/* A table of an object. NULL: it is not where it can be. */
static const void *table(const uint8_t *elf, size_t all, uint64_t at, uint64_t bytes)
{
  return inside(all, at, bytes) && at % _Alignof(uint64_t) == 0 ? elf + at : NULL;
}

/* NULL: it is no object of this machine, or damaged. */
static const Elf64_Ehdr *header_of(const uint8_t *elf, size_t bytes)
{
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)(const void *)elf;
  const bool ok = bytes > sizeof *h && !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
                  h->e_machine == EM_X86_64 &&
                  table(elf, bytes, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)) &&
                  table(elf, bytes, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr));
  return ok ? h : NULL;
}

static const Elf64_Shdr *sections_of(const Elf64_Ehdr *h)
{
  return (const Elf64_Shdr *)(const void *)((const uint8_t *)h + h->e_shoff);
}

/* What linking may change ---------------------------------------------------------------------------- */

/* Bytes around a relocation's place that a linker may write: its field and, where it may choose another instruction for
 * the one around it, that. Source: System V ABI, AMD64 supplement, "Relocation Types", "Optimize GOTPCRELX Relocations"
 * and "Linker Optimizations" of thread-local storage. */
static void reach(uint32_t type, unsigned *before, unsigned *behind)
{
  *before = 0, *behind = 4;
  switch (type) {
  case R_X86_64_64: case R_X86_64_PC64: case R_X86_64_GOTOFF64: *behind = 8; break;
  case R_X86_64_GOTPCRELX: *before = 2; break;
  case R_X86_64_REX_GOTPCRELX: case R_X86_64_GOTTPOFF: *before = 3; break;
  case R_X86_64_TLSGD: *before = 4, *behind = 12; break;
  case R_X86_64_TLSLD: *before = 3, *behind = 9; break;
  default: break;
  }
}

static void mark(struct runtime_archive *a, const Elf64_Rela *r)
{
  unsigned before, behind;
  reach(ELF64_R_TYPE(r->r_info), &before, &behind);
  if (r->r_offset >= a->code_bytes) return;
  const size_t first = r->r_offset < before ? 0 : r->r_offset - before;
  const size_t end = behind > a->code_bytes - r->r_offset ? a->code_bytes : r->r_offset + behind;
  memset(a->linked + first, 1, end - first);
}

static void find_run(struct runtime_archive *a)
{
  a->run_bytes = 0;
  for (size_t i = 0, first = 0; i <= a->code_bytes; i++) {
    if (i < a->code_bytes && !a->linked[i]) continue;
    if (i - first > a->run_bytes) a->run = first, a->run_bytes = i - first;
    first = i + 1;
  }
}

/* The code of a runtime's object, its largest section of instructions. */
static void take_code(struct runtime_archive *a, uint8_t *elf, size_t bytes)
{
  const Elf64_Ehdr *h = header_of(elf, bytes);
  if (!h || h->e_type != ET_REL) return;
  const Elf64_Shdr *s = sections_of(h);
  unsigned text = 0;
  for (unsigned i = 1; i < h->e_shnum; i++)
    if (s[i].sh_type == SHT_PROGBITS && (s[i].sh_flags & SHF_EXECINSTR) && (!text || s[i].sh_size > s[text].sh_size))
      text = i;
  if (!text || s[text].sh_size < CODE_LEAST || !inside(bytes, s[text].sh_offset, s[text].sh_size)) return;
  a->code = elf + s[text].sh_offset, a->code_bytes = s[text].sh_size, a->section = text;
  a->linked = calloc(1, a->code_bytes);
  if (!a->linked) return;
  for (unsigned i = 1; i < h->e_shnum; i++) {
    if (s[i].sh_type != SHT_RELA || s[i].sh_info != text) continue;
    const Elf64_Rela *r = table(elf, bytes, s[i].sh_offset, s[i].sh_size);
    for (size_t k = 0; r && k < s[i].sh_size / sizeof *r; k++) mark(a, &r[k]);
  }
  find_run(a);
  if (a->run_bytes >= RUN_LEAST) a->elf = elf, a->elf_bytes = bytes;
}

/* The members of an archive: a header of text, then the bytes, from even places on; they are copied to where their
 * tables can be read. */
static void take_members(struct runtime_archive *a, const uint8_t *file, size_t all)
{
  size_t at = SARMAG;
  while (!a->elf && inside(all, at, sizeof(struct ar_hdr))) {
    char size[sizeof ((struct ar_hdr *)0)->ar_size + 1] = {0};
    memcpy(size, file + at + offsetof(struct ar_hdr, ar_size), sizeof size - 1);
    const size_t bytes = strtoull(size, NULL, 10);
    at += sizeof(struct ar_hdr);
    if (!inside(all, at, bytes)) return;
    uint8_t *elf = bytes >= CODE_LEAST ? malloc(bytes) : NULL;
    if (elf) take_code(a, memcpy(elf, file + at, bytes), bytes);
    if (!a->elf) {
      free(a->linked);
      a->linked = NULL;
      free(elf);
    }
    at += bytes + (bytes & 1);
  }
}

static void read_archive(struct runtime_archive *a, int fd, size_t bytes)
{
  void *file = bytes > SARMAG ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  if (file == MAP_FAILED) return;
  if (!memcmp(file, ARMAG, SARMAG)) take_members(a, file, bytes);
  munmap(file, bytes);
}

static bool is_known(const struct runtime_archives *all, const struct stat *st)
{
  for (unsigned i = 0; i < all->n; i++)
    if (all->at[i].device == st->st_dev && all->at[i].number == st->st_ino) return true;
  return false;
}

/* One that cannot be read, or has no runtime, counts as looked at. */
static void add(struct runtime_archives *all, const char *path)
{
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !is_known(all, &st)) {
    struct runtime_archive *more = realloc(all->at, (all->n + 1) * sizeof *more);
    if (more) {
      all->at = more;
      more[all->n] = (struct runtime_archive){.device = st.st_dev, .number = st.st_ino};
      read_archive(&more[all->n++], fd, (size_t)st.st_size);
    }
  }
  close(fd);
}

/* Where archives are ---------------------------------------------------------------------------------- */

static void add_in(struct runtime_archives *all, const char *folder, const char *below)
{
  char pattern[PATH_MAX];
  glob_t found;
  if (snprintf(pattern, sizeof pattern, "%s%s/" ARCHIVE, folder, below) >= (int)sizeof pattern) return;
  if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0) return;
  for (size_t i = 0; i < found.gl_pathc; i++) add(all, found.gl_pathv[i]);
  globfree(&found);
}

/* Files or folders with colons between them. */
static void add_list(struct runtime_archives *all, const char *list)
{
  for (const char *at = list; at && *at; at += strcspn(at, ":"), at += *at == ':') {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%.*s", (int)strcspn(at, ":"), at) >= (int)sizeof path) continue;
    add(all, path);
    add_in(all, path, "");
    add_in(all, path, "/*"); /* one for each version: tools/runtime_archives.sh */
  }
}

static void add_near(struct runtime_archives *all, const char *path)
{
  char folder[PATH_MAX];
  if (!realpath(path, folder)) return;
  for (int i = 0; i < FOLDERS_UP && strrchr(folder, '/') > folder; i++) {
    *strrchr(folder, '/') = '\0';
    add_in(all, folder, "/nvidia/*/lib"); /* Python's packages */
    add_in(all, folder, "/lib");          /* conda's */
    add_in(all, folder, "/lib64");
    add_in(all, folder, "/targets/*/lib");
  }
}

static void add_all(struct runtime_archives *all, const char *path)
{
  static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
  add_list(all, getenv("WARPSTEP_CUDART"));
  add_near(all, path);
  for (unsigned i = 0; i < sizeof variables / sizeof variables[0]; i++) {
    const char *home = getenv(variables[i]);
    if (home && *home) add_in(all, home, "/lib64"), add_in(all, home, "/lib");
  }
  add_in(all, "/usr/local", "/cuda*/lib64");
  add_in(all, "/usr/lib", "/x86_64-linux-gnu");
}

/* Objects ---------------------------------------------------------------------------------------------- */

/* A cheap look before the whole code of an object is searched: functions that few libraries call and that the archives
 * of CUDA 11.8 to 13.5 all do. That was seen, nobody promises it: a runtime that stopped calling one of them would not
 * be looked for, and its program be told what programs without an archive are told. */
static const char *const called[] = {"dlvsym", "mkfifo", "nftw", "pthread_condattr_setpshared"};
enum { N_CALLED = sizeof called / sizeof called[0] };

static bool calls_all(const Elf64_Ehdr *h, const Elf64_Shdr *s, size_t bytes)
{
  unsigned found = 0;
  if (s->sh_link >= h->e_shnum) return false;
  const Elf64_Shdr *names = sections_of(h) + s->sh_link;
  const uint8_t *file = (const uint8_t *)h;
  const Elf64_Sym *y = table(file, bytes, s->sh_offset, s->sh_size);
  if (!y || !inside(bytes, names->sh_offset, names->sh_size) || !names->sh_size ||
      file[names->sh_offset + names->sh_size - 1])
    return false;
  for (size_t i = 0; i < s->sh_size / sizeof *y; i++) {
    if (y[i].st_shndx != SHN_UNDEF || y[i].st_name >= names->sh_size) continue;
    for (unsigned k = 0; k < N_CALLED; k++)
      if (!strcmp((const char *)file + names->sh_offset + y[i].st_name, called[k])) found |= 1U << k;
  }
  return found == (1U << N_CALLED) - 1;
}

static bool may_have_runtime(const Elf64_Ehdr *h, size_t bytes)
{
  const Elf64_Shdr *s = sections_of(h);
  for (unsigned i = 0; i < h->e_shnum; i++)
    if (s[i].sh_type == SHT_DYNSYM && calls_all(h, &s[i], bytes)) return true;
  return false;
}

static bool equal(const struct runtime_archive *a, const uint8_t *code)
{
  for (size_t i = 0; i < a->code_bytes; i++)
    if (!a->linked[i] && a->code[i] != code[i]) return false;
  return true;
}

/* Where the archive's code is in `bytes` of code; false: nowhere. */
static bool find_code(const struct runtime_archive *a, const uint8_t *code, size_t bytes, size_t *at)
{
  const uint8_t *end = code + bytes;
  for (const uint8_t *p = code; (p = memmem(p, (size_t)(end - p), a->code + a->run, a->run_bytes)); p++) {
    const size_t run = (size_t)(p - code);
    if (run < a->run || !inside(bytes, run - a->run, a->code_bytes) || !equal(a, p - a->run)) continue;
    *at = run - a->run;
    return true;
  }
  return false;
}

static bool find_in_segments(const struct runtime_archive *a, const Elf64_Ehdr *h, size_t bytes,
                             struct runtime_place *out)
{
  const uint8_t *file = (const uint8_t *)h;
  const Elf64_Phdr *p = (const Elf64_Phdr *)(const void *)(file + h->e_phoff);
  for (unsigned i = 0; a->elf && i < h->e_phnum; i++) {
    size_t at;
    if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X) || !inside(bytes, p[i].p_offset, p[i].p_filesz)) continue;
    if (!find_code(a, file + p[i].p_offset, p[i].p_filesz, &at)) continue;
    *out = (struct runtime_place){a->elf, a->elf_bytes, a->section, p[i].p_vaddr + at, a->code_bytes};
    return true;
  }
  return false;
}

bool runtime_archives_find(struct runtime_archives *all, const char *path, const uint8_t *file, size_t bytes,
                           struct runtime_place *out)
{
  const Elf64_Ehdr *h = header_of(file, bytes);
  if (!h || !may_have_runtime(h, bytes)) return false;
  add_all(all, path);
  for (unsigned i = 0; i < all->n; i++)
    if (find_in_segments(&all->at[i], h, bytes, out)) return true;
  return false;
}

void runtime_archives_close(struct runtime_archives *all)
{
  for (unsigned i = 0; i < all->n; i++) {
    free(all->at[i].elf);
    free(all->at[i].linked);
  }
  free(all->at);
  *all = (struct runtime_archives){0};
}
