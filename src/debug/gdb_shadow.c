#include "debug/gdb_shadow.h"

#include <elf.h>
#include <string.h>

#include "base/host_memory.h"
#include "load/plain_name.h"

/* ---- bytes ---- */

struct buffer {
  uint8_t *data;
  size_t n, room;
};

static void put(struct buffer *b, const void *data, size_t n)
{
  if (b->n + n > b->room) b->data = mem_resize(b->data, b->room = 2 * (b->n + n), 1);
  if (n) memcpy(b->data + b->n, data, n);
  b->n += n;
}

static void put_number(struct buffer *b, uint64_t v, unsigned bytes)
{
  put(b, &v, bytes); /* little-endian, as the host is */
}

static void put_text(struct buffer *b, const char *s)
{
  put(b, s, strlen(s) + 1);
}

static void put_uleb(struct buffer *b, uint64_t v)
{
  do {
    put_number(b, (v & 127) | (v > 127 ? 128 : 0), 1);
    v >>= 7;
  } while (v);
}

static void put_sleb(struct buffer *b, int64_t v)
{
  while (v < -64 || v > 63) {
    put_number(b, (uint64_t)(v & 127) | 128, 1);
    v >>= 7;
  }
  put_number(b, (uint64_t)v & 127, 1);
}

/* The length of what follows a 4-byte field at `at`. */
static void patch_length(struct buffer *b, size_t at)
{
  const uint32_t n = (uint32_t)(b->n - at - 4);
  memcpy(b->data + at, &n, sizeof n);
}

/* ---- lines (DWARF 4, 6.2) ---- */

enum { LINE_BASE = -3, LINE_RANGE = 12, OPCODE_BASE = 13 };
enum { LNS_COPY = 1, LNS_ADVANCE_PC = 2, LNS_ADVANCE_LINE = 3, LNS_SET_FILE = 4, LNE_END = 1, LNE_ADDRESS = 2 };

