/* The image of a cubin. Order in the file: string tables, symbols, information, relocations, read-only
 * sections (constant banks, code), initialised variables, sections without contents, section
 * headers, program headers. Source of the layout: compiler output (CUDA 13.0). */
#include <elf.h>
#include <string.h>

#include "base/arith.h"
#include "isa/sass/sass.h"
#include "load/cubin.h"
#include "load/target.h"

enum {
  EM_CUDA_CUBIN = 190, OSABI_CUDA13 = 0x41, ABI_VERSION = 8, FLAGS_HIGH = 0x06000000,
  SHT_CUDA_INFO = SHT_LOPROC, SHT_CUDA_CALLGRAPH = SHT_LOPROC + 1,
  STO_ENTRY = 0x10, CODE_ALIGN = 128, INST_BYTES = 16, MAXREG = 255, API_VERSION = 130,
  LARGE_PARAMS = 4352, /* bytes; kernels with more have the second form of KPARAM_INFO */
};

/* What differs in the files of the targets. */
struct format {
  uint16_t sm_min, sm_max, param_base;
  uint16_t large_base;     /* of parameter blocks above LARGE_PARAMS */
  uint8_t flags_low;       /* low byte of e_flags */
  uint16_t mercury;        /* MERCURY_ISA_VERSION */
  bool old_workaround;     /* SW2861232_WAR, before SPARSE_MMA_MASK and SW_WAR */
  uint8_t pointer_kind;    /* KPARAM_INFO bits 11:8 */
};

static const struct format formats[] = {
    {70, 89, 0x160, 0x1a80, 0x04, 0x0000, true, 0},
    {90, 90, 0x210, 0x210, 0x04, 0x0101, false, 0},
    {100, 121, 0x380, 0x380, 0x02, 0x0101, false, 0},
};

static const struct format *format_of(unsigned sm)
{
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    if (sm >= formats[i].sm_min && sm <= formats[i].sm_max && target_find(sm)) return &formats[i];
  return NULL;
}

uint32_t cubin_param_base(unsigned sm)
{
  const struct format *f = format_of(sm);
  return f ? f->param_base : 0;
}

/* ---- the file being made ---- */

/* A section of the file; index 0 is the null section. */
struct out_section {
  const char *name;
  uint32_t type, link, info, entry;
  uint64_t flags, align, size;
  const uint8_t *data; /* NULL: no contents */
  uint64_t offset;
  uint32_t name_at;
};

struct out {
  struct cubin *c;
  const struct format *format;
  struct out_section *section;
  uint32_t n, symtab, strtab, shstrtab;
  uint32_t *place;     /* cubin section to file section */
  uint32_t *constant0; /* kernel to file section of its bank 0 */
  uint32_t *number;    /* cubin symbol to its number in the symbol table */
  uint32_t *section_symbol; /* file section to its symbol, 0: none */
  uint32_t n_locals;
  uint32_t scratch;    /* section of `c` that collects bytes */
};

static uint32_t add(struct out *o, struct out_section s)
{
  o->section[o->n] = s;
  return o->n++;
}

static const char *join(struct arena *a, const char *one, const char *two)
{
  size_t n = strlen(one), m = strlen(two) + 1;
  char *s = arena_alloc(a, n + m, 1);
  memcpy(s, one, n);
  memcpy(s + n, two, m);
  return s;
}

/* Bytes collected in a section of the cubin that is not written itself. */
static int32_t bytes_begin(struct out *o)
{
  return cubin_add_section(o->c, "", 4);
}

static void put8(struct out *o, int32_t b, uint32_t v)
{
  uint8_t byte = (uint8_t)v;
  cubin_append(o->c, b, &byte, 1);
}

static void put16(struct out *o, int32_t b, uint32_t v)
{
  put8(o, b, v), put8(o, b, v >> 8);
}

