/* Instance of a module: addresses for its variables, relocated and decoded code. */
#include <elf.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "isa/sass/sass.h"
#include "isa/sass/sass_isa.h"
#include "isa/sass/syscall.h"
#include "load/load_internal.h"

enum { INST_SHIFT = 4, USER_BANK = 3, BANK0_WORDS = (64 << 10) / 4 };
_Static_assert(1 << INST_SHIFT == INST_BYTES, "size of an instruction");

/* How code names a word of bank 0: as an operand, as the offset of a load, as a number that it moves to a register. */
enum { NAMED_OPERAND, NAMED_LOAD, NAMED_NUMBER, NAMED__N };

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
  struct code_view code;
  struct inst *inst;
  struct sass_inst *sass;
  /* What launches ask, which do not look through all code. */
  uint64_t bank0[NAMED__N][BANK0_WORDS / 64]; /* bit w: word w of bank 0 is named so */
  bool loads_anywhere; /* some load of a constant has its whole offset in a register */
  bool *moves_stack;                   /* per kernel */
  uint16_t *most_regs;                 /* per kernel */
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

/* Code ----------------------------------------------------------------------------------- */

static const struct inst no_inst = {
  .ctrl = { .stall = 1, .write_sb = SB_NONE, .read_sb = SB_NONE },
  .pipe = PIPE_BRANCH, .lat = LAT_BRANCH, .guard = SASS_PT, .bytes = INST_BYTES, .next = INST_BYTES,
};

static const struct sass_inst no_sass = {
  .dst = SASS_RZ, .udst = SASS_URZ, .ua = SASS_URZ, .pu = SASS_PT, .pv = SASS_PT,
  .guard = { .index = SASS_PT }, .pp = { .index = SASS_PT }, .pq = { .index = SASS_PT },
  .pr = { .index = SASS_PT },
};

static void put_service(struct module_instance *in, uint64_t pc, unsigned number)
{
  uint64_t index = (pc - MODULE_CODE_BASE) >> INST_SHIFT;
  struct inst *t = &in->inst[index];
  struct sass_inst *s = &in->sass[index];
  *t = no_inst;
  t->pc = pc;
  t->flags = INST_SYSCALL | INST_BRANCH; /* returns to its caller */
  *s = no_sass;
  s->sem = SEM_SYSCALL;
  s->src[0] = (struct sass_src){ .kind = SRC_IMM, .index = SASS_RZ, .imm = number };
}

/* The copy itself is an instruction of the target, as in the driver's function. */
static void put_driver_service(struct module_instance *in, unsigned number)
{
  const uint64_t pc = load_service_pc(in->module, number), index = (pc - MODULE_CODE_BASE) >> INST_SHIFT;
  if (!pc) return;
  put_service(in, pc, number);
  if (number < SYSCALL_COPY || (number - SYSCALL_COPY) % COPY_WORDS != COPY_ITSELF) return;
  const struct word128 w = copy_service_word((number - SYSCALL_COPY) / COPY_WORDS);
  if (!sass_decode(in->module->elf.sm, w, pc, &in->sass[index], &in->inst[index], NULL))
    put_service(in, pc, SYSCALL_DRIVER_PRIVATE);
}

/* What the file's own functions of the device runtime would do is the driver's business: where code is to
 * run, their first instruction is the service. */
static void replace_device_runtime(struct module_instance *in)
{
  const struct module *m = in->module;
  unsigned number;
  for (uint32_t i = 0; in->mem && m->device_runtime && i < m->elf.n_symbols; i++) {
    const struct elf_symbol *y = &m->elf.symbol[i];
    if (y->type != STT_FUNC || y->section >= m->elf.n_sections ||
        m->place[y->section].kind != PLACE_TEXT || y->value >= m->elf.section[y->section].size ||
        y->value % INST_BYTES || !load_device_runtime(y->name, &number))
      continue;
    put_service(in, m->place[y->section].offset + y->value, number);
  }
}

static void put_gap(struct module_instance *in, uint64_t index)
{
  in->inst[index] = no_inst;
  in->inst[index].pc = MODULE_CODE_BASE + index * INST_BYTES;
  in->inst[index].flags = INST_UNDECODED;
  in->sass[index] = no_sass;
}

static void decode_section(struct module_instance *in, const struct place *p, uint64_t bytes)
{
  uint64_t first = (p->offset - MODULE_CODE_BASE) >> INST_SHIFT;
  for (uint64_t i = first; i < first + (bytes >> INST_SHIFT); i++) {
    struct word128 w;
    uint64_t pc = MODULE_CODE_BASE + (i << INST_SHIFT);
    memcpy(&w, in->text + (i << INST_SHIFT), sizeof w);
    /* A word without a row is an error when it is executed, not before. */
    if (!sass_decode(in->module->elf.sm, w, pc, &in->sass[i], &in->inst[i], NULL)) {
      in->inst[i].pc = pc;
      in->inst[i].flags |= INST_UNDECODED;
      in->sass[i].row = NULL;
      in->sass[i].word = w;
    }
  }
}

static void note_bank0(struct module_instance *in, unsigned how, uint32_t at)
{
  if (at % 4 == 0 && at / 4 < BANK0_WORDS) in->bank0[how][at / 256] |= UINT64_C(1) << at / 4 % 64;
}

