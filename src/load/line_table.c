#include "load/line_table.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "load/load_internal.h"

/* DWARF 2, section 6.2. */
enum {
  LNS_EXTENDED, LNS_COPY, LNS_ADVANCE_PC, LNS_ADVANCE_LINE, LNS_SET_FILE, LNS_SET_COLUMN, LNS_NEGATE_STMT,
  LNS_SET_BASIC_BLOCK, LNS_CONST_ADD_PC, LNS_FIXED_ADVANCE_PC,
  LNE_END_SEQUENCE = 1, LNE_SET_ADDRESS = 2, LNE_INLINED = 0x90,
};

/* --- bytes --------------------------------------------------------------------------------------- */

/* Reads past the end give 0 and set `bad`. */
struct bytes {
  const uint8_t *start, *at, *end;
  bool bad;
};

static uint64_t take(struct bytes *b, unsigned n)
{
  uint64_t v = 0;
  if ((size_t)(b->end - b->at) < n) {
    b->bad = true;
    b->at = b->end;
    return 0;
  }
  for (unsigned i = 0; i < n; i++) v |= (uint64_t)b->at[i] << 8 * i;
  b->at += n;
  return v;
}

static uint64_t take_uleb(struct bytes *b)
{
  uint64_t v = 0;
  for (unsigned shift = 0; !b->bad; shift += 7) {
    uint64_t byte = take(b, 1);
    if (shift < 64) v |= (byte & 0x7f) << shift;
    if (!(byte & 0x80)) break;
  }
  return v;
}

static int64_t take_sleb(struct bytes *b)
{
  uint64_t v = 0;
  for (unsigned shift = 0; !b->bad;) {
    uint64_t byte = take(b, 1);
    if (shift < 64) v |= (byte & 0x7f) << shift;
    shift += 7;
    if (byte & 0x80) continue;
    if ((byte & 0x40) && shift < 64) v |= ~(uint64_t)0 << shift;
    break;
  }
  return (int64_t)v;
}

/* What is no plain text is bad. */
static const char *take_string(struct bytes *b)
{
  const char *s = (const char *)b->at;
  const uint8_t *nul = memchr(b->at, 0, (size_t)(b->end - b->at));
  if (!nul) {
    b->bad = true;
    b->at = b->end;
    return "";
  }
  b->at = nul + 1;
  b->bad |= !text_is_safe(s);
  return s;
}

/* NULL: none, or no plain text. */
static const char *name_at(const struct elf_section *names, uint64_t offset)
{
  const char *s = names && offset <= UINT32_MAX ? elf_string(names, (uint32_t)offset) : NULL;
  return s && text_is_safe(s) ? s : NULL;
}

/* --- the file ------------------------------------------------------------------------------------ */

/* Where an address operand points, from its relocation. */
struct address {
  uint64_t offset; /* of the operand in .debug_line */
  uint64_t pc;
};

struct reader {
  const struct module *m;
  struct line_table *t;
  const struct elf_section *names; /* .debug_str; NULL: none */
  struct address *address;         /* by offset */
  const char **folder;             /* of the unit being read */
  uint32_t n_addresses, n_folders, room_rows, room_files, room_folders;
};

static const struct elf_section *section_named(const struct module *m, const char *name, uint32_t *index)
{
  for (uint32_t i = 1; i < m->elf.n_sections; i++)
    if (m->elf.section[i].data && !strcmp(m->elf.section[i].name, name)) return *index = i, &m->elf.section[i];
  return NULL;
}

static size_t record_bytes(const struct elf_section *s)
{
  return s->type == SHT_RELA ? sizeof(Elf64_Rela) : s->type == SHT_REL ? sizeof(Elf64_Rel) : 0;
}

