#include "load/module.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "isa/sass/syscall.h"
#include "load/load_internal.h"
#include "load/link.h"

enum {
  CODE_ALIGN = 128,             /* of .text sections, as the compiler asks for */
  BANK_LIMIT = 64 << 10,        /* addressable constant bank */
  SYM_ENTRY = 0x10,             /* st_other: callable from the host */
  SYM_MANAGED = 0x04,           /* … : a __managed__ variable (compiler output, CUDA 11.8 and 13.0) */
};
#define CODE_LIMIT UINT64_C(0x40000000)    /* bytes of code per module */
#define GLOBAL_LIMIT UINT64_C(0x1000000000) /* bytes of variables per module */

/* The text after a prefix, or NULL. */
static const char *after(const char *s, const char *prefix)
{
  size_t n = strlen(prefix);
  return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

static bool check_target(struct module *m, struct err *e)
{
  m->target = target_find(m->elf.sm);
  if (m->target) return true;
  char list[160];
  return err_set(e, "%s: compiled for sm_%u, which is not a known target; compile for one of %s", m->name, m->elf.sm,
                 target_list(list, sizeof list));
}

/* Sections become places ---------------------------------------------------------------- */

static bool place_text(struct module *m, const struct elf_section *s, struct place *p,
                       struct err *e)
{
  if (!s->data || s->size % INST_BYTES)
    return err_set(e, "%s: damaged cubin: size of section %s; compile it again", m->name, s->name);
  m->code_end = align_up(m->code_end, CODE_ALIGN);
  if (s->size > CODE_LIMIT || m->code_end > CODE_LIMIT - s->size)
    return err_set(e, "%s: more than %llu bytes of code; split the module", m->name,
                   (unsigned long long)CODE_LIMIT);
  *p = (struct place){ .kind = PLACE_TEXT, .kernel = ALL_KERNELS, .offset = m->code_end };
  m->code_end += s->size;
  return true;
}

/* Variables in global memory begin on 256 bytes (CUDA C++ Programming Guide, Device Memory Accesses); inside of a
 * section they lie as the compiler has them. */
enum { GLOBAL_ALIGN = 256 };

static bool place_global(struct module *m, const struct elf_section *s, struct place *p,
                         struct err *e)
{
  if (s->align > 4096 || s->size > GLOBAL_LIMIT || m->global_bytes > GLOBAL_LIMIT - s->size)
    return err_set(e, "%s: damaged cubin: size of section %s; compile it again", m->name, s->name);
  m->global_bytes = align_up(m->global_bytes, s->align < GLOBAL_ALIGN ? GLOBAL_ALIGN : s->align);
  if (s->align > m->global_align) m->global_align = s->align;
  *p = (struct place){ .kind = PLACE_GLOBAL, .kernel = ALL_KERNELS, .offset = m->global_bytes };
  m->global_bytes += s->size;
  return true;
}

/* ".nv.constant2.KERNEL" or ".nv.constant3": `rest` starts at the bank number. Sections of
 * functions that are no kernels hold nothing a kernel of a linked file can reach. */
static bool place_bank(struct module *m, const struct elf_section *s, const char *rest,
                       struct place *p, struct err *e)
{
  unsigned bank = (unsigned)(rest[0] - '0');
  if (bank >= MODULE_BANKS || (rest[1] != '\0' && rest[1] != '.')) return true;
  if (bank == 0) return true; /* only a size; the launch makes the contents */
  int32_t k = rest[1] == '.' ? module_kernel_of_section(m, s, rest + 2) : ALL_KERNELS;
  /* Of objects, bank 2 is one for everybody (object.c), and there may be several files. */
  bool joined = m->elf.relocatable && (bank == 2 || rest[1] == '\0');
  int32_t owner = joined ? ALL_KERNELS : k;
  if (rest[1] == '.' && k == ALL_KERNELS && !joined) return true;
  uint8_t *seen = owner == ALL_KERNELS ? &m->common_banks : &m->kernel_banks[owner];
  uint64_t at = joined && s->align <= BANK_LIMIT ? align_up(m->common_bytes[bank], s->align) : 0;
  if (joined && at && s->size > BANK_LIMIT - (at < BANK_LIMIT ? at : BANK_LIMIT))
    return err_set(e, "%s: more than %d bytes of constants (%.200s); use global memory", m->name,
                   BANK_LIMIT, s->name);
  if (!s->data || s->size > BANK_LIMIT - at || (!joined && (*seen >> bank & 1)))
    return err_set(e, "%s: damaged cubin: size or number of sections %s; compile it again", m->name,
                   s->name);
  *seen = (uint8_t)(*seen | 1u << bank);
  *p = (struct place){ .kind = PLACE_BANK, .bank = (uint8_t)bank, .kernel = owner, .offset = at };
  if (owner == ALL_KERNELS) m->common_bytes[bank] = (uint32_t)(at + s->size);
  return true;
}

/* `bytes` of shared memory of a linked kernel, at whose start the system's are. */
static void share(const struct module *m, struct module_kernel *kernel, uint32_t bytes)
{
  uint32_t reserved = m->target->shared_reserved;
  kernel->shared_reserved = bytes < reserved ? bytes : reserved;
  kernel->shared_static = bytes - kernel->shared_reserved;
}

static bool place_shared(struct module *m, const struct elf_section *s, const char *kernel,
                         struct place *p, struct err *e)
{
  int32_t k = module_kernel_of_section(m, s, kernel);
  /* .nv.shared.reserved.0: inside the kernel's own. */
  if (k == ALL_KERNELS && !m->elf.relocatable) return true;
  if (s->size > MODULE_SHARED_LIMIT)
    return err_set(e, "%s: damaged cubin: size of section %s; compile it again", m->name, s->name);
  *p = (struct place){ .kind = PLACE_SHARED, .kernel = k };
  if (m->elf.relocatable && k != ALL_KERNELS) m->own_shared[k] = true;
  if (!m->elf.relocatable) share(m, &m->kernel[k], (uint32_t)s->size);
  return true;
}

/* .nv_debug.shared (-G): the section of `extern __shared__` arrays. In a linked file its size is where they begin.
 * Kernels that only hand such an array on to functions may have no other section: nvcc 13.5 leaves out the
 * .nv.shared.KERNEL that 13.0 writes. */
static bool place_debug_shared(struct module *m, const struct elf_section *s, struct place *p, struct err *e)
{
  if (m->elf.relocatable) {
    *p = (struct place){ .kind = PLACE_SHARED, .kernel = ALL_KERNELS };
    return true;
  }
  if (s->size > MODULE_SHARED_LIMIT)
    return err_set(e, "%s: damaged cubin: size of section %s; compile it again", m->name, s->name);
  for (unsigned k = 0; k < m->n_kernels; k++) {
    struct module_kernel *kernel = &m->kernel[k];
    if (!kernel->shared_reserved && !kernel->shared_static) share(m, kernel, (uint32_t)s->size);
  }
  return true;
}

static bool place_sections(struct module *m, struct err *e)
{
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    const struct elf_section *s = &m->elf.section[i];
    struct place *p = &m->place[i];
    const char *rest;
    if (p->kind != PLACE_NONE) continue; /* code, placed before */
    if (strcmp(s->name, ".nv.global") == 0 || strcmp(s->name, ".nv.global.init") == 0)
      TRY(place_global(m, s, p, e));
    else if ((rest = after(s->name, ".nv.constant")) && *rest >= '0' && *rest <= '9')
      TRY(place_bank(m, s, rest, p, e));
    else if ((rest = after(s->name, ".nv.shared.")))
      TRY(place_shared(m, s, rest, p, e));
    else if (strcmp(s->name, ".nv_debug.shared") == 0)
      TRY(place_debug_shared(m, s, p, e));
  }
  return true;
}

