#include "load/asm_directive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "isa/sass/asm.h"
#include "load/target.h"

/* --- where directives apply ------------------------------------------------------------------- */

static bool need_kernel(struct asm_reader *r)
{
  return r->kernel != CUBIN_NONE || reader_bad(r, "this belongs after .kernel NAME");
}

static bool need_target(struct asm_reader *r)
{
  return r->c.sm || reader_bad(r, "the file must begin with .target, for example .target sm_86");
}

bool asm_need_section(struct asm_reader *r)
{
  TRY(need_target(r));
  return r->section != CUBIN_NONE || reader_bad(r, "this belongs after .kernel NAME or .section NAME");
}

static const char *join(struct asm_reader *r, const char *one, const char *two)
{
  size_t n = strlen(one), m = strlen(two) + 1;
  char *s = arena_alloc(r->c.arena, n + m, 1);
  memcpy(s, one, n);
  memcpy(s + n, two, m);
  return s;
}

static struct cubin_kernel *kernel(struct asm_reader *r)
{
  return &r->c.kernel[r->kernel];
}

/* --- directives --------------------------------------------------------------------------------- */

static bool do_target(struct asm_reader *r)
{
  reader_skip_blanks(r);
  const char *first = r->p;
  uint64_t sm;
  if (strncmp(r->p, "sm_", 3) == 0) r->p += 3;
  TRY(reader_take_integer(r, &sm));
  if (sm > 255 || !cubin_param_base((unsigned)sm)) {
    r->p = first;
    char list[160];
    return reader_bad(r, "no such target; write .target and one of %s", target_list(list, sizeof list));
  }
  if (r->c.sm && r->c.sm != sm) return reader_bad(r, "a file has one target");
  r->c.sm = (unsigned)sm;
  return true;
}

bool asm_pad_code(struct asm_reader *r)
{
  if (r->section == CUBIN_NONE || strncmp(r->c.section[r->section].name, ".text.", 6)) return true;
  struct sass_asm env = {.sm = r->c.sm};
  struct word128 nop;
  size_t column;
  if (r->c.section[r->section].size % ASM_INST_BYTES)
    return reader_bad(r, "code is no whole number of instructions (%d bytes each); correct the data among it",
                      ASM_INST_BYTES);
  TRY(sass_assemble(&env, "[Y:S00] NOP ;", &nop, &column, r->e));
  while (r->c.section[r->section].size % ASM_CODE_ALIGN)
    cubin_append(&r->c, r->section, &nop, sizeof nop);
  return true;
}

static bool open_section(struct asm_reader *r, const char *name, uint32_t align)
{
  TRY(asm_pad_code(r));
  if (cubin_find_section(&r->c, name, strlen(name)) != CUBIN_NONE)
    return reader_bad(r, "section %.200s already exists", name);
  r->section = cubin_add_section(&r->c, name, align);
  r->c.section[r->section].writable = strncmp(name, ".nv.global", 10) == 0;
  return true;
}

static bool add_function(struct asm_reader *r, const char *name, enum cubin_bind bind)
{
  int32_t i = cubin_find_symbol(&r->c, name, strlen(name));
  if (i != CUBIN_NONE) return reader_bad(r, "symbol %.200s already exists", name);
  r->function = cubin_add_symbol(&r->c, name, r->section, r->c.section[r->section].size);
  r->c.symbol[r->function].bind = bind;
  r->c.symbol[r->function].function = true;
  return true;
}

