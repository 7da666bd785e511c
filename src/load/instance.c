/* Instance of a module: addresses for its variables, relocated code. */
#include <elf.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "isa/sass/sass_isa.h"
#include "load/lazy_code.h"
#include "load/load_internal.h"

enum { USER_BANK = 3 };

struct bank {
  uint8_t *data;
  uint32_t bytes;
};

struct module_instance {
  struct arena arena;
  const struct module *module;
  struct gmem *mem;               /* NULL: addresses only */
  uint64_t global_alloc, global_base;
  uint64_t managed;               /* the block of __managed__ variables; 0: they are among the others */
  uint64_t const_base;            /* guest copy of bank 3: generic loads reach constants there */
  uint8_t **bytes;                /* per ELF section: relocated contents; NULL when not loaded */
  uint8_t *text;                  /* the code space from MODULE_CODE_BASE on */
  struct bank common[MODULE_BANKS];
  struct bank (*bank)[MODULE_BANKS]; /* per kernel */
  struct lazy_code *code;
};

/* Memory ---------------------------------------------------------------------------------- */

static bool alloc_variables(struct module_instance *in, struct err *e)
{
  const struct module *m = in->module;
  if (!in->mem) return true;
  if (m->global_bytes) {
    in->global_alloc = gmem_alloc(in->mem, m->global_bytes + m->global_align, "module variables");
    if (!in->global_alloc)
      return err_set(e, "%s: no guest memory for %llu bytes of variables; use smaller arrays",
                     m->name, (unsigned long long)m->global_bytes);
    in->global_base = align_up(in->global_alloc, m->global_align);
  }
  if (m->common_bytes[USER_BANK]) {
    in->const_base = gmem_alloc(in->mem, m->common_bytes[USER_BANK], "constant variables");
    if (!in->const_base)
      return err_set(e, "%s: no guest memory for %u bytes of constants; use smaller arrays",
                     m->name, m->common_bytes[USER_BANK]);
  }
  return true;
}

/* Where a section's relocated contents go. */
static uint8_t *section_home(struct module_instance *in, uint32_t i)
{
  const struct place *p = &in->module->place[i];
  uint64_t bytes = in->module->elf.section[i].size;
  if (p->kind == PLACE_TEXT) return in->text + (p->offset - MODULE_CODE_BASE);
  if (p->kind == PLACE_BANK && p->kernel == ALL_KERNELS)
    return in->common[p->bank].data + p->offset;
  uint8_t *home = arena_alloc(&in->arena, bytes + 1, 16);
  if (p->kind == PLACE_BANK) in->bank[p->kernel][p->bank] = (struct bank){ home, (uint32_t)bytes };
  return home;
}

static void copy_sections(struct module_instance *in)
{
  const struct module *m = in->module;
  in->text = arena_alloc(&in->arena, m->code_end - MODULE_CODE_BASE, 16);
  in->bytes = ARENA_ARRAY(&in->arena, uint8_t *, m->elf.n_sections);
  in->bank = arena_array(&in->arena, m->n_kernels + 1u, sizeof in->bank[0], 16);
  for (unsigned b = 0; b < MODULE_BANKS; b++)
    if (m->common_banks >> b & 1)
      in->common[b] = (struct bank){ arena_alloc(&in->arena, m->common_bytes[b] + 1u, 16),
                                     m->common_bytes[b] };
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    const struct elf_section *s = &m->elf.section[i];
    if (m->place[i].kind == PLACE_NONE || !s->data) continue;
    in->bytes[i] = section_home(in, i);
    memcpy(in->bytes[i], s->data, s->size);
  }
}

static void write_variables(const struct module_instance *in)
{
  const struct module *m = in->module;
  if (!in->mem) return;
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    if (m->place[i].kind != PLACE_GLOBAL || !in->bytes[i]) continue;
    BUG_ON(!gmem_write(in->mem, in->global_base + m->place[i].offset, in->bytes[i],
                       m->elf.section[i].size));
  }
  const struct bank *user = &in->common[USER_BANK];
  if (in->const_base) BUG_ON(!gmem_write(in->mem, in->const_base, user->data, user->bytes));
}

/* Relocations ---------------------------------------------------------------------------- */