/* Kernels -------------------------------------------------------------------------------- */

static bool is_entry(const struct module *m, const struct elf_symbol *y)
{
  return y->type == STT_FUNC && (y->other & SYM_ENTRY) && y->section > 0 &&
         y->section < m->elf.n_sections && m->place[y->section].kind == PLACE_TEXT;
}

static bool add_kernel(struct module *m, const struct elf_symbol *y, struct err *e)
{
  const struct elf_section *s = &m->elf.section[y->section];
  const char *name = after(s->name, ".text.");
  if (!name || strcmp(name, y->name) != 0 || y->value % INST_BYTES || y->value >= s->size ||
      m->text_kernel[y->section] != ALL_KERNELS)
    return err_set(e, "%s: damaged cubin: kernel '%.100s' in section %.100s; compile it again",
                   m->name, y->name, s->name);
  m->text_kernel[y->section] = (int32_t)m->n_kernels;
  m->kernel[m->n_kernels++] = (struct module_kernel){
    .name = y->name,
    .entry_pc = m->place[y->section].offset + y->value,
    .code_bytes = y->size,
    .regs = m->target->regs_in_header ? s->info >> 24 : 0, /* .nv.info states it again */
  };
  return true;
}

/* Behind all code, so that other code lies where it does in modules without. */
static void place_device_runtime(struct module *m)
{
  unsigned number;
  bool named = false;
  for (uint32_t i = 0; i < m->elf.n_symbols && !named; i++)
    named = load_device_runtime(m->elf.symbol[i].name, &number);
  if (!named) return;
  m->device_runtime = m->code_end;
  m->code_end = align_up(m->code_end + (SYSCALL_COPY - SYSCALL__COMMON) * INST_BYTES, CODE_ALIGN);
}