static int by_offset(const void *a, const void *b)
{
  const struct address *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Relocations against code; others are left out, and what they belong to has no pc. */
static void read_relocations(struct reader *r, const struct elf_section *s)
{
  size_t each = record_bytes(s);
  for (uint64_t at = 0; at + each <= s->size; at += each) {
    uint64_t info = elf_u64(s->data + at + 8);
    uint32_t number = elf_symbol_number(s, (uint32_t)(info >> 32));
    if (number >= r->m->elf.n_symbols) continue;
    const struct elf_symbol *y = &r->m->elf.symbol[number];
    if (y->section >= r->m->elf.n_sections || r->m->place[y->section].kind != PLACE_TEXT) continue;
    uint64_t addend = s->type == SHT_RELA ? elf_u64(s->data + at + 16) : 0;
    r->address[r->n_addresses++] =
      (struct address){elf_u64(s->data + at), r->m->place[y->section].offset + y->value + addend};
  }
}

static void read_all_relocations(struct reader *r, uint32_t of)
{
  const struct elf_file *f = &r->m->elf;
  uint64_t n = 0;
  for (unsigned pass = 0; pass < 2; pass++) {
    for (uint32_t i = 1; i < f->n_sections; i++) {
      const struct elf_section *s = &f->section[i];
      if (!s->data || !record_bytes(s) || s->info != of) continue;
      if (pass == 0)
        n += s->size / record_bytes(s);
      else
        read_relocations(r, s);
    }
    if (pass == 0) r->address = ARENA_ARRAY(&r->t->arena, struct address, n + 1);
  }
  qsort(r->address, r->n_addresses, sizeof *r->address, by_offset);
}

/* --- rows ---------------------------------------------------------------------------------------- */

struct sequence {
  bool placed;          /* its address is that of code */
  uint64_t pc;
  int64_t line;
  uint64_t file;        /* of the unit, from 1 */
  uint64_t call;        /* from 1, in this sequence; 0: none */
  const char *function;
  uint32_t first_row;   /* of the table */
};

struct unit {
  unsigned min_inst, line_range, opcode_base;
  int line_base;
  uint8_t operands[256]; /* of standard opcodes */
  uint32_t first_file, n_files;
};

static void add_row(struct reader *r, const struct unit *u, const struct sequence *q, bool end)
{
  struct line_table *t = r->t;
  if (!q->placed) return;
  t->row = arena_more(&r->t->arena, t->row, t->n_rows, &r->room_rows, sizeof *t->row);
  uint32_t here = t->n_rows - q->first_row; /* rows of the sequence so far */
  bool has_file = q->file >= 1 && q->file <= u->n_files, has_line = !end && q->line > 0 && q->line < INT32_MAX;
  t->row[t->n_rows++] = (struct line_row){
    .pc = q->pc,
    .line = has_line ? (uint32_t)q->line : 0,
    .file = has_file ? u->first_file + (uint32_t)q->file - 1 : LINE_NONE,
    .call = !end && q->call >= 1 && q->call <= here ? q->first_row + (uint32_t)q->call - 1 : LINE_NONE,
    .function = q->function,
    .ends = end,
  };
}

static void add_file(struct reader *r, struct line_file file)
{
  struct line_table *t = r->t;
  t->file = arena_more(&r->t->arena, t->file, t->n_files, &r->room_files, sizeof *t->file);
  t->file[t->n_files++] = file;
}

/* --- the line program ---------------------------------------------------------------------------- */

static bool set_address(const struct reader *r, uint64_t offset, uint64_t *pc)
{
  const struct address *a = r->n_addresses ? bsearch(&(struct address){.offset = offset}, r->address, r->n_addresses,
                                                     sizeof *a, by_offset) : NULL;
  if (a) *pc += a->pc;
  return a != NULL;
}

static struct sequence new_sequence(const struct reader *r)
{
  return (struct sequence){.line = 1, .file = 1, .first_row = r->t->n_rows};
}

static void extended(struct reader *r, const struct unit *u, struct sequence *q, struct bytes *b)
{
  uint64_t length = take_uleb(b);
  if (b->bad || length < 1 || length > (size_t)(b->end - b->at)) {
    b->bad = true;
    return;
  }
  const uint8_t *after = b->at + length;
  switch (take(b, 1)) {
  case LNE_END_SEQUENCE:
    add_row(r, u, q, true);
    *q = new_sequence(r);
    break;
  case LNE_SET_ADDRESS: {
    uint64_t offset = (uint64_t)(b->at - b->start);
    q->pc = take(b, length - 1 <= 8 ? (unsigned)length - 1 : 8);
    q->placed = set_address(r, offset, &q->pc);
    break;
  }
  case LNE_INLINED: {
    q->call = take_uleb(b);
    uint64_t name = take_uleb(b);
    q->function = q->call ? name_at(r->names, name) : NULL;
    break;
  }
  default: break;
  }
  b->at = after;
}

static void advance(const struct unit *u, struct sequence *q, uint64_t operations)
{
  q->pc += operations * u->min_inst;
}

static void standard(struct reader *r, const struct unit *u, struct sequence *q, unsigned opcode, struct bytes *b)
{
  switch (opcode) {
  case LNS_EXTENDED: extended(r, u, q, b); break;
  case LNS_COPY: add_row(r, u, q, false); break;
  case LNS_ADVANCE_PC: advance(u, q, take_uleb(b)); break;
  case LNS_ADVANCE_LINE: q->line = (int64_t)((uint64_t)q->line + (uint64_t)take_sleb(b)); break;
  case LNS_SET_FILE: q->file = take_uleb(b); break;
  case LNS_CONST_ADD_PC: advance(u, q, (255 - u->opcode_base) / u->line_range); break;
  case LNS_FIXED_ADVANCE_PC: q->pc += take(b, 2); break;
  default:
    for (unsigned i = 0; i < u->operands[opcode]; i++) take_uleb(b);
  }
}

static void special(struct reader *r, const struct unit *u, struct sequence *q, unsigned opcode)
{
  unsigned adjusted = opcode - u->opcode_base;
  advance(u, q, adjusted / u->line_range);
  q->line = (int64_t)((uint64_t)q->line + (uint64_t)(int64_t)u->line_base + adjusted % u->line_range);
  add_row(r, u, q, false);
}

static void run_program(struct reader *r, const struct unit *u, struct bytes *b)
{
  struct sequence q = new_sequence(r);
  while (!b->bad && b->at < b->end) {
    unsigned opcode = (unsigned)take(b, 1);
    if (opcode < u->opcode_base) standard(r, u, &q, opcode, b);
    else special(r, u, &q, opcode);
  }
}

/* --- headers ------------------------------------------------------------------------------------- */

/* Folders are only needed for the files that follow them. */
static void read_files(struct reader *r, struct unit *u, struct bytes *b)
{
  r->n_folders = 0;
  for (const char *s; *(s = take_string(b)) && !b->bad;) {
    r->folder = arena_more(&r->t->arena, r->folder, r->n_folders, &r->room_folders, sizeof *r->folder);
    r->folder[r->n_folders++] = s;
  }
  u->first_file = r->t->n_files;
  for (const char *s; *(s = take_string(b)) && !b->bad;) {
    uint64_t in = take_uleb(b);
    take_uleb(b); /* time */
    take_uleb(b); /* size */
    if (!b->bad) add_file(r, (struct line_file){in >= 1 && in <= r->n_folders ? r->folder[in - 1] : "", s});
  }
  u->n_files = r->t->n_files - u->first_file;
}

/* False: not a unit this reader knows. */
static bool read_unit(struct reader *r, struct bytes *b)
{
  enum { OLDEST = 2, NEWEST = 3 };
  struct unit u = {0};
  unsigned version = (unsigned)take(b, 2);
  uint64_t header = take(b, 4);
  if (version < OLDEST || version > NEWEST || header > (size_t)(b->end - b->at)) return false;
  struct bytes h = {b->start, b->at, b->at + header, b->bad};
  b->at += header;
  u.min_inst = (unsigned)take(&h, 1);
  take(&h, 1);
  u.line_base = (int8_t)take(&h, 1);
  u.line_range = (unsigned)take(&h, 1);
  u.opcode_base = (unsigned)take(&h, 1);
  if (h.bad || !u.line_range || !u.opcode_base) return false;
  for (unsigned i = 1; i < u.opcode_base; i++) u.operands[i] = (uint8_t)take(&h, 1);
  read_files(r, &u, &h);
  if (h.bad) return false;
  run_program(r, &u, b);
  return !b->bad;
}

/* --- by pc --------------------------------------------------------------------------------------- */

/* Rows by pc. Of equal ones those that only end a sequence come first, then the order of the program, in which the
 * innermost is last. */
static int row_order(const void *a, const void *b, void *ctx)
{
  const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
  const struct line_row *row = ctx, *x = &row[i], *y = &row[k];
  if (x->pc != y->pc) return x->pc < y->pc ? -1 : 1;
  if (x->ends != y->ends) return x->ends ? -1 : 1;
  return (i > k) - (i < k);
}

static void sort_rows(struct line_table *t)
{
  t->by_pc = ARENA_ARRAY(&t->arena, uint32_t, t->n_rows + 1);
  for (uint32_t i = 0; i < t->n_rows; i++) t->by_pc[i] = i;
  qsort_r(t->by_pc, t->n_rows, sizeof *t->by_pc, row_order, t->row);
}

const struct line_row *line_table_find(const struct line_table *t, uint64_t pc)
{
  uint32_t low = 0, high = t->n_rows; /* the first row above pc is in [low, high] */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (t->row[t->by_pc[middle]].pc <= pc) low = middle + 1;
    else high = middle;
  }
  const struct line_row *row = low ? &t->row[t->by_pc[low - 1]] : NULL;
  return row && !row->ends ? row : NULL;
}