static void put32(struct out *o, int32_t b, uint32_t v)
{
  put16(o, b, v), put16(o, b, v >> 16);
}

static struct out_section contents(const struct out *o, int32_t b, const char *name, uint32_t type)
{
  const struct cubin_section *s = &o->c->section[b];
  return (struct out_section){.name = name, .type = type, .align = s->align, .size = s->size,
                              .data = s->data ? s->data : (const uint8_t *)""};
}

/* ---- .nv.info ---- */

static void record(struct out *o, int32_t b, unsigned format, unsigned attribute, uint32_t value)
{
  put8(o, b, format), put8(o, b, attribute), put16(o, b, value);
}

static void record_words(struct out *o, int32_t b, unsigned attribute, const uint32_t *v,
                         uint32_t n)
{
  record(o, b, 4, attribute, 4 * n);
  for (uint32_t i = 0; i < n; i++) put32(o, b, v[i]);
}

static void function_records(struct out *o, int32_t b, unsigned attribute, size_t member)
{
  for (uint32_t i = 0; i < o->c->n_symbols; i++) {
    int32_t v;
    memcpy(&v, (const char *)&o->c->symbol[i] + member, sizeof v);
    uint32_t pair[2] = {o->number[i], (uint32_t)v};
    if (o->c->symbol[i].function && v != CUBIN_NONE) record_words(o, b, attribute, pair, 2);
  }
}

static int32_t file_info(struct out *o)
{
  int32_t b = bytes_begin(o);
  function_records(o, b, 0x2f, offsetof(struct cubin_symbol, regs));
  function_records(o, b, 0x11, offsetof(struct cubin_symbol, frame));
  function_records(o, b, 0x12, offsetof(struct cubin_symbol, stack));
  return b;
}

static uint32_t param_bytes(const struct cubin_kernel *k)
{
  uint32_t end = 0;
  for (unsigned i = 0; i < k->n_params; i++)
    if (k->param[i].offset + k->param[i].bytes > end) end = k->param[i].offset + k->param[i].bytes;
  return end;
}

static uint32_t param_base(const struct out *o, const struct cubin_kernel *k)
{
  return param_bytes(k) > LARGE_PARAMS ? o->format->large_base : o->format->param_base;
}

static void param_records(struct out *o, int32_t b, const struct cubin_kernel *k)
{
  bool large = param_bytes(k) > LARGE_PARAMS;
  for (unsigned i = k->n_params; i-- > 0;) {
    record(o, b, 4, large ? 0x45 : 0x17, 12);
    put32(o, b, 0);
    put16(o, b, i), put16(o, b, k->param[i].offset);
    put32(o, b, large ? k->param[i].bytes : (uint32_t)k->param[i].bytes << 18 | 0x1f << 12);
  }
}

/* Offsets of the EXIT instructions. */
static void exit_records(struct out *o, int32_t b, const struct cubin_kernel *k)
{
  const struct cubin_section *text = &o->c->section[k->text];
  uint32_t *at = ARENA_ARRAY(o->c->arena, uint32_t, text->size / INST_BYTES + 1), n = 0;
  for (uint64_t pc = 0; pc + INST_BYTES <= text->size; pc += INST_BYTES) {
    struct word128 w;
    struct sass_inst s;
    struct inst t;
    memcpy(&w, text->data + pc, sizeof w);
    if (sass_decode(o->c->sm, w, pc, &s, &t, NULL) && s.sem == SEM_EXIT) at[n++] = (uint32_t)pc;
  }
  record_words(o, b, 0x1c, at, n);
}

static void limit_records(struct out *o, int32_t b, const struct cubin_kernel *k)
{
  static const uint32_t tile_ir = 3;
  if (k->max_threads[0]) record_words(o, b, 0x05, k->max_threads, 3);
  if (k->req_threads[0]) record_words(o, b, 0x10, k->req_threads, 3);
  if (k->cluster[0]) record_words(o, b, 0x3d, k->cluster, 3);
  if (k->explicit_cluster) record(o, b, 1, 0x3e, 0);
  if (k->tile) record_words(o, b, 0x66, &tile_ir, 1);
}