static void place_copies(struct module *m)
{
  unsigned number;
  bool named = false;
  for (uint32_t i = 0; i < m->elf.n_symbols && !named; i++)
    named = load_service(m->elf.symbol[i].name, &number) && number >= SYSCALL_COPY;
  if (!named) return;
  m->copies = m->code_end;
  m->code_end = align_up(m->code_end + (SYSCALL__N - SYSCALL_COPY) * INST_BYTES, CODE_ALIGN);
}

static bool find_code(struct module *m, struct err *e)
{
  m->code_end = MODULE_CODE_BASE + SYSCALL__COMMON * INST_BYTES;
  for (uint32_t i = 0; i < m->elf.n_sections; i++) {
    m->text_kernel[i] = ALL_KERNELS;
    const struct elf_section *s = &m->elf.section[i];
    if (after(s->name, ".text.") && s->size) TRY(place_text(m, s, &m->place[i], e));
  }
  m->code_end = align_up(m->code_end, CODE_ALIGN);
  place_device_runtime(m);
  place_copies(m);
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->elf.n_symbols; i++) n += is_entry(m, &m->elf.symbol[i]);
  m->kernel = ARENA_ARRAY(&m->arena, struct module_kernel, n + 1);
  for (uint32_t i = 0; i < m->elf.n_symbols; i++)
    if (is_entry(m, &m->elf.symbol[i])) TRY(add_kernel(m, &m->elf.symbol[i], e));
  return true;
}

static bool check_kernels(const struct module *m, struct err *e)
{
  for (unsigned i = 0; i < m->n_kernels; i++)
    if (m->kernel[i].regs == 0)
      return err_set(e, "%s: damaged cubin: no register count for kernel '%.200s'; compile it "
                     "again",
                     m->name, m->kernel[i].name);
  return true;
}

/* Relocations ---------------------------------------------------------------------------- */

/* txq and suq read formats, layers, levels and states of samplers out of a table in memory. How large its entries
 * are only such a symbol (.nv.unified.texrefDescSize …) says, which no driver defines. */
static bool is_table_size(const struct elf_symbol *y)
{
  static const char end[] = "DescSize";
  size_t n = strlen(y->name), tail = sizeof end - 1;
  return y->section == SHN_UNDEF && n > tail && strncmp(y->name, ".nv.", 4) == 0 &&
         strcmp(y->name + n - tail, end) == 0;
}