static bool service_address(const struct module *m, const char *name, uint64_t *address)
{
  unsigned service;
  if (!load_service(name, &service)) return false;
  *address = load_service_pc(m, service);
  return true;
}

static bool resolve_undefined(const struct module *m, const struct elf_symbol *y, uint64_t *value,
                              struct err *e)
{
  *value = 0;
  if (service_address(m, y->name, value) || y->bind == STB_WEAK) return true;
  return err_set(e, "%s: needs '%.200s', which is neither in the file nor a service of the "
                 "simulator (vprintf, malloc, free, __assertfail, cudaGraphSetConditional); %s",
                 m->name, y->name, m->elf.relocatable ? "give the object that has it, too"
                                                      : "compile all of the program with nvcc");
}

static bool is_in_block(const struct module_instance *in, uint32_t symbol)
{
  return in->managed && in->module->managed_at && in->module->managed_at[symbol] != NOT_MANAGED;
}

/* The symbol's value in the sense the relocation asks for. False: it has none. */
static bool resolve_placed(const struct module_instance *in, const struct place *p,
                           const struct elf_symbol *y, enum reloc_value sense, uint64_t *value)
{
  if (sense == RELOC_SHARED && p->kind == PLACE_SHARED) *value = y->value;
  else if (sense == RELOC_BANK && p->kind == PLACE_BANK) *value = p->offset + y->value;
  else if (sense != RELOC_ADDRESS) return false;
  else if (p->kind == PLACE_TEXT) *value = p->offset + y->value;
  else if (p->kind == PLACE_GLOBAL) *value = in->global_base + p->offset + y->value;
  else if (p->kind == PLACE_BANK && p->bank == USER_BANK && p->kernel == ALL_KERNELS)
    *value = in->const_base + p->offset + y->value;
  else return false;
  return true;
}

static bool resolve(const struct module_instance *in, const struct module_reloc *r, uint64_t *value,
                    unsigned *bank, struct err *e)
{
  const struct module *m = in->module;
  const struct elf_symbol *y = &m->elf.symbol[r->symbol];
  *bank = 0;
  if (m->shared_at && object_is_shared(y) && r->row->value == RELOC_SHARED) {
    *value = m->shared_at[r->symbol];
    return true;
  }
  if (is_in_block(in, r->symbol) && r->row->value == RELOC_ADDRESS) {
    *value = in->managed + m->managed_at[r->symbol];
    return true;
  }
  if (y->section == SHN_UNDEF) return resolve_undefined(m, y, value, e);
  if (y->section == SHN_ABS) {
    *value = y->value;
    return true;
  }
  if (y->section < m->elf.n_sections) {
    *bank = m->place[y->section].bank;
    if (resolve_placed(in, &m->place[y->section], y, r->row->value, value)) return true;
  }
  return err_set(e, "%s: damaged cubin: relocation '%s' against '%.150s' in %.150s+0x%llx; compile "
                 "it again", m->name, r->row->what, y->name, m->elf.section[r->section].name,
                 (unsigned long long)r->offset);
}

static bool relocate(struct module_instance *in, struct err *e)
{
  const struct module *m = in->module;
  for (unsigned i = 0; i < m->n_relocs; i++) {
    const struct module_reloc *r = &m->reloc[i];
    uint64_t value;
    unsigned bank;
    if (r->row->value == RELOC_KEEP) continue;
    TRY(resolve(in, r, &value, &bank, e));
    if (!reloc_apply(r->row, value + (uint64_t)r->addend, bank, in->bytes[r->section] + r->offset))
      return err_set(e, "%s: relocation '%s' in %.200s+0x%llx: value 0x%llx does not fit; the "
                     "module is too large", m->name, r->row->what, m->elf.section[r->section].name,
                     (unsigned long long)r->offset,
                     (unsigned long long)(value + (uint64_t)r->addend));
  }
  return true;
}

/* Interface ------------------------------------------------------------------------------- */

struct module_instance *module_instantiate(const struct module *m, struct gmem *mem, struct err *e)
{
  return module_instantiate_managed(m, mem, 0, e);
}