static int32_t kernel_info(struct out *o, uint32_t i)
{
  int32_t b = bytes_begin(o);
  const struct cubin_kernel *k = &o->c->kernel[i];
  uint32_t api = API_VERSION, zero = 0, workaround = 8;
  record_words(o, b, 0x37, &api, 1);
  if (o->format->old_workaround) record(o, b, 1, 0x35, 0);
  param_records(o, b, k);
  if (!o->format->old_workaround) record(o, b, 3, 0x50, 0);
  record(o, b, 3, 0x1b, MAXREG);
  if (k->barriers) record(o, b, 2, 0x4c, k->barriers);
  record(o, b, 3, 0x5f, o->format->mercury);
  exit_records(o, b, k);
  limit_records(o, b, k);
  record_words(o, b, 0x1e, &zero, 1);
  record(o, b, 3, 0x19, param_bytes(k));
  uint32_t bank[2] = {o->section_symbol[o->constant0[i]],
                      param_base(o, k) | param_bytes(k) << 16};
  record_words(o, b, 0x0a, bank, 2);
  if (!o->format->old_workaround) record_words(o, b, 0x36, &workaround, 1);
  return b;
}

/* ---- sections ---- */

static bool is_text(const struct cubin_section *s)
{
  return strncmp(s->name, ".text.", 6) == 0;
}

static void add_cubin_section(struct out *o, uint32_t i, uint32_t text)
{
  const struct cubin_section *s = &o->c->section[i];
  uint64_t flags = SHF_ALLOC;
  if (is_text(s)) flags |= SHF_EXECINSTR;
  if (s->writable || s->nobits) flags |= SHF_WRITE;
  if (!is_text(s) && s->kernel != CUBIN_NONE) flags |= SHF_INFO_LINK;
  o->place[i] = add(o, (struct out_section){
      .name = s->name, .type = s->nobits ? SHT_NOBITS : SHT_PROGBITS, .flags = flags,
      .align = s->align, .size = s->size, .link = is_text(s) ? o->symtab : 0, .info = text,
      .data = s->nobits ? NULL : s->data ? s->data : (const uint8_t *)""});
}

/* The cubin's sections of one kind; those of a kernel refer to its code. */
static void add_kind(struct out *o, uint32_t n, bool text, bool writable, bool nobits)
{
  for (uint32_t i = 0; i < n; i++) {
    const struct cubin_section *s = &o->c->section[i];
    if (is_text(s) != text || (s->writable || s->nobits) != writable || s->nobits != nobits)
      continue;
    int32_t k = s->kernel;
    add_cubin_section(o, i, !text && k != CUBIN_NONE ? o->place[o->c->kernel[k].text] : 0);
  }
}

static void add_constant0(struct out *o)
{
  for (uint32_t k = 0; k < o->c->n_kernels; k++) {
    const struct cubin_kernel *kernel = &o->c->kernel[k];
    int32_t b = bytes_begin(o);
    cubin_append(o->c, b, NULL, param_base(o, kernel) + param_bytes(kernel));
    struct out_section s = contents(o, b, join(o->c->arena, ".nv.constant0.", kernel->name),
                                    SHT_PROGBITS);
    s.flags = SHF_ALLOC | SHF_INFO_LINK;
    s.info = o->place[kernel->text];
    o->constant0[k] = add(o, s);
  }
}

static void add_shared(struct out *o)
{
  for (uint32_t k = 0; k < o->c->n_kernels; k++) {
    const struct cubin_kernel *kernel = &o->c->kernel[k];
    if (!kernel->shared) continue;
    add(o, (struct out_section){
        .name = join(o->c->arena, ".nv.shared.", kernel->name), .type = SHT_NOBITS,
        .flags = SHF_ALLOC | SHF_WRITE | SHF_INFO_LINK, .align = 16, .size = kernel->shared,
        .info = o->place[kernel->text]});
  }
}

