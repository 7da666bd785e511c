/* Programs and libraries with a static runtime inside: the start of each runtime function in their text is
 * overwritten with a jump to the function of the same name here, before their own constructors run. Needs
 * the names: the symbol table of a program or library that was not stripped, the exported ones of a
 * runtime library that a program loads by its path, or those of the archive that a stripped one was linked
 * with (load/runtime_archive.h). What has none of these is left alone; of a program, `warpstep exec` says so
 * before it starts one.
 *
 * What is there when the process starts is done in a constructor (this library is linked with -z
 * initfirst). For what is loaded later there is the hook that the run-time linker has for debuggers
 * (r_brk, link.h): it is called when new objects are mapped and not yet initialised.
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

#include "cuda/core/shim.h"
#include "cuda/runtime/runtime_earlier.h"
#include "cuda/runtime/runtime_entries.h"
#include "load/runtime_archive.h"

enum { FAR_JUMP = 14, NEAR_JUMP = 5 }; /* bytes: jmp *0(%rip); the address. jmp distance */

/* An object's file, where it was loaded, and the runtime inside, if there is one. */
struct object {
  const uint8_t *file;
  size_t bytes;
  uintptr_t base;
  unsigned section; /* of the symbols that count, whose values are places in it; 0: all */
  size_t section_bytes;
  enum cudart cudart;
  unsigned n_functions, n_patched;
};

/* An object that was looked at. */
struct seen {
  const struct link_map *map;
  uintptr_t base;
};

/* All that were. */
struct interposed {
  struct seen *object;
  size_t n;
  struct runtime_archives archives;
};

static bool open_object(struct object *o, const char *path)
{
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(Elf64_Ehdr);
  void *file = ok ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (file == MAP_FAILED) return false;
  o->file = file;
  o->bytes = (size_t)st.st_size;
  const Elf64_Ehdr *h = file;
  return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
         h->e_machine == EM_X86_64 && h->e_shoff <= o->bytes &&
         h->e_shnum <= (o->bytes - h->e_shoff) / sizeof(Elf64_Shdr);
}

static const Elf64_Shdr *section(const struct object *o, uint32_t type)
{
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)o->file;
  const Elf64_Shdr *s = (const Elf64_Shdr *)(o->file + h->e_shoff);
  for (unsigned i = 0; i < h->e_shnum; i++)
    if (s[i].sh_type == type && s[i].sh_offset <= o->bytes && s[i].sh_size <= o->bytes - s[i].sh_offset &&
        s[i].sh_link < h->e_shnum)
      return &s[i];
  return NULL;
}

static const struct entry *find_entry(const char *name)
{
  const size_t bytes = strlen(name);
  for (const struct entry *e = runtime_entries; e < runtime_entries + n_runtime_entries; e++)
    if (e->symbol_bytes == bytes && memcmp(e->symbol, name, bytes) == 0) return e;
  return NULL;
}

static void far_jump(uint8_t to[FAR_JUMP], const void *address)
{
  memcpy(to, (const uint8_t[]){ 0xff, 0x25, 0, 0, 0, 0 }, 6);
  memcpy(to + 6, &address, sizeof address);
}

