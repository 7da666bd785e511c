#include "load/asm_source.h"

#include <ctype.h>
#include <string.h>

#include "isa/sass/asm.h"
#include "load/asm_directive.h"
#include "load/asm_reader.h"
#include "load/asm_schedule.h"
#include "load/cubin.h"

/* ---- labels and instructions ---- */

static bool add_label(struct asm_reader *r, const char *name, size_t n)
{
  TRY(asm_need_section(r));
  for (uint32_t i = 0; i < r->n_labels; i++) {
    const struct asm_label *l = &r->label[i];
    if (l->section == r->section && l->length == n && !memcmp(l->name, name, n))
      return reader_bad(r, "label '%.*s' already exists", (int)n, name);
  }
  r->label[r->n_labels++] =
      (struct asm_label){name, n, r->section, r->c.section[r->section].size};
  return true;
}

/* NAME: at the start of a line. The next character behind it. */
static bool take_label(struct asm_reader *r)
{
  const char *p = r->p;
  while (reader_is_name(*p)) p++;
  if (p == r->p || *p != ':' || isdigit((unsigned char)*r->p)) return true;
  size_t n = (size_t)(p - r->p);
  TRY(add_label(r, r->p, n));
  r->p = p + 1;
  reader_skip_blanks(r);
  return true;
}

/* The address column of a disassembly: hexadecimal digits before the control notation. */
static void skip_address(struct asm_reader *r)
{
  const char *p = r->p;
  while (isxdigit((unsigned char)*p)) p++;
  if (p - r->p < 4 || (*p != ' ' && *p != '\t')) return;
  while (*p == ' ' || *p == '\t') p++;
  if (*p == '[') r->p = p;
}

static bool do_instruction(struct asm_reader *r)
{
  TRY(asm_need_section(r));
  struct cubin_section *s = &r->c.section[r->section];
  if (strncmp(s->name, ".text.", 6) != 0)
    return reader_bad(r, "instructions belong into a kernel: write .kernel NAME before them");
  if (s->size % ASM_INST_BYTES) return reader_bad(r, "instructions start at multiples of 16 bytes");
  r->statement[r->n_statements++] = (struct asm_statement){
      r->p, r->number, (size_t)(r->p - r->line), r->section, s->size};
  cubin_append(&r->c, r->section, NULL, ASM_INST_BYTES);
  return true;
}

static bool do_line(struct asm_reader *r)
{
  if (reader_at_end(r)) return true;
  TRY(take_label(r));
  if (reader_at_end(r)) return true;
  if (*r->p == '.') return asm_directive(r);
  skip_address(r);
  return do_instruction(r);
}

/* ---- the file ---- */

/* Comments become blanks, lines end in zeros: columns stay. Number of lines. */
static unsigned prepare(char *text, size_t n)
{
  unsigned lines = 1;
  enum { CODE, LINE_COMMENT, BLOCK_COMMENT, STRING } state = CODE;
  for (size_t i = 0; i < n; i++) {
    char c = text[i], next = i + 1 < n ? text[i + 1] : '\0';
    if (c == '\n') {
      text[i] = '\0';
      lines++;
      if (state != BLOCK_COMMENT) state = CODE;
      continue;
    }
    if (c == '\0' || c == '\r') text[i] = ' ';
    if (state == CODE && c == '"') state = STRING;
    else if (state == STRING && c == '\\') i += next != '\n';
    else if (state == STRING && c == '"') state = CODE;
    else if (state == CODE && (c == '#' || (c == '/' && next == '/'))) state = LINE_COMMENT;
    else if (state == CODE && c == '/' && next == '*') state = BLOCK_COMMENT;
    else if (state == BLOCK_COMMENT && c == '*' && next == '/') {
      text[i] = text[i + 1] = ' ';
      i++;
      state = CODE;
    }
    if (state == LINE_COMMENT || state == BLOCK_COMMENT) text[i] = ' ';
  }
  return lines;
}

struct scope {
  const struct asm_reader *r;
  int32_t section;
};

/* Labels of the section, then its functions. */
static bool find_label(void *context, const char *name, size_t n, uint64_t *pc)
{
  const struct scope *s = context;
  for (uint32_t i = 0; i < s->r->n_labels; i++) {
    const struct asm_label *l = &s->r->label[i];
    *pc = l->offset;
    if (l->section == s->section && l->length == n && !memcmp(l->name, name, n)) return true;
  }
  int32_t i = cubin_find_symbol(&s->r->c, name, n);
  if (i == CUBIN_NONE || s->r->c.symbol[i].section != s->section) return false;
  *pc = s->r->c.symbol[i].value;
  return true;
}

/* A branch that is not relocated stays in its section. */
static bool check_target(struct asm_reader *r, const struct asm_statement *s, struct word128 w)
{
  uint64_t target, size = r->c.section[s->section].size;
  if (!sass_branch_target(r->c.sm, w, s->offset, &target) || target < size) return true;
  for (uint32_t i = 0; i < r->n_pending; i++)
    if (r->pending[i].reloc.section == s->section && r->pending[i].reloc.offset == s->offset)
      return true;
  r->p = s->text;
  return reader_bad(r, "the target 0x%llx lies outside the code: 0x0..0x%llx; addresses count from the "
             "start of the kernel", (unsigned long long)target, (unsigned long long)size);
}