static void add_callgraph(struct out *o)
{
  int32_t b = bytes_begin(o);
  for (uint32_t i = 1; i <= 4; i++) put32(o, b, 0), put32(o, b, 0u - i);
  struct out_section s = contents(o, b, ".nv.callgraph", SHT_CUDA_CALLGRAPH);
  s.link = o->symtab;
  s.entry = 8;
  add(o, s);
}

static void add_relocs(struct out *o, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) {
    int32_t b = bytes_begin(o);
    for (uint32_t k = 0; k < o->c->n_relocs; k++) {
      const struct cubin_reloc *r = &o->c->reloc[k];
      if (r->section != (int32_t)i) continue;
      Elf64_Rela rec = {r->offset, ELF64_R_INFO((uint64_t)o->number[r->symbol], r->type),
                        r->addend};
      cubin_append(o->c, b, &rec, sizeof rec);
    }
    if (!o->c->section[b].size) continue;
    struct out_section s = contents(o, b, join(o->c->arena, ".rela", o->c->section[i].name),
                                    SHT_RELA);
    s.flags = SHF_INFO_LINK;
    s.align = 8;
    s.entry = sizeof(Elf64_Rela);
    s.link = o->symtab;
    s.info = o->place[i];
    add(o, s);
  }
}

/* ---- symbols and strings ---- */

static uint32_t add_string(struct out *o, int32_t table, const char *s)
{
  uint32_t at = (uint32_t)o->c->section[table].size;
  cubin_append(o->c, table, s, strlen(s) + 1);
  return at;
}

static Elf64_Sym symbol_record(const struct out *o, const struct cubin_symbol *y, uint32_t name)
{
  static const uint8_t bind[] = {[CUBIN_LOCAL] = STB_LOCAL, [CUBIN_GLOBAL] = STB_GLOBAL,
                                 [CUBIN_WEAK] = STB_WEAK};
  return (Elf64_Sym){
      .st_name = name, .st_value = y->value, .st_size = y->size,
      .st_info = (unsigned char)ELF64_ST_INFO(bind[y->bind], y->function ? STT_FUNC : STT_OBJECT),
      .st_other = y->entry ? STO_ENTRY : 0,
      .st_shndx = y->section == CUBIN_NONE ? SHN_UNDEF : (uint16_t)o->place[y->section]};
}

/* Numbers first, contents later: records name symbols by number, symbols name sections. */
static void number_symbols(struct out *o)
{
  uint32_t n = 1;
  for (uint32_t i = 0; i < o->n; i++)
    if (o->section[i].flags & SHF_ALLOC) o->section_symbol[i] = n++;
  for (unsigned local = 1; local <= 2; local++) {
    for (uint32_t i = 0; i < o->c->n_symbols; i++)
      if ((o->c->symbol[i].bind == CUBIN_LOCAL) == (local == 1)) o->number[i] = n++;
    if (local == 1) o->n_locals = n;
  }
}

static void write_symbols(struct out *o)
{
  int32_t table = bytes_begin(o), strings = bytes_begin(o);
  Elf64_Sym none = {0};
  add_string(o, strings, "");
  cubin_append(o->c, table, &none, sizeof none);
  for (uint32_t i = 0; i < o->n; i++) {
    if (!o->section_symbol[i]) continue;
    Elf64_Sym y = {.st_name = add_string(o, strings, o->section[i].name),
                   .st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = (uint16_t)i};
    cubin_append(o->c, table, &y, sizeof y);
  }
  for (unsigned local = 1; local <= 2; local++)
    for (uint32_t i = 0; i < o->c->n_symbols; i++) {
      const struct cubin_symbol *s = &o->c->symbol[i];
      if ((s->bind == CUBIN_LOCAL) != (local == 1)) continue;
      Elf64_Sym y = symbol_record(o, s, add_string(o, strings, s->name));
      cubin_append(o->c, table, &y, sizeof y);
    }
  o->section[o->symtab].data = o->c->section[table].data;
  o->section[o->symtab].size = o->c->section[table].size;
  o->section[o->symtab].info = o->n_locals;
  o->section[o->strtab].data = o->c->section[strings].data;
  o->section[o->strtab].size = o->c->section[strings].size;
}

