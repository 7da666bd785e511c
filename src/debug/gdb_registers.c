#include "debug/gdb_registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "func/sass/step_observer.h"
#include "isa/hazard_role.h"

/* ---- x86-64's, as gdb's own description of the core has them: name, bits, type ---- */

static const struct core_register {
  const char *name, *type;
  unsigned bits;
} core[GDB_CORE] = {
    {"rax", "int64", 64},    {"rbx", "int64", 64},    {"rcx", "int64", 64},    {"rdx", "int64", 64},
    {"rsi", "int64", 64},    {"rdi", "int64", 64},    {"rbp", "data_ptr", 64}, {"rsp", "data_ptr", 64},
    {"r8", "int64", 64},     {"r9", "int64", 64},     {"r10", "int64", 64},    {"r11", "int64", 64},
    {"r12", "int64", 64},    {"r13", "int64", 64},    {"r14", "int64", 64},    {"r15", "int64", 64},
    {"rip", "code_ptr", 64}, {"eflags", "int32", 32}, {"cs", "int32", 32},     {"ss", "int32", 32},
    {"ds", "int32", 32},     {"es", "int32", 32},     {"fs", "int32", 32},     {"gs", "int32", 32},
    {"st0", "i387_ext", 80}, {"st1", "i387_ext", 80}, {"st2", "i387_ext", 80}, {"st3", "i387_ext", 80},
    {"st4", "i387_ext", 80}, {"st5", "i387_ext", 80}, {"st6", "i387_ext", 80}, {"st7", "i387_ext", 80},
    {"fctrl", "int", 32},    {"fstat", "int", 32},    {"ftag", "int", 32},     {"fiseg", "int", 32},
    {"fioff", "int", 32},    {"foseg", "int", 32},    {"fooff", "int", 32},    {"fop", "int", 32},
};

/* ---- ours ---- */

enum own_kind { OWN_R, OWN_UR, OWN_P, OWN_UP, OWN_TID, OWN_CTAID, OWN_ACTIVE, OWN_LANE, OWN_POSITION };

static const struct own_row {
  enum own_kind kind;
  const char *name; /* a number follows, or for n == 3 an axis */
  unsigned n, bits;
} own[] = {
    {OWN_R, "R", 255, 1024},       {OWN_UR, "UR", 96, 32},     {OWN_P, "P", 7, 32},
    {OWN_UP, "UP", 7, 32},         {OWN_TID, "tid_", 3, 1024}, {OWN_CTAID, "ctaid_", 3, 32},
    {OWN_ACTIVE, "active", 1, 32}, {OWN_LANE, "lane", 1, 32},  {OWN_POSITION, "position", 1, 64},
};
enum { OWN_ROWS = sizeof own / sizeof own[0] };

/* The row of a number, and which register of it. NULL: none. */
static const struct own_row *own_of(unsigned number, unsigned *k)
{
  unsigned first = GDB_CORE;
  for (unsigned i = 0; i < OWN_ROWS; first += own[i++].n)
    if (number >= first && number < first + own[i].n) return *k = number - first, &own[i];
  return NULL;
}

static void own_name(const struct own_row *row, unsigned k, char out[32])
{
  if (row->n == 1)
    snprintf(out, 32, "%s", row->name);
  else if (row->n == 3)
    snprintf(out, 32, "%s%c", row->name, "xyz"[k]);
  else
    snprintf(out, 32, "%s%u", row->name, k);
}

static void write_own(FILE *f, const struct own_row *row, unsigned first)
{
  const char *type = row->bits == 1024 ? "lanes" : row->bits == 64 ? "uint64" : "uint32";
  for (unsigned k = 0; k < row->n; k++) {
    char name[32];
    own_name(row, k, name);
    fprintf(f, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%u\" save-restore=\"no\" group=\"vector\"/>\n",
            name, row->bits, type, first + k);
  }
}

char *gdb_registers_xml(void)
{
  char *text;
  size_t n;
  FILE *f = open_memstream(&text, &n);
  NO_MEMORY_IF(!f);
  fputs("<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
        "<target><architecture>i386:x86-64</architecture>\n<feature name=\"org.gnu.gdb.i386.core\">\n",
        f);
  for (unsigned i = 0; i < GDB_CORE; i++)
    fprintf(f, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%u\"/>\n", core[i].name, core[i].bits,
            core[i].type, i);
  fputs("</feature>\n<feature name=\"org.warpstep.sass\">\n<vector id=\"lanes\" type=\"uint32\" count=\"32\"/>\n", f);
  for (unsigned i = 0, first = GDB_CORE; i < OWN_ROWS; first += own[i++].n) write_own(f, &own[i], first);
  fputs("</feature></target>\n", f);
  fclose(f);
  char *copy = memcpy(mem_alloc(n + 1), text, n + 1);
  free(text);
  return copy;
}

