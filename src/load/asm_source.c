#include "load/asm_source.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "isa/sass/asm.h"
#include "load/asm_schedule.h"
#include "load/cubin.h"
#include "load/target.h"

enum { INST_BYTES = 16, CODE_ALIGN = 128, MAX_ERROR = 440 };

struct label {
  const char *name;
  size_t length;
  int32_t section;
  uint64_t offset;
};

/* An instruction, assembled when all labels are known. */
struct statement {
  const char *text; /* ends at the line's end */
  unsigned line;
  size_t column;    /* of text in the line, from 0 */
  int32_t section;
  uint64_t offset;
};

/* Relocation by name; the symbol may come later. */
struct pending {
  struct cubin_reloc reloc;
  const char *symbol;
};

struct reader {
  struct cubin c;
  const char *file;
  struct err *e;
  /* position */
  const char *line, *p;
  unsigned number;
  /* what directives apply to */
  int32_t section, kernel, function;
  uint32_t n_labels, n_statements, n_pending, pending_room;
  struct label *label;
  struct statement *statement;
  struct pending *pending;
};

static bool bad(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool bad(struct reader *r, const char *fmt, ...)
{
  char msg[MAX_ERROR];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(msg, sizeof msg, fmt, ap);
  va_end(ap);
  return err_set(r->e, "%s:%u:%zu: %s", r->file, r->number, (size_t)(r->p - r->line) + 1, msg);
}

/* ---- words of a line ---- */

static void skip_blanks(struct reader *r)
{
  while (*r->p == ' ' || *r->p == '\t') r->p++;
}

static bool at_end(struct reader *r)
{
  skip_blanks(r);
  return *r->p == '\0';
}

static bool is_name(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

/* A name, copied; NULL after an error. */
static const char *take_name(struct reader *r)
{
  skip_blanks(r);
  const char *first = r->p;
  while (is_name(*r->p)) r->p++;
  size_t n = (size_t)(r->p - first);
  if (!n) return bad(r, "a name is expected"), NULL;
  char *name = arena_alloc(r->c.arena, n + 1, 1);
  memcpy(name, first, n);
  return name;
}

static bool take_comma(struct reader *r)
{
  skip_blanks(r);
  if (*r->p != ',') return false;
  r->p++;
  return true;
}

/* Decimal or 0x number, in [-2^63, 2^64). */
static bool take_integer(struct reader *r, uint64_t *v)
{
  char *end;
  skip_blanks(r);
  bool neg = *r->p == '-';
  const char *digits = r->p + neg;
  if (!isdigit((unsigned char)*digits)) return bad(r, "a number is expected");
  bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  *v = strtoull(digits, &end, hex ? 16 : 10);
  if (is_name(*end)) return bad(r, "a number is expected");
  if (neg) *v = -*v;
  r->p = end;
  return true;
}

static bool take_limited(struct reader *r, uint64_t max, uint64_t *v)
{
  const char *first = r->p;
  TRY(take_integer(r, v));
  if (*v <= max) return true;
  r->p = first;
  skip_blanks(r);
  return bad(r, "out of range: 0..%llu", (unsigned long long)max);
}

static bool take_end(struct reader *r)
{
  return at_end(r) || bad(r, "unexpected text");
}

/* ---- where directives apply ---- */

static bool need_kernel(struct reader *r)
{
  return r->kernel != CUBIN_NONE || bad(r, "this belongs after .kernel NAME");
}

static bool need_target(struct reader *r)
{
  return r->c.sm || bad(r, "the file must begin with .target, for example .target sm_86");
}

static bool need_section(struct reader *r)
{
  TRY(need_target(r));
  return r->section != CUBIN_NONE || bad(r, "this belongs after .kernel NAME or .section NAME");
}

static const char *join(struct reader *r, const char *one, const char *two)
{
  size_t n = strlen(one), m = strlen(two) + 1;
  char *s = arena_alloc(r->c.arena, n + m, 1);
  memcpy(s, one, n);
  memcpy(s + n, two, m);
  return s;
}

static struct cubin_kernel *kernel(struct reader *r)
{
  return &r->c.kernel[r->kernel];
}

/* ---- directives ---- */

static bool do_target(struct reader *r)
{
  skip_blanks(r);
  const char *first = r->p;
  uint64_t sm;
  if (strncmp(r->p, "sm_", 3) == 0) r->p += 3;
  TRY(take_integer(r, &sm));
  if (sm > 255 || !cubin_param_base((unsigned)sm)) {
    r->p = first;
    char list[160];
    return bad(r, "no such target; write .target and one of %s", target_list(list, sizeof list));
  }
  if (r->c.sm && r->c.sm != sm) return bad(r, "a file has one target");
  r->c.sm = (unsigned)sm;
  return true;
}

/* Code is padded with NOPs to whole 128-byte lines. */
static bool pad_code(struct reader *r)
{
  if (r->section == CUBIN_NONE || strncmp(r->c.section[r->section].name, ".text.", 6)) return true;
  struct sass_asm env = {.sm = r->c.sm};
  struct word128 nop;
  size_t column;
  if (r->c.section[r->section].size % INST_BYTES)
    return bad(r, "code is no whole number of instructions (%d bytes each); correct the data among it", INST_BYTES);
  TRY(sass_assemble(&env, "[Y:S00] NOP ;", &nop, &column, r->e));
  while (r->c.section[r->section].size % CODE_ALIGN)
    cubin_append(&r->c, r->section, &nop, sizeof nop);
  return true;
}

static bool open_section(struct reader *r, const char *name, uint32_t align)
{
  TRY(pad_code(r));
  if (cubin_find_section(&r->c, name, strlen(name)) != CUBIN_NONE)
    return bad(r, "section %.200s already exists", name);
  r->section = cubin_add_section(&r->c, name, align);
  r->c.section[r->section].writable = strncmp(name, ".nv.global", 10) == 0;
  return true;
}

static bool add_function(struct reader *r, const char *name, enum cubin_bind bind)
{
  int32_t i = cubin_find_symbol(&r->c, name, strlen(name));
  if (i != CUBIN_NONE) return bad(r, "symbol %.200s already exists", name);
  r->function = cubin_add_symbol(&r->c, name, r->section, r->c.section[r->section].size);
  r->c.symbol[r->function].bind = bind;
  r->c.symbol[r->function].function = true;
  return true;
}

static bool do_kernel(struct reader *r)
{
  TRY(need_target(r));
  const char *name = take_name(r);
  if (!name) return false;
  TRY(open_section(r, join(r, ".text.", name), CODE_ALIGN));
  TRY(add_function(r, name, CUBIN_GLOBAL));
  struct cubin_symbol *y = &r->c.symbol[r->function];
  y->entry = true;
  y->frame = y->stack = 0;
  r->kernel = cubin_add_kernel(&r->c, name);
  kernel(r)->text = r->section;
  kernel(r)->symbol = r->function;
  r->c.section[r->section].kernel = r->kernel;
  return true;
}

/* .section NAME [, align N] [, nobits]; of the kernel before it when the name ends in the kernel's. */
static bool do_section(struct reader *r)
{
  TRY(need_target(r));
  const char *name = take_name(r);
  uint64_t align = 16;
  bool nobits = false;
  if (!name) return false;
  while (take_comma(r)) {
    const char *word = take_name(r);
    if (!word) return false;
    if (!strcmp(word, "nobits")) nobits = true;
    else if (strcmp(word, "align") != 0) return bad(r, "align N or nobits is expected");
    else TRY(take_limited(r, 4096, &align));
    if (!align || (align & (align - 1))) return bad(r, "the alignment must be a power of two");
  }
  TRY(open_section(r, name, (uint32_t)align));
  r->c.section[r->section].nobits = nobits;
  r->function = CUBIN_NONE;
  for (uint32_t k = 0; k < r->c.n_kernels; k++) {
    const char *kname = r->c.kernel[k].name;
    size_t n = strlen(name), m = strlen(kname);
    if (n > m && name[n - m - 1] == '.' && !strcmp(name + n - m, kname))
      r->c.section[r->section].kernel = (int32_t)k;
  }
  return true;
}

static bool take_bind(struct reader *r, enum cubin_bind *bind)
{
  const char *word = take_name(r);
  if (!word) return false;
  if (!strcmp(word, "local")) *bind = CUBIN_LOCAL;
  else if (!strcmp(word, "weak")) *bind = CUBIN_WEAK;
  else if (!strcmp(word, "global")) *bind = CUBIN_GLOBAL;
  else return bad(r, "local, weak or global is expected");
  return true;
}

/* .function NAME [, SIZE [, local]] */
static bool do_function(struct reader *r)
{
  TRY(need_section(r));
  uint64_t size = 0;
  enum cubin_bind bind = CUBIN_LOCAL;
  const char *name = take_name(r);
  if (!name) return false;
  if (take_comma(r)) {
    TRY(take_integer(r, &size));
    if (take_comma(r)) TRY(take_bind(r, &bind));
  }
  TRY(add_function(r, name, bind));
  r->c.symbol[r->function].size = size;
  return true;
}

/* .object NAME, SIZE [, local] */
static bool do_object(struct reader *r)
{
  TRY(need_section(r));
  uint64_t size;
  enum cubin_bind bind = CUBIN_GLOBAL;
  const char *name = take_name(r);
  if (!name) return false;
  if (!take_comma(r)) return bad(r, "write .object NAME, SIZE");
  TRY(take_integer(r, &size));
  if (take_comma(r)) TRY(take_bind(r, &bind));
  if (cubin_find_symbol(&r->c, name, strlen(name)) != CUBIN_NONE)
    return bad(r, "symbol %.200s already exists", name);
  int32_t i = cubin_add_symbol(&r->c, name, r->section, r->c.section[r->section].size);
  r->c.symbol[i].size = size;
  r->c.symbol[i].bind = bind;
  return true;
}

/* A number of the current function. */
static bool function_number(struct reader *r, uint64_t max, int32_t *v)
{
  uint64_t n;
  TRY(take_limited(r, max, &n));
  *v = (int32_t)n;
  return true;
}

static bool need_function(struct reader *r)
{
  return r->function != CUBIN_NONE || bad(r, "this belongs after .kernel or .function");
}

static bool do_regs(struct reader *r)
{
  return need_function(r) && function_number(r, 255, &r->c.symbol[r->function].regs);
}

static bool do_frame(struct reader *r)
{
  return need_function(r) && function_number(r, 1 << 20, &r->c.symbol[r->function].frame);
}

static bool do_stack(struct reader *r)
{
  return need_function(r) && function_number(r, 1 << 20, &r->c.symbol[r->function].stack);
}

/* .param SIZE [, OFFSET]: behind the one before, naturally aligned, unless OFFSET says otherwise. */
static bool do_param(struct reader *r)
{
  uint64_t bytes, offset = 0, align = 1;
  TRY(need_kernel(r));
  struct cubin_kernel *k = kernel(r);
  TRY(take_limited(r, PARAM_LIMIT, &bytes));
  if (!bytes) return bad(r, "a parameter has at least one byte");
  while (align < 16 && bytes % (2 * align) == 0) align *= 2;
  if (k->n_params) {
    const struct cubin_param *last = &k->param[k->n_params - 1];
    offset = align_up((uint64_t)last->offset + last->bytes, align);
  }
  if (take_comma(r)) TRY(take_limited(r, PARAM_LIMIT, &offset));
  if (offset + bytes > PARAM_LIMIT) return bad(r, "the parameters are larger than %d bytes", PARAM_LIMIT);
  cubin_add_param(&r->c, k, (struct cubin_param){(uint16_t)offset, (uint16_t)bytes});
  return true;
}

static bool do_shared(struct reader *r)
{
  uint64_t n;
  TRY(need_kernel(r));
  TRY(take_limited(r, 1 << 20, &n));
  kernel(r)->shared = (uint32_t)n;
  return true;
}

static bool do_barriers(struct reader *r)
{
  uint64_t n;
  TRY(need_kernel(r));
  TRY(take_limited(r, 16, &n));
  kernel(r)->barriers = (uint32_t)n;
  return true;
}

static bool take_triple(struct reader *r, uint32_t v[3])
{
  for (unsigned i = 0; i < 3; i++) {
    uint64_t n = 1;
    if (i && !take_comma(r)) {
      v[i] = 1;
      continue;
    }
    TRY(take_limited(r, UINT32_MAX, &n));
    v[i] = (uint32_t)n;
  }
  return true;
}

static bool do_maxntid(struct reader *r)
{
  return need_kernel(r) && take_triple(r, kernel(r)->max_threads);
}

static bool do_reqntid(struct reader *r)
{
  return need_kernel(r) && take_triple(r, kernel(r)->req_threads);
}

static bool do_cluster(struct reader *r)
{
  return need_kernel(r) && take_triple(r, kernel(r)->cluster);
}

static bool do_explicit_cluster(struct reader *r)
{
  TRY(need_kernel(r));
  kernel(r)->explicit_cluster = true;
  return true;
}

static bool do_tile(struct reader *r)
{
  TRY(need_kernel(r));
  kernel(r)->tile = true;
  return true;
}

static bool list_of(struct reader *r, unsigned bytes)
{
  uint64_t v;
  TRY(need_section(r));
  if (r->c.section[r->section].nobits) return bad(r, "a nobits section only has .zero");
  do {
    skip_blanks(r);
    const char *first = r->p;
    TRY(take_integer(r, &v));
    uint64_t high = bytes == 8 ? 0 : v >> (8 * bytes);
    if (high && high != UINT64_MAX >> (8 * bytes)) {
      r->p = first;
      return bad(r, "the value does not fit %u bytes", bytes);
    }
    cubin_append(&r->c, r->section, &v, bytes);
  } while (take_comma(r));
  return true;
}

static bool do_byte(struct reader *r) { return list_of(r, 1); }
static bool do_half(struct reader *r) { return list_of(r, 2); }
static bool do_word(struct reader *r) { return list_of(r, 4); }
static bool do_quad(struct reader *r) { return list_of(r, 8); }

static bool reals(struct reader *r, bool wide)
{
  TRY(need_section(r));
  if (r->c.section[r->section].nobits) return bad(r, "a nobits section only has .zero");
  do {
    char *end;
    skip_blanks(r);
    double d = strtod(r->p, &end);
    float f = strtof(r->p, NULL);
    if (end == r->p) return bad(r, "a number is expected");
    r->p = end;
    cubin_append(&r->c, r->section, wide ? (const void *)&d : &f, wide ? sizeof d : sizeof f);
  } while (take_comma(r));
  return true;
}

static bool do_float(struct reader *r) { return reals(r, false); }
static bool do_double(struct reader *r) { return reals(r, true); }

static bool do_zero(struct reader *r)
{
  uint64_t n;
  TRY(need_section(r));
  const struct cubin_section *s = &r->c.section[r->section];
  uint64_t most = s->nobits ? UINT64_C(1) << 36 : UINT64_C(1) << 26; /* of the section: few lines of text ask for it */
  TRY(take_limited(r, most, &n));
  if (n && s->size > most - n) return bad(r, "the section would be larger than %llu bytes", (unsigned long long)most);
  cubin_append(&r->c, r->section, NULL, n);
  return true;
}

static bool do_align(struct reader *r)
{
  uint64_t n;
  TRY(need_section(r));
  TRY(take_limited(r, 4096, &n));
  if (!n || (n & (n - 1))) return bad(r, "the alignment must be a power of two");
  uint64_t size = r->c.section[r->section].size;
  cubin_append(&r->c, r->section, NULL, align_up(size, n) - size);
  return true;
}

/* "text" with \n \t \r \0 \\ \" */
static bool do_ascii(struct reader *r)
{
  static const char escapes[] = "n\nt\tr\r0\0\\\\\"\"";
  TRY(need_section(r));
  skip_blanks(r);
  if (*r->p++ != '"') return r->p--, bad(r, "a text in \"…\" is expected");
  for (; *r->p != '"'; r->p++) {
    char c = *r->p;
    if (c == '\0') return bad(r, "the text has no closing \"");
    if (c == '\\') {
      const char *at = NULL;
      for (size_t i = 0; i + 1 < sizeof escapes - 1 && !at; i += 2)
        if (escapes[i] == r->p[1]) at = &escapes[i + 1];
      if (!at) return bad(r, "unknown escape; use \\n \\t \\r \\0 \\\\ \\\"");
      c = *at;
      r->p++;
    }
    cubin_append(&r->c, r->section, &c, 1);
  }
  r->p++;
  return true;
}

/* .reloc TYPE, SYMBOL [, ADDEND]: patches what comes next. */
static bool do_reloc(struct reader *r)
{
  uint64_t type, addend = 0;
  TRY(need_section(r));
  TRY(take_limited(r, 255, &type));
  if (!take_comma(r)) return bad(r, "write .reloc TYPE, SYMBOL");
  const char *name = take_name(r);
  if (!name) return false;
  if (take_comma(r)) TRY(take_integer(r, &addend));
  if (r->n_pending == r->pending_room) {
    r->pending_room = r->pending_room ? 2 * r->pending_room : 16;
    struct pending *more = ARENA_ARRAY(r->c.arena, struct pending, r->pending_room);
    if (r->n_pending) memcpy(more, r->pending, r->n_pending * sizeof *more);
    r->pending = more;
  }
  r->pending[r->n_pending++] = (struct pending){
      {.section = r->section, .offset = r->c.section[r->section].size, .type = (uint32_t)type,
       .addend = (int64_t)addend}, name};
  return true;
}

struct directive {
  const char *name;
  bool (*run)(struct reader *);
};

static const struct directive directives[] = {
    {"target", do_target},       {"kernel", do_kernel},     {"section", do_section},
    {"function", do_function},   {"object", do_object},     {"regs", do_regs},
    {"frame", do_frame},         {"stack", do_stack},       {"param", do_param},
    {"shared", do_shared},       {"barriers", do_barriers}, {"maxntid", do_maxntid},
    {"reqntid", do_reqntid},     {"cluster", do_cluster},
    {"explicit_cluster", do_explicit_cluster},                {"tile", do_tile},
    {"byte", do_byte},           {"half", do_half},         {"word", do_word},
    {"quad", do_quad},           {"float", do_float},       {"double", do_double},
    {"zero", do_zero},           {"align", do_align},       {"ascii", do_ascii},
    {"reloc", do_reloc},
};

static bool do_directive(struct reader *r)
{
  const char *first = r->p;
  size_t n = 0;
  while (is_name(r->p[1 + n])) n++;
  for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++)
    if (strlen(directives[i].name) == n && !memcmp(directives[i].name, r->p + 1, n)) {
      r->p += 1 + n;
      return directives[i].run(r) && take_end(r);
    }
  char list[300] = "";
  for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++)
    snprintf(list + strlen(list), sizeof list - strlen(list), " .%s", directives[i].name);
  r->p = first;
  return bad(r, "unknown directive; there are%s", list);
}