static void write_names(struct out *o)
{
  int32_t names = bytes_begin(o);
  add_string(o, names, "");
  for (uint32_t i = 1; i < o->n; i++)
    o->section[i].name_at = add_string(o, names, o->section[i].name);
  o->section[o->shstrtab].data = o->c->section[names].data;
  o->section[o->shstrtab].size = o->c->section[names].size;
}

/* ---- layout ---- */

static uint64_t place_sections(struct out *o)
{
  uint64_t at = sizeof(Elf64_Ehdr);
  for (uint32_t i = 1; i < o->n; i++) {
    struct out_section *s = &o->section[i];
    at = align_up(at, s->align ? s->align : 1);
    s->offset = at;
    if (s->data) at += s->size;
  }
  return align_up(at, 8);
}

/* One segment over the read-only sections, one over the writable ones. */
static unsigned segments(const struct out *o, uint64_t headers, Elf64_Phdr *p)
{
  unsigned n = 1;
  for (unsigned pass = 0; pass < 2; pass++) {
    bool writable = pass == 1;
    uint64_t from = UINT64_MAX, file_end = 0, end = 0;
    for (uint32_t i = 1; i < o->n; i++) {
      const struct out_section *s = &o->section[i];
      if (!(s->flags & SHF_ALLOC) || ((s->flags & SHF_WRITE) != 0) != writable) continue;
      if (s->offset < from) from = file_end = s->offset;
      if (s->data && s->offset + s->size > file_end) file_end = s->offset + s->size;
      end = (end > file_end ? end : file_end) + (s->data ? 0 : align_up(s->size, s->align));
    }
    if (from == UINT64_MAX) continue;
    if (end < file_end) end = file_end;
    p[n++] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = writable ? PF_R | PF_W : PF_R | PF_X,
                          .p_offset = from, .p_filesz = file_end - from, .p_memsz = end - from,
                          .p_align = 8};
  }
  p[n] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = headers,
                      .p_align = 8};
  p[n].p_filesz = p[n].p_memsz = (n + 1) * sizeof *p;
  p[0] = p[n];
  p[0].p_type = PT_PHDR;
  return n + 1;
}

static Elf64_Ehdr file_header(const struct out *o, uint64_t sections, uint64_t programs,
                              unsigned n_programs)
{
  Elf64_Ehdr h = {
      .e_type = ET_EXEC, .e_machine = EM_CUDA_CUBIN, .e_version = EV_CURRENT,
      .e_phoff = programs, .e_shoff = sections,
      .e_flags = FLAGS_HIGH | o->c->sm << 8 | o->format->flags_low,
      .e_ehsize = sizeof h, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = (uint16_t)n_programs,
      .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = (uint16_t)o->n,
      .e_shstrndx = (uint16_t)o->shstrtab};
  memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64;
  h.e_ident[EI_DATA] = ELFDATA2LSB;
  h.e_ident[EI_VERSION] = EV_CURRENT;
  h.e_ident[EI_OSABI] = OSABI_CUDA13;
  h.e_ident[EI_ABIVERSION] = ABI_VERSION;
  return h;
}