/* ---- values ---- */

static void put64(uint8_t *out, uint64_t v)
{
  memcpy(out, &v, sizeof v);
}

static void read_core(const struct lane_view *v, unsigned number, uint8_t *out)
{
  const uint32_t depth = target_calls(v->t, v->slot, v->warp)->lane[v->lane].depth;
  memset(out, 0, core[number].bits / 8);
  if (number == GDB_RIP) put64(out, view_pc(v));
  if (number == GDB_RSP) put64(out, GDB_STACK_TOP - 8 * ((uint64_t)depth + 1));
}

/* A word of each lane, or one of all. */
static bool own_word(const struct lane_view *v, const struct own_row *row, unsigned k, uint32_t *value)
{
  const struct step_path *p = view_path(v);
  struct reg_value r = {0};
  switch (row->kind) {
  case OWN_R: return view_register(v, k, value);
  case OWN_UR: return view_register(v, HAZARD_UR + k, value);
  case OWN_P:
  case OWN_UP:
    view_cta(v)->source->ops->reg_read(view_cta(v)->warp[v->warp], (row->kind == OWN_P ? HAZARD_P : HAZARD_UP) + k, &r);
    return *value = (uint32_t)r.bits, true;
  case OWN_TID: return *value = view_place_of(v).thread[k], true;
  case OWN_CTAID: return *value = view_place_of(v).cta[k], true;
  case OWN_LANE: return *value = v->lane, true;
  default: return *value = p ? (uint32_t)p->mask : 0, true;
  }
}

unsigned gdb_register_read(const struct lane_view *v, unsigned number, uint8_t out[GDB_REGISTER_MOST], bool *known)
{
  unsigned k;
  struct lane_view lane = *v;
  uint32_t word = 0;
  *known = true;
  if (number < GDB_CORE) return read_core(v, number, out), core[number].bits / 8;
  const struct own_row *row = own_of(number, &k);
  if (!row) return 0;
  if (row->kind == OWN_POSITION) return put64(out, v->t->position), 8;
  const bool all = row->bits == 1024;
  for (unsigned i = 0; i < (all ? 32 : 1); i++) {
    if (all) lane.lane = i;
    *known &= own_word(&lane, row, k, &word);
    memcpy(out + 4 * (size_t)i, &word, sizeof word);
  }
  return row->bits / 8;
}

static bool write_lanes(const struct lane_view *v, unsigned reg, const uint8_t *data)
{
  const struct step_cta *c = view_cta(v);
  bool ok = true;
  for (unsigned i = 0; i < 32; i++) {
    struct target_edit x = {
        .kind = EDIT_REGISTER, .addr = reg, .cta = c->id, .warp = v->warp, .lanes = (lane_mask)1 << i, .bytes = 4};
    memcpy(x.data, data + 4 * (size_t)i, 4);
    ok &= target_edit(v->t, &x);
  }
  return ok;
}

/* A bit per lane: those that are to be true, then those that are not. */
static bool write_mask(const struct lane_view *v, unsigned reg, uint32_t mask)
{
  struct target_edit x = {.kind = EDIT_REGISTER, .addr = reg, .cta = view_cta(v)->id, .warp = v->warp, .bytes = 4};
  bool ok = true;
  for (unsigned on = 0; on < 2; on++) {
    x.lanes = on ? mask : ~mask;
    x.data[0] = (uint8_t)on;
    if (x.lanes) ok &= target_edit(v->t, &x);
  }
  return ok;
}

bool gdb_register_write(const struct lane_view *v, unsigned number, const uint8_t *data, size_t bytes)
{
  unsigned k;
  uint32_t word;
  const struct own_row *row = own_of(number, &k);
  if (!row || bytes != row->bits / 8 || !view_cta(v)) return false;
  memcpy(&word, data, sizeof word);
  struct target_edit one = {.kind = EDIT_REGISTER,
                            .addr = row->kind == OWN_UP ? HAZARD_UP + k : HAZARD_UR + k,
                            .cta = view_cta(v)->id,
                            .warp = v->warp,
                            .lanes = view_lanes(v),
                            .bytes = 4};
  memcpy(one.data, &word, sizeof word);
  switch (row->kind) {
  case OWN_R: return write_lanes(v, k, data);
  case OWN_UR: case OWN_UP: return target_edit(v->t, &one);
  case OWN_P: return write_mask(v, HAZARD_P + k, word);
  default: return false;
  }
}