static bool add_reloc(struct module *m, const struct elf_section *s, const uint8_t *rec,
                      struct err *e)
{
  const struct elf_section *target = &m->elf.section[s->info];
  uint64_t info = elf_u64(rec + 8);
  uint32_t type = (uint32_t)info;
  struct module_reloc r = { .row = reloc_find(type), .section = s->info,
                            .symbol = elf_symbol_number(s, (uint32_t)(info >> 32)),
                            .offset = elf_u64(rec) };
  if (!r.row)
    return err_set(e, "%s: unknown relocation type %u in section %.200s; this cubin needs a newer "
                   "warpstep", m->name, type, target->name);
  if (!target->data || target->size < r.row->bytes || r.offset > target->size - r.row->bytes ||
      r.symbol >= m->elf.n_symbols || (r.row->bytes == INST_BYTES && r.offset % INST_BYTES))
    return err_set(e, "%s: damaged cubin: relocation in section %.200s; compile it again", m->name,
                   s->name);
  r.addend = s->type == SHT_RELA ? (int64_t)elf_u64(rec + 16)
                                 : reloc_addend(r.row, target->data + r.offset);
  m->reloc[m->n_relocs++] = r;
  int32_t k = m->text_kernel[r.section];
  if (k != ALL_KERNELS && is_table_size(&m->elf.symbol[r.symbol])) m->kernel[k].reads_tables = true;
  return true;
}

static uint64_t reloc_entry_bytes(const struct elf_section *s)
{
  return s->type == SHT_RELA ? sizeof(Elf64_Rela) : s->type == SHT_REL ? sizeof(Elf64_Rel) : 0;
}

/* Relocations of sections that are not loaded (debug information) are not looked at. */
static bool is_loaded_reloc(const struct module *m, const struct elf_section *s)
{
  return reloc_entry_bytes(s) && s->data && s->info < m->elf.n_sections &&
         m->place[s->info].kind != PLACE_NONE;
}

/* Overlapping sections would let a small file ask for any amount of memory. Only sections that are
 * read count: some targets' files describe the same bytes twice. */
static bool check_overlap(const struct module *m, uint64_t bytes, struct err *e)
{
  uint64_t total = 0;
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    const struct elf_section *s = &m->elf.section[i];
    if (!s->data || (m->place[i].kind == PLACE_NONE && !is_loaded_reloc(m, s) &&
                     !after(s->name, ".nv.info")))
      continue;
    total += s->size;
    if (total > bytes)
      return err_set(e, "%s: damaged cubin: sections overlap (%.200s); compile it again", m->name,
                     s->name);
  }
  return true;
}

static bool read_relocs(struct module *m, struct err *e)
{
  uint64_t n = 0;
  for (uint32_t i = 1; i < m->elf.n_sections; i++)
    if (is_loaded_reloc(m, &m->elf.section[i]))
      n += m->elf.section[i].size / reloc_entry_bytes(&m->elf.section[i]);
  if (n > 1 << 24)
    return err_set(e, "%s: damaged cubin: %llu relocations; compile it again", m->name,
                   (unsigned long long)n);
  m->reloc = ARENA_ARRAY(&m->arena, struct module_reloc, n + 1);
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    const struct elf_section *s = &m->elf.section[i];
    if (!is_loaded_reloc(m, s)) continue;
    uint64_t step = reloc_entry_bytes(s);
    if (s->size % step)
      return err_set(e, "%s: damaged cubin: size of section %.200s; compile it again", m->name,
                     s->name);
    for (uint64_t at = 0; at < s->size; at += step) TRY(add_reloc(m, s, s->data + at, e));
  }
  return true;
}

/* Symbols -------------------------------------------------------------------------------- */

static bool is_variable_or_function(const struct module *m, const struct elf_symbol *y)
{
  return (y->type == STT_OBJECT || y->type == STT_FUNC || object_is_variable(y)) &&
         y->section > 0 && y->section < m->elf.n_sections &&
         m->place[y->section].kind != PLACE_NONE;
}