static const uint8_t *write_file(struct out *o, size_t *bytes)
{
  Elf64_Phdr program[4];
  uint64_t sections = place_sections(o);
  uint64_t programs = sections + o->n * sizeof(Elf64_Shdr);
  unsigned n_programs = segments(o, programs, program);
  *bytes = programs + n_programs * sizeof program[0];
  uint8_t *image = arena_alloc(o->c->arena, *bytes, 16);
  memset(image, 0, *bytes);
  Elf64_Ehdr h = file_header(o, sections, programs, n_programs);
  memcpy(image, &h, sizeof h);
  for (uint32_t i = 0; i < o->n; i++) {
    const struct out_section *s = &o->section[i];
    Elf64_Shdr r = {.sh_name = s->name_at, .sh_type = s->type, .sh_flags = s->flags,
                    .sh_offset = s->offset, .sh_size = s->size, .sh_link = s->link,
                    .sh_info = s->info, .sh_addralign = s->align, .sh_entsize = s->entry};
    memcpy(image + sections + i * sizeof r, &r, sizeof r);
    if (s->data && s->size) memcpy(image + s->offset, s->data, s->size);
  }
  memcpy(image + programs, program, n_programs * sizeof program[0]);
  return image;
}

/* Code sections name their kernel's symbol, up to sm_89 with the registers on top. */
static void set_code_info(struct out *o)
{
  bool with_regs = target_find(o->c->sm)->regs_in_header;
  for (uint32_t k = 0; k < o->c->n_kernels; k++) {
    const struct cubin_kernel *kernel = &o->c->kernel[k];
    const struct cubin_symbol *y = &o->c->symbol[kernel->symbol];
    uint32_t regs = y->regs > 0 ? (uint32_t)y->regs : 0;
    o->section[o->place[kernel->text]].info =
        o->number[kernel->symbol] | (with_regs ? regs << 24 : 0);
  }
}

const uint8_t *cubin_image(struct cubin *c, size_t *bytes)
{
  uint32_t n = c->n_sections, most = 2 * n + 3 * c->n_kernels + 16;
  struct out o = {.c = c, .format = format_of(c->sm)};
  o.section = ARENA_ARRAY(c->arena, struct out_section, most);
  o.place = ARENA_ARRAY(c->arena, uint32_t, n + 1);
  o.constant0 = ARENA_ARRAY(c->arena, uint32_t, c->n_kernels + 1);
  o.number = ARENA_ARRAY(c->arena, uint32_t, c->n_symbols + 1);
  o.section_symbol = ARENA_ARRAY(c->arena, uint32_t, most);
  add(&o, (struct out_section){.name = "", .data = NULL});
  o.shstrtab = add(&o, (struct out_section){.name = ".shstrtab", .type = SHT_STRTAB, .align = 1});
  o.strtab = add(&o, (struct out_section){.name = ".strtab", .type = SHT_STRTAB, .align = 1});
  o.symtab = add(&o, (struct out_section){.name = ".symtab", .type = SHT_SYMTAB, .align = 8,
                                          .link = o.strtab, .entry = sizeof(Elf64_Sym)});
  add_kind(&o, n, true, false, false);
  add_kind(&o, n, false, false, false);
  add_constant0(&o);
  add_kind(&o, n, false, true, false);
  add_kind(&o, n, false, true, true);
  add_shared(&o);
  number_symbols(&o);
  set_code_info(&o);
  uint32_t info = add(&o, contents(&o, file_info(&o), ".nv.info", SHT_CUDA_INFO));
  o.section[info].link = o.symtab;
  for (uint32_t k = 0; k < c->n_kernels; k++) {
    int32_t b = kernel_info(&o, k);
    uint32_t i = add(&o, contents(&o, b, join(c->arena, ".nv.info.", c->kernel[k].name),
                                  SHT_CUDA_INFO));
    o.section[i].flags = SHF_INFO_LINK;
    o.section[i].link = o.symtab;
    o.section[i].info = o.place[c->kernel[k].text];
  }
  add_callgraph(&o);
  add_relocs(&o, n);
  write_symbols(&o);
  write_names(&o);
  return write_file(&o, bytes);
}