static bool is_named(const struct module_instance *in, unsigned how, uint32_t at)
{
  return at % 4 == 0 && at / 4 < BANK0_WORDS && in->bank0[how][at / 256] >> at / 4 % 64 & 1;
}

static void note_constants(struct module_instance *in, uint64_t n)
{
  for (const struct sass_inst *s = in->sass; n; n--, s++) {
    const bool moves = s->sem == SEM_MOV || s->sem == SEM_UMOV;
    for (unsigned k = 0; k < 3; k++) {
      if (s->src[k].kind == SRC_CONST && s->src[k].bank == 0) note_bank0(in, NAMED_OPERAND, s->src[k].imm);
      if (s->src[k].kind == SRC_IMM && moves) note_bank0(in, NAMED_NUMBER, s->src[k].imm);
    }
    if (s->sem != SEM_LDC && s->sem != SEM_ULDC) continue;
    note_bank0(in, NAMED_LOAD, (uint16_t)s->offset);
    in->loads_anywhere |= (uint16_t)s->offset == 0; /* as in code that is not optimised */
  }
}

static bool adjusts_r1(const struct inst *t)
{
  bool to = false, from = false;
  for (unsigned i = 0; i < t->n_dst; i++) to |= t->dst[i].file == FILE_R && t->dst[i].index == 1;
  for (unsigned i = 0; i < t->n_src; i++) from |= t->src[i].file == FILE_R && t->src[i].index == 1;
  return to && from && t->mem.space == MEM_NONE;
}

/* What the code of a kernel, and of functions that any kernel may call, says. */
static void note_kernel_code(struct module_instance *in, unsigned kernel)
{
  const struct module *m = in->module;
  bool *stack = &in->moves_stack[kernel];
  uint16_t *most = &in->most_regs[kernel];
  *most = (uint16_t)m->kernel[kernel].regs;
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    const struct place *p = &m->place[i];
    const int32_t owner = m->text_kernel[i]; /* a section of its own is a device function */
    if (p->kind != PLACE_TEXT || (owner != ALL_KERNELS && (unsigned)owner != kernel)) continue;
    const uint64_t first = (p->offset - MODULE_CODE_BASE) >> INST_SHIFT, n = m->elf.section[i].size >> INST_SHIFT;
    for (uint64_t k = first; k < first + n; k++) {
      if (!*stack) *stack = adjusts_r1(&in->inst[k]);
      const unsigned takes = owner != ALL_KERNELS ? sass_asks_registers(&in->sass[k]) : 0;
      if (takes > *most) *most = (uint16_t)takes;
    }
  }
}

static void decode(struct module_instance *in)
{
  const struct module *m = in->module;
  uint64_t n = (m->code_end - MODULE_CODE_BASE) >> INST_SHIFT;
  in->inst = ARENA_ARRAY(&in->arena, struct inst, n);
  in->sass = ARENA_ARRAY(&in->arena, struct sass_inst, n);
  for (uint64_t i = 0; i < n; i++) put_gap(in, i);
  for (unsigned i = 0; i < SYSCALL__N; i++) put_driver_service(in, i);
  for (uint32_t i = 1; i < m->elf.n_sections; i++)
    if (m->place[i].kind == PLACE_TEXT)
      decode_section(in, &m->place[i], m->elf.section[i].size);
  replace_device_runtime(in);
  in->code = (struct code_view){ .base = MODULE_CODE_BASE, .end = m->code_end,
                                 .shift = INST_SHIFT, .inst = in->inst, .isa = module_isa(in->module->elf.sm),
                                 .decoded = in->sass };
  in->code.place = code_place(&in->code);
  note_constants(in, n);
  in->moves_stack = ARENA_ARRAY(&in->arena, bool, m->n_kernels);
  in->most_regs = ARENA_ARRAY(&in->arena, uint16_t, m->n_kernels);
  for (unsigned k = 0; k < m->n_kernels; k++) note_kernel_code(in, k);
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
  decode(in);
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
  return &in->code;
}

const struct isa *module_isa(unsigned sm)
{
  (void)sm; /* all targets so far have one */
  return &sass_isa;
}

const struct sass_inst *module_sass(const struct module_instance *in)
{
  return in->sass;
}

const uint8_t *module_bank(const struct module_instance *in, const struct module_kernel *k,
                           unsigned bank, uint32_t *bytes)
{
  *bytes = 0;
  if (bank >= MODULE_BANKS) return NULL;
  BUG_ON(k < in->module->kernel || k >= in->module->kernel + in->module->n_kernels);
  const struct bank *b = &in->bank[k - in->module->kernel][bank];
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
  BUG_ON(k < in->module->kernel || k >= in->module->kernel + in->module->n_kernels);
  return in->moves_stack[k - in->module->kernel];
}

unsigned module_most_registers(const struct module_instance *in, const struct module_kernel *k)
{
  BUG_ON(k < in->module->kernel || k >= in->module->kernel + in->module->n_kernels);
  return in->most_regs[k - in->module->kernel];
}

bool module_names_bank0(const struct module_instance *in, bool load, uint32_t at)
{
  if (!load) return is_named(in, NAMED_OPERAND, at);
  return is_named(in, NAMED_LOAD, at) || (in->loads_anywhere && is_named(in, NAMED_NUMBER, at));
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