struct module_instance *module_instantiate_managed(const struct module *m, struct gmem *mem, uint64_t managed,
                                                   struct err *e)
{
  struct arena a = {0};
  struct module_instance *in = ARENA_NEW(&a, struct module_instance);
  in->arena = a;
  in->module = m;
  in->mem = mem;
  in->managed = m->managed_bytes ? managed : 0;
  bool ok = alloc_variables(in, e);
  if (ok) {
    copy_sections(in);
    ok = relocate(in, e);
  }
  if (!ok) {
    module_instance_free(in);
    return NULL;
  }
  write_variables(in);
  in->code = lazy_code_new(&in->arena, m, in->text, mem != NULL);
  return in;
}

void module_instance_free(struct module_instance *in)
{
  if (!in) return;
  if (in->global_alloc) gmem_release(in->mem, in->global_alloc);
  if (in->const_base) gmem_release(in->mem, in->const_base);
  struct arena a = in->arena; /* the instance lies in its own arena */
  arena_free(&a);
}

const struct module *module_of(const struct module_instance *in)
{
  return in->module;
}

const struct code_view *module_code(const struct module_instance *in)
{
  return lazy_code_all(in->code);
}

/* Number of a kernel of the instance's module. */
static unsigned number_of(const struct module_instance *in, const struct module_kernel *k)
{
  BUG_ON(k < in->module->kernel || k >= in->module->kernel + in->module->n_kernels);
  return (unsigned)(k - in->module->kernel);
}

struct code_view module_launch_code(const struct module_instance *in, const struct module_kernel *k, bool timed,
                                    struct code_reach *reach)
{
  return lazy_code_launch(in->code, number_of(in, k), timed, reach);
}

const struct isa *module_isa(unsigned sm)
{
  (void)sm; /* all targets so far have one */
  return &sass_isa;
}

const struct sass_inst *module_sass(const struct module_instance *in)
{
  (void)lazy_code_all(in->code);
  return lazy_code_sass(in->code);
}

const uint8_t *module_bank(const struct module_instance *in, const struct module_kernel *k,
                           unsigned bank, uint32_t *bytes)
{
  *bytes = 0;
  if (bank >= MODULE_BANKS) return NULL;
  const struct bank *b = &in->bank[number_of(in, k)][bank];
  if (!b->data) b = &in->common[bank];
  *bytes = b->bytes;
  return b->data;
}

uint64_t module_constants(const struct module_instance *in)
{
  return in->const_base;
}

uint64_t module_memory(const struct module_instance *in)
{
  return in->global_alloc ? in->global_alloc : in->const_base;
}

void module_refresh_constants(struct module_instance *in)
{
  const struct bank *user = &in->common[USER_BANK];
  if (in->const_base) BUG_ON(!gmem_read(in->mem, in->const_base, user->data, user->bytes));
}

bool module_moves_stack(const struct module_instance *in, const struct module_kernel *k)
{
  return lazy_code_moves_stack(in->code, number_of(in, k));
}

unsigned module_most_registers(const struct module_instance *in, const struct module_kernel *k)
{
  return lazy_code_most_registers(in->code, number_of(in, k));
}

bool module_names_bank0(const struct module_instance *in, bool load, uint32_t at)
{
  return lazy_code_names_bank0(in->code, load, at);
}

uint64_t module_managed(const struct module_instance *in) { return in->managed; }

uint64_t module_address(const struct module_instance *in, const struct module_symbol *s)
{
  if (s->managed && in->managed) return in->managed + s->in_block;
  if (s->space == MODULE_GLOBAL) return in->global_base + s->offset;
  if (s->space == MODULE_CONST) return in->const_base + s->offset;
  return 0;
}

bool module_variable_write(struct module_instance *in, const struct module_symbol *s,
                           const void *buf, size_t bytes)
{
  if ((s->space != MODULE_GLOBAL && s->space != MODULE_CONST) || bytes > s->bytes || !in->mem)
    return false;
  if (s->space == MODULE_CONST) memcpy(in->common[USER_BANK].data + s->offset, buf, bytes);
  return gmem_write(in->mem, module_address(in, s), buf, bytes);
}

bool module_variable_read(const struct module_instance *in, const struct module_symbol *s,
                          void *buf, size_t bytes)
{
  if ((s->space != MODULE_GLOBAL && s->space != MODULE_CONST) || bytes > s->bytes || !in->mem)
    return false;
  return gmem_read(in->mem, module_address(in, s), buf, bytes);
}