/* ---- labels and instructions ---- */

static bool add_label(struct reader *r, const char *name, size_t n)
{
  TRY(need_section(r));
  for (uint32_t i = 0; i < r->n_labels; i++) {
    const struct label *l = &r->label[i];
    if (l->section == r->section && l->length == n && !memcmp(l->name, name, n))
      return bad(r, "label '%.*s' already exists", (int)n, name);
  }
  r->label[r->n_labels++] =
      (struct label){name, n, r->section, r->c.section[r->section].size};
  return true;
}

/* NAME: at the start of a line. The next character behind it. */
static bool take_label(struct reader *r)
{
  const char *p = r->p;
  while (is_name(*p)) p++;
  if (p == r->p || *p != ':' || isdigit((unsigned char)*r->p)) return true;
  size_t n = (size_t)(p - r->p);
  TRY(add_label(r, r->p, n));
  r->p = p + 1;
  skip_blanks(r);
  return true;
}

/* The address column of a disassembly: hexadecimal digits before the control notation. */
static void skip_address(struct reader *r)
{
  const char *p = r->p;
  while (isxdigit((unsigned char)*p)) p++;
  if (p - r->p < 4 || (*p != ' ' && *p != '\t')) return;
  while (*p == ' ' || *p == '\t') p++;
  if (*p == '[') r->p = p;
}

