/* Disassembly, close to the vendor's notation. Everything is written from row and field values: text is put together in
 * print_text.c, operands in print_operand.c, mnemonics, modifiers and whole instructions here. */
#include <stdio.h>

#include "isa/sass/print_operand.h"
#include "isa/sass/row.h"

/* Types that are the default of their instruction are not written. */
static bool is_default_type(const struct sass_inst *s, unsigned id, uint64_t v)
{
  switch (s->sem) {
  case SEM_UI2F: case SEM_I2F: return id == FLD_CVT_DST_FSIZE && v == 2;
  case SEM_UF2I: case SEM_F2I: return id == FLD_CVT_SRC_FSIZE && v == 2;
  case SEM_FRND: case SEM_UFRND: return id == FLD_CVT_SRC_FSIZE || (id == FLD_CVT_DST_FSIZE && v == 2);
  case SEM_BAR: return id == FLD_BAR_RED && sass_get(s, FLD_BAR_OP) != 2;
  case SEM_IDP: return id == FLD_IDP_HI;
  case SEM_R2P: case SEM_UR2UP: return id == FLD_PR_BYTE; /* written after the register */
  default: return false;
  }
}

/* Integer type of a conversion: ".U64"; ".S32" is the default except for I2FP. */
static bool put_integer_type(struct print_text *o, const struct sass_inst *s, unsigned id, uint64_t v)
{
  if (id != FLD_CVT_DST_ISIZE && id != FLD_CVT_SRC_ISIZE) return false;
  bool is_signed = sass_get(s, id == FLD_CVT_DST_ISIZE ? FLD_CVT_DST_SIGNED : FLD_CVT_SRC_SIGNED);
  if (is_signed && v == 2 && s->sem != SEM_I2FP && s->sem != SEM_UI2FP) return true;
  print(o, ".%c%s", is_signed ? 'S' : 'U', sass_fields[id].names[v]);
  return true;
}

/* IDP.2A.LO.S16.S8: the types depend on each other. */
static bool put_idp(struct print_text *o, const struct sass_inst *s, unsigned id, uint64_t v)
{
  bool wide = sass_get(s, FLD_IDP_2A);
  if (id == FLD_IDP_HI && wide) print(o, v ? ".HI" : ".LO");
  if (id == FLD_IDP_TYPE_A) print(o, ".%c%s", v ? 'S' : 'U', wide ? "16" : "8");
  if (id == FLD_IDP_TYPE_B) print(o, ".%c8", v ? 'S' : 'U');
  return id == FLD_IDP_HI || id == FLD_IDP_TYPE_A || id == FLD_IDP_TYPE_B;
}

/* 0: there is no such k. */
static unsigned gmma_depth(const struct sass_inst *s)
{
  static const uint8_t half[4] = {16, 8, 32};
  switch (s->sem) {
  case SEM_HGMMA: return half[sass_get(s, FLD_GMMA_K)];
  case SEM_QGMMA: return 32u << sass_get(s, FLD_QGMMA_K);
  case SEM_IGMMA: return 32u << sass_get(s, FLD_GMMA_SP);
  default: return 256;
  }
}

/* HGMMA.64x256x16: rows, columns, k. False: no field of the shape. */
static bool put_gmma_shape(struct print_text *o, const struct sass_inst *s, unsigned id, uint64_t v)
{
  if (id != FLD_GMMA_N && id != FLD_IGMMA_N) return false;
  struct sass_inst with = *s;
  for (unsigned i = 0; i < with.n_fields; i++)
    if (with.field[i] == id) with.val[i] = v;
  const unsigned n = sass_gmma_columns(&with), depth = gmma_depth(s);
  if (n && depth) print(o, ".64x%ux%u", n, depth);
  else print(o, ".?%llu", (unsigned long long)v);
  return true;
}

static void put_modifier(struct print_text *o, const struct sass_inst *s, unsigned id, uint64_t v)
{
  const struct sass_field *f = &sass_fields[id];
  if (s->sem == SEM_IDP && put_idp(o, s, id, v)) return;
  if (put_gmma_shape(o, s, id, v)) return;
  if (is_default_type(s, id, v) || put_integer_type(o, s, id, v)) return;
  if (f->show == SHOW_NUM && v) print(o, ".0x%llx", (unsigned long long)v);
  if (f->show != SHOW_NAMES) return;
  if (v < FIELD_NAMES && f->names[v]) print(o, "%s", f->names[v]);
  else print(o, ".?%llu", (unsigned long long)v);
}

static bool is_rz(const struct sass_src *s)
{
  return s->kind == SRC_REG && s->index == SASS_RZ;
}

/* IMAD computes moves and shifts as well; the notation has names for these, and calls a move whatever multiplies by
 * zero, addend or not. */