/* In the block of __managed__ variables, each at a multiple of what malloc aligns to and more. */
static void place_managed(struct module *m, uint32_t index, struct module_symbol *s)
{
  if (m->managed_bytes > GLOBAL_LIMIT || s->bytes > GLOBAL_LIMIT) return;
  if (!m->managed_at) {
    m->managed_at = ARENA_ARRAY(&m->arena, uint64_t, m->elf.n_symbols);
    for (uint32_t i = 0; i < m->elf.n_symbols; i++) m->managed_at[i] = NOT_MANAGED;
  }
  s->managed = true;
  s->in_block = m->managed_at[index] = align_up(m->managed_bytes, GLOBAL_ALIGN);
  m->managed_bytes = s->in_block + s->bytes;
}

uint64_t module_managed_bytes(const struct module *m) { return m->managed_bytes; }

void module_managed_fill(const struct module *m, uint8_t *block)
{
  for (uint32_t i = 0; m->managed_at && i < m->elf.n_symbols; i++) {
    const struct elf_symbol *y = &m->elf.symbol[i];
    if (m->managed_at[i] == NOT_MANAGED) continue; /* those that are lie in a section */
    const struct elf_section *s = &m->elf.section[y->section];
    if (!s->data || y->value > s->size) continue;
    memcpy(block + m->managed_at[i], s->data + y->value, y->size < s->size - y->value ? y->size : s->size - y->value);
  }
}

static void add_symbol(struct module *m, uint32_t index)
{
  const struct elf_symbol *y = &m->elf.symbol[index];
  static const uint8_t space[] = { [PLACE_TEXT] = MODULE_CODE, [PLACE_BANK] = MODULE_CONST,
                                   [PLACE_GLOBAL] = MODULE_GLOBAL, [PLACE_SHARED] = MODULE_SHARED };
  const struct place *p = &m->place[y->section];
  uint64_t size = m->elf.section[y->section].size;
  if (p->kind == PLACE_SHARED && m->shared_at) {
    m->symbol[m->n_symbols++] = (struct module_symbol){
      .name = y->name, .space = MODULE_SHARED, .offset = m->shared_at[index], .bytes = y->size };
    return;
  }
  if (y->value > size) return; /* nothing there */
  if (p->kind == PLACE_BANK && (p->bank != 3 || p->kernel != ALL_KERNELS)) return;
  struct module_symbol *s = &m->symbol[m->n_symbols++];
  *s = (struct module_symbol){
    .name = y->name, .space = space[p->kind], .offset = p->offset + y->value,
    .bytes = y->size < size - y->value ? y->size : size - y->value,
  };
  if (p->kind == PLACE_GLOBAL && y->other & SYM_MANAGED) place_managed(m, index, s);
  if (p->kind == PLACE_TEXT)
    m->function[m->n_functions++] = (struct module_function){ y->name, p->offset + y->value };
}

static int by_pc(const void *a, const void *b)
{
  const struct module_function *x = a, *y = b;
  return x->pc != y->pc ? (x->pc > y->pc) - (x->pc < y->pc) : strcmp(x->name, y->name);
}

static void read_symbols(struct module *m)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->elf.n_symbols; i++)
    n += is_variable_or_function(m, &m->elf.symbol[i]);
  m->symbol = ARENA_ARRAY(&m->arena, struct module_symbol, n + 1);
  m->function = ARENA_ARRAY(&m->arena, struct module_function, n + 1);
  for (uint32_t i = 0; i < m->elf.n_symbols; i++)
    if (is_variable_or_function(m, &m->elf.symbol[i])) add_symbol(m, i);
  qsort(m->function, m->n_functions, sizeof m->function[0], by_pc);
}

/* Loading -------------------------------------------------------------------------------- */

static bool parse(struct module *m, uint64_t bytes, struct err *e)
{
  TRY(check_target(m, e));
  m->place = ARENA_ARRAY(&m->arena, struct place, m->elf.n_sections);
  m->text_kernel = ARENA_ARRAY(&m->arena, int32_t, m->elf.n_sections);
  m->global_align = GLOBAL_ALIGN;
  TRY(find_code(m, e));
  m->kernel_banks = ARENA_ARRAY(&m->arena, uint8_t, m->n_kernels + 1u);
  m->own_shared = ARENA_ARRAY(&m->arena, bool, m->n_kernels + 1u);
  TRY(place_sections(m, e));
  TRY(check_overlap(m, bytes, e));
  if (m->elf.relocatable) TRY(object_layout(m, e));
  TRY(nvinfo_read(m, e));
  if (m->elf.relocatable) TRY(callgraph_finish(m, e));
  TRY(check_kernels(m, e));
  TRY(read_relocs(m, e));
  read_symbols(m);
  return true;
}