static bool do_instruction(struct reader *r)
{
  TRY(need_section(r));
  struct cubin_section *s = &r->c.section[r->section];
  if (strncmp(s->name, ".text.", 6) != 0)
    return bad(r, "instructions belong into a kernel: write .kernel NAME before them");
  if (s->size % INST_BYTES) return bad(r, "instructions start at multiples of 16 bytes");
  r->statement[r->n_statements++] = (struct statement){
      r->p, r->number, (size_t)(r->p - r->line), r->section, s->size};
  cubin_append(&r->c, r->section, NULL, INST_BYTES);
  return true;
}

static bool do_line(struct reader *r)
{
  if (at_end(r)) return true;
  TRY(take_label(r));
  if (at_end(r)) return true;
  if (*r->p == '.') return do_directive(r);
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
  const struct reader *r;
  int32_t section;
};

/* Labels of the section, then its functions. */
static bool find_label(void *context, const char *name, size_t n, uint64_t *pc)
{
  const struct scope *s = context;
  for (uint32_t i = 0; i < s->r->n_labels; i++) {
    const struct label *l = &s->r->label[i];
    *pc = l->offset;
    if (l->section == s->section && l->length == n && !memcmp(l->name, name, n)) return true;
  }
  int32_t i = cubin_find_symbol(&s->r->c, name, n);
  if (i == CUBIN_NONE || s->r->c.symbol[i].section != s->section) return false;
  *pc = s->r->c.symbol[i].value;
  return true;
}