static const char *imad_alias(const struct sass_inst *s)
{
  const struct sass_src *a = &s->src[0], *b = &s->src[1], *c = &s->src[2];
  if (s->sem != SEM_IMAD || sass_get(s, FLD_X) || b->kind == SRC_UREG || c->kind == SRC_UREG) return "";
  if (is_rz(a) || is_rz(b)) return ".MOV";
  if (b->kind != SRC_IMM) return "";
  bool c_zero = is_rz(c);
  if (!b->imm || (b->imm == 1 && c_zero)) return ".MOV";
  if (b->imm == 1) return ".IADD";
  return c_zero && b->imm && !(b->imm & (b->imm - 1)) && b->imm != 0x10000 && b->imm >> 31 == 0 ? ".SHL" : "";
}

static void put_mnemonic(struct print_text *o, const struct sass_inst *s)
{
  uint16_t field[SASS_MAX_FIELDS];
  unsigned n = row_fields(s->row, opcode_form((unsigned)s->val[0]), field), n_mods = 0;
  while (n_mods < ROW_FIELDS && s->row->field[n_mods]) n_mods++;
  print(o, "%s%s", s->row->name, imad_alias(s));
  if (s->sem == SEM_DEPBAR && sass_get(s, FLD_DEPBAR_LE)) print(o, ".LE");
  for (unsigned i = n - n_mods; i < n; i++) put_modifier(o, s, field[i], s->val[i]);
}

/* No comma between register and offset of an indirect branch. */
static const char *separator(const struct sass_inst *s, unsigned kind)
{
  bool target = kind == OPD_T48 || kind == OPD_T56;
  return target && s->src[0].kind == SRC_REG && s->sem != SEM_WARPSYNC ? " " : ", ";
}

int sass_print_ctrl(const struct inst_ctrl *c, char *buf, size_t size)
{
  char wait[7] = "------", r[2] = "-", w[2] = "-";
  for (unsigned i = 0; i < 6; i++)
    if (c->wait >> i & 1) wait[i] = (char)('0' + i);
  if (c->read_sb != SB_NONE) r[0] = (char)('0' + c->read_sb);
  if (c->write_sb != SB_NONE) w[0] = (char)('0' + c->write_sb);
  return snprintf(buf, size, "[B%s:R%s:W%s:%c:S%02u]", wait, r, w, c->yield ? 'Y' : '-', c->stall);
}

int sass_print(const struct sass_inst *s, const struct inst *t, bool with_ctrl, char *buf, size_t size)
{
  struct print_text o = {buf, size, 0};
  if (with_ctrl) {
    char ctrl[32];
    const struct inst_ctrl c = sass_ctrl(s->word);
    sass_print_ctrl(&c, ctrl, sizeof ctrl);
    print(&o, "%s ", ctrl);
  }
  if (!s->row) {
    print(&o, "?.0x%016llx%016llx ;", (unsigned long long)s->word.hi, (unsigned long long)s->word.lo);
    return (int)o.n;
  }
  if (!print_is_true(s->guard)) {
    print(&o, "@");
    print_pred(&o, s->guard);
    print(&o, " ");
  }
  put_mnemonic(&o, s);
  for (unsigned i = 0, first = 1; i < ROW_OPS && s->row->op[i]; i++) {
    if (print_is_quiet(s, s->row->op[i] & OM_KIND)) continue;
    print(&o, "%s", first ? " " : separator(s, s->row->op[i] & OM_KIND));
    print_operand(&o, s, t, s->row->op[i]);
    first = 0;
  }
  print(&o, " ;");
  return (int)o.n;
}

int sass_print_mnemonic(const struct sass_inst *s, char *buf, size_t size)
{
  struct print_text o = {buf, size, 0};
  if (size) buf[0] = '\0';
  put_mnemonic(&o, s);
  return (int)o.n;
}

int sass_print_modifier(const struct sass_inst *s, unsigned id, uint64_t v, char *buf, size_t size)
{
  struct print_text o = {buf, size, 0};
  if (size) buf[0] = '\0';
  put_modifier(&o, s, id, v);
  return (int)o.n;
}

int sass_print_operand(const struct sass_inst *s, const struct inst *t, unsigned op, char *buf, size_t size)
{
  struct print_text o = {buf, size, 0};
  if (size) buf[0] = '\0';
  print_operand(&o, s, t, op);
  return (int)o.n;
}

bool sass_operand_is_quiet(const struct sass_inst *s, unsigned op)
{
  return print_is_quiet(s, op & OM_KIND);
}

const char *sass_mnemonic(unsigned id)
{
  return id < sass_n_rows ? sass_rows[id].name : "?";
}

unsigned sass_mnemonic_count(void)
{
  return sass_n_rows + 1; /* the last one is "?" */
}