static bool write_text(uintptr_t at, const uint8_t *code, size_t bytes)
{
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = at & ~(page - 1);
  size_t all = at + bytes - first;
  if (mprotect((void *)first, all, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  memcpy((void *)at, code, bytes);
  return mprotect((void *)first, all, PROT_READ | PROT_EXEC) == 0;
}

/* cuda... or __cuda... Most names of a program are neither, and each program that starts has thousands: the first bytes
 * decide, without a call. */
static bool is_runtime_name(const char *name)
{
  if (name[0] == '_' && name[1] == '_') name += 2;
  return name[0] == 'c' && name[1] == 'u' && name[2] == 'd' && name[3] == 'a';
}

/* Whether it may be a function of the runtime in this object, with room for a jump. */
static bool is_runtime_function(const Elf64_Sym *y, const char *name)
{
  return is_runtime_name(name) && ELF64_ST_TYPE(y->st_info) == STT_FUNC && y->st_shndx != SHN_UNDEF &&
         y->st_size >= FAR_JUMP;
}

static void patch(struct object *o, const Elf64_Sym *y, const char *name)
{
  const struct entry *e = is_runtime_function(y, name) ? find_entry(name) : NULL;
  uint8_t jump[FAR_JUMP];
  if (!e) return;
  void (*earlier)(void) = runtime_earlier(name, o->cudart);
  far_jump(jump, (const void *)(uintptr_t)(earlier ? earlier : e->address));
  o->n_patched++;
  if (!write_text(o->base + y->st_value, jump, sizeof jump))
    shim_say("cannot redirect %s of the program; link it with -cudart shared", name);
}

/* Whether there are any, and functions that only runtimes of one version have. A static runtime is one object of its
 * archive (libcudart_static.a), so all of its functions are there. */
static void note_version(struct object *o, const Elf64_Sym *y, const char *name)
{
  if (!is_runtime_function(y, name)) return;
  o->n_functions++;
  if (strcmp(name, "cudaBindTexture") == 0) o->cudart = CUDART_11;
  else if (strcmp(name, "cudaGetDeviceProperties_v2") == 0) o->cudart = CUDART_12;
}

static bool is_in_section(const struct object *o, const Elf64_Sym *y)
{
  return !o->section || (y->st_shndx == o->section && y->st_value <= o->section_bytes &&
                         y->st_size <= o->section_bytes - y->st_value);
}

static void each_symbol(struct object *o, uint32_t type, void (*look)(struct object *, const Elf64_Sym *, const char *))
{
  const Elf64_Shdr *symbols = section(o, type);
  if (!symbols) return;
  const Elf64_Shdr *strings =
      (const Elf64_Shdr *)(o->file + ((const Elf64_Ehdr *)o->file)->e_shoff) + symbols->sh_link;
  const Elf64_Sym *y = (const Elf64_Sym *)(o->file + symbols->sh_offset);
  if (!strings->sh_size || strings->sh_offset > o->bytes ||
      strings->sh_size > o->bytes - strings->sh_offset ||
      o->file[strings->sh_offset + strings->sh_size - 1] != '\0')
    return;
  for (size_t i = 0; i < symbols->sh_size / sizeof *y; i++)
    if (y[i].st_name < strings->sh_size && is_in_section(o, &y[i]))
      look(o, &y[i], (const char *)o->file + strings->sh_offset + y[i].st_name);
}

static void redirect_all(struct object *o)
{
  each_symbol(o, SHT_SYMTAB, note_version), each_symbol(o, SHT_DYNSYM, note_version);
  if (!o->n_functions) return;
  each_symbol(o, SHT_SYMTAB, patch), each_symbol(o, SHT_DYNSYM, patch);
}

/* A runtime without names. */
static void redirect_stripped(struct runtime_archives *archives, const char *path, const struct object *o)
{
  struct runtime_place at;
  if (!runtime_archives_find(archives, path, o->file, o->bytes, &at)) return;
  struct object runtime = {.file = at.elf, .bytes = at.bytes, .base = o->base + at.address, .section = at.section,
                           .section_bytes = at.code_bytes, .cudart = CUDART_13};
  redirect_all(&runtime);
}

static void redirect(struct runtime_archives *archives, const char *path, uintptr_t base)
{
  struct object o = {.base = base, .cudart = CUDART_13};
  if (open_object(&o, path)) {
    redirect_all(&o);
    if (!o.n_patched) redirect_stripped(archives, path, &o);
  }
  if (o.file) munmap((void *)(uintptr_t)o.file, o.bytes);
}

static bool is_own(const struct link_map *m)
{
  const ElfW(Dyn) *own = _DYNAMIC;
  return m->l_ld == own;
}

static bool was_seen(const struct interposed *all, const struct link_map *m)
{
  for (size_t i = 0; i < all->n; i++)
    if (all->object[i].map == m && all->object[i].base == m->l_addr) return true;
  return false;
}

/* Objects that were not there before. Those that are gone are forgotten: their place may be used again. */
static void look_at_objects(void)
{
  struct shim *s = shim_get();
  size_t n = 0;
  if (!s->interposed) s->interposed = shim_alloc(sizeof *s->interposed);
  for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) n++;
  struct seen *now = shim_alloc((n + 1) * sizeof *now);
  n = 0;
  for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
    bool program = m == _r_debug.r_map;
    if (!is_own(m) && (program || m->l_name[0] == '/') && !was_seen(s->interposed, m))
      redirect(&s->interposed->archives, program ? "/proc/self/exe" : m->l_name, m->l_addr);
    now[n++] = (struct seen){ m, m->l_addr };
  }
  free(s->interposed->object);
  s->interposed->object = now, s->interposed->n = n;
}

/* Called by the run-time linker, under its lock. */
static void objects_changed(void)
{
  if (_r_debug.r_state == RT_CONSISTENT) look_at_objects();
}

/* A page that a near jump from `at` reaches, NULL: none. */
static void *page_near(uintptr_t at)
{
  enum { STEP = 1 << 20, STEPS = 1 << 10 }; /* within 1 of the 2 GiB */
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (int i = 1; i < STEPS; i++)
    for (int side = -1; side <= 1; side += 2) {
      void *hint = (void *)((at & ~(uintptr_t)(STEP - 1)) + (uintptr_t)(intptr_t)(side * i) * STEP);
      void *p = mmap(hint, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                     -1, 0);
      if (p == hint) return p;
      if (p != MAP_FAILED) munmap(p, page);
    }
  return NULL;
}

/* The linker's function does nothing: `ret`, or `endbr64; ret`, and as many bytes of padding as there must be
 * before the next one. */
static bool does_nothing(const uint8_t *f)
{
  return memcmp(f, (const uint8_t[]){ 0xf3, 0x0f, 0x1e, 0xfa, 0xc3 }, 5) == 0 ||
         (f[0] == 0xc3 && (uintptr_t)f % 16 == 0);
}

static void hook_linker(void)
{
  uintptr_t at = _r_debug.r_brk;
  uint8_t jump[NEAR_JUMP] = { 0xe9 };
  uint8_t *far = at && does_nothing((const uint8_t *)at) ? page_near(at) : NULL;
  if (!far) return;
  far_jump(far, (const void *)(uintptr_t)objects_changed);
  if (mprotect(far, FAR_JUMP, PROT_READ | PROT_EXEC)) return;
  int32_t distance = (int32_t)((intptr_t)(uintptr_t)far - (intptr_t)(at + NEAR_JUMP));
  memcpy(jump + 1, &distance, sizeof distance);
  write_text(at, jump, sizeof jump);
}

/* The run-time linker hands over what main gets; this runs before the C library has taken the environment. */
__attribute__((constructor)) static void interpose(int argc, char **argv, char **environment)
{
  extern char **environ;
  (void)argc, (void)argv;
  if (!environ) environ = environment;
  look_at_objects();
  hook_linker();
}