/* A branch that is not relocated stays in its section. */
static bool check_target(struct reader *r, const struct statement *s, struct word128 w)
{
  uint64_t target, size = r->c.section[s->section].size;
  if (!sass_branch_target(r->c.sm, w, s->offset, &target) || target < size) return true;
  for (uint32_t i = 0; i < r->n_pending; i++)
    if (r->pending[i].reloc.section == s->section && r->pending[i].reloc.offset == s->offset)
      return true;
  r->p = s->text;
  return bad(r, "the target 0x%llx lies outside the code: 0x0..0x%llx; addresses count from the "
             "start of the kernel", (unsigned long long)target, (unsigned long long)size);
}

static bool assemble_statements(struct reader *r)
{
  for (uint32_t i = 0; i < r->n_statements; i++) {
    const struct statement *s = &r->statement[i];
    struct scope scope = {r, s->section};
    struct sass_asm env = {.sm = r->c.sm, .pc = s->offset, .label = find_label, .context = &scope};
    struct word128 w;
    struct err why = {0};
    size_t column;
    r->number = s->line;
    r->line = s->text - s->column;
    if (!sass_assemble(&env, s->text, &w, &column, &why)) {
      r->p = s->text + column;
      return bad(r, "%s", why.msg);
    }
    TRY(check_target(r, s, w));
    memcpy(r->c.section[s->section].data + s->offset, &w, sizeof w);
  }
  return true;
}