/* Opens the files, whose images lie in the module's memory, and joins them. */
static bool load_files(struct module *m, const struct module_file *file, unsigned n, struct err *e)
{
  uint64_t bytes = 0;
  struct link_object *object = ARENA_ARRAY(&m->arena, struct link_object, n);
  for (unsigned i = 0; i < n; i++) {
    object[i].name = arena_strdup(&m->arena, file[i].name);
    bytes += file[i].bytes;
    TRY(elf_open(&object[i].elf, &m->arena, file[i].image, file[i].bytes, object[i].name, e));
  }
  m->name = link_name(&m->arena, object, n);
  TRY(link_objects(&m->elf, &m->arena, object, n, e));
  return parse(m, bytes, e);
}

static struct module *load_copies(struct module *m, const struct module_file *file, unsigned n,
                                  struct err *e)
{
  if (load_files(m, file, n, e)) return m;
  module_free(m);
  return NULL;
}

static struct module *new_module(void)
{
  struct arena a = {0};
  struct module *m = ARENA_NEW(&a, struct module);
  m->arena = a;
  return m;
}

struct module *module_link(const struct module_file *file, unsigned n, struct err *e)
{
  BUG_ON(n == 0);
  struct module *m = new_module();
  struct module_file *copy = ARENA_ARRAY(&m->arena, struct module_file, n);
  for (unsigned i = 0; i < n; i++) {
    uint8_t *image = arena_alloc(&m->arena, file[i].bytes + 1, 16);
    if (file[i].bytes) memcpy(image, file[i].image, file[i].bytes);
    copy[i] = (struct module_file){ file[i].name, image, file[i].bytes };
  }
  return load_copies(m, copy, n, e);
}

bool module_is_service(const void *image, size_t bytes)
{
  struct arena a = {0};
  struct elf_file f;
  struct err e = {""};
  unsigned number;
  bool found = false;
  if (elf_open(&f, &a, image, bytes, "", &e))
    for (uint32_t i = 1; i < f.n_symbols && !found; i++) {
      const struct elf_symbol *y = &f.symbol[i];
      found = y->section && y->bind != STB_LOCAL && y->type == STT_FUNC && load_service(y->name, &number);
    }
  arena_free(&a);
  return found;
}

struct module *module_load_memory(const void *image, size_t bytes, const char *name, struct err *e)
{
  return module_link(&(struct module_file){ name, image, bytes }, 1, e);
}

static void end_file(void *f)
{
  fclose(f);
}

/* Reads a whole regular file into the module's memory; NULL with errno set. */
static uint8_t *read_file(struct module *m, const char *path, size_t *bytes)
{
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  heap_keep(f, end_file);
  uint8_t *data = NULL;
  long size = -1;
  if (fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0 && size < 1L << 31 &&
      fseek(f, 0, SEEK_SET) == 0) {
    data = arena_alloc(&m->arena, (size_t)size + 1, 16);
    *bytes = fread(data, 1, (size_t)size, f);
    if (ferror(f)) data = NULL;
  } else if (size >= 1L << 31) {
    errno = EFBIG;
  }
  int saved = errno;
  heap_forget(f);
  fclose(f);
  errno = saved;
  return data;
}

struct module *module_load(const char *path, struct err *e)
{
  struct module *m = new_module();
  size_t bytes = 0;
  uint8_t *image = read_file(m, path, &bytes);
  if (image) return load_copies(m, &(struct module_file){ path, image, bytes }, 1, e);
  err_set(e, "%s: cannot read: %s; check the path", path, host_error());
  module_free(m);
  return NULL;
}

void module_free(struct module *m)
{
  if (!m) return;
  struct arena a = m->arena; /* the module lies in its own arena */
  arena_free(&a);
}