void line_table_free(struct line_table *t)
{
  arena_free(&t->arena);
  *t = (struct line_table){0};
}

static bool malformed(const struct reader *r, uint64_t offset, const char *what, struct err *e)
{
  return err_set(e, "%s: .debug_line+0x%llx: %s", r->m->name, (unsigned long long)offset, what);
}

bool line_table_read(const struct module *m, struct line_table *t, struct err *e)
{
  struct reader r = {.m = m, .t = t};
  uint32_t index = 0, unused;
  *t = (struct line_table){0};
  const struct elf_section *s = section_named(m, ".debug_line", &index);
  if (!s) return true;
  r.names = section_named(m, ".debug_str", &unused);
  read_all_relocations(&r, index);
  struct bytes b = {s->data, s->data, s->data + s->size, false};
  while (b.at < b.end) {
    uint64_t offset = (uint64_t)(b.at - b.start), length = take(&b, 4);
    if (b.bad || length > (size_t)(b.end - b.at)) return malformed(&r, offset, "a unit is cut off", e);
    struct bytes unit = {b.start, b.at, b.at + length, false};
    if (!read_unit(&r, &unit)) return malformed(&r, offset, "malformed line program", e);
    b.at += length;
  }
  sort_rows(t);
  return true;
}

/* --- text ---------------------------------------------------------------------------------------- */

const char *line_row_source(const struct line_table *t, const struct line_row *row, char *buf, size_t size)
{
  char name[160];
  buf[0] = '\0';
  if (!row || !row->line || row->file == LINE_NONE) return buf;
  const char *path = t->file[row->file].name, *slash = strrchr(path, '/');
  snprintf(buf, size, " in %s:%u", text_safe(slash ? slash + 1 : path, name, sizeof name), (unsigned)row->line);
  return buf;
}

void line_table_where(const struct module *m, uint64_t pc, char *buf, size_t size)
{
  struct line_table t;
  struct err ignored; /* damaged lines are as none */
  char source[200];
  module_where(m, pc, buf, size);
  const size_t n = strlen(buf);
  if (line_table_read(m, &t, &ignored) && t.n_rows)
    snprintf(buf + n, size - n, "%s", line_row_source(&t, line_table_find(&t, pc), source, sizeof source));
  line_table_free(&t);
}