static bool assemble_statements(struct asm_reader *r)
{
  for (uint32_t i = 0; i < r->n_statements; i++) {
    const struct asm_statement *s = &r->statement[i];
    struct scope scope = {r, s->section};
    struct sass_asm env = {.sm = r->c.sm, .pc = s->offset, .label = find_label, .context = &scope};
    struct word128 w;
    struct err why = {0};
    size_t column;
    r->number = s->line;
    r->line = s->text - s->column;
    if (!sass_assemble(&env, s->text, &w, &column, &why)) {
      r->p = s->text + column;
      return reader_bad(r, "%s", why.msg);
    }
    TRY(check_target(r, s, w));
    memcpy(r->c.section[s->section].data + s->offset, &w, sizeof w);
  }
  return true;
}

static bool schedule_code(struct asm_reader *r, const struct schedule_rules *rules)
{
  for (uint32_t i = 0; i < r->c.n_sections; i++) {
    const struct cubin_section *s = &r->c.section[i];
    struct err why = {0};
    if (strncmp(s->name, ".text.", 6) != 0) continue;
    if (!asm_schedule(r->c.arena, rules, r->c.sm, s->data, s->size, &why))
      return err_set(r->e, "%s: %.100s: %.300s", r->file, s->name + 6, why.msg);
  }
  return true;
}

static void resolve_relocs(struct asm_reader *r)
{
  for (uint32_t i = 0; i < r->n_pending; i++) {
    struct asm_pending *p = &r->pending[i];
    p->reloc.symbol = cubin_find_symbol(&r->c, p->symbol, strlen(p->symbol));
    if (p->reloc.symbol == CUBIN_NONE) {
      p->reloc.symbol = cubin_add_symbol(&r->c, p->symbol, CUBIN_NONE, 0);
      r->c.symbol[p->reloc.symbol].function = true;
    }
    cubin_add_reloc(&r->c, p->reloc);
  }
}

/* One more than the largest register that the code names, at least 8 (compiler output); *asked: most that it asks for
 * when it runs. */
static int32_t count_registers(const struct asm_reader *r, const struct cubin_section *text, int32_t *asked)
{
  int32_t regs = 8;
  *asked = 0;
  for (uint64_t pc = 0; pc + ASM_INST_BYTES <= text->size; pc += ASM_INST_BYTES) {
    struct word128 w;
    struct sass_inst s;
    struct inst t;
    memcpy(&w, text->data + pc, sizeof w);
    if (!sass_decode(r->c.sm, w, pc, &s, &t, NULL)) continue;
    if ((int32_t)sass_asks_registers(&s) > *asked) *asked = (int32_t)sass_asks_registers(&s);
    for (unsigned i = 0; i < (unsigned)t.n_src + t.n_dst; i++) {
      const struct operand *o = i < t.n_src ? &t.src[i] : &t.dst[i - t.n_src];
      if (o->file == FILE_R && o->index + o->width > regs) regs = o->index + o->width;
    }
  }
  return regs > 255 ? 255 : regs;
}

static bool finish_kernels(struct asm_reader *r)
{
  for (uint32_t k = 0; k < r->c.n_kernels; k++) {
    const struct cubin_section *text = &r->c.section[r->c.kernel[k].text];
    struct cubin_symbol *y = &r->c.symbol[r->c.kernel[k].symbol];
    if (!text->size)
      return err_set(r->e, "%s: kernel %.200s has no instructions", r->file, y->name);
    int32_t asked, regs = count_registers(r, text, &asked);
    /* Fewer registers than the code names would fault. */
    if (y->regs == CUBIN_NONE) y->regs = regs;
    if (y->regs < regs && asked < regs)
      return err_set(r->e, "%s: kernel %.200s uses %d registers, but .regs says %d", r->file,
                     y->name, regs, y->regs);
    y->size = text->size;
  }
  return r->c.n_kernels || err_set(r->e, "%s: no kernel; write .kernel NAME before the "
                                   "instructions", r->file);
}

static bool read_lines(struct asm_reader *r, const char *text, unsigned lines)
{
  r->label = ARENA_ARRAY(r->c.arena, struct asm_label, lines + 1);
  r->statement = ARENA_ARRAY(r->c.arena, struct asm_statement, lines + 1);
  r->line = text;
  for (r->number = 1; r->number <= lines; r->number++) {
    r->p = r->line;
    TRY(do_line(r));
    r->line += strlen(r->line) + 1;
  }
  return asm_pad_code(r);
}

const uint8_t *asm_source_assemble(struct arena *a, const char *text, size_t bytes,
                                   const char *file, const struct schedule_rules *rules,
                                   size_t *image_bytes, struct err *e)
{
  struct asm_reader r = {.c = {.arena = a}, .file = file, .e = e, .section = CUBIN_NONE,
                     .kernel = CUBIN_NONE, .function = CUBIN_NONE};
  char *copy = arena_alloc(a, bytes + 2, 1);
  memcpy(copy, text, bytes);
  unsigned lines = prepare(copy, bytes);
  if (!read_lines(&r, copy, lines) || !assemble_statements(&r)) return NULL;
  if ((rules && !schedule_code(&r, rules)) || !finish_kernels(&r)) return NULL;
  resolve_relocs(&r);
  return cubin_image(&r.c, image_bytes);
}