static bool do_kernel(struct asm_reader *r)
{
  TRY(need_target(r));
  const char *name = reader_take_name(r);
  if (!name) return false;
  TRY(open_section(r, join(r, ".text.", name), ASM_CODE_ALIGN));
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
static bool do_section(struct asm_reader *r)
{
  TRY(need_target(r));
  const char *name = reader_take_name(r);
  uint64_t align = 16;
  bool nobits = false;
  if (!name) return false;
  while (reader_take_comma(r)) {
    const char *word = reader_take_name(r);
    if (!word) return false;
    if (!strcmp(word, "nobits")) nobits = true;
    else if (strcmp(word, "align") != 0) return reader_bad(r, "align N or nobits is expected");
    else TRY(reader_take_limited(r, 4096, &align));
    if (!align || (align & (align - 1))) return reader_bad(r, "the alignment must be a power of two");
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

static bool take_bind(struct asm_reader *r, enum cubin_bind *bind)
{
  const char *word = reader_take_name(r);
  if (!word) return false;
  if (!strcmp(word, "local")) *bind = CUBIN_LOCAL;
  else if (!strcmp(word, "weak")) *bind = CUBIN_WEAK;
  else if (!strcmp(word, "global")) *bind = CUBIN_GLOBAL;
  else return reader_bad(r, "local, weak or global is expected");
  return true;
}

/* .function NAME [, SIZE [, local]] */
static bool do_function(struct asm_reader *r)
{
  TRY(asm_need_section(r));
  uint64_t size = 0;
  enum cubin_bind bind = CUBIN_LOCAL;
  const char *name = reader_take_name(r);
  if (!name) return false;
  if (reader_take_comma(r)) {
    TRY(reader_take_integer(r, &size));
    if (reader_take_comma(r)) TRY(take_bind(r, &bind));
  }
  TRY(add_function(r, name, bind));
  r->c.symbol[r->function].size = size;
  return true;
}

/* .object NAME, SIZE [, local] */
static bool do_object(struct asm_reader *r)
{
  TRY(asm_need_section(r));
  uint64_t size;
  enum cubin_bind bind = CUBIN_GLOBAL;
  const char *name = reader_take_name(r);
  if (!name) return false;
  if (!reader_take_comma(r)) return reader_bad(r, "write .object NAME, SIZE");
  TRY(reader_take_integer(r, &size));
  if (reader_take_comma(r)) TRY(take_bind(r, &bind));
  if (cubin_find_symbol(&r->c, name, strlen(name)) != CUBIN_NONE)
    return reader_bad(r, "symbol %.200s already exists", name);
  int32_t i = cubin_add_symbol(&r->c, name, r->section, r->c.section[r->section].size);
  r->c.symbol[i].size = size;
  r->c.symbol[i].bind = bind;
  return true;
}

/* A number of the current function. */
static bool function_number(struct asm_reader *r, uint64_t max, int32_t *v)
{
  uint64_t n;
  TRY(reader_take_limited(r, max, &n));
  *v = (int32_t)n;
  return true;
}

static bool need_function(struct asm_reader *r)
{
  return r->function != CUBIN_NONE || reader_bad(r, "this belongs after .kernel or .function");
}

static bool do_regs(struct asm_reader *r)
{
  return need_function(r) && function_number(r, 255, &r->c.symbol[r->function].regs);
}

static bool do_frame(struct asm_reader *r)
{
  return need_function(r) && function_number(r, 1 << 20, &r->c.symbol[r->function].frame);
}

static bool do_stack(struct asm_reader *r)
{
  return need_function(r) && function_number(r, 1 << 20, &r->c.symbol[r->function].stack);
}

/* .param SIZE [, OFFSET]: behind the one before, naturally aligned, unless OFFSET says otherwise. */
static bool do_param(struct asm_reader *r)
{
  uint64_t bytes, offset = 0, align = 1;
  TRY(need_kernel(r));
  struct cubin_kernel *k = kernel(r);
  TRY(reader_take_limited(r, PARAM_LIMIT, &bytes));
  if (!bytes) return reader_bad(r, "a parameter has at least one byte");
  while (align < 16 && bytes % (2 * align) == 0) align *= 2;
  if (k->n_params) {
    const struct cubin_param *last = &k->param[k->n_params - 1];
    offset = align_up((uint64_t)last->offset + last->bytes, align);
  }
  if (reader_take_comma(r)) TRY(reader_take_limited(r, PARAM_LIMIT, &offset));
  if (offset + bytes > PARAM_LIMIT) return reader_bad(r, "the parameters are larger than %d bytes", PARAM_LIMIT);
  cubin_add_param(&r->c, k, (struct cubin_param){(uint16_t)offset, (uint16_t)bytes});
  return true;
}

static bool do_shared(struct asm_reader *r)
{
  uint64_t n;
  TRY(need_kernel(r));
  TRY(reader_take_limited(r, 1 << 20, &n));
  kernel(r)->shared = (uint32_t)n;
  return true;
}

static bool do_barriers(struct asm_reader *r)
{
  uint64_t n;
  TRY(need_kernel(r));
  TRY(reader_take_limited(r, 16, &n));
  kernel(r)->barriers = (uint32_t)n;
  return true;
}

static bool take_triple(struct asm_reader *r, uint32_t v[3])
{
  for (unsigned i = 0; i < 3; i++) {
    uint64_t n = 1;
    if (i && !reader_take_comma(r)) {
      v[i] = 1;
      continue;
    }
    TRY(reader_take_limited(r, UINT32_MAX, &n));
    v[i] = (uint32_t)n;
  }
  return true;
}

static bool do_maxntid(struct asm_reader *r)
{
  return need_kernel(r) && take_triple(r, kernel(r)->max_threads);
}

static bool do_reqntid(struct asm_reader *r)
{
  return need_kernel(r) && take_triple(r, kernel(r)->req_threads);
}

static bool do_cluster(struct asm_reader *r)
{
  return need_kernel(r) && take_triple(r, kernel(r)->cluster);
}

static bool do_explicit_cluster(struct asm_reader *r)
{
  TRY(need_kernel(r));
  kernel(r)->explicit_cluster = true;
  return true;
}

static bool do_tile(struct asm_reader *r)
{
  TRY(need_kernel(r));
  kernel(r)->tile = true;
  return true;
}

static bool list_of(struct asm_reader *r, unsigned bytes)
{
  uint64_t v;
  TRY(asm_need_section(r));
  if (r->c.section[r->section].nobits) return reader_bad(r, "a nobits section only has .zero");
  do {
    reader_skip_blanks(r);
    const char *first = r->p;
    TRY(reader_take_integer(r, &v));
    uint64_t high = bytes == 8 ? 0 : v >> (8 * bytes);
    if (high && high != UINT64_MAX >> (8 * bytes)) {
      r->p = first;
      return reader_bad(r, "the value does not fit %u bytes", bytes);
    }
    cubin_append(&r->c, r->section, &v, bytes);
  } while (reader_take_comma(r));
  return true;
}

static bool do_byte(struct asm_reader *r) { return list_of(r, 1); }
static bool do_half(struct asm_reader *r) { return list_of(r, 2); }
static bool do_word(struct asm_reader *r) { return list_of(r, 4); }
static bool do_quad(struct asm_reader *r) { return list_of(r, 8); }

static bool reals(struct asm_reader *r, bool wide)
{
  TRY(asm_need_section(r));
  if (r->c.section[r->section].nobits) return reader_bad(r, "a nobits section only has .zero");
  do {
    char *end;
    reader_skip_blanks(r);
    double d = strtod(r->p, &end);
    float f = strtof(r->p, NULL);
    if (end == r->p) return reader_bad(r, "a number is expected");
    r->p = end;
    cubin_append(&r->c, r->section, wide ? (const void *)&d : &f, wide ? sizeof d : sizeof f);
  } while (reader_take_comma(r));
  return true;
}

static bool do_float(struct asm_reader *r) { return reals(r, false); }
static bool do_double(struct asm_reader *r) { return reals(r, true); }

static bool do_zero(struct asm_reader *r)
{
  uint64_t n;
  TRY(asm_need_section(r));
  const struct cubin_section *s = &r->c.section[r->section];
  uint64_t most = s->nobits ? UINT64_C(1) << 36 : UINT64_C(1) << 26; /* of the section: few lines of text ask for it */
  TRY(reader_take_limited(r, most, &n));
  if (n && s->size > most - n)
    return reader_bad(r, "the section would be larger than %llu bytes", (unsigned long long)most);
  cubin_append(&r->c, r->section, NULL, n);
  return true;
}

static bool do_align(struct asm_reader *r)
{
  uint64_t n;
  TRY(asm_need_section(r));
  TRY(reader_take_limited(r, 4096, &n));
  if (!n || (n & (n - 1))) return reader_bad(r, "the alignment must be a power of two");
  uint64_t size = r->c.section[r->section].size;
  cubin_append(&r->c, r->section, NULL, align_up(size, n) - size);
  return true;
}

/* "text" with \n \t \r \0 \\ \" */
static bool do_ascii(struct asm_reader *r)
{
  static const char escapes[] = "n\nt\tr\r0\0\\\\\"\"";
  TRY(asm_need_section(r));
  reader_skip_blanks(r);
  if (*r->p++ != '"') return r->p--, reader_bad(r, "a text in \"…\" is expected");
  for (; *r->p != '"'; r->p++) {
    char c = *r->p;
    if (c == '\0') return reader_bad(r, "the text has no closing \"");
    if (c == '\\') {
      const char *at = NULL;
      for (size_t i = 0; i + 1 < sizeof escapes - 1 && !at; i += 2)
        if (escapes[i] == r->p[1]) at = &escapes[i + 1];
      if (!at) return reader_bad(r, "unknown escape; use \\n \\t \\r \\0 \\\\ \\\"");
      c = *at;
      r->p++;
    }
    cubin_append(&r->c, r->section, &c, 1);
  }
  r->p++;
  return true;
}

/* .reloc TYPE, SYMBOL [, ADDEND]: patches what comes next. */
static bool do_reloc(struct asm_reader *r)
{
  uint64_t type, addend = 0;
  TRY(asm_need_section(r));
  TRY(reader_take_limited(r, 255, &type));
  if (!reader_take_comma(r)) return reader_bad(r, "write .reloc TYPE, SYMBOL");
  const char *name = reader_take_name(r);
  if (!name) return false;
  if (reader_take_comma(r)) TRY(reader_take_integer(r, &addend));
  if (r->n_pending == r->pending_room) {
    r->pending_room = r->pending_room ? 2 * r->pending_room : 16;
    struct asm_pending *more = ARENA_ARRAY(r->c.arena, struct asm_pending, r->pending_room);
    if (r->n_pending) memcpy(more, r->pending, r->n_pending * sizeof *more);
    r->pending = more;
  }
  r->pending[r->n_pending++] = (struct asm_pending){
      {.section = r->section, .offset = r->c.section[r->section].size, .type = (uint32_t)type,
       .addend = (int64_t)addend}, name};
  return true;
}

struct directive {
  const char *name;
  bool (*run)(struct asm_reader *);
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

bool asm_directive(struct asm_reader *r)
{
  const char *first = r->p;
  size_t n = 0;
  while (reader_is_name(r->p[1 + n])) n++;
  for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++)
    if (strlen(directives[i].name) == n && !memcmp(directives[i].name, r->p + 1, n)) {
      r->p += 1 + n;
      return directives[i].run(r) && reader_take_end(r);
    }
  char list[300] = "";
  for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++)
    snprintf(list + strlen(list), sizeof list - strlen(list), " .%s", directives[i].name);
  r->p = first;
  return reader_bad(r, "unknown directive; there are%s", list);
}