static bool schedule_code(struct reader *r, const struct schedule_rules *rules)
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

static void resolve_relocs(struct reader *r)
{
  for (uint32_t i = 0; i < r->n_pending; i++) {
    struct pending *p = &r->pending[i];
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
static int32_t count_registers(const struct reader *r, const struct cubin_section *text, int32_t *asked)
{
  int32_t regs = 8;
  *asked = 0;
  for (uint64_t pc = 0; pc + INST_BYTES <= text->size; pc += INST_BYTES) {
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

static bool finish_kernels(struct reader *r)
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

static bool read_lines(struct reader *r, const char *text, unsigned lines)
{
  r->label = ARENA_ARRAY(r->c.arena, struct label, lines + 1);
  r->statement = ARENA_ARRAY(r->c.arena, struct statement, lines + 1);
  r->line = text;
  for (r->number = 1; r->number <= lines; r->number++) {
    r->p = r->line;
    TRY(do_line(r));
    r->line += strlen(r->line) + 1;
  }
  return pad_code(r);
}

const uint8_t *asm_source_assemble(struct arena *a, const char *text, size_t bytes,
                                   const char *file, const struct schedule_rules *rules,
                                   size_t *image_bytes, struct err *e)
{
  struct reader r = {.c = {.arena = a}, .file = file, .e = e, .section = CUBIN_NONE,
                     .kernel = CUBIN_NONE, .function = CUBIN_NONE};
  char *copy = arena_alloc(a, bytes + 2, 1);
  memcpy(copy, text, bytes);
  unsigned lines = prepare(copy, bytes);
  if (!read_lines(&r, copy, lines) || !assemble_statements(&r)) return NULL;
  if ((rules && !schedule_code(&r, rules)) || !finish_kernels(&r)) return NULL;
  resolve_relocs(&r);
  return cubin_image(&r.c, image_bytes);
}