static void put_line_header(struct buffer *b, const struct line_table *t)
{
  static const uint8_t operands[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  const size_t at = b->n;
  put_number(b, 0, 4); /* length of the rest of the header */
  put_number(b, 1, 1); /* smallest instruction */
  put_number(b, 1, 1); /* operations of one */
  put_number(b, 1, 1); /* rows are statements */
  put_number(b, (uint8_t)LINE_BASE, 1);
  put_number(b, LINE_RANGE, 1);
  put_number(b, OPCODE_BASE, 1);
  put(b, operands, sizeof operands);
  for (uint32_t i = 0; i < t->n_files; i++)
    if (*t->file[i].folder) put_text(b, t->file[i].folder);
  put_number(b, 0, 1);
  for (uint32_t i = 0, folder = 0; i < t->n_files; i++) {
    put_text(b, *t->file[i].name ? t->file[i].name : "?");
    put_uleb(b, *t->file[i].folder ? ++folder : 0);
    put_uleb(b, 0); /* time */
    put_uleb(b, 0); /* bytes */
  }
  put_number(b, 0, 1);
  patch_length(b, at);
}

static void put_address(struct buffer *b, uint64_t pc)
{
  put_number(b, 0, 1);
  put_uleb(b, 9);
  put_number(b, LNE_ADDRESS, 1);
  put_number(b, pc, 8);
}

static void put_row(struct buffer *b, const struct line_row *r, int64_t *line, bool first)
{
  if (first) put_address(b, r->pc);
  put_number(b, LNS_SET_FILE, 1);
  put_uleb(b, (uint64_t)r->file + 1);
  put_number(b, LNS_ADVANCE_LINE, 1);
  put_sleb(b, (int64_t)r->line - *line);
  put_number(b, LNS_COPY, 1);
  *line = r->line;
}

static void put_end(struct buffer *b, uint64_t pc, uint64_t from)
{
  put_number(b, LNS_ADVANCE_PC, 1);
  put_uleb(b, pc - from);
  put_number(b, 0, 1);
  put_uleb(b, 1);
  put_number(b, LNE_END, 1);
}

/* The rows by address: a sequence for each piece of code without gaps. */
static void put_rows(struct buffer *b, const struct line_table *t, uint64_t code_end)
{
  bool open = false;
  int64_t line = 1;
  uint64_t pc = 0;
  for (uint32_t k = 0; k < t->n_rows; k++) {
    const struct line_row *r = &t->row[t->by_pc[k]];
    if (r->ends) {
      if (open) put_end(b, r->pc, pc);
      open = false;
      continue;
    }
    if (r->file >= t->n_files) continue;
    if (!open)
      line = 1;
    else if (r->pc != pc)
      put_number(b, LNS_ADVANCE_PC, 1), put_uleb(b, r->pc - pc);
    put_row(b, r, &line, !open);
    open = true;
    pc = r->pc;
  }
  if (open) put_end(b, code_end > pc ? code_end : pc + 16, pc);
}

static struct buffer lines_of(const struct line_table *t, uint64_t code_end)
{
  struct buffer b = {0};
  put_number(&b, 0, 4);
  put_number(&b, 4, 2); /* version */
  put_line_header(&b, t);
  put_rows(&b, t, code_end);
  patch_length(&b, 0);
  return b;
}

/* ---- functions and what was inlined (DWARF 4, 3.3) ---- */

enum {
  TAG_UNIT = 0x11,
  TAG_INLINED = 0x1d,
  TAG_SUBPROGRAM = 0x2e,
  AT_NAME = 0x03,
  AT_STMT_LIST = 0x10,
  AT_LOW_PC = 0x11,
  AT_HIGH_PC = 0x12,
  AT_LANGUAGE = 0x13,
  AT_COMP_DIR = 0x1b,
  AT_INLINE = 0x20,
  AT_PRODUCER = 0x25,
  AT_ORIGIN = 0x31,
  AT_EXTERNAL = 0x3f,
  AT_CALL_FILE = 0x58,
  AT_CALL_LINE = 0x59,
  AT_LINKAGE = 0x6e,
  FORM_ADDR = 0x01,
  FORM_DATA2 = 0x05,
  FORM_DATA4 = 0x06,
  FORM_DATA8 = 0x07,
  FORM_STRING = 0x08,
  FORM_DATA1 = 0x0b,
  FORM_REF4 = 0x13,
  FORM_OFFSET = 0x17,
  FORM_PRESENT = 0x19,
  LANGUAGE_CXX = 4,
  INLINED = 1,
};
enum { ABBREV_UNIT = 1, ABBREV_ABSTRACT, ABBREV_FUNCTION, ABBREV_INLINED };

static struct buffer abbreviations(void)
{
  static const uint8_t table[] = {
      ABBREV_UNIT,
      TAG_UNIT,
      1,
      AT_PRODUCER,
      FORM_STRING,
      AT_LANGUAGE,
      FORM_DATA1,
      AT_NAME,
      FORM_STRING,
      AT_COMP_DIR,
      FORM_STRING,
      AT_STMT_LIST,
      FORM_OFFSET,
      AT_LOW_PC,
      FORM_ADDR,
      AT_HIGH_PC,
      FORM_DATA8,
      0,
      0,
      ABBREV_ABSTRACT,
      TAG_SUBPROGRAM,
      0,
      AT_NAME,
      FORM_STRING,
      AT_INLINE,
      FORM_DATA1,
      0,
      0,
      ABBREV_FUNCTION,
      TAG_SUBPROGRAM,
      1,
      AT_EXTERNAL,
      FORM_PRESENT,
      AT_NAME,
      FORM_STRING,
      AT_LINKAGE,
      FORM_STRING,
      AT_LOW_PC,
      FORM_ADDR,
      AT_HIGH_PC,
      FORM_DATA8,
      0,
      0,
      ABBREV_INLINED,
      TAG_INLINED,
      1,
      AT_ORIGIN,
      FORM_REF4,
      AT_LOW_PC,
      FORM_ADDR,
      AT_HIGH_PC,
      FORM_DATA8,
      AT_CALL_FILE,
      FORM_DATA4,
      AT_CALL_LINE,
      FORM_DATA4,
      0,
      0,
      0,
  };
  struct buffer b = {0};
  put(&b, table, sizeof table);
  return b;
}

struct info {
  struct buffer b;
  const struct source_map *map;
  uint32_t *origin; /* of each row: offset of what its function is an abstract of; 0: none yet */
};

static void put_plain(struct buffer *b, const char *symbol)
{
  size_t n;
  const char *plain = plain_name(symbol, &n);
  put(b, plain, n);
  put_number(b, 0, 1);
}

/* A function that was inlined somewhere, once for all rows of that name. */
static void put_abstracts(struct info *x)
{
  const struct line_table *t = &x->map->lines;
  for (uint32_t i = 0; i < t->n_rows; i++) {
    if (t->row[i].call == LINE_NONE || !t->row[i].function || x->origin[i]) continue;
    const uint32_t at = (uint32_t)x->b.n;
    put_uleb(&x->b, ABBREV_ABSTRACT);
    put_plain(&x->b, t->row[i].function);
    put_number(&x->b, INLINED, 1);
    for (uint32_t k = i; k < t->n_rows; k++)
      if (t->row[k].function && strcmp(t->row[k].function, t->row[i].function) == 0) x->origin[k] = at;
  }
}

/* What is inlined at a pc, outermost first. */
struct chain {
  const struct line_row *row[SOURCE_FRAMES]; /* a row in each: its call is the call site */
  unsigned n;
};

static struct chain chain_of(const struct source_map *m, uint64_t pc)
{
  struct chain c = {.n = 0}, out = {.n = 0};
  const struct line_row *r = line_table_find(&m->lines, pc);
  for (; r && r->call < m->lines.n_rows && r->function && c.n < SOURCE_FRAMES; r = &m->lines.row[r->call])
    c.row[c.n++] = r;
  for (unsigned i = c.n; i-- > 0;) out.row[out.n++] = c.row[i];
  return out;
}

/* How many outer places of inlining two pcs share. */
static unsigned common(const struct chain *a, const struct chain *b)
{
  unsigned n = 0;
  while (n < a->n && n < b->n && a->row[n]->call == b->row[n]->call &&
         strcmp(a->row[n]->function, b->row[n]->function) == 0)
    n++;
  return n;
}

/* Opens the places from number `from` on of the chain at pc; where[]: of each, the field for its length. */
static void open_inlined(struct info *x, const struct chain *c, unsigned from, uint64_t pc, size_t *where,
                         uint64_t *start)
{
  const struct line_table *t = &x->map->lines;
  for (unsigned i = from; i < c->n; i++) {
    const struct line_row *site = &t->row[c->row[i]->call];
    put_uleb(&x->b, ABBREV_INLINED);
    put_number(&x->b, x->origin[c->row[i] - t->row], 4);
    put_number(&x->b, pc, 8);
    where[i] = x->b.n;
    start[i] = pc;
    put_number(&x->b, 0, 8);
    put_number(&x->b, site->file < t->n_files ? (uint64_t)site->file + 1 : 0, 4);
    put_number(&x->b, site->line, 4);
  }
}

static void close_inlined(struct info *x, unsigned from, unsigned to, uint64_t pc, const size_t *where,
                          const uint64_t *start)
{
  for (unsigned i = to; i-- > from;) {
    const uint64_t bytes = pc - start[i];
    memcpy(x->b.data + where[i], &bytes, sizeof bytes);
    put_number(&x->b, 0, 1); /* no more children */
  }
}

static void put_function(struct info *x, const struct source_function *f, const struct code_view *code)
{
  size_t where[SOURCE_FRAMES];
  uint64_t start[SOURCE_FRAMES];
  struct chain now = {.n = 0};
  put_uleb(&x->b, ABBREV_FUNCTION);
  put_plain(&x->b, f->symbol);
  put_text(&x->b, f->symbol);
  put_number(&x->b, f->pc, 8);
  put_number(&x->b, f->end - f->pc, 8);
  for (uint64_t pc = f->pc; pc < f->end; pc = code_next(code, pc)) {
    const struct chain next = chain_of(x->map, pc);
    const unsigned same = common(&now, &next);
    close_inlined(x, same, now.n, pc, where, start);
    open_inlined(x, &next, same, pc, where, start);
    now = next;
  }
  close_inlined(x, 0, now.n, f->end, where, start);
  put_number(&x->b, 0, 1);
}

static struct buffer info_of(const struct source_map *m, const struct code_view *code)
{
  struct info x = {.map = m, .origin = mem_zeroed(m->lines.n_rows, sizeof *x.origin)};
  put_number(&x.b, 0, 4);
  put_number(&x.b, 4, 2); /* version */
  put_number(&x.b, 0, 4); /* abbreviations */
  put_number(&x.b, 8, 1); /* bytes of an address */
  put_uleb(&x.b, ABBREV_UNIT);
  put_text(&x.b, "warpstep");
  put_number(&x.b, LANGUAGE_CXX, 1);
  put_text(&x.b, m->lines.n_files ? m->lines.file[0].name : "kernels");
  put_text(&x.b, m->lines.n_files ? m->lines.file[0].folder : "");
  put_number(&x.b, 0, 4); /* lines */
  put_number(&x.b, code->base, 8);
  put_number(&x.b, code->end - code->base, 8);
  put_abstracts(&x);
  for (size_t i = 0; i < m->n_functions; i++) put_function(&x, &m->function[i], code);
  put_number(&x.b, 0, 1);
  patch_length(&x.b, 0);
  mem_free(x.origin);
  return x.b;
}

/* ---- callers (DWARF 4, 6.4): the return address is the word at rsp ---- */

enum { CFA_DEF_CFA = 0x0c, CFA_OFFSET_RIP = 0x80 | 16, DWARF_RSP = 7, DWARF_RIP = 16, CFA_NOP = 0 };

static void pad(struct buffer *b, size_t to)
{
  while (b->n % to) put_number(b, CFA_NOP, 1);
}

static struct buffer frames_of(const struct code_view *code)
{
  static const uint8_t rules[] = {CFA_DEF_CFA, DWARF_RSP, 8, CFA_OFFSET_RIP, 1};
  struct buffer b = {0};
  put_number(&b, 0, 4);
  put_number(&b, UINT32_MAX, 4); /* a common entry */
  put_number(&b, 1, 1);
  put_text(&b, "");
  put_uleb(&b, 1);
  put_sleb(&b, -8);
  put_number(&b, DWARF_RIP, 1);
  put(&b, rules, sizeof rules);
  pad(&b, 8);
  patch_length(&b, 0);
  const size_t at = b.n;
  put_number(&b, 0, 4);
  put_number(&b, 0, 4); /* of the common entry at 0 */
  put_number(&b, code->base, 8);
  put_number(&b, code->end - code->base, 8);
  pad(&b, 8);
  patch_length(&b, at);
  return b;
}

/* ---- the file ---- */

static struct buffer code_bytes(const struct debugger *d)
{
  struct buffer b = {0};
  const struct code_view *c = &d->target.params.code;
  for (uint64_t pc = c->base; pc < c->end; pc = code_next(c, pc)) {
    const struct sass_inst *s = target_inst(&d->target, pc);
    put_number(&b, s->word.lo, 8);
    put_number(&b, s->word.hi, 8);
  }
  return b;
}

enum { S_NONE, S_TEXT, S_INFO, S_ABBREV, S_LINE, S_FRAME, S_SYMBOLS, S_STRINGS, S_NAMES, SECTIONS };

static void put_symbols(const struct source_map *m, struct buffer *symbols, struct buffer *strings)
{
  const Elf64_Sym none = {0};
  put(symbols, &none, sizeof none);
  put_number(strings, 0, 1);
  for (size_t i = 0; i < m->n_functions; i++) {
    const struct source_function *f = &m->function[i];
    const Elf64_Sym s = {.st_name = (Elf64_Word)strings->n,
                         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                         .st_shndx = S_TEXT,
                         .st_value = f->pc,
                         .st_size = f->end - f->pc};
    put(symbols, &s, sizeof s);
    put_text(strings, f->symbol);
  }
}

static const struct {
  const char *name;
  uint32_t type;
} sections[SECTIONS] = {
    {"", SHT_NULL},
    {".text", SHT_PROGBITS},
    {".debug_info", SHT_PROGBITS},
    {".debug_abbrev", SHT_PROGBITS},
    {".debug_line", SHT_PROGBITS},
    {".debug_frame", SHT_PROGBITS},
    {".symtab", SHT_SYMTAB},
    {".strtab", SHT_STRTAB},
    {".shstrtab", SHT_STRTAB},
};

/* Headers, contents, table of sections. */
static struct buffer assemble(struct buffer part[SECTIONS], const struct code_view *code, uint64_t entry)
{
  struct buffer out = {0};
  Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                  .e_type = ET_EXEC,
                  .e_machine = EM_X86_64,
                  .e_version = EV_CURRENT,
                  .e_entry = entry,
                  .e_ehsize = sizeof h,
                  .e_phoff = sizeof h,
                  .e_phentsize = sizeof(Elf64_Phdr),
                  .e_phnum = 1,
                  .e_shentsize = sizeof(Elf64_Shdr),
                  .e_shnum = SECTIONS,
                  .e_shstrndx = S_NAMES};
  const Elf64_Phdr p = {.p_type = PT_LOAD,
                        .p_flags = PF_R | PF_X,
                        .p_offset = sizeof h + sizeof p,
                        .p_vaddr = code->base,
                        .p_paddr = code->base,
                        .p_filesz = part[S_TEXT].n,
                        .p_memsz = part[S_TEXT].n,
                        .p_align = 16};
  Elf64_Shdr s[SECTIONS] = {{0}};
  for (unsigned i = 1; i < SECTIONS; i++) {
    s[i] = (Elf64_Shdr){.sh_name = (Elf64_Word)part[S_NAMES].n, .sh_type = sections[i].type, .sh_addralign = 1};
    put_text(&part[S_NAMES], sections[i].name);
  }
  s[S_TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR, s[S_TEXT].sh_addr = code->base;
  s[S_SYMBOLS].sh_link = S_STRINGS, s[S_SYMBOLS].sh_info = 1, s[S_SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
  put(&out, &h, sizeof h);
  put(&out, &p, sizeof p);
  for (unsigned i = 1; i < SECTIONS; i++) {
    s[i].sh_offset = out.n, s[i].sh_size = part[i].n;
    put(&out, part[i].data, part[i].n);
  }
  h.e_shoff = out.n;
  put(&out, s, sizeof s);
  memcpy(out.data, &h, sizeof h);
  return out;
}

uint8_t *gdb_shadow(const struct debugger *d, size_t *bytes)
{
  const struct code_view *code = &d->target.params.code;
  struct buffer part[SECTIONS] = {[S_TEXT] = code_bytes(d),
                                  [S_INFO] = info_of(&d->map, code),
                                  [S_ABBREV] = abbreviations(),
                                  [S_LINE] = lines_of(&d->map.lines, code->end),
                                  [S_FRAME] = frames_of(code)};
  put_symbols(&d->map, &part[S_SYMBOLS], &part[S_STRINGS]);
  put_number(&part[S_NAMES], 0, 1);
  const struct buffer out = assemble(part, code, d->kernel->entry_pc);
  for (unsigned i = 1; i < SECTIONS; i++) mem_free(part[i].data);
  *bytes = out.n;
  return out.data;
}
